// The backends in docs/examples that verify a visitor who signs up: each runs as a process, against a Countersign on the embedded engines.
// In: a visitor's calls. Out: what the backend answers.
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect } from 'chai'
import { PROJECT_ROOT } from '../../infra/web/built-site.ts'
import { type Child, spawnCommand } from '../support/child.ts'
import { eventually } from '../support/eventually.ts'
import { type Flow, freshNumber, startFlow, wrongCode } from '../support/flow.ts'
import { buildGo, needGo } from '../support/go.ts'
import { buildClient, createEnvironment, needPython } from '../support/python.ts'

const SERVER_KEY = 'sk_test_0123456789abcdefghijklmn'
const BOOTSTRAP = {
  companies: [
    {
      id: 'cmp_acme',
      name: 'Acme',
      apps: [{ id: 'app_shop', name: 'Shop', keys: [{ id: 'key_a', key: SERVER_KEY }] }],
    },
  ],
}
const FASTAPI = ['fastapi==0.162.7', 'uvicorn==0.54.0']
const STARTS_MS = 120_000

interface Backend {
  process: Child
  /** Where it answers, once it listens. */
  url: Promise<string>
}

interface Answer {
  status: number
  body: Record<string, string>
  cookie: string
  headers: Headers
}

function itSignsUp(start: (env: Record<string, string>) => Promise<Backend>): void {
  let flow: Flow
  let backend: Backend
  let url = ''

  before(async function () {
    this.timeout(STARTS_MS)
    flow = await startFlow({ engines: 'embedded', bootstrap: BOOTSTRAP })
    backend = await start({ COUNTERSIGN_URL: flow.countersign.url, COUNTERSIGN_KEY: SERVER_KEY, PORT: '0' })
    url = await backend.url
  })
  after(async () => {
    backend?.process.process.kill()
    await backend?.process.exited
    await flow?.stop()
  })

  async function post(path: string, body: object, cookie = ''): Promise<Answer> {
    const headers = { 'content-type': 'application/json', cookie }
    const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    const [set = ''] = answer.headers.getSetCookie()
    const json = (await answer.json()) as Answer['body']
    return { status: answer.status, body: json, cookie: set.split(';')[0] ?? '', headers: answer.headers }
  }
  async function signUp() {
    const recipient = freshNumber()
    const { status, body, cookie } = await post('/signup', { recipient })
    expect({ status, body }).to.deep.equal({
      status: 200,
      body: { sent_to: `+1****${recipient.slice(-2)}`, channel: 'sms' },
    })
    return { recipient, cookie, code: await flow.waitForCode(recipient) }
  }

  it('verifies a visitor who types the code, once', async () => {
    const { recipient, cookie, code } = await signUp()
    expect(await post('/signup/verify', { code }, cookie)).to.deep.include({
      status: 200,
      body: { verified: recipient },
    })
    expect((await post('/signup/verify', { code }, cookie)).status).to.equal(409)
  })

  it('refuses a wrong code, and accepts the right one afterwards', async () => {
    const { recipient, cookie, code } = await signUp()
    const wrong = await post('/signup/verify', { code: wrongCode(code) }, cookie)
    expect(wrong).to.deep.include({ status: 422, body: { detail: 'Wrong code. 4 attempts are left.' } })
    expect((await post('/signup/verify', { code }, cookie)).body).to.deep.equal({ verified: recipient })
  })

  it("refuses another visitor's code", async () => {
    const { code } = await signUp()
    const { cookie } = await signUp()
    expect((await post('/signup/verify', { code }, '')).status).to.equal(409)
    expect((await post('/signup/verify', { code }, 'visitor=unknown')).status).to.equal(409)
    expect((await post('/signup/verify', { code }, cookie)).status).to.equal(422)
  })

  it('says what the visitor can change, and when to come back', async () => {
    const invalid = await post('/signup', { recipient: 'invalid@magic.test' })
    expect(invalid.status).to.equal(422)
    expect(invalid.body.detail).to.match(/\w/)
    const limited = await post('/signup', { recipient: 'rate@magic.test' })
    expect(limited.status).to.equal(429)
    expect(Number(limited.headers.get('retry-after'))).to.be.greaterThan(0)
  })

  it('hides what only its operator can change', async () => {
    const refused = await post('/signup', { recipient: 'funds@magic.test' })
    expect(refused).to.deep.include({ status: 503, body: { detail: 'Codes cannot be sent at the moment.' } })
  })
}

async function freePort(): Promise<number> {
  const server = createServer()
  const port = await new Promise<number>(resolve =>
    server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port)),
  )
  await new Promise(resolve => server.close(resolve))
  return port
}

describe('the sign-up in FastAPI', () => {
  let bin = ''
  before(async function () {
    await needPython(this)
    bin = await createEnvironment([(await buildClient()).wheel, ...FASTAPI])
  })
  itSignsUp(async env => {
    const port = await freePort()
    const folder = join(PROJECT_ROOT, 'docs/examples/fastapi')
    const args = ['--app-dir', folder, '--port', String(port), 'main:app']
    const process = spawnCommand(join(bin, 'uvicorn'), args, { ...env, PYTHONDONTWRITEBYTECODE: '1' })
    const url = `http://127.0.0.1:${port}`
    const listening = eventually(async () => void (await fetch(url)), STARTS_MS)
    return { process, url: listening.then(() => url) }
  })
})

describe('the sign-up in Go', () => {
  let program = ''
  before(async function () {
    needGo(this)
    program = await buildGo('signup')
  })
  itSignsUp(async env => {
    const process = spawnCommand(program, [], env)
    const line = process.waitForLine(one => one.startsWith('listening'))
    return { process, url: line.then(text => `http://127.0.0.1:${text.split(' ').at(-1)}`) }
  })
})
