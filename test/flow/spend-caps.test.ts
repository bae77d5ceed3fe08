// Spend caps over HTTP: how much an app may spend on messages to one country in a day.
import { expect } from 'chai'
import { type Answer, refusal } from '../support/api-caller.ts'
import { CACHE_TTL_MS, freshNumber } from '../support/flow.ts'
import { describeLiveFlow, type LiveApp } from '../support/live-flow.ts'
import { startTwilio, type Twilio } from '../support/vendors/twilio.ts'
import { keepEachTestWithin } from '../support/within-period.ts'

const SMS_PRICE = 40_000
const DAY_MS = 86_400_000
const PLENTY = [{ max: 1_000, seconds: 60 }]
const GERMAN_NUMBER = '+4915112345678'

interface Shop extends LiveApp {
  company: string
  twilio: Twilio
}

describeLiveFlow('an app with spend caps', live => {
  const opened: Twilio[] = []
  keepEachTestWithin(DAY_MS, live)
  before(async () => {
    await live.admin('PUT', '/prices', { prices: [{ channel: 'sms', country: '*', micros: SMS_PRICE }] })
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
    if (balance > 0) await live.admin('POST', `/companies/${company}/credit`, { micros: balance, note: 'a transfer' })
    return { ...app, company, twilio }
  }
  const balance = async ({ company }: Shop) => (await live.admin('GET', `/companies/${company}`)).body.balance
  const outcome = ({ status, body }: Answer): string => body.scope ?? body.type ?? String(status)

  it('spends exactly its cap on a country, however many sends arrive at once', async () => {
    const shop = await open({ spend_caps: { US: 7 * SMS_PRICE } })
    const answers = await Promise.all(Array.from({ length: 25 }, () => shop.server.send(freshNumber())))
    expect(answers.map(outcome).sort()).to.deep.equal([...Array(7).fill('200'), ...Array(18).fill('spend_cap')])
    expect(await balance(shop)).to.equal(1_000_000 - 7 * SMS_PRICE)
    const refused = await shop.server.send(freshNumber(), { idempotency: 'once' })
    expect(refusal(refused)).to.deep.include({ type: 'RateLimitExceededError', status: 429, scope: 'spend_cap' })
    expect(refused.body.retry_after).to.be.within(1, 86_400)
    expect((await shop.server.send(GERMAN_NUMBER)).status, 'no cap there').to.equal(200)
    const { body } = await live.admin('GET', `/companies/${shop.company}/reconciliation`)
    expect(body.problems).to.deep.equal([])
  })

  it('can spend again on the next day in UTC', async () => {
    const shop = await open({ spend_caps: { US: SMS_PRICE } })
    expect(outcome(await shop.server.send(freshNumber()))).to.equal('200')
    const refused = await shop.server.send(freshNumber())
    const seconds = Number(refused.headers.get('retry-after'))
    expect(seconds).to.be.within(1, Math.ceil((DAY_MS - (live.clock.now() % DAY_MS)) / 1000) + 1)
    await live.advance(seconds * 1000)
    expect(outcome(await shop.server.send(freshNumber()))).to.equal('200')
  })

  it('has one cap per country: the country’s own, or else the default for every other country', async () => {
    const shop = await open({ spend_caps: { '*': SMS_PRICE, US: 2 * SMS_PRICE } })
    const sends = ['+4915112345678', '+4915112345679', '+33612345678', freshNumber(), freshNumber(), freshNumber()]
    const answers = []
    for (const to of sends) answers.push(outcome(await shop.server.send(to)))
    expect(answers).to.deep.equal(['200', 'spend_cap', '200', '200', '200', 'spend_cap'])
  })

  it('can spend again when a failed delivery is refunded', async () => {
    const shop = await open({ spend_caps: { US: SMS_PRICE } })
    shop.twilio.next({ receipts: ['sent', 'failed'] })
    const { body } = await shop.server.send(freshNumber())
    await live.waitForDeliveries(shop.server, body.otp_id, 'sms failed')
    await live.eventually(async () => expect(outcome(await shop.server.send(freshNumber()))).to.equal('200'))
    expect(outcome(await shop.server.send(freshNumber()))).to.equal('spend_cap')
  })

  it('counts resends, but no message that its balance could not pay', async () => {
    const shop = await open({ spend_caps: { US: 2 * SMS_PRICE } }, SMS_PRICE)
    const { body } = await shop.server.send(freshNumber())
    for (let nth = 0; nth < 3; nth += 1)
      expect(outcome(await shop.server.resend(body.otp_id))).to.equal('InsufficientFundsError')
    await live.admin('POST', `/companies/${shop.company}/credit`, { micros: 5 * SMS_PRICE, note: 'a transfer' })
    expect(outcome(await shop.server.resend(body.otp_id))).to.equal('200')
    expect(outcome(await shop.server.resend(body.otp_id))).to.equal('spend_cap')
  })
})
