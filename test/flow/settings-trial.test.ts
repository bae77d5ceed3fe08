// Settings are tried on past traffic over HTTP: a mix of sends, resends and refusals is recorded, and settings are tried on it. What a
// replay says of any traffic is in test/services/dashboard/settings-trial.test.ts.
import { expect } from 'chai'
import type { Caller } from '../support/api-caller.ts'
import { CACHE_TTL_MS, freshNumber } from '../support/flow.ts'
import { describeLiveFlowOnce } from '../support/live-flow.ts'
import { type HttpGateway, startHttpGateway } from '../support/vendors/http-gateway.ts'

const SMS_PRICE = 40_000
const WHATSAPP_PRICE = 10_000
const DAY_MS = 86_400_000
const SETTINGS = {
  limits: { recipient: [{ max: 3, seconds: 600 }], app_without_client_ip: [{ max: 1_000, seconds: 60 }] },
  routing: { default: ['sms', 'whatsapp'] },
  blocked_countries: ['DE'],
  resend_cooldown_seconds: [30],
  publishable_send: true,
  publishable_challenge: 'off',
}

describeLiveFlowOnce('settings tried on past traffic', live => {
  let gateway: HttpGateway
  let app: string
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
    const prices = { sms: SMS_PRICE, whatsapp: WHATSAPP_PRICE }
    const rows = Object.entries(prices).map(([channel, micros]) => ({ channel, country: '*', micros }))
    await live.admin('PUT', '/prices', { prices: rows })
    await live.advance(CACHE_TTL_MS)
    gateway = await startHttpGateway(live.vendorOptions)
    const config = { url: gateway.url }
    const providers = Object.keys(prices).map(channel => ({ name: channel, channel, type: 'http', config }))
    const shop = await live.createApp(providers, SETTINGS)
    app = shop.app
    const { server } = shop
    const device = await live.createKey(app, 'publishable', 'live')
    const company = app.replace('app_', 'cmp_')
    await live.admin('POST', `/companies/${company}/credit`, { micros: 100_000_000, note: 'a transfer' })
    since = live.clock.now()
    await live.advance(1_000)

    // The fourth for each is refused.
    for (const to of [freshNumber(), freshNumber()]) for (let nth = 0; nth < 4; nth += 1) await call(server.send(to))
    await call(server.send('+4915112345678'))
    await call(server.send(freshNumber(), { idempotency: 'order 1' }))
    await call(device.send(freshNumber(), { forwarded: '9.9.9.9' }))
    const resent = await call(server.send(freshNumber()))
    await call(server.resend(resent))
    await live.advance(31_000)
    await call(server.resend(resent))
    await live.eventually(async () => {
      const { items } = (await live.admin('GET', `/refusals?app_id=${app}`)).body
      expect(items).to.have.length(refused.length)
    })
    await live.advance(1_000)
  })
  after(() => gateway.close())

  async function tryOut(settings: object) {
    const until = live.clock.now()
    const { status, body, text } = await live.admin('POST', `/apps/${app}/settings/try`, { settings, since, until })
    expect(status, text).to.equal(200)
    return { ...body, reasons: body.not_judged.map(({ reason }: { reason: string }) => reason) }
  }

  it('differ in nothing when they are unchanged, and every call is judged', async () => {
    expect(refused).to.have.members(['recipient', 'recipient', 'GeoBlockedError', 'resend_cooldown'])
    const tried = await tryOut({})
    expect(tried).to.deep.include({ refused: [], no_longer_refused: [], moved: [], examples: [], not_judged: [] })
    expect(tried.sends).to.equal(accepted + refused.length)
    const cost = (accepted - 1) * SMS_PRICE + WHATSAPP_PRICE
    expect(tried.cost_micros).to.deep.equal({ was: cost, would_be: cost })
  })

  it('that are stricter refuse exactly what is over them, with examples that lead to verifications', async () => {
    const tried = await tryOut({ limits: { recipient: [{ max: 2, seconds: 600 }] } })
    const type = 'RateLimitExceededError'
    expect(tried.refused).to.deep.equal([{ type, scope: 'recipient', country: 'US', count: 2 }])
    expect(tried).to.deep.include({ no_longer_refused: [], moved: [], reasons: ['may_come_back'] })
    expect(tried.cost_micros.was - tried.cost_micros.would_be).to.equal(2 * SMS_PRICE)
    expect(tried.examples).to.have.length(2)
    for (const { otp_id, masked_recipient, ...example } of tried.examples) {
      expect(example).to.deep.include({ outcome: 'refused', type, scope: 'recipient', from: 'sms', to: null })
      const verification = (await live.admin('GET', `/verifications/${otp_id}`)).body
      expect(verification.masked_recipient).to.equal(masked_recipient)
    }
  })

  it('move messages to another channel, at its price', async () => {
    const tried = await tryOut({ routing: { default: ['whatsapp', 'sms'] } })
    expect(tried.moved).to.deep.include({ from: 'sms', to: 'whatsapp', country: 'US', count: accepted - 1 })
    expect(tried.reasons).to.deep.equal(['arrival'])
    expect(tried.cost_micros.would_be).to.equal((accepted - 1) * WHATSAPP_PRICE + SMS_PRICE)
  })

  it('are not saved, say what is not tried, and are for at most a month of the past', async () => {
    const { reasons } = await tryOut({
      blocked_countries: ['US'],
      routing: { providers: 'best' },
      publishable_challenge: 'always',
      allowed_origins: ['https://shop.example'],
      idempotency_ttl_seconds: 60,
    })
    expect(reasons).to.include.members(['provider_order', 'challenges', 'origins', 'idempotency_keys'])
    expect((await live.admin('GET', `/apps/${app}`)).body.settings.blocked_countries).to.deep.equal(['DE'])
    const until = live.clock.now()
    for (const wrong of [{ since: until, until: since }, { since: until - 32 * DAY_MS, until }, {}]) {
      const { body } = await live.admin('POST', `/apps/${app}/settings/try`, { settings: {}, ...wrong })
      expect(body.type).to.equal('ValidationError')
    }
  })
})
