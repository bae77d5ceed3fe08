import { expect } from 'chai'
import { codeIn, describeLiveFlowOnce } from '../support/live-flow.ts'
import { type MailServer, startMailServer } from '../support/vendors/smtp.ts'

describeLiveFlowOnce('an email', live => {
  let server: MailServer
  before(async () => {
    server = await startMailServer()
  })
  after(() => server.close())

  it('carries the code in the language of the recipient, and stays "sent" because mail has no receipts', async () => {
    const config = { host: '127.0.0.1', port: server.port, from: 'Shop <otp@shop.example>' }
    const shop = await live.createApp([{ name: 'main', channel: 'email', type: 'smtp', config }])
    const to = 'reader@reader.example'
    const { otp_id } = (await shop.server.send(to, { locale: 'ar' })).body
    await live.waitForDeliveries(shop.server, otp_id, 'email sent')
    const [mail] = server.mails
    expect(mail?.to).to.deep.equal([to])
    expect(mail?.bodies['text/html']).to.match(/<html lang="ar" dir="rtl">/)
    const verified = await shop.server.verify(otp_id, codeIn(mail?.bodies['text/plain']))
    expect(verified.body).to.include({ matched: true, status: 'approved' })
    expect(await live.deliveryEvents(shop.app)).to.deep.equal([])
  })
})
