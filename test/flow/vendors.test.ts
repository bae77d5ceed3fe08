import { expect } from 'chai'
import { createOutbound } from '../../infra/outbound/guarded-outbound.ts'
import { startSes, TOPIC, withSns } from '../services/channel/providers/documented-vendors/ses.ts'
import { startTelnyx } from '../services/channel/providers/documented-vendors/telnyx.ts'
import { freshNumber } from '../support/flow.ts'
import { codeIn, describeLiveFlowOnce, type LiveFlow, PUBLIC_URL } from '../support/live-flow.ts'
import { startMeta } from '../support/vendors/meta.ts'
import { startTelegram } from '../support/vendors/telegram.ts'
import type { Vendor } from '../support/vendors/vendor.ts'
import { startVonage } from '../support/vendors/vonage.ts'

/** A running vendor, and the type and config of the provider that uses it. */
interface RunningVendor {
  vendor: Vendor<unknown>
  type: string
  config: object
}

/** `open` gets the callback URL of an app that is created afterwards. */
const VENDORS: Record<string, { channel: string; open(live: LiveFlow, callbackUrl: string): Promise<RunningVendor> }> =
  {
    Vonage: {
      channel: 'sms',
      async open(live) {
        const vendor = await startVonage(live.vendorOptions)
        const { application_id, private_key, signature_secret, url: base_url } = vendor
        return {
          vendor,
          type: 'vonage',
          config: { application_id, private_key, signature_secret, base_url, from: 'Shop' },
        }
      },
    },
    Telnyx: {
      channel: 'sms',
      async open(live) {
        const vendor = await startTelnyx(live.vendorOptions)
        const { public_key, url: base_url } = vendor
        return { vendor, type: 'telnyx', config: { api_key: 'KEY', from: '+13125550001', public_key, base_url } }
      },
    },
    'the WhatsApp Cloud API': {
      channel: 'whatsapp',
      async open(live, callbackUrl) {
        const vendor = await startMeta({ ...live.vendorOptions, callbackUrl: () => callbackUrl })
        const { phone_number_id, access_token, app_secret, verify_token, url: base_url } = vendor
        const secrets = { access_token, app_secret, verify_token }
        return {
          vendor,
          type: 'whatsapp_cloud',
          config: { phone_number_id, ...secrets, base_url, template: 'shop_code', template_language: 'en_US' },
        }
      },
    },
    'the Telegram Gateway': {
      channel: 'telegram',
      async open(live) {
        const vendor = await startTelegram(live.vendorOptions)
        return { vendor, type: 'telegram_gateway', config: { token: vendor.token, base_url: vendor.url } }
      },
    },
  }

/** Calls of Amazon SNS are answered in its place. */
const openOutbound = () => withSns(createOutbound({ privateTargets: ['127.0.0.0/8'] }), [])

const suite = (live: LiveFlow) => {
  const opened: { close(): Promise<void> }[] = []
  afterEach(() => Promise.all(opened.splice(0).map(one => one.close())))

  it('by Amazon SES arrive with a code that verifies, and a complaint afterwards changes nothing', async () => {
    const callbackUrl = `${PUBLIC_URL}/callbacks/${live.nextAppId()}/vendor`
    const vendor = await startSes({ ...live.vendorOptions, callbackUrl })
    opened.push(vendor)
    const secrets = { access_key_id: 'AKIDEXAMPLE', secret_access_key: 'SECRET' }
    const config = { ...secrets, region: 'eu-west-1', from: 'a@shop.example', topic_arn: TOPIC, base_url: vendor.url }
    const { server } = await live.createApp([{ name: 'vendor', channel: 'email', type: 'ses', config }])
    const { otp_id } = (await server.send('reader@reader.example')).body
    await live.waitForDeliveries(server, otp_id, 'email sent')
    const mail = vendor.messages[0] ?? expect.fail('SES got no mail')
    expect(await vendor.report(mail, 'delivered')).to.equal(200)
    await live.waitForDeliveries(server, otp_id, 'email delivered')
    expect(await vendor.report(mail, 'read')).to.equal(200)
    expect(await live.deliveries(server, otp_id)).to.deep.equal(['email delivered'])
    const { body } = await server.verify(otp_id, codeIn(vendor.requests.at(-1)?.body.toString()))
    expect(body).to.include({ matched: true })
  })

  for (const [name, { channel, open }] of Object.entries(VENDORS))
    it(`by ${name} arrive with a code that verifies`, async () => {
      const { vendor, type, config } = await open(live, `${PUBLIC_URL}/callbacks/${live.nextAppId()}/vendor`)
      opened.push(vendor)
      vendor.always({ receipts: ['delivered'] })
      const routing = { default: [channel] }
      const { server } = await live.createApp([{ name: 'vendor', channel, type, config }], { routing })
      const sent = await server.send(freshNumber())
      expect(sent.body.channel, sent.text).to.equal(channel)
      await live.waitForDeliveries(server, sent.body.otp_id, `${channel} delivered`)
      expect(vendor.messages).to.have.length(1)
      expect(vendor.calls.map(({ status }) => status)).to.deep.equal([200])
      const { body } = await server.verify(sent.body.otp_id, codeIn(vendor.requests.at(-1)?.body.toString()))
      expect(body).to.include({ matched: true })
    })
}

describeLiveFlowOnce('live messages', suite, openOutbound)
