import { expect } from 'chai'
import { refusal } from '../support/api-caller.ts'
import { CACHE_TTL_MS, freshNumber } from '../support/flow.ts'
import { describeFlowOnce } from '../support/shared-flow.ts'

const REFUSED = { type: 'HTTPException', status: 401, code: 'invalid_key' }

describeFlowOnce('a revoked API key', flow => {
  const revoke = async (id: string): Promise<void> => {
    expect((await flow.admin('DELETE', `/keys/${id}`)).status).to.equal(204)
  }

  it('is refused by every operation within five seconds, and another key of the app continues its verifications', async () => {
    const { app, server } = await flow.createTenant()
    const key = await flow.createKey(app, 'server')
    const { otp_id, code } = await flow.startVerification(key)
    await revoke(key.id)
    await flow.advance(CACHE_TTL_MS)
    const answers = await Promise.all([
      key.send(freshNumber()),
      key.resend(otp_id),
      key.verify(otp_id, code),
      key.status(otp_id),
      key.cancel(otp_id),
      key.exchange('otp_vt_x'),
    ])
    for (const answer of answers) expect(refusal(answer)).to.deep.equal(REFUSED)
    expect((await server.verify(otp_id, code)).body).to.include({ matched: true, attempts_left: 5 })
  })

  it('is refused at once by a process that has not cached it', async () => {
    const { app } = await flow.createTenant()
    const key = await flow.createKey(app, 'publishable')
    await revoke(key.id)
    const answer = await key.send(freshNumber())
    expect(refusal(answer)).to.deep.equal(REFUSED)
    expect(answer.headers.get('www-authenticate')).to.include('Bearer')
  })

  it('gets the same answer as a key that never existed', async () => {
    const { app } = await flow.createTenant()
    const key = await flow.createKey(app, 'server')
    await revoke(key.id)
    const [revoked, unknown] = [await key.send(freshNumber()), await flow.caller('sk_test_never').send(freshNumber())]
    expect({ ...revoked.body, request_id: '' }).to.deep.equal({ ...unknown.body, request_id: '' })
  })
})
