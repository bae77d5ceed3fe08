// How the edge turns the OTP actor's answers into responses: bodies with opened secrets, refusals as problems, outages as 503.
import { expect } from 'chai'
import { CallFailed, CallTimeout } from '../../../infra/broker/broker.ts'
import { Unavailable } from '../../../infra/unavailable.ts'
import type { OtpAnswer } from '../../../machines/calls.ts'
import { atRest } from '../../../services/domain/verifications/encryption-context.ts'
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
    stubAnswer({ kind: 'verification', verification: { ...view(), code: '482913' } as ReturnType<typeof view> })
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

  it('with a refusal is a problem with the status of its error', async () => {
    for (const [error, status] of [
      ['InvalidRecipientError', 422],
      ['InsufficientFundsError', 402],
      ['RateLimitExceededError', 429],
      ['OtpNotFoundError', 404],
      ['OtpExpiredError', 410],
      ['IdempotencyConflictError', 409],
      ['ServiceUnavailableError', 503],
    ] as const) {
      stubAnswer({ kind: 'refused', error, detail: 'In words.' })
      const response = await edge.post('/otp/send', SEND)
      expect(response.headers.get('retry-after')).to.equal(status === 503 ? '1' : null)
      expect([response.status, response.headers.get('content-type')]).to.deep.equal([
        status,
        'application/problem+json',
      ])
      const { title, doc_url, ...rest } = await problemOf(response)
      expect(doc_url).to.match(new RegExp(`#error-${error}$`))
      expect(title).to.be.a('string').and.not.equal('')
      const request_id = response.headers.get('x-request-id')
      expect(rest).to.deep.equal({ type: error, status, detail: 'In words.', request_id })
    }
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
})
