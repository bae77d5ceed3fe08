import { expect } from 'chai'
import { freshNumber } from '../support/flow.ts'
import { codeIn, describeLiveFlow, type LiveApp, PUBLIC_URL } from '../support/live-flow.ts'
import { type Meta, metaCall, metaNotice, metaStatus, metaText, startMeta } from '../support/vendors/meta.ts'
import type { Script } from '../support/vendors/vendor.ts'

interface Shop extends LiveApp {
  meta: Meta
  callbackUrl: string
}

/** As Meta names users. */
const waId = (number: string): string => number.slice(1)

describeLiveFlow('WhatsApp', live => {
  const opened: Meta[] = []
  afterEach(() => Promise.all(opened.splice(0).map(one => one.close())))

  async function open(script: Script = {}, mode = 'template'): Promise<Shop> {
    let callbackUrl: string | null = null
    const meta = await startMeta({ ...live.vendorOptions, callbackUrl: () => callbackUrl })
    opened.push(meta)
    meta.always(script)
    const { phone_number_id, access_token, app_secret, verify_token, url: base_url } = meta
    const secrets = { access_token, app_secret, verify_token }
    const config = { ...secrets, phone_number_id, base_url, template: 'shop_code' }
    const shop = await live.createApp([{ name: 'meta', channel: 'whatsapp', type: 'whatsapp_cloud', config }], {
      channels: { whatsapp: { mode, business_number: '+15550001111' } },
    })
    callbackUrl = `${PUBLIC_URL}/callbacks/${shop.app}/meta`
    return { ...shop, meta, callbackUrl }
  }
  const sendOtp = async ({ server }: LiveApp, to = freshNumber(), locale = 'en') => {
    const { body, text } = await server.send(to, { locale })
    expect(body.status, text).to.equal('pending')
    const chat = new URL(body.action_url ?? 'https://none.example').searchParams.get('text') ?? ''
    return { otp_id: body.otp_id as string, to, chat }
  }
  const waitForEvents = ({ app }: LiveApp, expected: string[]): Promise<unknown> =>
    live.eventually(async () => expect(await live.deliveryEvents(app)).to.deep.equal(expected))
  const waitForStatus = ({ server }: LiveApp, otp_id: string, expected: string): Promise<unknown> =>
    live.eventually(async () => expect((await server.status(otp_id)).body.status).to.equal(expected))

  it('brings the code in a template and says that it was read', async () => {
    const shop = await open({ receipts: ['sent', 'delivered', 'read'] })
    const { otp_id } = await sendOtp(shop)
    await live.waitForDeliveries(shop.server, otp_id, 'whatsapp delivered')
    const code = codeIn(shop.meta.messages[0]?.requestBody.template)
    expect((await shop.server.verify(otp_id, code)).body).to.include({ matched: true, status: 'approved' })
    await shop.meta.idle()
    expect(shop.meta.calls.map(({ status }) => status)).to.deep.equal([200, 200, 200])
    await waitForEvents(shop, ['delivery.delivered'])
  })

  const endings: [title: string, script: Script, fate: string, event: string][] = [
    ['says that it failed', { receipts: ['sent', 'failed'] }, 'failed', 'delivery.failed'],
    ['has no such user', { fault: { kind: 'refused' } }, 'failed', 'delivery.failed'],
    ['reports before it answers', { early: true, receipts: ['delivered'] }, 'delivered', 'delivery.delivered'],
    [
      'is cut off, and reports',
      { fault: { kind: 'reset', when: 'taken' }, receipts: ['read'] },
      'delivered',
      'delivery.delivered',
    ],
    ['repeats and mixes up', { receipts: ['read', 'sent', 'read', 'failed'] }, 'delivered', 'delivery.delivered'],
  ]
  for (const [title, script, deliveryStatus, event] of endings)
    it(`${title}: ${deliveryStatus}, told once`, async () => {
      const shop = await open(script)
      await live.waitForDeliveries(shop.server, (await sendOtp(shop)).otp_id, `whatsapp ${deliveryStatus}`)
      await shop.meta.idle()
      await waitForEvents(shop, [event])
    })

  describe('in a chat', () => {
    it('answers the user who asks for the code with it, in their language', async () => {
      const shop = await open({ receipts: ['delivered'] }, 'link_code')
      const { otp_id, to, chat } = await sendOtp(shop, freshNumber(), 'de')
      expect(chat).to.match(/^Bitte senden Sie mir meinen Code für Shop\.\nReferenz: \w{16}$/)
      expect(await shop.meta.sendUserMessage(waId(to), chat)).to.equal(200)
      await live.waitForDeliveries(shop.server, otp_id, 'whatsapp delivered')
      const [{ requestBody }] = shop.meta.messages as [Meta['messages'][number]]
      expect(requestBody).to.deep.include({ to, type: 'text' })
      expect(JSON.stringify(requestBody.text)).to.match(/Bestätigungscode/)
      expect((await shop.server.verify(otp_id, codeIn(requestBody.text))).body.matched).to.equal(true)
    })

    it('approves whoever confirms, whatever they write around the reference', async () => {
      const shop = await open({}, 'link_inbound')
      const { otp_id, to, chat } = await sendOtp(shop, freshNumber(), 'he')
      expect(await shop.meta.sendUserMessage(waId(to), `שלום 😀 ${chat.toLowerCase()}!!`)).to.equal(200)
      await waitForStatus(shop, otp_id, 'approved')
    })

    it('takes no stranger’s word, nor one to another number, nor one nobody signed', async () => {
      const shop = await open({}, 'link_inbound')
      const { otp_id, to, chat } = await sendOtp(shop)
      const notice = (phone_number_id: string) =>
        metaNotice([{ messages: [metaText(waId(to), chat)] }], { phone_number_id })
      const call = (phone_number_id: string, app_secret: string) =>
        shop.meta.call(metaCall(shop.callbackUrl, notice(phone_number_id), { app_secret }))
      expect(await shop.meta.sendUserMessage(waId(freshNumber()), chat)).to.equal(200)
      expect(await call('999', shop.meta.app_secret)).to.equal(200)
      expect(await call(shop.meta.phone_number_id, 'another secret')).to.equal(401)
      await live.advance(1_000)
      await waitForStatus(shop, otp_id, 'pending')
      expect(await shop.meta.sendUserMessage(waId(to), chat)).to.equal(200)
      await waitForStatus(shop, otp_id, 'approved')
    })
  })

  it('is believed of its own messages alone', async () => {
    const [shop, other] = [await open(), await open()]
    const { otp_id } = await sendOtp(shop)
    await live.waitForDeliveries(shop.server, otp_id, 'whatsapp sent')
    const [message] = shop.meta.messages
    const { id = '', requestBody } = message ?? {}
    const notice = metaNotice(
      [{ statuses: [metaStatus(id, 'failed', requestBody?.biz_opaque_callback_data)] }],
      other.meta,
    )
    expect(await other.meta.call(metaCall(other.callbackUrl, notice, other.meta))).to.equal(200)
    expect(await live.deliveries(shop.server, otp_id)).to.deep.equal(['whatsapp sent'])
  })

  it('is shaken hands with when it knows the token', async () => {
    const shop = await open()
    const asking = (token: string) => {
      const query = { 'hub.mode': 'subscribe', 'hub.verify_token': token, 'hub.challenge': '1158201444' }
      return fetch(live.vendorOptions.route(`${shop.callbackUrl}?${new URLSearchParams(query)}`))
    }
    const answer = await asking(shop.meta.verify_token)
    expect([answer.status, await answer.text()]).to.deep.equal([200, '1158201444'])
    expect(answer.headers.get('content-type')).to.match(/^text\/plain/)
    expect((await asking('another')).status).to.equal(403)
  })
})
