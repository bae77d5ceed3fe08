import { expect } from 'chai'
import { codeIn, describeLiveFlowOnce, type LiveApp } from '../support/live-flow.ts'
import { type MailServer, startMailServer } from '../support/vendors/smtp.ts'

let addresses = 0
const freshAddress = (): string => {
  addresses += 1
  return `reader${addresses}@reader.example`
}

/** An app that sends email by one SMTP server, and by a second one when the first fails. */
interface Shop extends LiveApp {
  main: MailServer
  spare: MailServer
}

describeLiveFlowOnce('an email', live => {
  const opened: { close(): Promise<void> }[] = []
  afterEach(() => Promise.all(opened.splice(0).map(one => one.close())))

  async function open(): Promise<Shop> {
    const servers = { main: await startMailServer(), spare: await startMailServer() }
    opened.push(servers.main, servers.spare)
    const providers = Object.entries(servers).map(([name, { port }]) => ({
      name,
      channel: 'email',
      type: 'smtp',
      config: { host: '127.0.0.1', port, from: `Shop <${name}@shop.example>` },
    }))
    return { ...servers, ...(await live.createApp(providers)) }
  }
  const sendOtp = async ({ server }: LiveApp, to = freshAddress(), locale = 'en'): Promise<string> => {
    const { body, text } = await server.send(to, { locale })
    expect(body.status, text).to.equal('pending')
    return body.otp_id
  }

  it('carries the code in the language of the recipient, and stays "sent" because mail has no receipts', async () => {
    const shop = await open()
    const to = freshAddress()
    const otp_id = await sendOtp(shop, to, 'ar')
    await live.waitForDeliveries(shop.server, otp_id, 'email sent')
    const [mail] = shop.main.mails
    expect(mail?.to).to.deep.equal([to])
    expect(mail?.bodies['text/html']).to.match(/<html lang="ar" dir="rtl">/)
    const verified = await shop.server.verify(otp_id, codeIn(mail?.bodies['text/plain']))
    expect(verified.body).to.include({ matched: true, status: 'approved' })
    expect(await live.deliveryEvents(shop.app)).to.deep.equal([])
  })

  it('goes by the second server when the first cuts the connection after the mail, as no receipt will follow', async () => {
    const shop = await open()
    shop.main.next({ at: 'body', does: 'reset' })
    const otp_id = await sendOtp(shop)
    await live.waitForDeliveries(shop.server, otp_id, 'email sent')
    expect([shop.main.mails.length, shop.spare.mails.length]).to.deep.equal([1, 1])
    const code = codeIn(shop.spare.mails[0]?.bodies['text/plain'])
    expect((await shop.server.verify(otp_id, code)).body.matched).to.equal(true)
  })
})
