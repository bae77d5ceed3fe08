import { Buffer } from 'node:buffer'
import { expect } from 'chai'
import {
  type Attempt,
  attemptResult,
  latestFailures,
  testResult,
  type WebhookEvent,
} from '../../../../services/dashboard/web/screens/api-keys/webhook-text.ts'
import { JAVASCRIPT_SIGNATURE_SAMPLE } from '../../../../services/domain/webhooks/signature-sample.ts'
import { signatureHeaders } from '../../../../services/domain/webhooks/signed-event.ts'

const attempt = (second: number, more: Partial<Attempt> = {}): Attempt => ({
  at: new Date(Date.UTC(2030, 0, 1, 12, 0, second)).toISOString(),
  round: 1,
  attempt: 1,
  ms: 34,
  status: 500,
  error: null,
  response: 'down',
  ...more,
})
const event = (id: string, attempts: Attempt[], more: Partial<WebhookEvent> = {}): WebhookEvent => ({
  id,
  type: 'webhook.test',
  mode: 'test',
  payload: { app_id: 'app_1' },
  endpoint_id: 'whk_1',
  created_at: '2030-01-01T12:00:00.000Z',
  status: 'pending',
  round: 1,
  next_attempt_at: null,
  attempts,
  ...more,
})

describe('a webhook in words', () => {
  it('says how a call ended', () => {
    expect(attemptResult(attempt(0))).to.equal('Answered 500 in 34 ms')
    expect(attemptResult(attempt(0, { ms: null }))).to.equal('Answered 500')
    expect(attemptResult(attempt(0, { status: null, error: 'timeout' }))).to.equal('No answer within 15 s')
    expect(attemptResult(attempt(0, { status: null, error: 'eclipse' }))).to.equal('No answer: eclipse')
  })

  it('lists the latest failures once each, newest first, and no success', () => {
    const [a, b] = [
      event('evt_a', [attempt(1), attempt(4)]),
      event('evt_b', [attempt(2), attempt(3), attempt(5, { status: 204 })]),
    ]
    const failures = latestFailures([[a, b], [a]], 3)
    expect(failures.map(one => [one.event.id, one.attempt.at.slice(17, 19)])).to.deep.equal([
      ['evt_a', '04'],
      ['evt_b', '03'],
      ['evt_b', '02'],
    ])
  })

  it('says what came of a test event once it is known', () => {
    expect(testResult(event('evt_1', []))).to.equal(null)
    expect(testResult(event('evt_1', [], { status: 'held' }))?.tone).to.equal('warning')
    expect(testResult(event('evt_1', [attempt(0)]))).to.deep.equal({
      tone: 'bad',
      sentence: 'Your endpoint did not take the test event. Answered 500 in 34 ms.',
    })
    const unreachable = attempt(0, { status: null, error: 'unreachable' })
    expect(testResult(event('evt_1', [unreachable]))?.sentence).to.equal(
      'Your endpoint did not take the test event. No connection to your endpoint. Check the address, and that your server runs and can be reached from where Countersign runs.',
    )
    const delivered = event('evt_1', [attempt(0), attempt(1, { status: 200 })], { status: 'delivered' })
    expect(testResult(delivered)?.tone).to.equal('good')
  })
})

describe('the sample that verifies a signature', () => {
  const secret = 'whsec_c2VjcmV0IG9mIHRoZSBob29rcw=='
  const body = Buffer.from('{"id":"evt_1","type":"otp.approved","payload":{}}')
  const signed = (at: number): Record<string, string> => ({
    ...signatureHeaders({ id: 'evt_1', body, at, secrets: [secret] }),
  })
  let isGenuine: (rawBody: Buffer, headers: Record<string, string>, secret: string) => boolean
  before(async () => {
    ;({ isGenuine } = await import(`data:text/javascript,${encodeURIComponent(JAVASCRIPT_SIGNATURE_SAMPLE)}`))
  })

  it('accepts what Countersign signs', () => {
    expect(isGenuine(body, signed(Date.now()), secret)).to.equal(true)
  })

  it('refuses another body, another secret, no signature and a stale timestamp', () => {
    const headers = signed(Date.now())
    expect(isGenuine(Buffer.from('{}'), headers, secret)).to.equal(false)
    expect(isGenuine(body, headers, 'whsec_other')).to.equal(false)
    expect(isGenuine(body, {}, secret)).to.equal(false)
    expect(isGenuine(body, signed(Date.now() - 600_000), secret)).to.equal(false)
  })
})
