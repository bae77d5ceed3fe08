// What every documented backend of a sign-up does. In: how one is started, against a Countersign on the embedded
// engines, with COUNTERSIGN_URL, COUNTERSIGN_KEY and PORT=0. It is sent a visitor's calls.
import { expect } from 'chai'
import type { Backend } from './backend.ts'
import { type Flow, freshNumber, startFlow, wrongCode } from './flow.ts'

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

interface Answer {
  status: number
  body: Record<string, string>
  cookie: string
  headers: Headers
}

/** Call it in a suite. `paths`: of the call that sends a code, and of the one that checks it. */
export function itSignsUp(
  start: (env: Record<string, string>) => Backend | Promise<Backend>,
  paths = { send: '/signup', check: '/signup/verify' },
): void {
  let flow: Flow
  let backend: Backend
  let url = ''

  before(async () => {
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
    const { status, body, cookie } = await post(paths.send, { recipient })
    expect({ status, body }).to.deep.equal({
      status: 200,
      body: { sent_to: `+1****${recipient.slice(-2)}`, channel: 'sms' },
    })
    return { recipient, cookie, code: await flow.waitForCode(recipient) }
  }

  it('verifies a visitor who types the code, once', async () => {
    const { recipient, cookie, code } = await signUp()
    expect(await post(paths.check, { code }, cookie)).to.deep.include({
      status: 200,
      body: { verified: recipient },
    })
    expect((await post(paths.check, { code }, cookie)).status).to.equal(409)
  })

  it('refuses a wrong code, and accepts the right one afterwards', async () => {
    const { recipient, cookie, code } = await signUp()
    const wrong = await post(paths.check, { code: wrongCode(code) }, cookie)
    expect(wrong).to.deep.include({ status: 422, body: { detail: 'Wrong code. 4 attempts are left.' } })
    expect((await post(paths.check, { code }, cookie)).body).to.deep.equal({ verified: recipient })
  })

  it("refuses another visitor's code", async () => {
    const { code } = await signUp()
    const { cookie } = await signUp()
    expect((await post(paths.check, { code }, '')).status).to.equal(409)
    expect((await post(paths.check, { code }, 'visitor=unknown')).status).to.equal(409)
    expect((await post(paths.check, { code }, cookie)).status).to.equal(422)
  })

  it('says what the visitor can change, and when to come back', async () => {
    const invalid = await post(paths.send, { recipient: 'invalid@magic.test' })
    expect(invalid.status).to.equal(422)
    expect(invalid.body.detail).to.match(/\w/)
    const limited = await post(paths.send, { recipient: 'rate@magic.test' })
    expect(limited.status).to.equal(429)
    expect(Number(limited.headers.get('retry-after'))).to.be.greaterThan(0)
  })

  it('hides what only its operator can change', async () => {
    const refused = await post(paths.send, { recipient: 'funds@magic.test' })
    expect(refused).to.deep.include({ status: 503, body: { detail: 'Codes cannot be sent at the moment.' } })
  })
}
