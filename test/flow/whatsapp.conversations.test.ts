import { expect } from 'chai'
import type { Caller } from '../support/api-caller.ts'
import { freshNumber } from '../support/flow.ts'
import { codeIn, describeLiveFlowOnce, type LiveApp, PUBLIC_URL } from '../support/live-flow.ts'
import {
  hiddenMessage,
  hiddenText,
  type Meta,
  metaCall,
  metaNotice,
  metaText,
  sharedContact,
  startMeta,
} from '../support/vendors/meta.ts'

interface Shop extends LiveApp {
  meta: Meta
  callbackUrl: string
}

describeLiveFlowOnce('a WhatsApp conversation', live => {
  const opened: Meta[] = []
  afterEach(() => Promise.all(opened.splice(0).map(meta => meta.close())))

  async function open(mode: string, texts: object = {}): Promise<Shop> {
    const callbackUrl = `${PUBLIC_URL}/callbacks/${live.nextAppId()}/meta`
    const meta = await startMeta({ ...live.vendorOptions, callbackUrl: () => callbackUrl })
    opened.push(meta)
    const { phone_number_id, access_token, app_secret, verify_token, url: base_url } = meta
    const config = { phone_number_id, access_token, app_secret, verify_token, base_url }
    const shop = await live.createApp([{ name: 'meta', channel: 'whatsapp', type: 'whatsapp_cloud', config }], {
      texts,
      routing: { default: ['whatsapp'] },
      resend_cooldown_seconds: [0],
      channels: { whatsapp: { mode, business_number: '+15550001111' } },
    })
    return { ...shop, meta, callbackUrl }
  }
  const sendLink = async ({ server }: LiveApp, to: string, locale?: string) => {
    const { body, text } = await server.send(to, locale === undefined ? {} : { locale })
    expect(body.action_url, text).to.be.a('string')
    return { otp_id: body.otp_id as string, words: new URL(body.action_url).searchParams.get('text') ?? '' }
  }
  const textsTo = ({ meta }: Shop): string[] =>
    meta.messages.map(
      ({ requestBody }) => (requestBody.text as { body: string } | undefined)?.body ?? JSON.stringify(requestBody),
    )
  const waitForStatus = (by: Caller, otp_id: string, status: string): Promise<unknown> =>
    live.eventually(async () => expect((await by.status(otp_id)).body.status).to.equal(status))
  /** The form in which WhatsApp writes a number. */
  const waId = (number: string): string => number.slice(1)

  it('sends the code only after the user writes, as plain text in the language of the user', async () => {
    const shop = await open('link_code')
    shop.meta.always({ receipts: ['sent', 'delivered', 'read'] })
    const to = freshNumber()
    const { otp_id, words } = await sendLink(shop, to, 'de-AT')
    expect(shop.meta.requests).to.deep.equal([])
    expect(await shop.meta.sendUserMessage(waId(to), `Hallo! ${words} Danke`)).to.equal(200)
    await live.waitForDeliveries(shop.server, otp_id, 'whatsapp delivered')
    const [answer = ''] = textsTo(shop)
    expect(answer)
      .to.match(/Shop/)
      .and.to.match(/gültig|Code/)
    expect(shop.meta.messages[0]?.requestBody).to.include({ to, type: 'text' })
    expect((await shop.server.verify(otp_id, codeIn(answer))).body.matched).to.equal(true)
    const { timeline } = (await live.admin('GET', `/verifications/${otp_id}`)).body
    const reasons = timeline.map(({ because }: { because?: string }) => because)
    expect(reasons).to.include('The provider was the first in the list that could be used.')
  })

  it('answers each message once, however often Meta reports it', async () => {
    const shop = await open('link_code', { whatsapp: { en: { text: 'Here you are: {code}' } } })
    const to = freshNumber()
    const { otp_id, words } = await sendLink(shop, to)
    const notice = metaNotice([{ messages: [metaText(waId(to), words)] }], shop.meta)
    for (let nth = 0; nth < 3; nth += 1)
      expect(await shop.meta.call(metaCall(shop.callbackUrl, notice, shop.meta))).to.equal(200)
    await live.waitForDeliveries(shop.server, otp_id, 'whatsapp sent')
    await shop.meta.sendUserMessage(waId(to), words)
    await live.waitForDeliveries(shop.server, otp_id, 'whatsapp sent', 'whatsapp sent')
    expect(new Set(textsTo(shop).map(codeIn)), 'the same code').to.have.property('size', 1)
    expect(textsTo(shop)[0], "the app's own text").to.match(/^Here you are: \d{6}$/)
  })

  it('approves by the recipient’s message, and thanks once in the language of the user', async () => {
    const shop = await open('link_inbound')
    const to = freshNumber()
    const { otp_id, words } = await sendLink(shop, to, 'fr')
    await shop.meta.sendUserMessage(waId(to), words)
    await waitForStatus(shop.server, otp_id, 'approved')
    await live.eventually(() => expect(textsTo(shop)).to.have.length(1))
    expect(textsTo(shop)[0]).to.match(/^Confirm/)
    await shop.meta.sendUserMessage(waId(to), words)
    await live.advance(1_000)
    expect(textsTo(shop)).to.have.length(1)
    expect((await shop.server.status(otp_id)).body.deliveries).to.deep.equal([])
  })

  it('does not cross apps: a message to the number of another app, or with its signature, approves nothing', async () => {
    const [shop, other] = [await open('link_inbound'), await open('link_inbound')]
    const to = freshNumber()
    const { otp_id, words } = await sendLink(shop, to)
    expect(await other.meta.sendUserMessage(waId(to), words)).to.equal(200)
    const forged = metaCall(shop.callbackUrl, metaNotice([{ messages: [metaText(waId(to), words)] }], shop.meta), {
      app_secret: 'another secret',
    })
    expect(await other.meta.call(forged)).to.equal(401)
    await live.advance(1_000)
    expect((await shop.server.status(otp_id)).body.status).to.equal('pending')
    await shop.meta.sendUserMessage(waId(to), words)
    await waitForStatus(shop.server, otp_id, 'approved')
  })

  describe('with a user who hides their number', () => {
    const USER = 'US.13491208655302741918'
    const outcomes = (msg: string, app_id: string) =>
      live.countersign.log.lines().flatMap(line => (line.msg === msg && line.app_id === app_id ? [line.outcome] : []))

    it('asks for it, and approves by the user’s own number alone', async () => {
      const shop = await open('link_inbound')
      const to = freshNumber()
      const { otp_id, words } = await sendLink(shop, to, 'de')
      await shop.meta.sendHidden(USER, hiddenText(words))
      await live.eventually(() => expect(shop.meta.messages).to.have.length(1))
      const [{ requestBody }] = shop.meta.messages as [Meta['messages'][number]]
      expect(requestBody).to.include({ recipient: USER, type: 'interactive' }).and.not.have.property('to')
      expect(JSON.stringify(requestBody.interactive)).to.include('Shop: WhatsApp zeigt uns Ihre Nummer nicht')

      await shop.meta.sendHidden(USER, sharedContact(waId(to), 'other'))
      await shop.meta.sendHidden(USER, sharedContact(waId(freshNumber())))
      await shop.meta.sendHidden('US.999', sharedContact(waId(to)))
      await live.eventually(() =>
        expect(outcomes('message.ignored', shop.app)).to.deep.equal(['not_asked', 'not_asked']),
      )
      expect((await shop.server.status(otp_id)).body).to.deep.include({ status: 'pending', deliveries: [] })

      const notice = metaNotice([{ messages: [hiddenMessage(USER, sharedContact(waId(to)))] }], shop.meta)
      for (let nth = 0; nth < 2; nth += 1)
        expect(await shop.meta.call(metaCall(shop.callbackUrl, notice, shop.meta))).to.equal(200)
      await waitForStatus(shop.server, otp_id, 'approved')
      await shop.meta.sendHidden(USER, sharedContact(waId(to)))
      await live.eventually(() => expect(outcomes('message.ignored', shop.app)).to.include('too_late'))
      const { timeline, deliveries } = (await live.admin('GET', `/verifications/${otp_id}`)).body
      expect(deliveries).to.have.length(1)
      expect(deliveries[0]).to.include({ channel: 'whatsapp', asks_contact: true })
      expect(timeline.map(({ happened }: { happened: string }) => happened)).to.include('otp.approved')
    })
  })

  it('leaves no number and no text in the log', () => {
    const log = live.countersign.log.output()
    expect(log).to.include('message.received')
    expect(log).not.to.match(/\+?1415556\d{4}|55119?8765000/)
    expect(log).not.to.include('Danke')
    expect(log).not.to.include('13491208655302741918')
  })
})
