// Settings are tried on past traffic over HTTP: a mix of sends, resends and refusals is recorded, and settings are tried on it.
import { expect } from 'chai'
import type { Caller } from '../support/api-caller.ts'
import { CACHE_TTL_MS, freshNumber } from '../support/flow.ts'
import { codeIn, describeLiveFlowOnce } from '../support/live-flow.ts'
import { type HttpGateway, startHttpGateway } from '../support/vendors/http-gateway.ts'

const SMS_PRICE = 40_000
const WHATSAPP_PRICE = 10_000
const GERMAN_NUMBERS = ['+4915112345678', '+4915112345679']
const HOUR_MS = 3_600_000
const SETTINGS = {
  limits: {
    recipient: [{ max: 3, seconds: 600 }],
    client_ip: [{ max: 2, seconds: 600 }],
    app_without_client_ip: [{ max: 1_000, seconds: 60 }],
  },
  routing: { default: ['sms', 'whatsapp', 'email'] },
  blocked_countries: ['DE'],
  resend_cooldown_seconds: [30],
  publishable_send: true,
  publishable_challenge: 'off',
  fraud_guard: { mode: 'on' },
}

describeLiveFlowOnce('settings tried on past traffic', live => {
  let gateway: HttpGateway
  let app: string
  let server: Caller
  let device: Caller
  let since: number
  let accepted = 0
  const refused: string[] = []

  async function call(answer: ReturnType<Caller['send']>): Promise<string> {
    const { status, body } = await answer
    if (status === 200) accepted += 1
    else refused.push(body.scope ?? body.type)
    return body.otp_id
  }

  before(async () => {
    const prices = [
      { channel: 'sms', country: '*', micros: SMS_PRICE },
      { channel: 'whatsapp', country: '*', micros: WHATSAPP_PRICE },
    ]
    await live.admin('PUT', '/prices', { prices })
    await live.advance(CACHE_TTL_MS)
    gateway = await startHttpGateway(live.vendorOptions)
    const config = {
      url: gateway.url,
      method: 'POST',
      body: { delivery_id: '{{delivery_id}}', text: '{{text}}', recipient: '{{recipient}}' },
    }
    const providers = ['sms', 'whatsapp', 'email'].map(channel => ({ name: channel, channel, type: 'http', config }))
    ;({ app, server } = await live.createApp(providers, SETTINGS))
    device = await live.createKey(app, 'publishable', 'live')
    await live.admin('POST', `/companies/${app.replace('app_', 'cmp_')}/credit`, {
      micros: 100_000_000,
      note: 'a transfer',
    })
    since = live.clock.now()
    await live.advance(1_000)

    // The fourth for each is refused.
    for (const to of [freshNumber(), freshNumber()]) for (let nth = 0; nth < 4; nth += 1) await call(server.send(to))
    await call(server.send(GERMAN_NUMBERS[0] as string))
    await call(server.send('ada+shop@example.com', { client_ip: '2a00:1450:4001::1' }))
    await call(server.send('ada@example.com', { idempotency: 'order 1' }))
    for (let nth = 0; nth < 3; nth += 1) await call(server.send(freshNumber(), { client_ip: '8.8.8.8' }))
    await call(device.send(freshNumber(), { forwarded: '9.9.9.9' }))
    const resent = await call(server.send(freshNumber()))
    await call(server.resend(resent))
    await live.advance(31_000)
    await call(server.resend(resent))
    const [message] = await live.eventually(() => {
      const sent = gateway.messages.filter(({ requestBody }) => requestBody.recipient === 'ada@example.com')
      expect(sent).to.have.length(1)
      return sent
    })
    const { body } = await live.admin('GET', `/verifications?app_id=${app}&recipient=ada@example.com`)
    expect((await server.verify(body.items[0].otp_id, codeIn(message?.requestBody.text))).body.status).to.equal(
      'approved',
    )
    await live.eventually(async () => {
      const { items } = (await live.admin('GET', `/refusals?app_id=${app}`)).body
      expect(items).to.have.length(refused.length)
    })
    await live.advance(1_000)
  })
  after(() => gateway.close())

  async function tryOut(settings: object, from = since) {
    const until = live.clock.now()
    const answer = await live.admin('POST', `/apps/${app}/settings/try`, { settings, since: from, until })
    expect(answer.status, answer.text).to.equal(200)
    const { body } = answer
    const reasons = body.not_judged.map(({ reason }: { reason: string }) => reason)
    return { ...body, reasons }
  }
  const NO_DIFFERENCE = { refused: [], no_longer_refused: [], moved: [], examples: [] }

  it('differ in nothing when they are unchanged, and every call is judged', async () => {
    expect(refused).to.have.members(['recipient', 'recipient', 'GeoBlockedError', 'client_ip', 'resend_cooldown'])
    const tried = await tryOut({})
    expect(tried).to.deep.include(NO_DIFFERENCE)
    expect(tried.sends).to.equal(accepted + refused.length)
    expect(tried.not_judged).to.deep.equal([])
    expect(tried.cost_micros.was).to.equal(tried.cost_micros.would_be)
    // Two mails are free.
    expect(tried.cost_micros.was).to.equal((accepted - 1) * SMS_PRICE - 2 * SMS_PRICE + WHATSAPP_PRICE)
  })

  it('that are stricter refuse exactly what is over them, with examples that lead to verifications', async () => {
    const tried = await tryOut({ limits: { recipient: [{ max: 2, seconds: 600 }] } })
    const type = 'RateLimitExceededError'
    expect(tried.refused).to.deep.equal([{ type, scope: 'recipient', country: 'US', count: 2 }])
    expect(tried).to.deep.include({ no_longer_refused: [], moved: [] })
    expect(tried.cost_micros.was - tried.cost_micros.would_be).to.equal(2 * SMS_PRICE)
    expect(tried.examples).to.have.length(2)
    for (const { otp_id, masked_recipient, ...example } of tried.examples) {
      expect(example).to.deep.include({ outcome: 'refused', type, scope: 'recipient', from: 'sms', to: null })
      const verification = (await live.admin('GET', `/verifications/${otp_id}`)).body
      expect(verification.masked_recipient).to.equal(masked_recipient)
    }
    expect(tried.reasons).to.deep.equal(['may_come_back'])
  })

  it('move messages to another channel, at its price', async () => {
    const tried = await tryOut({ routing: { countries: { US: ['whatsapp', 'sms'] } } })
    expect(tried.moved).to.have.deep.members([
      { from: 'sms', to: 'whatsapp', country: 'US', count: accepted - 3 },
      { from: 'whatsapp', to: 'sms', country: 'US', count: 1 },
    ])
    expect(tried).to.deep.include({ refused: [], no_longer_refused: [] })
    expect(tried.cost_micros.would_be).to.equal((accepted - 3) * WHATSAPP_PRICE + SMS_PRICE)
  })

  it('are not saved, and are refused as a change of the app is', async () => {
    await tryOut({ blocked_countries: ['US'] })
    const { body } = await live.admin('GET', `/apps/${app}`)
    expect(body.settings.blocked_countries).to.deep.equal(['DE'])
    const until = live.clock.now()
    for (const wrong of [
      { settings: { limits: { recipient: [{ max: 0, seconds: 1 }] } }, since, until },
      { settings: {}, since: until, until: since },
      { settings: {}, since: until - 32 * 24 * HOUR_MS, until },
      { settings: {} },
    ])
      expect((await live.admin('POST', `/apps/${app}/settings/try`, wrong)).body.type).to.equal('ValidationError')
  })

  it('say what is not tried: the order of providers, challenges, origins, idempotency keys', async () => {
    const { reasons, not_judged } = await tryOut({
      routing: { providers: 'best' },
      publishable_challenge: 'always',
      allowed_origins: ['https://shop.example'],
      idempotency_ttl_seconds: 60,
    })
    expect(reasons).to.include.members(['provider_order', 'challenges', 'origins', 'idempotency_keys'])
    const countOf = (which: string) => not_judged.find(({ reason }: { reason: string }) => reason === which)?.count
    expect(countOf('idempotency_keys'), 'sends with a key').to.equal(1)
    expect(countOf('challenges'), 'sends by devices').to.equal(1)
  })

  it('say what is not known of moved messages, and of codes that were entered or not', async () => {
    const moves = { routing: { default: ['whatsapp', 'sms', 'email'] } }
    expect((await tryOut(moves)).reasons).to.deep.equal(['arrival'])
    const longer = await tryOut({ code: { ttl_seconds: 3_600 } })
    // All are still pending by the time of this deployment, and one is approved.
    expect(longer.reasons).to.deep.equal([])
  })
})
