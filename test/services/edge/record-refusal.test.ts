// What the edge itself refuses of sends and resends is handed to the record of refusals. What the actor refuses, it records itself.
import { expect } from 'chai'
import { CallTimeout } from '../../../infra/broker/broker.ts'
import { Unavailable } from '../../../infra/unavailable.ts'
import type { OtpAnswer } from '../../../machines/calls.ts'
import { type EdgeOptions, KEYS, OTP_ID, startTestEdge, type TestEdge } from '../../support/edge.ts'

describe('refusals of the edge', () => {
  let edge: TestEdge
  afterEach(() => edge.close())

  const start = async (options: EdgeOptions = {}) => {
    edge = await startTestEdge(options)
  }
  const types = () => edge.refusals.map(({ call, type }) => `${call}: ${type}`)
  const to = { recipient: '+447911123456' }

  it('name the key, the request and the error, and no recipient', async () => {
    await start()
    const headers = { 'X-Request-Id': 'order-17' }
    expect((await edge.post('/otp/send', { ...to, channel: 'sms' }, { headers })).status).to.equal(422)
    expect(edge.refusals).to.deep.equal([
      {
        by: { key_id: 'key_sktest', kind: 'server', mode: 'test', app_id: 'app_shop', company_id: 'cmp_acme' },
        call: 'send',
        request_id: 'order-17',
        type: 'ValidationError',
        scope: null,
        recipient: null,
      },
    ])
  })

  it('are recorded for every error that comes before the call', async () => {
    await start({ settings: { allowed_origins: ['https://shop.example'] } })
    await edge.post('/otp/send', to, { key: KEYS.deviceLive })
    await edge.post('/otp/resend', { otp_id: OTP_ID }, { key: KEYS.deviceLive })
    await edge.post('/otp/send', to, { key: KEYS.deviceTest, headers: { Origin: 'https://evil.example' } })
    await edge.post('/otp/send', to, { headers: { 'Idempotency-Key': 'x'.repeat(129) } })
    await edge.post('/otp/send', [])
    await edge.post('/otp/resend', { otp_id: 'rubbish' })
    expect(types()).to.deep.equal([
      'send: PublishableSendDisabledError',
      'resend: PublishableSendDisabledError',
      'send: OriginNotAllowedError',
      'send: InvalidIdempotencyKeyError',
      'send: ValidationError',
      'resend: OtpNotFoundError',
    ])
  })

  it('do not take a body that is no JSON, or too large, for one with a wrong member', async () => {
    await start()
    const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${KEYS.serverTest}` }
    const noJson = await edge.request('/api/v1/otp/send', { method: 'POST', headers, body: '{' })
    const tooLarge = await edge.post('/otp/send', { recipient: '1'.repeat(20_000) })
    expect([noJson.status, tooLarge.status]).to.deep.equal([400, 413])
    expect(types()).to.deep.equal(['send: HTTPException', 'send: HTTPException'])
  })

  it('are recorded when the edge is overloaded or cannot reach the actor', async () => {
    await start({ maxInFlight: 0 })
    expect((await edge.post('/otp/send', to)).status).to.equal(503)
    expect(types(), 'a key that is looked up has no place either, so the caller is not known').to.deep.equal([])
    await edge.close()
    await start()
    edge.stubs.answer = () => Promise.reject(new Unavailable('away'))
    expect((await edge.post('/otp/send', to)).status).to.equal(503)
    expect(types()).to.deep.equal(['send: ServiceUnavailableError'])
  })

  it('leave a call without an answer in time to the actor, which may have executed it', async () => {
    await start()
    edge.stubs.answer = () => Promise.reject(new CallTimeout('no answer within 5000 ms'))
    expect((await edge.post('/otp/send', to)).status).to.equal(503)
    expect(types()).to.deep.equal([])
  })

  it('are not recorded for accepted sends, refusals of the actor, bugs, other calls, and callers without a key', async () => {
    await start()
    expect((await edge.post('/otp/send', to)).status).to.equal(200)
    const refused: OtpAnswer = { kind: 'refused', error: 'GeoBlockedError', detail: 'blocked' }
    edge.stubs.answer = async () => refused
    expect((await edge.post('/otp/send', to)).status).to.equal(403)
    edge.stubs.answer = () => Promise.reject(new TypeError('a bug'))
    expect((await edge.post('/otp/send', to)).status).to.equal(500)
    expect((await edge.post('/otp/verify', {})).status).to.equal(422)
    expect((await edge.post('/otp/send', to, { key: 'sk_test_unknown' })).status).to.equal(401)
    expect(edge.refusals).to.deep.equal([])
  })
})
