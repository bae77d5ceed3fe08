import { expect } from 'chai'
import { freshNumber } from '../support/flow.ts'
import { codeIn, describeLiveFlow, type LiveApp, PUBLIC_URL } from '../support/live-flow.ts'
import { type Meta, metaCall, metaNotice, metaStatus, startMeta } from '../support/vendors/meta.ts'
import type { Script } from '../support/vendors/vendor.ts'

interface Shop extends LiveApp {
  meta: Meta
  callbackUrl: string
}

describeLiveFlow('a WhatsApp message', live => {
  const opened: Meta[] = []
  afterEach(() => Promise.all(opened.splice(0).map(one => one.close())))

  async function open(script: Script = {}): Promise<Shop> {
    let callbackUrl: string | null = null
    const meta = await startMeta({ ...live.vendorOptions, callbackUrl: () => callbackUrl })
    opened.push(meta)
    meta.always(script)
    const { phone_number_id, access_token, app_secret, verify_token, url: base_url } = meta
    const secrets = { access_token, app_secret, verify_token }
    const config = { ...secrets, phone_number_id, base_url, template: 'shop_code' }
    const shop = await live.createApp([{ name: 'meta', channel: 'whatsapp', type: 'whatsapp_cloud', config }], {
      channels: { whatsapp: { mode: 'template', business_number: '+15550001111' } },
    })
    callbackUrl = `${PUBLIC_URL}/callbacks/${shop.app}/meta`
    return { ...shop, meta, callbackUrl }
  }
  const sendOtp = async ({ server }: LiveApp): Promise<string> => {
    const { body, text } = await server.send(freshNumber(), { locale: 'en' })
    expect(body.status, text).to.equal('pending')
    return body.otp_id
  }
  const waitForEvents = ({ app }: LiveApp, expected: string[]): Promise<unknown> =>
    live.eventually(async () => expect(await live.deliveryEvents(app)).to.deep.equal(expected))

  it('carries the code in a template, and is delivered when it is read', async () => {
    const shop = await open({ receipts: ['sent', 'delivered', 'read'] })
    const otp_id = await sendOtp(shop)
    await live.waitForDeliveries(shop.server, otp_id, 'whatsapp delivered')
    const code = codeIn(shop.meta.messages[0]?.requestBody.template)
    expect((await shop.server.verify(otp_id, code)).body).to.include({ matched: true, status: 'approved' })
    await shop.meta.idle()
    expect(shop.meta.calls.map(({ status }) => status)).to.deep.equal([200, 200, 200])
    await waitForEvents(shop, ['delivery.delivered'])
  })

  const endings: [cause: string, script: Script, deliveryStatus: string, event: string][] = [
    ['Meta reports a failure', { receipts: ['sent', 'failed'] }, 'failed', 'delivery.failed'],
    ['the recipient has no WhatsApp', { fault: { kind: 'refused' } }, 'failed', 'delivery.failed'],
    [
      'the receipt comes before the answer',
      { early: true, receipts: ['delivered'] },
      'delivered',
      'delivery.delivered',
    ],
    [
      'Meta cuts the connection but sends a receipt',
      { fault: { kind: 'reset', when: 'taken' }, receipts: ['read'] },
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
      await live.waitForDeliveries(shop.server, await sendOtp(shop), `whatsapp ${deliveryStatus}`)
      await shop.meta.idle()
      await waitForEvents(shop, [event])
    })

  it('takes no receipts from another app', async () => {
    const [shop, other] = [await open(), await open()]
    const otp_id = await sendOtp(shop)
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
})
