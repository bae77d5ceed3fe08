import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { freshNumber } from '../support/flow.ts'
import { describeLiveFlow, type LiveApp } from '../support/live-flow.ts'
import { startTelegram, type Telegram, telegramReceipt } from '../support/vendors/telegram.ts'
import type { Script } from '../support/vendors/vendor.ts'

interface Shop extends LiveApp {
  telegram: Telegram
}

describeLiveFlow('a Telegram message', live => {
  const opened: Telegram[] = []
  afterEach(() => Promise.all(opened.splice(0).map(one => one.close())))

  async function open(script: Script = {}): Promise<Shop> {
    const telegram = await startTelegram({ ...live.vendorOptions, token: `AAG${randomUUID()}` })
    opened.push(telegram)
    telegram.always(script)
    const { token, url: base_url } = telegram
    const providers = [{ name: 'gate', channel: 'telegram', type: 'telegram_gateway', config: { token, base_url } }]
    return { telegram, ...(await live.createApp(providers)) }
  }
  const sendOtp = async ({ server }: LiveApp): Promise<string> => {
    const { body, text } = await server.send(freshNumber())
    expect(body.status, text).to.equal('pending')
    return body.otp_id
  }
  const waitForEvents = ({ app }: LiveApp, expected: string[]): Promise<unknown> =>
    live.eventually(async () => expect(await live.deliveryEvents(app)).to.deep.equal(expected))

  it('carries the code, and is delivered when it is read', async () => {
    const shop = await open({ receipts: ['sent', 'delivered', 'read'] })
    const otp_id = await sendOtp(shop)
    await live.waitForDeliveries(shop.server, otp_id, 'telegram delivered')
    await shop.telegram.idle()
    expect(shop.telegram.calls.map(({ status }) => status)).to.deep.equal([200, 200, 200])
    const code = shop.telegram.messages[0]?.code ?? ''
    expect((await shop.server.verify(otp_id, code)).body).to.include({ matched: true, status: 'approved' })
    await waitForEvents(shop, ['delivery.delivered'])
  })

  const endings: [cause: string, script: Script, deliveryStatus: string, event: string][] = [
    ['the gateway reports that it expired', { receipts: ['sent', 'failed'] }, 'failed', 'delivery.failed'],
    ['the gateway does not know the recipient', { fault: { kind: 'refused' } }, 'failed', 'delivery.failed'],
    [
      'the receipt comes before the answer',
      { early: true, receipts: ['delivered'] },
      'delivered',
      'delivery.delivered',
    ],
    [
      'the gateway sends a receipt but no answer',
      { fault: { kind: 'hang' }, receipts: ['delivered'] },
      'delivered',
      'delivery.delivered',
    ],
    [
      'receipts are repeated and out of order',
      { receipts: ['read', 'sent', 'read', 'failed'] },
      'delivered',
      'delivery.delivered',
    ],
  ]
  for (const [cause, script, deliveryStatus, event] of endings)
    it(`ends as "${deliveryStatus}", with one event, when ${cause}`, async () => {
      const shop = await open(script)
      await live.waitForDeliveries(shop.server, await sendOtp(shop), `telegram ${deliveryStatus}`)
      await shop.telegram.idle()
      await waitForEvents(shop, [event])
      expect(shop.telegram.requests).to.have.lengthOf(1)
    })

  it('takes receipts from its own provider only, correctly signed and recent', async () => {
    const [shop, other] = [await open(), await open()]
    const otp_id = await sendOtp(shop)
    await live.waitForDeliveries(shop.server, otp_id, 'telegram sent')
    const [message] = shop.telegram.messages
    if (!message) throw new Error('nothing was sent')
    // First signed with the token of another app, then correctly signed but sent to the URL of that other app.
    expect(await other.telegram.report(message, 'delivered')).to.equal(401)
    const elsewhere = (message.callback_url ?? '').replace(shop.app, other.app)
    expect(await other.telegram.report({ ...message, callback_url: elsewhere }, 'delivered')).to.equal(200)
    expect(await live.deliveries(shop.server, otp_id)).to.deep.equal(['telegram sent'])
    // Correctly signed, but more than five minutes old.
    const late = telegramReceipt(message, 'delivered', { ...shop.telegram, now: live.clock.now() - 301_000 })
    expect(late && (await shop.telegram.call(late))).to.equal(401)
    expect(await shop.telegram.report(message, 'delivered')).to.equal(200)
    await live.waitForDeliveries(shop.server, otp_id, 'telegram delivered')
  })
})
