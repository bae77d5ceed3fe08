import { expect } from 'chai'
import { newId } from '../../infra/ids.ts'
import { type Answer, type Caller, refusal } from '../support/api-caller.ts'
import { describeFlow } from '../support/shared-flow.ts'

const NOT_FOUND = { type: 'OtpNotFoundError', status: 404 }

const callEverything = (by: Caller, otp_id: string): Promise<Answer[]> =>
  Promise.all([by.status(otp_id), by.verify(otp_id, '123456'), by.resend(otp_id), by.cancel(otp_id)])

describeFlow('the status of a verification', flow => {
  it('shows every member to a server key', async () => {
    const { server } = await flow.createTenant()
    const { otp_id, to } = await flow.startVerification(server)
    const body = await flow.eventually(async () => {
      const { body } = await server.status(otp_id)
      expect(body.deliveries[0].status).to.equal('delivered')
      return body
    })
    const { created_at, expires_at, resend_at, deliveries, ...rest } = body
    expect(rest).to.deep.equal({
      otp_id,
      status: 'pending',
      channel: 'sms',
      action_url: null,
      completion: 'code',
      masked_recipient: `+1****${to.slice(-2)}`,
      verified_at: null,
      attempts_left: 5,
    })
    expect(Date.parse(expires_at) - Date.parse(created_at)).to.equal(600_000)
    expect(Date.parse(resend_at) - Date.parse(created_at)).to.equal(30_000)
    expect(deliveries).to.have.length(1)
    expect(deliveries[0]).to.have.all.keys('delivery_id', 'channel', 'status', 'created_at', 'updated_at')
    expect(deliveries[0].channel).to.equal('sms')
  })

  it('shows the same to a publishable key, except the deliveries', async () => {
    const { server, device } = await flow.createTenant()
    const { otp_id } = await flow.startVerification(device)
    const [{ body: seen }, { body: all }] = [await device.status(otp_id), await server.status(otp_id)]
    const { deliveries, ...rest } = all
    expect(deliveries).to.have.length(1)
    expect(seen).to.deep.equal(rest)
  })

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
