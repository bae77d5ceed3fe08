import { expect } from 'chai'
import { startTelnyx } from '../services/channel/providers/documented-vendors/telnyx.ts'
import { freshNumber } from '../support/flow.ts'
import { codeIn, describeLiveFlow, type LiveFlow, PUBLIC_URL } from '../support/live-flow.ts'
import { startHttpGateway } from '../support/vendors/http-gateway.ts'
import { startMeta } from '../support/vendors/meta.ts'
import { startTelegram } from '../support/vendors/telegram.ts'
import { startTwilio } from '../support/vendors/twilio.ts'
import type { Fault, Vendor } from '../support/vendors/vendor.ts'
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
    Twilio: {
      channel: 'sms',
      async open(live) {
        const vendor = await startTwilio(live.vendorOptions)
        const { account_sid, auth_token, url: base_url } = vendor
        return { vendor, type: 'twilio', config: { account_sid, auth_token, base_url, from: '+15550001111' } }
      },
    },
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
    'an HTTP gateway': {
      channel: 'telegram',
      async open(live, callbackUrl) {
        const vendor = await startHttpGateway({ ...live.vendorOptions, callbackUrl: () => callbackUrl })
        return { vendor, type: 'http', config: { url: vendor.url, secret: vendor.secret } }
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

describeLiveFlow('live messages', live => {
  const opened: { close(): Promise<void> }[] = []
  afterEach(() => Promise.all(opened.splice(0).map(one => one.close())))

  it('by Telnyx arrive with a code that verifies', async () => {
    const vendor = await startTelnyx(live.vendorOptions)
    opened.push(vendor)
    vendor.always({ receipts: ['delivered'] })
    const config = { api_key: 'KEY', from: '+13125550001', public_key: vendor.public_key, base_url: vendor.url }
    const provider = { name: 'vendor', channel: 'sms', type: 'telnyx', config }
    const { server } = await live.createApp([provider], { routing: { default: ['sms'] } })
    const { otp_id } = (await server.send(freshNumber())).body as { otp_id: string }
    await live.waitForDeliveries(server, otp_id, 'sms delivered')
    expect(vendor.calls.map(({ status }) => status)).to.deep.equal([200])
    const { body } = await server.verify(otp_id, codeIn(vendor.requests.at(-1)?.body.toString()))
    expect(body).to.include({ matched: true })
  })

  for (const [name, { channel, open }] of Object.entries(VENDORS))
    describe(`by ${name}`, () => {
      async function sendThroughVendor(receipts: ('delivered' | 'failed' | 'read')[]) {
        const { vendor, type, config } = await open(live, `${PUBLIC_URL}/callbacks/${live.nextAppId()}/vendor`)
        opened.push(vendor)
        vendor.always({ receipts })
        const shop = await live.createApp([{ name: 'vendor', channel, type, config }], {
          routing: { default: [channel] },
        })
        const { body, text } = await shop.server.send(freshNumber())
        expect(body.channel, text).to.equal(channel)
        return { ...shop, vendor, otp_id: body.otp_id as string }
      }

      it('arrive with a code that verifies', async () => {
        const { vendor, server, otp_id } = await sendThroughVendor(['delivered'])
        await live.waitForDeliveries(server, otp_id, `${channel} delivered`)
        expect(vendor.messages).to.have.length(1)
        expect(vendor.calls.map(({ status }) => status)).to.deep.equal([200])
        const { body } = await server.verify(otp_id, codeIn(vendor.requests.at(-1)?.body.toString()))
        expect(body).to.include({ matched: true })
      })

      it('arrive by the second provider when the vendor is busy, broken, silent, cut off or unreadable', async () => {
        const spareUrl = `${PUBLIC_URL}/callbacks/${live.nextAppId()}/spare`
        const { vendor, type, config } = await open(live, `${PUBLIC_URL}/callbacks/${live.nextAppId()}/vendor`)
        const spare = await startHttpGateway({ ...live.vendorOptions, callbackUrl: () => spareUrl })
        opened.push(vendor, spare)
        spare.always({ receipts: ['delivered'] })
        const faults: Fault[] = [
          { kind: 'busy' },
          { kind: 'broken' },
          { kind: 'hang' },
          { kind: 'reset', when: 'taken' },
          // The answer of an HTTP gateway is its status alone, so it cannot be unreadable.
          ...(type === 'http' ? [] : [{ kind: 'garbage' } as const]),
        ]
        vendor.next(...faults.map(fault => ({ fault })))
        const second = { name: 'spare', channel, type: 'http', config: { url: spare.url, secret: spare.secret } }
        const providers = [{ name: 'vendor', channel, type, config }, second]
        const { server } = await live.createApp(providers, { routing: { default: [channel] } })
        const sends = await Promise.all(faults.map(() => server.send(freshNumber())))
        for (const { body } of sends) await live.waitForDeliveries(server, body.otp_id, `${channel} delivered`)
        expect([vendor.requests.length, spare.messages.length]).to.deep.equal([faults.length, faults.length])
      })

      it('fail when the vendor reports a failure', async () => {
        const { server, otp_id } = await sendThroughVendor(['failed'])
        await live.waitForDeliveries(server, otp_id, `${channel} failed`)
      })

      it('are delivered when the vendor reports them as read', async () => {
        const { server, otp_id } = await sendThroughVendor(['read'])
        await live.waitForDeliveries(server, otp_id, `${channel} delivered`)
      })
    })
})
