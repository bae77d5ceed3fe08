import { expect } from 'chai'
import { codeIn, describeLiveFlow, type LiveApp } from '../support/live-flow.ts'
import { type MailServer, type SmtpFault, startMailServer } from '../support/vendors/smtp.ts'

let addresses = 0
const freshAddress = (): string => {
  addresses += 1
  return `reader${addresses}@reader.example`
}

interface Shop extends LiveApp {
  main: MailServer
  spare: MailServer
}

describeLiveFlow('mail', live => {
  const opened: MailServer[] = []
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
  const taken = ({ main, spare }: Shop): [number, number] => [main.mails.length, spare.mails.length]

  it('brings the code in the reader’s language; nobody says that it arrived', async () => {
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

  it('to a mailbox that is none fails at once', async () => {
    const shop = await open()
    shop.main.next({ at: 'rcpt', says: '550 5.1.1 No such user' })
    const otp_id = await sendOtp(shop)
    await live.waitForDeliveries(shop.server, otp_id, 'email failed')
    expect([...taken(shop), shop.spare.connectionsMade()]).to.deep.equal([0, 0, 0])
    await live.eventually(async () => expect(await live.deliveryEvents(shop.app)).to.deep.equal(['delivery.failed']))
  })

  const failures: [title: string, trouble: SmtpFault, taken: [number, number]][] = [
    ['is told to come later', { at: 'rcpt', says: '450 4.2.0 Greylisted' }, [0, 1]],
    ['is not welcome', { at: 'connect', says: '554 5.7.1 Your address is listed' }, [0, 1]],
    ['is cut off', { at: 'mail', does: 'reset' }, [0, 1]],
    ['is kept waiting', { at: 'ehlo', does: 'hang' }, [0, 1]],
    ['is cut off once it was handed over, for no receipt will ever tell', { at: 'body', does: 'reset' }, [1, 1]],
  ]
  for (const [title, trouble, expected] of failures)
    it(`goes by the next server when it ${title}`, async () => {
      const shop = await open()
      shop.main.next(trouble)
      const otp_id = await sendOtp(shop)
      await live.waitForDeliveries(shop.server, otp_id, 'email sent')
      expect(taken(shop)).to.deep.equal(expected)
      const code = codeIn(shop.spare.mails[0]?.bodies['text/plain'])
      expect((await shop.server.verify(otp_id, code)).body.matched).to.equal(true)
    })

  it('goes in another round when both have trouble', async () => {
    const shop = await open()
    for (const server of [shop.main, shop.spare]) server.next({ at: 'mail', says: '451 4.3.0 Later' })
    const otp_id = await sendOtp(shop)
    await live.waitForDeliveries(shop.server, otp_id, 'email sent')
    expect(taken(shop)).to.deep.equal([1, 0])
  })

  it('shares connections, and outlives the server’s restart', async () => {
    const shop = await open()
    for (let nth = 0; nth < 3; nth += 1) await live.waitForDeliveries(shop.server, await sendOtp(shop), 'email sent')
    expect([shop.main.mails.length, shop.main.connectionsMade()]).to.deep.equal([3, 1])
    shop.main.hangUp()
    await live.waitForDeliveries(shop.server, await sendOtp(shop), 'email sent')
    expect([...taken(shop), shop.main.connectionsMade()]).to.deep.equal([4, 0, 2])
  })
})
