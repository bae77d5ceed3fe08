import { expect } from 'chai'
import { CACHE_TTL_MS, freshNumber } from '../support/flow.ts'
import { codeIn, describeLiveFlow, type LiveApp, PUBLIC_URL } from '../support/live-flow.ts'
import { gatewayCall, type HttpGateway, startHttpGateway } from '../support/vendors/http-gateway.ts'
import { startTwilio, type Twilio, type TwilioMessage, twilioReceipt } from '../support/vendors/twilio.ts'
import type { Script } from '../support/vendors/vendor.ts'

const RECEIPTS: Script = { receipts: ['sent', 'delivered'] }

/** An app that sends SMS by Twilio, and by its own HTTP gateway when Twilio fails. */
interface Shop extends LiveApp {
  twilio: Twilio
  gateway: HttpGateway
}

describeLiveFlow('an app with two providers', live => {
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

  describe('of which one is paused or serves some countries', () => {
    const change = async ({ app }: Shop, name: string, changed: object) => {
      const { type, channel } = (await live.admin('GET', `/apps/${app}/providers/${name}`)).body
      const answer = await live.admin('PUT', `/apps/${app}/providers/${name}`, { type, channel, ...changed })
      expect(answer.status, answer.text).to.equal(200)
      await live.advance(CACHE_TTL_MS)
    }
    const [INDIAN, BRITISH, SATELLITE] = ['+919876543210', '+442079460123', '+870773111632']

    it('sends by the provider of the country, and to the rest by the other', async () => {
      const shop = await open()
      await change(shop, 'main', { countries: ['IN'] })
      for (const [to, counts] of [
        [INDIAN, [1, 0]],
        [BRITISH, [1, 1]],
        [SATELLITE, [2, 1]],
      ] as const) {
        await live.waitForDeliveries(shop.server, await sendOtp(shop, to), 'sms sent')
        expect(messageCounts(shop), to).to.deep.equal(counts)
      }
    })

    it('takes the receipts of a provider that was paused after it had sent', async () => {
      const shop = await open()
      await change(shop, 'main', { paused: true })
      const otp_id = await sendOtp(shop)
      await live.waitForDeliveries(shop.server, otp_id, 'sms sent')
      await change(shop, 'spare', { paused: true })
      const [message] = shop.gateway.messages
      if (!message) throw new Error('nothing was sent')
      expect(await shop.gateway.report(message, 'delivered')).to.equal(200)
      await live.waitForDeliveries(shop.server, otp_id, 'sms delivered')
    })

    it('refuses a send that none may take, and tells a server key, but no device, what each channel lacks', async () => {
      const shop = await open({
        channels: { telegram: { enabled: false } },
        publishable_send: true,
        publishable_challenge: 'off',
      })
      await change(shop, 'main', { countries: ['IN'], paused: true })
      await change(shop, 'spare', { countries: ['US'] })
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
      const { channels } = (await live.admin('POST', `/apps/${shop.app}/route`, { recipient: BRITISH })).body
      expect(channels[0], 'the preview uses the same words').to.include({ obstacle: 'country' })
      const device = await live.createKey(shop.app, 'publishable', 'live')
      const { body } = await device.send(BRITISH)
      expect(body.type).to.equal('NoEnabledChannelError')
      expect(body).to.not.have.property('channels')
    })
  })

  describe('when the first provider', () => {
    // Each fault of each vendor is in vendors.test.ts.
    it('answers 500: sends by the second at once', async () => {
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

    it('hangs: sends by the second once no receipt has come, and does not call the first again', async () => {
      const shop = await open()
      shop.twilio.next({ fault: { kind: 'hang' } })
      shop.gateway.always(RECEIPTS)
      const otp_id = await sendOtp(shop)
      await live.waitForDeliveries(shop.server, otp_id, 'sms delivered')
      expect([shop.gateway.messages.length, shop.twilio.requests.length]).to.deep.equal([1, 1])
    })

    const accepted: [string, Script][] = [
      ['hangs, but sends a receipt', { fault: { kind: 'hang' }, receipts: ['sent', 'delivered'] }],
      ['sends the receipt before its answer', { early: true, receipts: ['delivered'] }],
      ['sends receipts twice and out of order', { receipts: ['delivered', 'sent', 'delivered', 'failed'] }],
    ]
    for (const [what, script] of accepted)
      it(`${what}: reports the delivery once and does not call the second`, async () => {
        const shop = await open()
        shop.twilio.next(script)
        const otp_id = await sendOtp(shop)
        await live.waitForDeliveries(shop.server, otp_id, 'sms delivered')
        // Longer than a channel waits for a receipt before it calls the next provider.
        await live.advance(10_000)
        const after = await sendOtp(shop)
        await live.waitForDeliveries(shop.server, after, 'sms sent')
        expect(messageCounts(shop)).to.deep.equal([2, 0])
        expect(await live.deliveries(shop.server, otp_id)).to.deep.equal(['sms delivered'])
        await waitForEvents(shop, ['delivery.delivered'])
      })

    it('keeps failing: opens its breaker after ten calls, and sends by the second until the first recovers', async () => {
      const shop = await open()
      shop.twilio.always({ fault: { kind: 'broken' } })
      let last = ''
      for (let nth = 1; nth <= 15; nth += 1) {
        last = await sendOtp(shop)
        await live.waitForDeliveries(shop.server, last, 'sms sent')
        expect(shop.gateway.messages).to.have.length(nth)
      }
      expect(shop.twilio.requests).to.have.length(10)
      expect(await reasonsOf(last)).to.deep.equal([
        'spare: The provider took over from main, which came first and could not be called: its circuit breaker was open, or its vendor had asked for a pause.',
      ])
      const breakerChanges = live.countersign.log
        .lines()
        .filter(({ msg, app_id }) => msg === 'breaker.changed' && app_id === shop.app)
      expect(breakerChanges.map(({ state }) => state)).to.deep.equal(['open'])

      const neighbour = await open()
      neighbour.twilio.always(RECEIPTS)
      await live.waitForDeliveries(neighbour.server, await sendOtp(neighbour), 'sms delivered')

      shop.twilio.always(RECEIPTS)
      await live.advance(30_000)
      await live.waitForDeliveries(shop.server, await sendOtp(shop), 'sms delivered')
      expect(shop.twilio.messages).to.have.length(1)
    })
  })

  describe('when the first provider does not say what became of the message', () => {
    /** Resolves once the outcome of the call is stored as unknown, and the channel waits for a receipt. */
    async function sendUnanswered(shop: Shop): Promise<{ otp_id: string; message: TwilioMessage }> {
      shop.twilio.next({ fault: { kind: 'garbage' } })
      const otp_id = await sendOtp(shop)
      await live.eventually(async () => expect(await resultsOf(otp_id)).to.deep.equal(['main unknown']))
      return { otp_id, message: shop.twilio.messages[0] as TwilioMessage }
    }
    const resultsOf = async (otp_id: string): Promise<string[]> => {
      const { timeline } = (await live.admin('GET', `/verifications/${otp_id}`)).body
      const calls = timeline.filter(({ happened }: { happened: string }) => happened === 'provider.called')
      return calls.map(({ provider, result }: Record<string, string>) => `${provider} ${result}`)
    }
    /** Twilio reports a failure without an error code: the fault is not the recipient's. */
    const reportFault = ({ twilio }: Shop, message: TwilioMessage): Promise<number | null> => {
      const callback = twilioReceipt(message, 'failed', twilio)
      if (!callback) throw new Error('Twilio was given no address for receipts')
      return twilio.call(callback)
    }

    it('and then reports its fault: sends by the second', async () => {
      const shop = await open()
      shop.gateway.always(RECEIPTS)
      const { otp_id, message } = await sendUnanswered(shop)
      expect(await reportFault(shop, message)).to.equal(200)
      await live.waitForDeliveries(shop.server, otp_id, 'sms delivered')
      expect(await resultsOf(otp_id)).to.deep.equal(['main failed', 'spare accepted'])
      expect(messageCounts(shop)).to.deep.equal([1, 1])
      await waitForEvents(shop, ['delivery.delivered'])
    })

    it('and reports its fault once the second has sent: leaves the delivery to the second', async () => {
      const shop = await open()
      const { otp_id, message } = await sendUnanswered(shop)
      await live.waitForDeliveries(shop.server, otp_id, 'sms sent')
      await reportFault(shop, message)
      expect(await resultsOf(otp_id)).to.deep.equal(['main failed', 'spare accepted'])
      const [second] = shop.gateway.messages
      if (!second) throw new Error('the second provider was not called')
      await shop.gateway.report(second, 'delivered')
      await live.waitForDeliveries(shop.server, otp_id, 'sms delivered')
      await waitForEvents(shop, ['delivery.delivered'])
    })

    it('and reports the message as sent before its answer is missed: a failure later still counts', async () => {
      const shop = await open()
      shop.twilio.next({ fault: { kind: 'garbage' }, receipts: ['sent'], early: true })
      const otp_id = await sendOtp(shop)
      await live.waitForDeliveries(shop.server, otp_id, 'sms sent')
      await reportFault(shop, shop.twilio.messages[0] as TwilioMessage)
      await live.waitForDeliveries(shop.server, otp_id, 'sms failed')
    })
  })

  describe('when both providers fail', () => {
    it('fails the delivery after the last delay', async () => {
      const shop = await open()
      for (const vendor of [shop.twilio, shop.gateway]) vendor.always({ fault: { kind: 'broken' } })
      const otp_id = await sendOtp(shop)
      await live.waitForDeliveries(shop.server, otp_id, 'sms failed')
      expect([shop.twilio.requests.length, shop.gateway.requests.length]).to.deep.equal([3, 3])
      const reasons = [`main: ${FIRST}`, 'spare: The provider took over from main.']
      expect(await reasonsOf(otp_id), 'once for each').to.deep.equal(reasons)
      await waitForEvents(shop, ['delivery.failed'])
    })

    it('sends the same code by the next channel with auto_fallback, and counts that message', async () => {
      const gateway = await startHttpGateway(live.vendorOptions)
      opened.push(gateway)
      const telegram = { name: 'chat', channel: 'telegram', type: 'http', config: { url: gateway.url } }
      const limits = { recipient_messages: [{ max: 2, seconds: 3600 }] }
      const shop = await open({ auto_fallback: true, limits }, [telegram])
      shop.twilio.always({ fault: { kind: 'refused' } })
      const to = freshNumber()
      const otp_id = await sendOtp(shop, to)
      await live.waitForDeliveries(shop.server, otp_id, 'sms failed', 'telegram sent')
      const code = codeIn(gateway.messages[0]?.requestBody.text)
      expect((await shop.server.verify(otp_id, code)).body.matched).to.equal(true)
      const again = await shop.server.send(to)
      expect([again.status, again.body.scope]).to.deep.equal([429, 'recipient'])
    })
  })

  it('ignores receipts that are forged, or that come from another app or another provider', async () => {
    const [shop, other] = [await open(), await open()]
    const otp_id = await sendOtp(shop)
    await live.waitForDeliveries(shop.server, otp_id, 'sms sent')
    const { delivery_id } = (await shop.server.status(otp_id)).body.deliveries[0]
    const receipt = JSON.stringify({ delivery_id, status: 'failed' })
    const from = (app: string, secret: string) =>
      gatewayCall(`${PUBLIC_URL}/callbacks/${app}/spare`, receipt, secret, live.clock.now())
    const { gateway } = other
    expect(await gateway.call(from(shop.app, 'a guess')), 'a guessed secret').to.equal(401)
    // Another app signs correctly for its own provider, and names this app's delivery.
    expect(await gateway.call(from(other.app, gateway.secret)), 'another app').to.equal(200)
    // The same app, but a provider that did not get the message.
    expect(await gateway.call(from(shop.app, shop.gateway.secret)), 'another provider').to.equal(200)
    await live.advance(1_000)
    expect(await live.deliveries(shop.server, otp_id)).to.deep.equal(['sms sent'])
    const [message] = shop.twilio.messages
    expect(message && (await shop.twilio.report(message, 'delivered')), 'the provider that got the message').to.equal(
      200,
    )
    await live.waitForDeliveries(shop.server, otp_id, 'sms delivered')
  })

  it('sends again within 5 s by a provider that the operator corrects, although its circuit breaker is open', async () => {
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

  it('asks a provider that hangs once more where it has no other, and the receipt of the second message counts', async () => {
    const twilio = await startTwilio(live.vendorOptions)
    opened.push(twilio)
    const { account_sid, auth_token, url: base_url } = twilio
    const config = { account_sid, auth_token, base_url, from: '+15550001111' }
    const shop = await live.createApp([{ name: 'main', channel: 'sms', type: 'twilio', config }])
    twilio.next({ fault: { kind: 'hang' } }, RECEIPTS)
    const otp_id = await sendOtp(shop)
    await live.waitForDeliveries(shop.server, otp_id, 'sms delivered')
    expect(twilio.messages).to.have.length(2)
    const [first, second] = twilio.messages.map(({ form }) => codeIn(form.Body))
    expect(second, 'the same code').to.equal(first)
    const { timeline } = (await live.admin('GET', `/verifications/${otp_id}`)).body
    const calls = timeline.filter(({ happened }: { happened: string }) => happened === 'provider.called')
    expect(calls.map(({ call, result }: { call: number; result: string }) => [call, result])).to.deep.equal([
      [1, 'unknown'],
      [2, 'accepted'],
    ])
  })

  describe('after all these sends', () => {
    it('has no recipient in the log, even where a vendor quoted it', () => {
      const log = live.countersign.log.output()
      expect(log).to.include('delivery.attempted')
      expect(log).not.to.match(/\+?1415556\d{4}/)
    })
  })
})
