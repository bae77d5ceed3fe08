import { expect } from 'chai'
import { describeFlowOnce } from '../support/shared-flow.ts'

describeFlowOnce('a cancel', flow => {
  it('by a person of the company ends it as one by a server key does, and is in the audit log', async () => {
    const { company, app, server } = await flow.createTenant()
    const { otp_id, code } = await flow.startVerification(server)
    const path = `/verifications/${otp_id}/cancel`
    expect((await flow.admin('POST', path)).body).to.include({ otp_id, status: 'canceled' })
    const { items } = (await flow.admin('GET', `/audit?company_id=${company}`)).body
    const record = items.find(({ action }: { action: string }) => action === 'verification.cancel')
    expect(record).to.deep.include({ target: otp_id, outcome: 'done' })
    expect(record.before).to.deep.equal({ app_id: app, status: 'pending', channel: 'sms', sends: 1 })
    expect(record.after).to.deep.equal({ app_id: app, status: 'canceled', channel: 'sms', sends: 1 })
    expect((await flow.admin('POST', path)).body, 'twice is the same').to.include({ otp_id, status: 'canceled' })
    const later = (await flow.admin('GET', `/audit?company_id=${company}`)).body.items
    const cancels = later.filter(({ action }: { action: string }) => action === 'verification.cancel')
    expect(cancels, 'a call that changes nothing leaves no record').to.have.length(1)
    expect((await server.verify(otp_id, code)).body.type).to.equal('OtpNotPendingError')
    const approved = await flow.startVerification(server)
    await server.verify(approved.otp_id, approved.code)
    const refused = await flow.admin('POST', `/verifications/${approved.otp_id}/cancel`)
    expect(refused.body).to.include({ type: 'OtpNotPendingError', status: 409, otp_status: 'approved' })
  })

  it('keeps messages that are still queued from being sent', async () => {
    const { server, app } = await flow.createTenant({ send_attempts: 3, resend_cooldown_seconds: [0] })
    const { otp_id, to } = await flow.startVerification(server)
    await Promise.all([server.resend(otp_id), server.cancel(otp_id)])
    const { deliveries } = await flow.eventually(async () => {
      const { body } = await server.status(otp_id)
      for (const { status } of body.deliveries) expect(status).to.be.oneOf(['delivered', 'failed'])
      return body
    })
    // Either call may win the race: a message in the inbox was sent before the cancel, and any other delivery failed.
    const sent = (await flow.inbox(to)).map(({ delivery_id }) => delivery_id)
    for (const { delivery_id, status } of deliveries)
      expect(status).to.equal(sent.includes(delivery_id) ? 'delivered' : 'failed')
    await flow.eventually(async () => {
      const deliveryEvents = (await flow.events(app)).filter(({ type }) => type.startsWith('delivery.'))
      expect(deliveryEvents).to.have.length(deliveries.length)
    })
  })
})
