// A developer's first minute: the link and the commands that the first start prints work as they are.
import { randomBytes } from 'node:crypto'
import { expect } from 'chai'
import { type Countersign, createStarter, describeCountersignOnce } from '../support/countersign.ts'
import { post } from '../support/dashboard-session.ts'
import { AMQP_URL, MONGODB_URL, onRealEngines } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'

interface Command {
  url: string
  headers: Record<string, string>
  body: string | undefined
}

/** Every curl command of the printed guide, parsed as curl would read it. */
const commandsIn = (guide: string): Command[] =>
  guide
    .replaceAll('\\\n', '')
    .split('\n')
    .filter(line => line.trim().startsWith('curl '))
    .map(line => ({
      url: /https?:\/\/[^\s']+/.exec(line)?.[0] ?? '',
      headers: Object.fromEntries([...line.matchAll(/-H '([^:]+): ([^']*)'/g)].map(([, name, value]) => [name, value])),
      body: / -d '([^']*)'/.exec(line)?.[1],
    }))

async function run<T>({ url, headers, body }: Command): Promise<T> {
  const response = await fetch(url, { headers, ...(body === undefined ? {} : { method: 'POST', body }) })
  const answer = await response.text()
  expect(response.status, answer).to.equal(200)
  return JSON.parse(answer) as T
}

/** The tickets of the sign-in links that a process has printed. */
const ticketsIn = ({ printed, url }: Countersign): string[] =>
  printed()
    .split('\n')
    .map(line => line.trim())
    .filter(line => line.startsWith(`${url}/sign-in?ticket=`))
    .map(link => new URL(link).searchParams.get('ticket') ?? '')

/** The settings of a production process that needs no engine. */
const production = () => ({
  NODE_ENV: 'production',
  ENGINE: 'embedded',
  CODE_SECRETS: `k1:${randomBytes(32).toString('base64')}`,
  DATA_KEYS: `k1:${randomBytes(32).toString('base64')}`,
  ADMIN_TOKEN: randomBytes(24).toString('hex'),
})

describeCountersignOnce('the first start', start => {
  it('prints curl commands that send a code, read it and verify it, and the API keys once', async () => {
    const first = await start()
    const keys = first.printed().match(/[sp]k_test_\w{40,}/g) ?? []
    expect(new Set(keys)).to.have.length(2)
    const [send, read, check] = commandsIn(first.printed()) as [Command, Command, Command]
    const { otp_id } = await run<{ otp_id: string }>(send)
    const code = await eventually(async () => {
      const [message] = await run<{ otp_id: string; code: string }[]>(read)
      expect(message?.otp_id).to.equal(otp_id)
      return message?.code
    })
    const filledIn = check.body?.replace('…', otp_id).replace('…', `${code}`)
    const { matched } = await run<{ matched: boolean }>({ ...check, body: filledIn })
    expect(matched).to.equal(true)
    for (const key of keys) expect(first.log.output()).not.to.contain(key)
    expect((await first.restart()).printed()).not.to.match(/[sp]k_test_/)
  })

  it('prints first a link that signs the operator in once; one that was not used stays good after the next', async () => {
    const first = await start()
    expect(first.printed().trimStart()).to.match(/^Open this link to sign in to the dashboard/)
    const second = await first.restart()
    const [former = '', latter = ''] = [...ticketsIn(first), ...ticketsIn(second)]
    expect(new Set([former, latter, '']), 'one of each').to.have.length(3)
    for (const ticket of [former, latter]) {
      expect((await post(second.url, { ticket })).body).to.include({ role: 'operator' })
      expect((await post(second.url, { ticket })).status).to.equal(401)
      expect(first.log.output() + second.log.output()).not.to.contain(ticket)
    }
  })

  it('does not print a token of ADMIN_TOKEN, which the operator knows', async () => {
    const token = randomBytes(24).toString('hex')
    const { printed, log } = await start({ env: { ADMIN_TOKEN: `ann:${token}` } })
    expect(printed()).to.contain('with a token of ADMIN_TOKEN').and.not.to.contain(token)
    expect(log.output()).not.to.contain(token)
  })

  it('prints nothing in production, where log collectors would keep a link', async () => {
    expect((await start({ env: production() })).printed()).to.equal('')
  })
})

onRealEngines('the first start of an edge process alone', { AMQP_URL, MONGODB_URL }, () => {
  const start = createStarter('real')

  it('refers to the dashboard process for the sandbox', async () => {
    const { printed, url } = await start({ roles: ['edge'] })
    expect(printed()).not.to.contain('/sign-in')
    expect(printed()).to.contain(`${url}/api/v1/otp/send`).and.to.contain('at the process that plays the dashboard')
    expect(printed()).not.to.contain(`${url}/admin`)
  })
})
