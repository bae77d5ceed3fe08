import { expect } from 'chai'
import { codeIn, describeLiveFlowOnce, type LiveApp } from '../support/live-flow.ts'
import { type MailServer, type SmtpFault, startMailServer } from '../support/vendors/smtp.ts'

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

  async function open(settings: object = {}): Promise<Shop> {
    const servers = { main: await startMailServer(), spare: await startMailServer() }
    opened.push(servers.main, servers.spare)
    const providers = Object.entries(servers).map(([name, { port }]) => ({
      name,
      channel: 'email',
      type: 'smtp',
      config: { host: '127.0.0.1', port, from: `Shop <${name}@shop.example>` },
    }))
    return { ...servers, ...(await live.createApp(providers, settings)) }
  }
  const sendOtp = async ({ server }: LiveApp, to = freshAddress(), locale = 'en'): Promise<string> => {
    const { body, text } = await server.send(to, { locale })
    expect(body.status, text).to.equal('pending')
    return body.otp_id
  }
  const mailCounts = ({ main, spare }: Shop): [number, number] => [main.mails.length, spare.mails.length]

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

  it("has the app's own subject, text and HTML", async () => {
    const own = { subject: 'Sign in to {app}', text: 'Hi! {code}', html: '<h1>{code}</h1><p>{app}</p>' }
    const shop = await open({ texts: { email: { en: own } } })
    const otp_id = await sendOtp(shop)
    await live.waitForDeliveries(shop.server, otp_id, 'email sent')
    const [mail] = shop.main.mails
    const code = codeIn(mail?.bodies['text/plain'])
    expect(mail?.headers.subject).to.equal('Sign in to Shop')
    expect(mail?.bodies['text/plain']?.trim()).to.equal(`Hi! ${code}`)
    expect(mail?.bodies['text/html']).to.contain(`<h1>${code}</h1><p>Shop</p>`)
    expect((await shop.server.verify(otp_id, code)).body.matched).to.equal(true)
  })

  it('to an unknown mailbox fails at once', async () => {
    const shop = await open()
    shop.main.next({ at: 'rcpt', says: '550 5.1.1 No such user' })
    const otp_id = await sendOtp(shop)
    await live.waitForDeliveries(shop.server, otp_id, 'email failed')
    expect([...mailCounts(shop), shop.spare.connectionsMade()]).to.deep.equal([0, 0, 0])
    await live.eventually(async () => expect(await live.deliveryEvents(shop.app)).to.deep.equal(['delivery.failed']))
  })

  const failures: [cause: string, fault: SmtpFault, mailCounts: [number, number]][] = [
    ['the first asks to come back later', { at: 'rcpt', says: '450 4.2.0 Greylisted' }, [0, 1]],
    [
      'the first cuts the connection after the mail, because no receipt will follow',
      { at: 'body', does: 'reset' },
      [1, 1],
    ],
  ]
  for (const [cause, fault, expected] of failures)
    it(`goes by the second server when ${cause}`, async () => {
      const shop = await open()
      shop.main.next(fault)
      const otp_id = await sendOtp(shop)
      await live.waitForDeliveries(shop.server, otp_id, 'email sent')
      expect(mailCounts(shop)).to.deep.equal(expected)
      const code = codeIn(shop.spare.mails[0]?.bodies['text/plain'])
      expect((await shop.server.verify(otp_id, code)).body.matched).to.equal(true)
    })
})
