import { expect } from 'chai'
import { newId } from '../../infra/ids.ts'
import { type Answer, type Caller, refusal } from '../support/api-caller.ts'
import { describeFlowOnce } from '../support/shared-flow.ts'

const NOT_FOUND = { type: 'OtpNotFoundError', status: 404 }

const callEverything = (by: Caller, otp_id: string): Promise<Answer[]> =>
  Promise.all([by.status(otp_id), by.verify(otp_id, '123456'), by.resend(otp_id), by.cancel(otp_id)])

describeFlowOnce('the status of a verification', flow => {
  it('is not found with a key of another app or mode, and neither is the verification for any other call', async () => {
    const mine = await flow.createTenant()
    const sibling = await flow.createTenant({}, mine.company)
    const live = await flow.createKey(mine.app, 'server', 'live')
    const { otp_id, code } = await flow.startVerification(mine.server)
    for (const by of [sibling.server, live])
      for (const answer of await callEverything(by, otp_id)) expect(refusal(answer)).to.deep.equal(NOT_FOUND)
    expect((await mine.server.verify(otp_id, code)).body.attempts_left, 'no attempt was counted').to.equal(5)
  })

  it('is not found for a malformed or unknown id, and neither is the verification for any other call', async () => {
    const { server } = await flow.createTenant()
    for (const id of ['nonsense', 'otp_', 'dlv_01k2m8x4e9s7v3hqz5tnw6yb0c', newId('otp', flow.clock.now())])
      for (const answer of await callEverything(server, id)) expect(refusal(answer), id).to.deep.equal(NOT_FOUND)
  })
})
