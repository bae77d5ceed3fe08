import { expect } from 'chai'
import { createOutbound } from '../../infra/outbound/guarded-outbound.ts'
import {
  CERTIFICATE_URL,
  signedBySns,
  startSes,
  TOPIC,
  withSns,
} from '../services/channel/providers/documented-vendors/ses.ts'
import { startTelnyx } from '../services/channel/providers/documented-vendors/telnyx.ts'
import { freshNumber } from '../support/flow.ts'
import { codeIn, describeLiveFlowOnce, type LiveFlow, PUBLIC_URL } from '../support/live-flow.ts'
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

/** Calls of Amazon SNS, which the tests answer. */
const sns: string[] = []
const openOutbound = () => withSns(createOutbound({ privateTargets: ['127.0.0.0/8'] }), sns)

const suite = (live: LiveFlow) => {
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

  describe('by Amazon SES', () => {
    async function open() {
      const callbackUrl = `${PUBLIC_URL}/callbacks/${live.nextAppId()}/vendor`
      const vendor = await startSes({ ...live.vendorOptions, callbackUrl })
      opened.push(vendor)
      const secrets = { access_key_id: 'AKIDEXAMPLE', secret_access_key: 'SECRET' }
      const config = { ...secrets, region: 'eu-west-1', from: 'a@shop.example', topic_arn: TOPIC, base_url: vendor.url }
      const app = await live.createApp([{ name: 'vendor', channel: 'email', type: 'ses', config }])
      return { vendor, ...app }
    }
    async function openAndSend() {
      const shop = await open()
      const { body, text } = await shop.server.send('reader@reader.example')
      expect(body.channel, text).to.equal('email')
      await live.waitForDeliveries(shop.server, body.otp_id, 'email sent')
      const [mail] = shop.vendor.messages
      if (!mail) throw new Error('SES got no mail')
      return { ...shop, mail, otp_id: body.otp_id as string }
    }

    it('arrive with a code that verifies, and a complaint afterwards changes nothing', async () => {
      const { vendor, server, otp_id, mail } = await openAndSend()
      expect(await vendor.report(mail, 'delivered')).to.equal(200)
      await live.waitForDeliveries(server, otp_id, 'email delivered')
      expect(await vendor.report(mail, 'read')).to.equal(200)
      expect(await live.deliveries(server, otp_id)).to.deep.equal(['email delivered'])
      const { body } = await server.verify(otp_id, codeIn(vendor.requests.at(-1)?.body.toString()))
      expect(body).to.include({ matched: true })
    })

    it('do not change by events with a forged certificate, or of a topic that is not theirs', async () => {
      const { vendor, server, otp_id, mail } = await openAndSend()
      const before = sns.length
      const forged = { SigningCertURL: CERTIFICATE_URL.replace('amazonaws.com', 'amazonaws.com.evil.example') }
      for (const over of [forged, { TopicArn: `${TOPIC}2` }, { Signature: '' }])
        expect(await vendor.call(vendor.notification('failed', mail, over))).to.equal(401)
      const ofAnother = signedBySns({ Message: '{}', TopicArn: `${TOPIC}2` }, live.clock.now())
      expect(await vendor.call(vendor.bySns(ofAnother))).to.equal(401)
      expect(sns.slice(before).filter(url => url !== CERTIFICATE_URL)).to.deep.equal([])
      expect(await live.deliveries(server, otp_id)).to.deep.equal(['email sent'])
    })
  })

  for (const [name, { channel, open }] of Object.entries(VENDORS))
    describe(`by ${name}`, () => {
      it('arrive with a code that verifies', async () => {
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
    })
}

describeLiveFlowOnce('live messages', suite, openOutbound)
