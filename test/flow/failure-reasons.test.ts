// Why did the code not arrive? The reason over HTTP: in GET status for server keys, in the admin views, in the timeline with what the
// vendor said, and in the log; and nothing of it in webhooks. All reasons are in test/services/channel/failure-reasons.test.ts.
import { expect } from 'chai'
import type { FailureReason } from '../../machines/otp.ts'
import { CACHE_TTL_MS, freshNumber } from '../support/flow.ts'
import { codeIn, describeLiveFlowOnce, type LiveApp, PUBLIC_URL } from '../support/live-flow.ts'
import { collectionNames, rawDocuments } from '../support/raw-documents.ts'
import { startHttpGateway } from '../support/vendors/http-gateway.ts'
import { startMeta } from '../support/vendors/meta.ts'
import { startTwilio, type Twilio, twilioError } from '../support/vendors/twilio.ts'

type Entry = Record<string, unknown> & { happened: string }
interface Shop extends LiveApp {
  twilio: Twilio
}

describeLiveFlowOnce('why a code did not arrive', live => {
  const opened: { close(): Promise<void> }[] = []
  afterEach(() => Promise.all(opened.splice(0).map(one => one.close())))
  const opening = async <T extends { close(): Promise<void> }>(start: Promise<T>): Promise<T> => {
    const vendor = await start
    opened.push(vendor)
    return vendor
  }

  async function openTwilio(settings: object = {}, more: readonly object[] = []): Promise<Shop> {
    const twilio = await opening(startTwilio(live.vendorOptions))
    const { account_sid, auth_token, url: base_url } = twilio
    const config = { account_sid, auth_token, base_url, from: '+15550001111' }
    const app = await live.createApp([{ name: 'main', channel: 'sms', type: 'twilio', config }, ...more], settings)
    return { ...app, twilio }
  }
  async function sendTo({ server }: LiveApp, to = freshNumber()): Promise<string> {
    const { body, text } = await server.send(to)
    expect(body.status, text).to.equal('pending')
    return body.otp_id
  }
  const timelineOf = async (otp_id: string): Promise<Entry[]> =>
    (await live.admin('GET', `/verifications/${otp_id}`)).body.timeline
  const entriesOf = async (otp_id: string, happened: string): Promise<Entry[]> =>
    (await timelineOf(otp_id)).filter(entry => entry.happened === happened)

  /** Waits until the latest delivery has failed, and expects its reason in every place that shows it. */
  async function expectReason({ server, app }: LiveApp, otp_id: string, reason: FailureReason): Promise<void> {
    await live.eventually(async () => {
      const { deliveries } = (await server.status(otp_id)).body
      expect(deliveries.at(-1)).to.include({ status: 'failed', reason })
    })
    const { deliveries } = (await live.admin('GET', `/verifications/${otp_id}`)).body
    expect(deliveries.at(-1)).to.include({ reason }).and.not.have.any.keys('vendor_code', 'vendor_text')
    const [listed] = (await live.admin('GET', `/apps/${app}/verifications`)).body.items
    expect(listed.deliveries.at(-1)).to.include({ reason })
    const [entry] = (await entriesOf(otp_id, 'delivery.failed')).slice(-1)
    expect(entry).to.include({ reason })
    const { delivery_id } = deliveries.at(-1)
    const lines = () => live.countersign.log.lines().filter(line => line.delivery_id === delivery_id)
    const failures = () => lines().filter(({ msg }) => msg === 'delivery.failed')
    // The line is written after the failure is saved.
    await live.eventually(() => expect(failures().map(line => line.reason)).to.deep.equal([reason]))
    expect(failures()[0]).to.include({ otp_id, app_id: app, channel: deliveries.at(-1).channel })
    await live.eventually(async () => {
      const events = (await live.events(app)).filter(({ payload }) => payload.delivery_id === delivery_id)
      expect(events.map(({ payload }) => payload)).to.deep.equal([{ otp_id, delivery_id, status: 'failed' }])
    })
  }

  it('recipient_unreachable: the vendor refuses the number, and its words are shown without the number', async () => {
    const shop = await openTwilio()
    const to = freshNumber()
    const message = `The 'To' number ${to.slice(0, 5)} ${to.slice(5)} is not valid, see https://t.example/?key=s3cret`
    shop.twilio.next({ fault: { kind: 'answers', answer: twilioError(400, 21211, message) } })
    const otp_id = await sendTo(shop, to)
    await expectReason(shop, otp_id, 'recipient_unreachable')
    const [call] = await entriesOf(otp_id, 'provider.called')
    expect(call).to.include({
      provider: 'main',
      result: 'refused',
      http_status: 400,
      vendor_code: '21211',
      vendor_text: "The 'To' number [phone] is not valid, see [url]",
    })
    expect(call?.ms).to.be.a('number')
    const [line] = live.countersign.log
      .lines()
      .filter(({ msg, otp_id: id }) => msg === 'delivery.attempted' && id === otp_id)
    expect(line).to.include({ http_status: 400, vendor_code: '21211', outcome: 'refused' })
    expect(live.countersign.log.output()).to.not.include(to.slice(2))
    for (const name of collectionNames)
      expect((await rawDocuments(live.countersign.engines.store, name)).join(), name).to.not.include(to.slice(5))
  })

  it("is told by a receipt too, and erased with the recipient and the vendor's words", async () => {
    const shop = await openTwilio()
    const to = freshNumber()
    const answer = twilioError(400, 21211, 'Peculiar words of a vendor')
    shop.twilio.next({ fault: { kind: 'answers', answer } }, { receipts: ['failed'] })
    await expectReason(shop, await sendTo(shop, to), 'recipient_unreachable')
    const otp_id = await sendTo(shop, to)
    await expectReason(shop, otp_id, 'recipient_unreachable')
    const [failed] = await entriesOf(otp_id, 'delivery.failed')
    const said = { vendor_code: '30003', vendor_text: 'Unreachable destination handset' }
    expect(failed, 'by its receipt').to.include({ provider: 'main', ...said })
    const { store } = live.countersign.engines
    const wordsIn = async () => {
      const all = [...(await rawDocuments(store, 'otps')), ...(await rawDocuments(store, 'attempts'))]
      const own = all.filter(one => one.includes(shop.app))
      return own.filter(one => /Peculiar words|Unreachable destination/.test(one)).length
    }
    expect(await wordsIn()).to.equal(2)
    expect((await live.admin('POST', `/apps/${shop.app}/erase`, { recipient: to })).status).to.equal(200)
    expect(await wordsIn()).to.equal(0)
  })

  it('superseded: the verification was canceled before its message was sent', async () => {
    const shop = await openTwilio()
    shop.twilio.next({ fault: { kind: 'hang' } })
    const otp_id = await sendTo(shop)
    await live.eventually(() => expect(shop.twilio.messages).to.have.length(1))
    await shop.server.cancel(otp_id)
    await expectReason(shop, otp_id, 'superseded')
  })

  describe('insufficient_funds', () => {
    before(async () => {
      const prices = [
        { channel: 'telegram', country: 'US', micros: 90_000 },
        { channel: 'whatsapp', country: '*', micros: 900_000 },
        { channel: 'whatsapp', kind: 'reply', country: 'US', micros: 50_000 },
      ]
      expect((await live.admin('PUT', '/prices', { prices })).status).to.equal(200)
      await live.advance(CACHE_TTL_MS)
    })
    after(async () => {
      await live.admin('PUT', '/prices', { prices: [] })
      await live.advance(CACHE_TTL_MS)
    })
    const credit = (app: string, micros: number) =>
      live.admin('POST', `/companies/${app.replace('app_', 'cmp_')}/credit`, { micros, note: 'a transfer' })

    it('the fallback could not be paid', async () => {
      const gate = await opening(startHttpGateway())
      const settings = { auto_fallback: true, routing: { default: ['sms', 'telegram'] } }
      const second = { name: 'gate', channel: 'telegram', type: 'http', config: { url: gate.url } }
      const shop = await openTwilio(settings, [second])
      shop.twilio.next({ fault: { kind: 'refused' } })
      const otp_id = await sendTo(shop)
      await expectReason(shop, otp_id, 'insufficient_funds')
      const { deliveries, channel } = (await shop.server.status(otp_id)).body
      expect(deliveries.map((one: Entry) => [one.channel, one.reason])).to.deep.equal([
        ['sms', 'recipient_unreachable'],
        ['telegram', 'insufficient_funds'],
      ])
      expect(channel).to.equal('sms')
      expect(gate.requests).to.deep.equal([])
      const { body } = await live.admin('GET', `/companies/${shop.app.replace('app_', 'cmp_')}/reconciliation`)
      expect(body.problems).to.deep.equal([])
    })

    it('the answer in the chat could not be paid, and comes once it can', async () => {
      const callbackUrl = `${PUBLIC_URL}/callbacks/${live.nextAppId()}/meta`
      const meta = await opening(startMeta({ ...live.vendorOptions, callbackUrl: () => callbackUrl }))
      const { phone_number_id, access_token, app_secret, verify_token, url: base_url } = meta
      const config = { phone_number_id, access_token, app_secret, verify_token, base_url }
      const app = await live.createApp([{ name: 'meta', channel: 'whatsapp', type: 'whatsapp_cloud', config }], {
        routing: { default: ['whatsapp'] },
        channels: { whatsapp: { mode: 'link_code', business_number: '+15550001111' } },
      })
      await credit(app.app, 50_000)
      const to = freshNumber()
      const { body } = await app.server.send(to)
      const words = new URL(body.action_url).searchParams.get('text') ?? ''
      await credit(app.app, -50_000)
      for (let nth = 0; nth < 2; nth += 1) await meta.sendUserMessage(to.slice(1), words)
      await expectReason(app, body.otp_id, 'insufficient_funds')
      expect((await app.server.status(body.otp_id)).body.deliveries).to.have.length(1)
      await credit(app.app, 50_000)
      await meta.sendUserMessage(to.slice(1), words)
      await live.eventually(() => expect(meta.messages).to.have.length(1))
      const company = app.app.replace('app_', 'cmp_')
      expect((await live.admin('GET', `/companies/${company}`)).body.balance, 'the price of a reply is paid').to.equal(
        0,
      )
      expect((await app.server.verify(body.otp_id, codeIn(meta.messages[0]?.requestBody))).body.matched).to.equal(true)
    })
  })
})
