import { expect } from 'chai'
import { codeIn, describeLiveFlow, type LiveApp } from '../support/live-flow.ts'
import { startHttpGateway } from '../support/vendors/http-gateway.ts'
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

describeLiveFlow('an email', live => {
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
      'the first rejects the address of the sender',
      { at: 'connect', says: '554 5.7.1 Your address is listed' },
      [0, 1],
    ],
    ['the first cuts the connection', { at: 'mail', does: 'reset' }, [0, 1]],
    ['the first does not answer', { at: 'ehlo', does: 'hang' }, [0, 1]],
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

  it('is tried again when both servers ask to come back later', async () => {
    const shop = await open()
    for (const server of [shop.main, shop.spare]) server.next({ at: 'mail', says: '451 4.3.0 Later' })
    const otp_id = await sendOtp(shop)
    await live.waitForDeliveries(shop.server, otp_id, 'email sent')
    expect(mailCounts(shop)).to.deep.equal([1, 0])
  })

  describe('of an app with one SMTP server', () => {
    const openSingle = async (): Promise<LiveApp & { mail: MailServer }> => {
      const mail = await startMailServer()
      opened.push(mail)
      const config = { host: '127.0.0.1', port: mail.port, from: 'Shop <codes@shop.example>' }
      const providers = [{ name: 'mail', channel: 'email', type: 'smtp', config }]
      return { mail, ...(await live.createApp(providers, { routing: { default: ['email'] } })) }
    }

    it('carries a code that verifies', async () => {
      const shop = await openSingle()
      const otp_id = await sendOtp(shop)
      await live.waitForDeliveries(shop.server, otp_id, 'email sent')
      const verified = await shop.server.verify(otp_id, codeIn(shop.mail.mails[0]?.bodies['text/plain']))
      expect(verified.body).to.include({ matched: true })
    })

    it('fails at once for an unknown mailbox, and is retried while the server asks to come back later', async () => {
      const shop = await openSingle()
      shop.mail.next({ at: 'rcpt', says: '550 5.1.1 no such user' })
      await live.waitForDeliveries(shop.server, await sendOtp(shop), 'email failed')
      shop.mail.next({ at: 'rcpt', says: '451 4.3.0 later' }, { at: 'rcpt', says: '451 4.3.0 later' })
      await live.waitForDeliveries(shop.server, await sendOtp(shop), 'email sent')
      expect(shop.mail.mails).to.have.length(1)
    })
  })

  it('goes by a second provider of another type when the SMTP server does not answer after the mail', async () => {
    const mail = await startMailServer()
    const spare = await startHttpGateway(live.vendorOptions)
    opened.push(mail, spare)
    const config = { host: '127.0.0.1', port: mail.port, from: 'codes@shop.example' }
    const shop = await live.createApp(
      [
        { name: 'mail', channel: 'email', type: 'smtp', config },
        { name: 'spare', channel: 'email', type: 'http', config: { url: spare.url } },
      ],
      { routing: { default: ['email'] } },
    )
    mail.next({ at: 'body', does: 'hang' })
    await live.waitForDeliveries(shop.server, await sendOtp(shop), 'email sent')
    expect(spare.messages).to.have.length(1)
  })

  it('reuses an open connection, and opens another after the server has closed it', async () => {
    const shop = await open()
    for (let nth = 0; nth < 3; nth += 1) await live.waitForDeliveries(shop.server, await sendOtp(shop), 'email sent')
    expect([shop.main.mails.length, shop.main.connectionsMade()]).to.deep.equal([3, 1])
    shop.main.hangUp()
    await live.waitForDeliveries(shop.server, await sendOtp(shop), 'email sent')
    expect([...mailCounts(shop), shop.main.connectionsMade()]).to.deep.equal([4, 0, 2])
  })
})
