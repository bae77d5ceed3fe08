import { expect } from 'chai'
import { CACHE_TTL_MS, freshNumber } from '../support/flow.ts'
import { codeIn, describeLiveFlow, type LiveApp, PUBLIC_URL } from '../support/live-flow.ts'
import { itOnceOf } from '../support/site.ts'
import { type HttpGateway, startHttpGateway } from '../support/vendors/http-gateway.ts'
import { startTwilio, type Twilio, type TwilioMessage, twilioReceipt } from '../support/vendors/twilio.ts'
import type { Script } from '../support/vendors/vendor.ts'

const RECEIPTS: Script = { receipts: ['sent', 'delivered'] }

/** An app that sends SMS by Twilio, and by its own HTTP gateway when Twilio fails. */
interface Shop extends LiveApp {
  twilio: Twilio
  gateway: HttpGateway
}

describeLiveFlow('an app with two providers', (live, engines) => {
  const itOnce = itOnceOf(engines)
  const opened: { close(): Promise<void> }[] = []
  afterEach(() => Promise.all(opened.splice(0).map(one => one.close())))

  async function open(settings: object = {}, more: object[] = []): Promise<Shop> {
    const twilio = await startTwilio(live.vendorOptions)
    let callbackUrl: string | null = null
    const gateway = await startHttpGateway({ ...live.vendorOptions, callbackUrl: () => callbackUrl })
    opened.push(twilio, gateway)
    const { account_sid, auth_token, url: base_url } = twilio
    const shop = await live.createApp(
      [
        {
          name: 'main',
          channel: 'sms',
          type: 'twilio',
          config: { account_sid, auth_token, base_url, from: '+15550001111' },
        },
        { name: 'spare', channel: 'sms', type: 'http', config: { url: `${gateway.url}/send`, secret: gateway.secret } },
        ...more,
      ],
      { routing: { default: ['sms', 'telegram'] }, ...settings },
    )
    callbackUrl = `${PUBLIC_URL}/callbacks/${shop.app}/spare`
    return { ...shop, twilio, gateway }
  }
  const sendOtp = async ({ server }: LiveApp, to = freshNumber()): Promise<string> => {
    const { body, text } = await server.send(to)
    expect(body.status, text).to.equal('pending')
    return body.otp_id
  }
  /** Waits until the delivery events of an app are exactly these. */
  const waitForEvents = ({ app }: LiveApp, expected: string[]): Promise<unknown> =>
    live.eventually(async () => expect(await live.deliveryEvents(app)).to.deep.equal(expected))
  /** What the timeline says, as `main: The provider was …`. */
  async function reasonsOf(otp_id: string): Promise<string[]> {
    const { timeline } = (await live.admin('GET', `/verifications/${otp_id}`)).body
    return timeline.flatMap(({ provider, because }: Record<string, string>) =>
      because ? `${provider}: ${because}` : [],
    )
  }
  const FIRST = 'The provider was the first in the list that could be used.'
  const messageCounts = ({ twilio, gateway }: Shop): [number, number] => [
    twilio.messages.length,
    gateway.messages.length,
  ]

  it('sends by the first provider and takes its receipts', async () => {
    const shop = await open()
    shop.twilio.always(RECEIPTS)
    const otp_id = await sendOtp(shop)
    await live.waitForDeliveries(shop.server, otp_id, 'sms delivered')
    const verified = await shop.server.verify(otp_id, codeIn(shop.twilio.messages[0]?.form.Body))
    expect(verified.body).to.include({ matched: true, status: 'approved' })
    expect(messageCounts(shop)).to.deep.equal([1, 0])
    expect(await reasonsOf(otp_id)).to.deep.equal([`main: ${FIRST}`])
    expect(shop.twilio.calls.map(({ status }) => status)).to.deep.equal([200, 200])
    await waitForEvents(shop, ['delivery.delivered'])
  })

  itOnce('sends by country, and tells a server key, but no device, what each channel lacks', async () => {
    const channels = { telegram: { enabled: false } }
    const shop = await open({ channels, publishable_send: true, publishable_challenge: 'off' })
    const [INDIAN, BRITISH] = ['+919876543210', '+442079460123']
    const change = async (name: string, type: string, changed: object) => {
      const path = `/apps/${shop.app}/providers/${name}`
      const answer = await live.admin('PUT', path, { type, channel: 'sms', ...changed })
      expect(answer.status, answer.text).to.equal(200)
      await live.advance(CACHE_TTL_MS)
    }
    await change('main', 'twilio', { countries: ['IN'] })
    const sent: string[] = []
    for (const [to, counts] of [
      [INDIAN, [1, 0]],
      [BRITISH, [1, 1]],
    ] as const) {
      sent.push(await sendOtp(shop, to))
      await live.waitForDeliveries(shop.server, sent.at(-1) ?? '', 'sms sent')
      expect(messageCounts(shop), to).to.deep.equal(counts)
    }
    await change('main', 'twilio', { paused: true })
    expect(await shop.twilio.report(shop.twilio.messages[0] as TwilioMessage, 'delivered'), 'its receipts').to.equal(
      200,
    )
    await live.waitForDeliveries(shop.server, sent[0] ?? '', 'sms delivered')
    await change('spare', 'http', { countries: ['US'] })
    const reasons = async (to: string) => {
      const { body, status } = await shop.server.send(to)
      expect([status, body.type]).to.deep.equal([409, 'NoEnabledChannelError'])
      return body.channels.map(({ channel, reason }: Record<string, string>) => `${channel} ${reason}`)
    }
    const others = ['whatsapp no_provider', 'telegram off', 'email recipient']
    expect(await reasons(INDIAN)).to.deep.equal(['sms provider_paused', ...others])
    expect(await reasons(BRITISH)).to.deep.equal(['sms country', ...others])
    await live.changeSettings(shop.app, { routing: { default: [] } })
    await live.advance(CACHE_TTL_MS)
    expect(await reasons(freshNumber())).to.deep.equal(['sms not_in_order', ...others])
    const device = await live.createKey(shop.app, 'publishable', 'live')
    const { body } = await device.send(BRITISH)
    expect(body.type).to.equal('NoEnabledChannelError')
    expect(body).to.not.have.property('channels')
  })

  // Each fault of each vendor is in the tests of its provider (support/vendors/fault-cases.ts).
  it('sends by the second at once when the first answers 500', async () => {
    const shop = await open()
    shop.twilio.next({ fault: { kind: 'broken' } })
    shop.gateway.always(RECEIPTS)
    const otp_id = await sendOtp(shop)
    await live.waitForDeliveries(shop.server, otp_id, 'sms delivered')
    expect([shop.twilio.requests.length, ...messageCounts(shop)]).to.deep.equal([1, 0, 1])
    const reasons = [`main: ${FIRST}`, 'spare: The provider took over from main.']
    expect(await reasonsOf(otp_id)).to.deep.equal(reasons)
    const code = codeIn(shop.gateway.messages[0]?.requestBody.text)
    expect((await shop.server.verify(otp_id, code)).body.matched).to.equal(true)
  })

  it('sends by the second when the first does not say what became of the message, and then reports its fault', async () => {
    const shop = await open()
    shop.gateway.always(RECEIPTS)
    shop.twilio.next({ fault: { kind: 'garbage' } })
    const otp_id = await sendOtp(shop)
    const results = async (): Promise<string[]> => {
      const { timeline } = (await live.admin('GET', `/verifications/${otp_id}`)).body
      const calls = timeline.filter(({ happened }: { happened: string }) => happened === 'provider.called')
      return calls.map(({ provider, result }: Record<string, string>) => `${provider} ${result}`)
    }
    await live.eventually(async () => expect(await results()).to.deep.equal(['main unknown']))
    // Twilio reports a failure without an error code: the fault is not the recipient's.
    const callback = twilioReceipt(shop.twilio.messages[0] as TwilioMessage, 'failed', shop.twilio)
    if (!callback) throw new Error('Twilio was given no address for receipts')
    expect(await shop.twilio.call(callback)).to.equal(200)
    await live.waitForDeliveries(shop.server, otp_id, 'sms delivered')
    expect(await results()).to.deep.equal(['main failed', 'spare accepted'])
    expect(messageCounts(shop)).to.deep.equal([1, 1])
    await waitForEvents(shop, ['delivery.delivered'])
  })

  itOnce('sends again within 5 s by a provider that is corrected while its breaker is open', async () => {
    const gateway = await startHttpGateway({ ...live.vendorOptions, authorization: 'Bearer right' })
    opened.push(gateway)
    const config = { url: gateway.url, headers: { authorization: 'Bearer wrong' } }
    const shop = await live.createApp([{ name: 'main', channel: 'sms', type: 'http', config }])
    const send = async (): Promise<string> => (await shop.server.send(freshNumber())).body.otp_id
    const failing = await Promise.all(Array.from({ length: 10 }, send))
    for (const otp_id of failing) await live.waitForDeliveries(shop.server, otp_id, 'sms failed')
    const callsMade = gateway.requests.length
    expect(callsMade).to.be.at.least(10)
    await live.waitForDeliveries(shop.server, await send(), 'sms failed')
    expect(gateway.requests, 'the breaker is open').to.have.length(callsMade)

    const changed = await live.admin('PUT', `/apps/${shop.app}/providers/main`, {
      type: 'http',
      channel: 'sms',
      config: { url: gateway.url, headers: { authorization: 'Bearer right' } },
    })
    expect(changed.status, changed.text).to.equal(200)
    await live.advance(CACHE_TTL_MS)
    await live.waitForDeliveries(shop.server, await send(), 'sms sent')
  })

  it('has no recipient in the log, even where a vendor quoted it', () => {
    const log = live.countersign.log.output()
    expect(log).to.include('delivery.attempted')
    expect(log).not.to.match(/\+?1415556\d{4}/)
  })
})
