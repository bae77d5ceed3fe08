// Geography over HTTP: what may be spent on a country in a day, and countries that are blocked while a verification is under way.
import { expect } from 'chai'
import { type Answer, refusal } from '../support/api-caller.ts'
import { CACHE_TTL_MS, freshNumber } from '../support/flow.ts'
import { describeLiveFlow, type LiveApp } from '../support/live-flow.ts'
import { startTwilio, type Twilio } from '../support/vendors/twilio.ts'

const SMS = 40_000
const DAY = 86_400_000
const PLENTY = [{ max: 1_000, seconds: 60 }]
const GERMAN = '+4915112345678'

interface Shop extends LiveApp {
  company: string
  twilio: Twilio
}

describeLiveFlow('an app that caps what it spends', live => {
  const opened: Twilio[] = []
  before(async () => {
    await live.admin('PUT', '/prices', { prices: [{ channel: 'sms', country: '*', micros: SMS }] })
    await live.advance(CACHE_TTL_MS)
  })
  afterEach(() => Promise.all(opened.splice(0).map(one => one.close())))

  async function open(settings: object, balance = 1_000_000): Promise<Shop> {
    const twilio = await startTwilio(live.vendorOptions)
    opened.push(twilio)
    const { account_sid, auth_token, url: base_url } = twilio
    const config = { account_sid, auth_token, base_url, from: '+15550001111' }
    const app = await live.createApp([{ name: 'main', channel: 'sms', type: 'twilio', config }], {
      limits: { app_without_client_ip: PLENTY },
      fraud_guard: { mode: 'off' },
      resend_cooldown_seconds: [0],
      ...settings,
    })
    const company = app.app.replace('app_', 'cmp_')
    if (balance > 0) await live.admin('POST', `/companies/${company}/credit`, { micros: balance })
    return { ...app, company, twilio }
  }
  const balance = async ({ company }: Shop) => (await live.admin('GET', `/companies/${company}`)).body.balance
  const refusalName = ({ status, body }: Answer): string => body.scope ?? body.type ?? String(status)

  it('spends exactly as much on a country as it may, however many send at once', async () => {
    const shop = await open({ spend_caps: { US: 7 * SMS } })
    const answers = await Promise.all(Array.from({ length: 25 }, () => shop.server.send(freshNumber())))
    expect(answers.map(refusalName).sort()).to.deep.equal([...Array(7).fill('200'), ...Array(18).fill('spend_cap')])
    expect(await balance(shop)).to.equal(1_000_000 - 7 * SMS)
    const refused = await shop.server.send(freshNumber(), { idempotency: 'once' })
    expect(refusal(refused)).to.deep.include({ type: 'RateLimitExceededError', status: 429, scope: 'spend_cap' })
    expect(refused.body.retry_after).to.be.within(1, 86_400)
    expect((await shop.server.send(GERMAN)).status, 'no cap there').to.equal(200)
    const { body } = await live.admin('GET', `/companies/${shop.company}/reconciliation`)
    expect(body.problems).to.deep.equal([])
  })

  it('may spend again tomorrow, in UTC', async () => {
    const shop = await open({ spend_caps: { US: SMS } })
    expect(refusalName(await shop.server.send(freshNumber()))).to.equal('200')
    const refused = await shop.server.send(freshNumber())
    const seconds = Number(refused.headers.get('retry-after'))
    expect(seconds).to.be.within(1, Math.ceil((DAY - (live.clock.now() % DAY)) / 1000) + 1)
    await live.advance(seconds * 1000)
    expect(refusalName(await shop.server.send(freshNumber()))).to.equal('200')
  })

  it('caps each other country by itself, and one that has a cap of its own by that', async () => {
    const shop = await open({ spend_caps: { '*': SMS, US: 2 * SMS } })
    const sends = ['+4915112345678', '+4915112345679', '+33612345678', freshNumber(), freshNumber(), freshNumber()]
    const answers = []
    for (const to of sends) answers.push(refusalName(await shop.server.send(to)))
    expect(answers).to.deep.equal(['200', 'spend_cap', '200', '200', '200', 'spend_cap'])
  })

  it('has room again once a delivery failed and its money came back', async () => {
    const shop = await open({ spend_caps: { US: SMS } })
    shop.twilio.next({ receipts: ['sent', 'failed'] })
    const { body } = await shop.server.send(freshNumber())
    await live.waitForDeliveries(shop.server, body.otp_id, 'sms failed')
    await live.eventually(async () => expect(refusalName(await shop.server.send(freshNumber()))).to.equal('200'))
    expect(refusalName(await shop.server.send(freshNumber()))).to.equal('spend_cap')
  })

  it('counts resends, and nothing that there was no money for', async () => {
    const shop = await open({ spend_caps: { US: 2 * SMS } }, SMS)
    const { body } = await shop.server.send(freshNumber())
    for (let nth = 0; nth < 3; nth += 1)
      expect(refusalName(await shop.server.resend(body.otp_id))).to.equal('InsufficientFundsError')
    await live.admin('POST', `/companies/${shop.company}/credit`, { micros: 5 * SMS })
    expect(refusalName(await shop.server.resend(body.otp_id))).to.equal('200')
    expect(refusalName(await shop.server.resend(body.otp_id))).to.equal('spend_cap')
  })

  it('blocks a country for resends too, from when it is blocked', async () => {
    const shop = await open({})
    const { body } = await shop.server.send(GERMAN)
    await live.changeSettings(shop.app, { blocked_countries: ['DE'] })
    expect(refusal(await shop.server.resend(body.otp_id))).to.deep.equal({ type: 'GeoBlockedError', status: 403 })
    await live.changeSettings(shop.app, { blocked_countries: [], allowed_countries: ['FR'] })
    expect(refusalName(await shop.server.resend(body.otp_id))).to.equal('GeoBlockedError')
    await live.changeSettings(shop.app, { allowed_countries: ['DE'] })
    expect(refusalName(await shop.server.resend(body.otp_id))).to.equal('200')
  })
})
