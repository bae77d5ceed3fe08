// How the edge turns the OTP actor's answers into responses: bodies with opened secrets, refusals as problems, outages as 503.
import { expect } from 'chai'
import { CallFailed, CallTimeout } from '../../../infra/broker/broker.ts'
import { Unavailable } from '../../../infra/unavailable.ts'
import type { OtpAnswer } from '../../../machines/calls.ts'
import type { ErrorType } from '../../../machines/errors.ts'
import { atRest, inFlight } from '../../../services/domain/verifications/encryption-context.ts'
import { OTP_ID, problemOf, startTestEdge, type TestEdge, view } from '../../support/edge.ts'

const SEND = { recipient: '+447911123456' }

describe('an answer of the OTP actor', () => {
  let edge: TestEdge
  beforeEach(async () => {
    edge = await startTestEdge()
  })
  afterEach(() => edge.close())

  const stubAnswer = (answer: OtpAnswer): void => {
    edge.stubs.answer = async () => answer
  }
  const json = async (response: Response): Promise<unknown> => {
    expect(response.status).to.equal(200)
    expect(response.headers.get('content-type')).to.equal('application/json; charset=utf-8')
    expect(response.headers.get('cache-control')).to.equal('no-store')
    return response.json()
  }

  it('becomes a verification with the documented members only', async () => {
    stubAnswer({ kind: 'verification', verification: view() })
    expect(await json(await edge.post('/otp/send', SEND))).to.deep.equal({
      otp_id: OTP_ID,
      status: 'pending',
      channel: 'sms',
      masked_recipient: '+44****56',
      action_url: null,
      completion: 'code',
    })
  })

  it('has a header where it is the replay of an earlier one, and only there', async () => {
    for (const [replayed, header] of [
      [{ replayed: true } as const, 'true'],
      [{}, null],
    ] as const) {
      stubAnswer({ kind: 'verification', verification: view(), ...replayed })
      const response = await edge.post('/otp/send', SEND)
      expect(response.headers.get('idempotent-replayed')).to.equal(header)
      expect(await json(response)).to.not.have.property('replayed')
    }
  })

  it('has its link unsealed', async () => {
    const url = 'https://wa.me/15550001111?text=hello'
    const sealed_action_url = edge.keyring.seal(url, atRest.link(OTP_ID))
    stubAnswer({
      kind: 'verification',
      verification: view({ sealed_action_url, channel: 'whatsapp', completion: 'inbound' }),
    })
    for (const [path, body] of [
      ['/otp/send', SEND],
      ['/otp/resend', { otp_id: OTP_ID }],
      ['/otp/cancel', { otp_id: OTP_ID }],
    ] as const)
      expect(await json(await edge.post(path, body))).to.include({
        action_url: url,
        channel: 'whatsapp',
        completion: 'inbound',
      })
  })

  it('to a verify says whether the code matched', async () => {
    const verified = { kind: 'verified', otp_id: OTP_ID, status: 'pending', matched: false, attempts_left: 4 } as const
    stubAnswer({ ...verified, sealed_token: null })
    expect(await json(await edge.post('/otp/verify', { otp_id: OTP_ID, code: '000000' }))).to.deep.equal({
      otp_id: OTP_ID,
      status: 'pending',
      matched: false,
      attempts_left: 4,
      verification_token: null,
    })
    stubAnswer({ ...verified, matched: true, sealed_token: edge.keyring.seal('otp_vt_abc', inFlight.token) })
    expect(await json(await edge.post('/otp/verify', { otp_id: OTP_ID, code: '000000' }))).to.include({
      matched: true,
      verification_token: 'otp_vt_abc',
    })
  })

  it('to an exchange has the recipient and the time of verification in UTC', async () => {
    stubAnswer({
      kind: 'exchanged',
      otp_id: OTP_ID,
      sealed_recipient: edge.keyring.seal('+447911123456', inFlight.recipient),
      recipient_type: 'phone',
      channel: 'telegram',
      verified_at: Date.UTC(2030, 1, 3, 4, 5, 6, 7),
    })
    expect(await json(await edge.post('/verifications/exchange', { verification_token: 'otp_vt_abc' }))).to.deep.equal({
      otp_id: OTP_ID,
      recipient: '+447911123456',
      recipient_type: 'phone',
      channel: 'telegram',
      verified_at: '2030-02-03T04:05:06.007Z',
    })
  })

  it('about a token that cannot be exchanged is 404', async () => {
    stubAnswer({ kind: 'no_such_token' })
    const response = await edge.post('/verifications/exchange', { verification_token: 'otp_vt_abc' })
    expect(response.status).to.equal(404)
    expect((await problemOf(response)).type).to.equal('HTTPException')
  })

  const STATUSES: Record<ErrorType, number> = {
    InvalidRecipientError: 422,
    NoEnabledChannelError: 409,
    GeoBlockedError: 403,
    InsufficientFundsError: 402,
    IpReputationBlockedError: 403,
    RateLimitExceededError: 429,
    InvalidIdempotencyKeyError: 422,
    ResendNotAllowedError: 409,
    ResendCooldownError: 429,
    ValidationError: 422,
    OtpNotFoundError: 404,
    OtpNotPendingError: 409,
    OtpExpiredError: 410,
    VerifyNotAllowedError: 409,
    PublishableSendDisabledError: 403,
    OriginNotAllowedError: 403,
    ChallengeRequiredError: 403,
    IdempotencyConflictError: 409,
    StepUpRequiredError: 403,
    ServiceUnavailableError: 503,
  }
  for (const [error, status] of Object.entries(STATUSES) as [ErrorType, number][])
    it(`with ${error} is ${status}`, async () => {
      stubAnswer({ kind: 'refused', error, detail: 'In words.' })
      const response = await edge.post('/otp/send', SEND)
      expect(response.status).to.equal(status)
      expect(response.headers.get('content-type')).to.equal('application/problem+json')
      const problem = await problemOf(response)
      const { title, doc_url, ...rest } = problem
      expect(doc_url).to.match(new RegExp(`#error-${error}$`))
      expect(title).to.be.a('string').and.not.equal('')
      expect(rest).to.deep.equal({
        type: error,
        status,
        detail: 'In words.',
        request_id: response.headers.get('x-request-id'),
      })
    })

  it('that names a limit has its scope and the seconds to wait, rounded up', async () => {
    for (const [retry_after_ms, seconds] of [
      [1, 1],
      [1_000, 1],
      [1_001, 2],
      [41_500, 42],
      [0, 1],
    ] as const) {
      stubAnswer({ kind: 'refused', error: 'RateLimitExceededError', detail: '…', scope: 'client_ip', retry_after_ms })
      const response = await edge.post('/otp/send', SEND)
      expect(response.headers.get('retry-after')).to.equal(String(seconds))
      expect(await problemOf(response)).to.include({ scope: 'client_ip', retry_after: seconds })
    }
  })

  it('that names a state has it as otp_status', async () => {
    stubAnswer({ kind: 'refused', error: 'OtpNotPendingError', detail: '…', otp_status: 'canceled' })
    expect(await problemOf(await edge.post('/otp/cancel', { otp_id: OTP_ID }))).to.include({ otp_status: 'canceled' })
  })

  it('that the actor is unavailable is 503 with Retry-After', async () => {
    stubAnswer({ kind: 'refused', error: 'ServiceUnavailableError', detail: '…' })
    const response = await edge.post('/otp/send', SEND)
    expect(response.status).to.equal(503)
    expect(response.headers.get('retry-after')).to.equal('1')
  })

  const outages: [string, Error, number][] = [
    ['comes too late', new CallTimeout('no answer within 5000 ms'), 503],
    ['cannot come because the broker is down or blocked', new Unavailable('down'), 503],
    ['is an error of the actor', new CallFailed('Error: recipient +447911123456'), 500],
    ['is an error of the edge', new TypeError('cannot read +447911123456'), 500],
  ]
  for (const [what, error, status] of outages)
    it(`that ${what} is ${status} and does not show the error`, async () => {
      edge.stubs.answer = () => Promise.reject(error)
      const response = await edge.post('/otp/send', SEND)
      expect(response.status).to.equal(status)
      expect(response.headers.get('retry-after')).to.equal(status === 503 ? '1' : null)
      const problem = await problemOf(response)
      expect(problem.type).to.equal(status === 503 ? 'ServiceUnavailableError' : 'HTTPException')
      expect(JSON.stringify(problem)).not.to.contain(error.message)
    })

  for (const [what, answer] of [
    ['that the actor failed', { kind: 'broken' }],
    ['of an unknown kind', { kind: 'from a newer release' }],
    ['that is null', null],
    ['with a link sealed for another verification', 'foreign link'],
  ] as const)
    it(`${what} is 500`, async () => {
      const sealed_action_url = edge.keyring.seal('https://wa.me/1', atRest.link('otp_other'))
      const foreign = { kind: 'verification', verification: view({ sealed_action_url }) }
      edge.stubs.answer = async () => (answer === 'foreign link' ? foreign : answer)
      const response = await edge.post('/otp/send', SEND)
      expect(response.status).to.equal(500)
      expect(await problemOf(response)).to.include({ type: 'HTTPException', detail: 'Internal Server Error.' })
    })

  it('never holds a code', async () => {
    stubAnswer({ kind: 'verification', verification: { ...view(), code: '482913' } as ReturnType<typeof view> })
    expect(await (await edge.post('/otp/send', SEND)).text()).not.to.contain('482913')
  })
})
