// Calls that are refused because of overload before Koa sees them: which ones, and that their answer is the router's own.
import { expect } from 'chai'
import type { RefusalPacing } from '../../../infra/http/refusal-pacing.ts'
import type { OtpAnswer } from '../../../machines/calls.ts'
import { KEYS, OTP_ID, startTestEdge, type TestEdge, view } from '../../support/edge.ts'
import { eventually } from '../../support/eventually.ts'

const SEND = { recipient: '+447911123456' }
const CODE = { otp_id: OTP_ID, code: '123456' }
const CALLS: [path: string, body: object][] = [
  ['/otp/send', SEND],
  ['/otp/resend', { otp_id: OTP_ID }],
  ['/otp/verify', CODE],
  ['/otp/cancel', { otp_id: OTP_ID }],
  ['/verifications/exchange', { verification_token: 'vt' }],
]

describe('a call to an edge without room', () => {
  let edge: TestEdge
  let release: () => void
  let waiting: Promise<Response>[]
  /** The refusals that are kept back, and null while none is. */
  let keptBack: (() => void)[] | null
  const pacing: RefusalPacing = {
    pace: (_, __, answer) => void (keptBack === null ? answer() : keptBack.push(answer)),
    end: () => {},
    connectionOpened: () => {},
  }
  beforeEach(async () => {
    keptBack = null
    edge = await startTestEdge({ maxInFlight: 2, pacing })
    const answer = new Promise<OtpAnswer>(resolve => {
      release = () => resolve({ kind: 'verification', verification: view() })
    })
    edge.stubs.answer = () => answer
    waiting = [edge.post('/otp/send', SEND)]
    await eventually(() => expect(edge.calls).to.have.length(1))
  })
  afterEach(async () => {
    release()
    await Promise.all(waiting)
    await edge.close()
  })

  /** The router writes a line for each 503, an early refusal does not. */
  const refusedByRouter = () => edge.captured.lines().filter(({ msg, count }) => msg === 'http.unavailable' && !count)

  const answerTo = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const response = await edge.post(path, body, { headers: { 'X-Request-Id': 'order-17', ...headers } })
    const { date: _, ...answered } = Object.fromEntries(response.headers)
    return { status: response.status, headers: answered, body: await response.json() }
  }

  for (const [path, body] of CALLS)
    it(`gets one answer from ${path}, whether its key was accepted a moment ago or not`, async () => {
      const early = await answerTo(path, body, { Origin: 'https://shop.example' })
      expect(refusedByRouter()).to.have.length(0)
      await edge.clock.advance(1_000)
      const late = await answerTo(path, body, { Origin: 'https://shop.example' })
      expect(refusedByRouter()).to.have.length(1)
      expect(early.status).to.equal(503)
      expect(early.body).to.include({ type: 'ServiceUnavailableError' })
      expect(early).to.deep.equal(late)
      const [first, second] = edge.captured.lines().filter(({ msg }) => msg === 'http.answered')
      const { time: _, ...line } = first ?? {}
      expect(second).to.include(line)
      expect(edge.refusals.map(refusal => ({ ...refusal }))).to.deep.equal(
        path === '/otp/send' || path === '/otp/resend' ? [edge.refusals[0], edge.refusals[0]] : [],
      )
      expect(edge.calls).to.have.length(1)
    })

  it('is answered when its pacing says so, also one of a device and one that reads, and other requests at once', async () => {
    keptBack = []
    const refused = [
      edge.post('/otp/send', SEND),
      edge.post('/otp/verify', CODE, { key: KEYS.deviceTest }),
      edge.get(`/otp/${OTP_ID}`),
    ]
    await eventually(() => expect(keptBack).to.have.length(3))
    expect((await edge.request('/openapi.json')).status).to.equal(200)
    expect((await edge.post('/otp/send', SEND, { key: 'sk_test_unknown' })).status).to.equal(401)
    const answered = () => edge.captured.lines().filter(({ msg, status }) => msg === 'http.answered' && status === 503)
    expect(answered()).to.have.length(0)
    await edge.clock.advance(300)
    for (const answer of keptBack) answer()
    for (const { status, headers } of await Promise.all(refused)) {
      expect(status).to.equal(503)
      expect(headers.get('retry-after')).to.equal('1')
    }
    expect(answered().map(({ ms }) => ms)).to.deep.equal([300, 300, 300])
  })

  it('is recognised with a query, and with a slash at its end', async () => {
    for (const path of ['/otp/send?', '/otp/send?a=b', '/otp/send/'])
      expect((await edge.post(path, SEND)).status, path).to.equal(503)
    expect(refusedByRouter()).to.have.length(0)
    const answered = edge.captured.lines().filter(({ msg }) => msg === 'http.answered')
    expect(new Set(answered.map(({ route }) => route))).to.deep.equal(new Set(['/api/v1/otp/send']))
  })

  it('is left to the router when its header is longer than that of any key', async () => {
    const headers = { Authorization: `Bearer ${' '.repeat(300)}${KEYS.serverTest}` }
    for (let n = 0; n < 2; n += 1) expect((await edge.post('/otp/send', SEND, { headers })).status).to.equal(503)
    expect(refusedByRouter()).to.have.length(2)
  })

  it('is left to the router when it is not known to be one of a server', async () => {
    expect((await edge.post('/otp/send', SEND, { key: 'sk_test_unknown' })).status).to.equal(401)
    expect((await edge.post('/otp/nothing', SEND)).status).to.equal(405)
    expect((await edge.get(`/otp/${OTP_ID}`)).status).to.equal(503)
    expect(refusedByRouter()).to.have.length(1)
    for (let n = 0; n < 2; n += 1)
      expect((await edge.post('/otp/verify', CODE, { key: KEYS.deviceTest })).status).to.equal(503)
    expect(refusedByRouter()).to.have.length(3)
  })

  it('is refused for its key as soon as the key is revoked, though not before the caches know', async () => {
    edge.keys.clear()
    expect((await edge.post('/otp/send', SEND)).status).to.equal(503)
    release()
    await Promise.all(waiting)
    await edge.clock.advance(3_000)
    expect((await edge.post('/otp/send', SEND)).status).to.equal(401)
  })
})
