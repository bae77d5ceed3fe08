// What every documented receiver of webhooks does. In: how one is started, in any language, with the secrets in WEBHOOK_SECRETS and PORT=0;
// it prints a line per handled event, and has failing work in its `handle`. It is sent signed events, as services/webhook sends them, and
// forged ones.
import { once } from 'node:events'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { extname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect } from 'chai'
import { createOutbound } from '../../infra/outbound/guarded-outbound.ts'
import { PROJECT_ROOT } from '../../infra/web/built-site.ts'
import { signatureHeaders } from '../../services/domain/webhooks/signed-event.ts'
import { type Backend, hangUp } from './backend.ts'
import type { Child } from './child.ts'
import { LOOPBACK, post } from './outbound.ts'
import { createTemporaryFolder } from './temporary-folder.ts'

export const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const OTHER = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'
const MINUTES = 60_000
/** A receiver checks one of the two signatures. */
const TIMESTAMPS = ['x-webhook-timestamp', 'webhook-timestamp']
const SIGNATURES = ['x-webhook-signature', 'webhook-signature']

type Headers = Record<string, string>
const changed = (headers: Headers, names: readonly string[], change: (value: string) => string): Headers =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, names.includes(name) ? change(value) : value]),
  )

interface SignedEvent {
  id: string
  body: string
}
export const signed = ({ id, body }: SignedEvent, at = Date.now(), secret = SECRET): Headers =>
  signatureHeaders({ id, body, at, secrets: [secret] })

/** On a connection of its own: a receiver closes one that is idle, or whose request it has not read, perhaps just when the next event is
 *  sent. Returns the status of the answer. */
export async function sendEvent(url: string, body: string, headers: Headers): Promise<number> {
  const outbound = createOutbound({ privateTargets: LOOPBACK })
  try {
    return (await post(outbound, url, { body, headers })).status
  } finally {
    await outbound.close()
  }
}

/** The first event whose id begins like this fails. */
const FAILING_IDS = 'evt_fails_once_'
/** The work for such an event is not done at once. */
const SLOW_IDS = 'evt_slow_'

interface Work {
  /** Where `handle` begins. */
  opening: RegExp
  before: string
  work: string
}
const TYPESCRIPT: Work = {
  opening: /^(async )?function handle\(.*\n/m,
  before: 'let failures = 0\n',
  work: `  if (event.id.startsWith('${FAILING_IDS}') && failures++ === 0) throw new Error('it failed once')
  if (event.id.startsWith('${SLOW_IDS}')) await new Promise(resolve => setTimeout(resolve, 100))\n`,
}
const FAILING_WORK: Record<string, Work> = {
  '.mjs': TYPESCRIPT,
  '.ts': TYPESCRIPT,
  '.py': {
    opening: /^def handle\(.*\n/m,
    before: 'failures: list[str] = []\n',
    work: `    if event.id.startswith("${FAILING_IDS}") and not failures:
        failures.append(event.id)
        raise RuntimeError("it failed once")\n`,
  },
  '.go': {
    opening: /^func handle\(.*\n/m,
    before: 'var hasFailed bool\n',
    work: `	if strings.HasPrefix(e.ID, "${FAILING_IDS}") && !hasFailed {
		hasFailed = true
		return errors.New("it failed once")
	}\n`,
  },
  '.php': {
    opening: /^function handle\(.*\n\{\n/m,
    before: '',
    work: `    if (str_starts_with($event->id, '${FAILING_IDS}') && @mkdir(sys_get_temp_dir() . '/failed')) {
        throw new RuntimeException('it failed once');
    }\n`,
  },
}

/** Does what a user does with a receiver: puts work into its `handle`. This work fails once. */
export function addFailingWork(file: string): void {
  const source = readFileSync(file, 'utf8')
  const { opening, before, work } = FAILING_WORK[extname(file)] ?? expect.fail(`no work for ${file}`)
  expect(source).to.match(opening)
  writeFileSync(
    file,
    source.replace(opening, found => `${before}${found}${work}`),
  )
}

/** A copy of a receiver in docs/examples that is one file, with failing work. Returns its path. */
export function copyWithFailingWork(name: string): string {
  const copy = join(createTemporaryFolder(), name)
  cpSync(join(PROJECT_ROOT, 'docs/examples', name), copy)
  addFailingWork(copy)
  return copy
}

/** Call it in a suite. */
export function itReceivesWebhooks(
  start: (env: Record<string, string>) => Backend | Promise<Backend>,
  path = '/hooks',
): void {
  let running: Child
  let url = ''
  let events = 0

  before(async () => {
    // A list may end with a comma.
    const backend = await start({ WEBHOOK_SECRETS: `${SECRET},${OTHER},`, PORT: '0' })
    running = backend.process
    url = `${await backend.url}${path}`
  })
  after(async () => {
    running?.process.kill()
    await running?.exited
  })

  /** An event with a new id. */
  function newEvent(prefix = 'evt_') {
    events += 1
    const id = `${prefix}${events}`
    return { id, body: JSON.stringify({ id, type: 'otp.approved', payload: { otp_id: `otp_${events}`, status: 'é' } }) }
  }
  const sent = (body: string, headers: Headers): Promise<number> => sendEvent(url, body, headers)
  const timesHandled = ({ body }: { body: string }) => {
    const { otp_id } = JSON.parse(body).payload
    return running.lines.filter(line => line.includes(`"${otp_id}"`)).length
  }
  /** Waits until an event that is sent now was handled, and with it every earlier event. */
  async function waitUntilHandled() {
    const last = newEvent()
    expect(await sent(last.body, signed(last))).to.equal(204)
    await running.waitForLine(line => line.includes(`"${JSON.parse(last.body).payload.otp_id}"`))
  }

  it('accepts a genuine event', async () => {
    const one = newEvent()
    expect(await sent(one.body, signed(one))).to.equal(204)
    await waitUntilHandled()
    expect(timesHandled(one)).to.equal(1)
  })

  it('tells test events from live ones by their signed ids, whatever the header says', async () => {
    const [test, live] = [newEvent('evt_test_'), newEvent()]
    expect(await sent(test.body, { ...signed(test), 'x-webhook-mode': 'live' })).to.equal(204)
    expect(await sent(live.body, { ...signed(live), 'x-webhook-mode': 'test' })).to.equal(204)
    const modeOf = ({ body }: { body: string }) =>
      running.waitForLine(line => line.includes(`"${JSON.parse(body).payload.otp_id}"`))
    expect(await modeOf(test)).to.match(/^test otp\.approved /)
    expect(await modeOf(live)).to.match(/^live otp\.approved /)
  })

  it('accepts an event that is signed with its second secret', async () => {
    const one = newEvent()
    expect(await sent(one.body, signed(one, Date.now(), OTHER))).to.equal(204)
  })

  it('handles an event once if it comes again, with the same or a new signature', async () => {
    const one = newEvent()
    const headers = signed(one)
    expect(await sent(one.body, headers)).to.equal(204)
    expect(await sent(one.body, headers)).to.equal(204)
    expect(await sent(one.body, signed(one, Date.now() + 1_000))).to.equal(204)
    await waitUntilHandled()
    expect(timesHandled(one)).to.equal(1)
  })

  it('handles an event once if it comes again while it is handled', async () => {
    const one = newEvent(SLOW_IDS)
    const statuses = await Promise.all([1, 2].map(() => sent(one.body, signed(one))))
    expect(statuses).to.deep.equal([204, 204])
    await waitUntilHandled()
    expect(timesHandled(one)).to.equal(1)
  })

  it('handles an event that comes again if its handling failed', async () => {
    const one = newEvent(FAILING_IDS)
    // No answer is a failure too.
    const first = await sent(one.body, signed(one)).catch(() => 500)
    expect(first).to.be.within(500, 599)
    expect(await sent(one.body, signed(one))).to.equal(204)
    await waitUntilHandled()
    expect(timesHandled(one)).to.equal(1)
  })

  const one = { id: 'evt_forged', body: '{"id":"evt_forged","type":"otp.approved","payload":{"otp_id":"otp_forged"}}' }
  const FORGED: Record<string, () => Record<string, string>> = {
    'whose body was changed': () => signed({ ...one, body: one.body.replace('approved', 'failed') }),
    'whose timestamp was changed': () => changed(signed(one), TIMESTAMPS, time => String(Number(time) - 1)),
    'that is stale': () => signed(one, Date.now() - 6 * MINUTES),
    'with a timestamp in the future': () => signed(one, Date.now() + 6 * MINUTES),
    'signed with another secret': () => signed(one, Date.now(), 'whsec_c29tZW9uZSBlbHNl'),
    'without a signature': () => ({}),
    'with half a signature': () => changed(signed(one), SIGNATURES, signature => signature.slice(0, 32)),
    'with a malformed timestamp': () => changed(signed(one), TIMESTAMPS, () => 'NaN'),
  }
  it('goes on after a caller hangs up within a request', async () => {
    await hangUp(url)
    await waitUntilHandled()
    await waitUntilHandled()
  })

  it('refuses a body that is too large', async () => {
    expect(await sent('x'.repeat(100_001), {})).to.equal(413)
  })

  it('refuses a body of a negative length, and does not wait for its end', async () => {
    const { port, pathname } = new URL(url)
    const socket = connect(Number(port), '127.0.0.1')
    await once(socket, 'connect')
    socket.write(`POST ${pathname} HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n`)
    // PHP's own server hangs up without an answer.
    expect(await text(socket)).to.match(/^(HTTP\/1\.[01] 400 |$)/)
  })

  for (const [what, headers] of Object.entries(FORGED))
    it(`refuses an event ${what}`, async () => {
      expect(await sent(one.body, headers())).to.equal(401)
      await waitUntilHandled()
      expect(timesHandled(one)).to.equal(0)
    })
}
