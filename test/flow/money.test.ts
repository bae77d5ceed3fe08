// Prepaid balances over HTTP: what a send costs, what a failed delivery refunds, and that a balance never goes below zero.
import { expect } from 'chai'
import { createKeyring } from '../../infra/crypto/keyring.ts'
import { DAY_MS } from '../../infra/time.ts'
import { CHECK_HOLD_AFTER_MS } from '../../services/domain/money/ledger-writer.ts'
import { CONSOLE_APP_ID } from '../../services/domain/tenancy/console.ts'
import { type Answer, refusal } from '../support/api-caller.ts'
import { CACHE_TTL_MS, freshNumber } from '../support/flow.ts'
import { codeIn, describeLiveFlow, type LiveApp } from '../support/live-flow.ts'
import { startReceiver } from '../support/receiver.ts'
import { itOnceOf } from '../support/site.ts'
import { addUser } from '../support/users.ts'
import { startMailServer } from '../support/vendors/smtp.ts'
import { startTwilio, type Twilio, type TwilioMessage } from '../support/vendors/twilio.ts'
import { keepEachTestWithin } from '../support/within-period.ts'

const SMS_PRICE = 40_000
const WITHOUT_LIMITS = {
  limits: { app_without_client_ip: [{ max: 1_000, seconds: 60 }] },
  fraud_guard: { mode: 'off' },
}
const NO_FUNDS = { type: 'InsufficientFundsError', status: 402 }

interface Shop extends LiveApp {
  company: string
  twilio: Twilio
}

describeLiveFlow('an app with a prepaid balance', (live, engines) => {
  const itOnce = itOnceOf(engines)
  const opened: Twilio[] = []
  const companies: string[] = []
  keepEachTestWithin(DAY_MS, live)
  before(async () => {
    const prices = [
      { channel: 'sms', country: 'US', micros: SMS_PRICE },
      { channel: 'sms', country: '*', micros: 2 * SMS_PRICE },
    ]
    expect((await live.admin('PUT', '/prices', { prices })).status).to.equal(200)
    await live.advance(CACHE_TTL_MS)
  })
  afterEach(() => Promise.all(opened.splice(0).map(one => one.close())))

  async function open(micros: number, settings: object = {}): Promise<Shop> {
    const twilio = await startTwilio(live.vendorOptions)
    opened.push(twilio)
    const { account_sid, auth_token, url: base_url } = twilio
    const config = { account_sid, auth_token, base_url, from: '+15550001111' }
    const app = await live.createApp([{ name: 'main', channel: 'sms', type: 'twilio', config }], settings)
    const company = app.app.replace('app_', 'cmp_')
    companies.push(company)
    if (micros > 0) await live.admin('POST', `/companies/${company}/credit`, { micros, note: 'a transfer' })
    return { ...app, company, twilio }
  }
  const balance = async ({ company }: Shop) => (await live.admin('GET', `/companies/${company}`)).body.balance
  const ledger = async ({ company }: Shop): Promise<[string, number, number][]> => {
    const { items } = (await live.admin('GET', `/companies/${company}/ledger`)).body
    return items.map((item: { kind: string; micros: number; balance_after: number }) => [
      item.kind,
      item.micros,
      item.balance_after,
    ])
  }
  const expectReconciled = async ({ company }: Shop) => {
    const { body } = await live.admin('GET', `/companies/${company}/reconciliation`)
    expect(body.problems).to.deep.equal([])
    expect(body.sum).to.equal(body.balance)
    expect(body.balance).to.be.at.least(0)
    const { body: statement } = await live.admin('GET', `/companies/${company}/statement`)
    const { opening_micros, credits_micros, charges_micros, refunds_micros, recharges_micros } = statement
    expect(opening_micros + credits_micros + charges_micros + refunds_micros + recharges_micros).to.equal(body.balance)
    expect(statement.closing_micros).to.equal(body.balance)
  }

  itOnce('tells its owners by email, and endpoints that ask for it, once when the balance is low', async () => {
    const [mail, receiver] = [await startMailServer(), await startReceiver()]
    const consoleMail = `/apps/${CONSOLE_APP_ID}/providers/mail`
    try {
      const config = { host: '127.0.0.1', port: mail.port, from: 'console@shop.example' }
      expect((await live.admin('PUT', consoleMail, { type: 'smtp', config })).status).to.equal(201)
      const shop = await open(3 * SMS_PRICE)
      const { secrets, engines: stores } = live.countersign
      const keyring = createKeyring({ dataKeys: secrets.data, codeSecrets: secrets.code })
      const owner = await addUser(stores.store, shop.company, 'owner', keyring, 'owner@shop.example')
      const endpoint = { url: `http://127.0.0.1:${receiver.port}/`, events: ['ops.balance_low'] }
      const { body: created } = await live.admin('POST', `/apps/${shop.app}/endpoints`, endpoint)
      const path = `/companies/${shop.company}`
      await live.admin('PATCH', path, { low_balance_micros: 2.5 * SMS_PRICE })
      await live.advance(CACHE_TTL_MS)
      const notices = async () => (await live.admin('GET', `${path}/notices`)).body.items
      await shop.server.send(freshNumber())
      await live.eventually(async () => {
        // Not further, because the mail that follows would time out.
        if ((await notices()).length === 0) await live.advance(1_000)
        expect(await notices()).to.have.length(1)
      })
      await live.eventually(() => expect([mail.mails.length, receiver.received.length]).to.deep.equal([1, 1]))
      expect(mail.mails[0]?.to).to.deep.equal(['owner@shop.example'])
      expect(mail.mails[0]?.bodies['text/plain']).to.include('fallen below 0.1')
      const { type, payload } = JSON.parse(String(receiver.received[0]?.body))
      const [notice] = await notices()
      expect(notice).to.include({ type, subject: shop.company, at: payload.at, app_id: null, ongoing: true })
      expect(notice.mails.map((sent: { user_id: string }) => sent.user_id)).to.deep.equal([owner._id])
      const told = (await live.admin('GET', `${path}/notices/recipients`)).body
      expect(told.owners).to.deep.equal([{ user_id: owner._id, email: 'owner@shop.example' }])
      expect(told.endpoints).to.deep.equal([{ ...endpoint, id: created.id, app_id: shop.app }])
    } finally {
      await live.admin('DELETE', `${consoleMail}?confirm=true`)
      await Promise.all([mail.close(), receiver.close()])
    }
  })

  itOnce('pays when a send is accepted, and the ledger names the delivery', async () => {
    const shop = await open(100_000)
    const { body, headers } = await shop.server.send(freshNumber())
    expect(await balance(shop)).to.equal(60_000)
    const shown = (await live.admin('GET', `/verifications/${body.otp_id}`)).body
    expect(shown).to.include({ cost_micros: SMS_PRICE, request_id: headers.get('x-request-id') })
    const { items } = (await live.admin('GET', `/companies/${shop.company}/ledger`)).body
    const hold = { kind: 'hold', micros: -SMS_PRICE, balance_after: 60_000, otp_id: body.otp_id, note: null }
    expect(items[0]).to.include(hold)
    expect(items[0].delivery_id).to.match(/^dlv_/)
    const { delivery_id } = items[0]
    expect(items[0]).to.include({ app_id: shop.app, channel: 'sms', country: 'US', provider: null })
    expect(items[0].by).to.match(/^key_/)
    const kindsOf = async (query: string) =>
      (await live.admin('GET', `/companies/${shop.company}/ledger?${query}`)).body.items.map(
        ({ kind }: { kind: string }) => kind,
      )
    const queries: Record<string, string[]> = {
      'kind=credit': ['credit'],
      [`app_id=${shop.app}&channel=sms&country=US`]: ['hold'],
      [`delivery_id=${delivery_id}`]: ['hold'],
      'country=FR': [],
      [`to=${items[1].at}`]: [],
    }
    for (const [query, kinds] of Object.entries(queries)) expect(await kindsOf(query), query).to.deep.equal(kinds)
    expect(await kindsOf(`from=${items[0].at}&to=2031-01-01T00:00:00Z`)).to.include('hold')
    const refused = await live.admin('GET', `/companies/${shop.company}/ledger?from=yesterday&kind=gift`)
    expect([refused.status, refused.body.errors.length]).to.deep.equal([422, 2])
    expect(items[1]).to.include({ kind: 'credit', micros: 100_000, balance_after: 100_000, note: 'a transfer' })
    await expectReconciled(shop)
  })

  it('spends exactly its spend cap on a country in a day, however many sends arrive at once', async () => {
    const shop = await open(1_000_000, { spend_caps: { US: 7 * SMS_PRICE, '*': 2 * SMS_PRICE }, ...WITHOUT_LIMITS })
    const outcome = ({ status, body }: Answer): string => body.scope ?? body.type ?? String(status)
    const answers = await Promise.all(Array.from({ length: 25 }, () => shop.server.send(freshNumber())))
    expect(answers.map(outcome).sort()).to.deep.equal([...Array(7).fill('200'), ...Array(18).fill('spend_cap')])
    expect(await balance(shop)).to.equal(1_000_000 - 7 * SMS_PRICE)
    await expectReconciled(shop)
    const elsewhere: string[] = []
    for (const to of ['+4915112345678', '+4915112345679', '+33612345678'])
      elsewhere.push(outcome(await shop.server.send(to)))
    expect(elsewhere, 'one cap for each other country').to.deep.equal(['200', 'spend_cap', '200'])
    const refused = await shop.server.send(freshNumber())
    expect(refusal(refused)).to.deep.include({ type: 'RateLimitExceededError', status: 429, scope: 'spend_cap' })
    const seconds = Number(refused.headers.get('retry-after'))
    expect(seconds).to.be.within(1, Math.ceil((DAY_MS - (live.clock.now() % DAY_MS)) / 1000) + 1)
    await live.advance(seconds * 1000)
    expect(outcome(await shop.server.send(freshNumber())), 'on the next day in UTC').to.equal('200')
  })

  itOnce('is counted as cut off by prices that it cannot pay, and is refused once they are saved', async () => {
    const saved = (await live.admin('GET', '/prices')).body.items
    const dearer = [...saved, { channel: 'sms', country: 'FR', micros: 7 * SMS_PRICE }]
    const cutOff = async (prices: object[]) => {
      const { status, body } = await live.admin('POST', '/prices/try', { prices })
      expect(status).to.equal(200)
      return body
    }
    // A message of an earlier test may still fail, because its vendor is gone. Its refund would change what its company can pay.
    for (const company of companies)
      expect((await live.admin('PATCH', `/companies/${company}`, { closed: true })).status).to.equal(200)
    const before = await cutOff(dearer)
    const shop = await open(2 * SMS_PRICE)
    const rich = await open(7 * SMS_PRICE)
    const poor = await open(SMS_PRICE)
    const closed = await open(2 * SMS_PRICE)
    await live.admin('PATCH', `/companies/${closed.company}`, { closed: true })
    const withoutLiveKey = await open(2 * SMS_PRICE)
    const { items } = (await live.admin('GET', `/apps/${withoutLiveKey.app}/keys`)).body
    for (const { id, mode } of items) if (mode === 'live') await live.admin('DELETE', `/keys/${id}`)
    // Not the rich one, which can pay, nor the poor one, which cannot pay today's price either.
    expect(await cutOff(dearer)).to.deep.equal({ companies: before.companies + 3, cut_off: before.cut_off + 1 })
    expect(await cutOff(saved)).to.deep.equal({ companies: before.companies + 3, cut_off: 0 })
    expect((await live.admin('GET', '/prices')).body.items, 'nothing is saved').to.deep.equal(saved)

    await live.admin('PUT', '/prices', { prices: dearer })
    await live.advance(CACHE_TTL_MS)
    try {
      const french = '+33612345678'
      for (const one of [shop, poor]) expect(refusal(await one.server.send(french))).to.deep.include(NO_FUNDS)
      expect((await rich.server.send(french)).status).to.equal(200)
    } finally {
      await live.admin('PUT', '/prices', { prices: saved })
      await live.advance(CACHE_TTL_MS)
    }
  })

  itOnce('pays again, once, for a message that failed and whose arrival is reported later', async () => {
    const shop = await open(100_000)
    shop.twilio.next({ receipts: ['sent', 'failed', 'delivered', 'delivered'] })
    const { body } = await shop.server.send(freshNumber())
    await live.eventually(async () =>
      expect((await ledger(shop)).map(([kind]) => kind)).to.deep.equal(['recharge', 'refund', 'hold', 'credit']),
    )
    const [delivery] = (await shop.server.status(body.otp_id)).body.deliveries
    expect(delivery).to.include({ status: 'failed', late_receipt: 'delivered' })
    const { timeline, deliveries } = (await live.admin('GET', `/verifications/${body.otp_id}`)).body
    expect(deliveries[0]).to.include({ charge: 'again' })
    expect(timeline.map(({ happened }: { happened: string }) => happened)).to.include('delivery.arrived_late')
    await expectReconciled(shop)
  })

  it('gets one refund for a failure that is reported many times at once', async () => {
    const shop = await open(100_000, { spend_caps: { US: SMS_PRICE }, resend_cooldown_seconds: [0] })
    shop.twilio.next({ receipts: ['sent'] })
    const { body } = await shop.server.send(freshNumber())
    await live.waitForDeliveries(shop.server, body.otp_id, 'sms sent')
    const [message] = shop.twilio.messages
    await Promise.all(Array.from({ length: 8 }, () => message && shop.twilio.report(message, 'failed')))
    await live.eventually(async () => expect(await balance(shop)).to.equal(100_000))
    expect((await shop.server.resend(body.otp_id)).status).to.equal(200)
    expect((await shop.server.resend(body.otp_id)).body.scope).to.equal('spend_cap')
    expect((await ledger(shop)).map(([kind]) => kind)).to.deep.equal(['hold', 'refund', 'hold', 'credit'])
    await expectReconciled(shop)
  })

  it('pays once for a message whose code is entered after a reported failure, and may be overdrawn', async () => {
    const shop = await open(SMS_PRICE, { spend_caps: { US: SMS_PRICE } })
    shop.twilio.next({ receipts: ['sent', 'failed'] })
    const { body } = await shop.server.send(freshNumber())
    await live.waitForDeliveries(shop.server, body.otp_id, 'sms failed')
    await live.eventually(async () => expect(await balance(shop)).to.equal(SMS_PRICE))
    // The refund is spent on something else meanwhile.
    await live.admin('POST', `/companies/${shop.company}/credit`, { micros: -SMS_PRICE, note: 'a transfer' })
    const code = codeIn(shop.twilio.messages[0]?.form.Body)
    for (let calls = 0; calls < 2; calls += 1)
      expect((await shop.server.verify(body.otp_id, code)).body.status).to.equal('approved')
    await live.eventually(async () => expect(await balance(shop)).to.equal(-SMS_PRICE))
    const { items } = (await live.admin('GET', `/companies/${shop.company}/ledger`)).body
    expect(items[0]).to.include({ kind: 'recharge', micros: -SMS_PRICE, otp_id: body.otp_id })
    expect(items[0].delivery_id).to.equal(items.at(-2).delivery_id)
    expect(refusal(await shop.server.send(freshNumber()))).to.deep.include({ type: 'RateLimitExceededError' })
    // Money that comes in is accepted although the balance stays below zero.
    const credit = async (micros: number) =>
      (await live.admin('POST', `/companies/${shop.company}/credit`, { micros, note: 'a transfer' })).status
    expect([await credit(1), await credit(-1)]).to.deep.equal([200, 422])
    const { problems } = (await live.admin('GET', `/companies/${shop.company}/reconciliation`)).body
    expect(problems).to.deep.equal([])
  })

  it('pays exactly once when the code and the report of a failure arrive at once, and gets nothing back later', async () => {
    const rounds = 6
    const shop = await open(rounds * SMS_PRICE)
    await Promise.all(
      Array.from({ length: rounds }, async (_, nth) => {
        shop.twilio.next({ receipts: [] })
        const to = freshNumber()
        const { body } = await shop.server.send(to)
        const sent = () => shop.twilio.messages.find(({ form }) => form.To === to)
        await live.eventually(() => expect(sent()).not.to.equal(undefined))
        const message = sent() as TwilioMessage
        const report = () => shop.twilio.report(message, 'failed')
        const verify = () => shop.server.verify(body.otp_id, codeIn(message.form.Body))
        const [, answer] =
          nth % 2 === 0 ? await Promise.all([report(), verify()]) : (await Promise.all([verify(), report()])).reverse()
        expect((answer as Awaited<ReturnType<typeof verify>>).body.status).to.equal('approved')
        await report()
        await live.waitForDeliveries(shop.server, body.otp_id, 'sms failed')
      }),
    )
    await live.eventually(async () => {
      expect(await balance(shop)).to.equal(0)
      await expectReconciled(shop)
    })
    const kinds = (await ledger(shop)).map(([kind]) => kind)
    const count = (kind: string) => kinds.filter(one => one === kind).length
    expect(count('recharge')).to.equal(count('refund'))
  })

  for (const [how, forget] of [
    ['erased', ({ app }, recipient) => live.admin('POST', `/apps/${app}/erase`, { recipient })],
    ['purged', (_, __, _id) => live.countersign.engines.store.docs('otps').remove({ _id }, 1)],
  ] as [string, (shop: Shop, recipient: string, otp_id: string) => Promise<unknown>][])
    itOnce(`pays for a message that fails only after its verification was ${how}`, async () => {
      const shop = await open(100_000)
      shop.twilio.next({ receipts: ['sent'] })
      const recipient = freshNumber()
      const { body } = await shop.server.send(recipient)
      await live.waitForDeliveries(shop.server, body.otp_id, 'sms sent')
      await live.advance(CHECK_HOLD_AFTER_MS + 1_000)
      await live.eventually(async () => {
        const due = await live.countersign.engines.store
          .docs('ledger')
          .count({ company_id: shop.company, check_at: { $gt: 0 } })
        expect(due).to.equal(0)
      })
      await forget(shop, recipient, body.otp_id)
      const [message] = shop.twilio.messages
      const answers = await Promise.all([1, 2, 3].map(() => message && shop.twilio.report(message, 'failed')))
      for (const status of answers) expect(status).to.be.below(500)
      expect(await balance(shop)).to.equal(100_000 - SMS_PRICE)
      await expectReconciled(shop)
    })

  itOnce('gets 402 when its balance is too low, and keeps its idempotency key and its limit', async () => {
    const limits = { recipient: [{ max: 1, seconds: 600 }] }
    const shop = await open(SMS_PRICE, { limits, resend_cooldown_seconds: [0] })
    const { otp_id } = (await shop.server.send(freshNumber())).body
    expect(refusal(await shop.server.resend(otp_id))).to.deep.equal(NO_FUNDS)
    const test = await live.createKey(shop.app, 'server', 'test')
    expect((await test.send(freshNumber())).status, 'a test key pays nothing').to.equal(200)
    const to = freshNumber()
    const key = { idempotency: 'once' }
    expect(refusal(await shop.server.send(to, key))).to.deep.equal(NO_FUNDS)
    await live.admin('POST', `/companies/${shop.company}/credit`, { micros: SMS_PRICE, note: 'a transfer' })
    // The refusal used up neither the idempotency key nor the one send that the limit allows.
    expect((await shop.server.send(to, key)).status).to.equal(200)
    expect(shop.twilio.requests.length).to.be.at.most(2)
    await expectReconciled(shop)
  })

  it('never spends more than its balance, however many sends arrive at once', async () => {
    const shop = await open(10 * SMS_PRICE, WITHOUT_LIMITS)
    const answers = await Promise.all(Array.from({ length: 30 }, () => shop.server.send(freshNumber())))
    const statuses = answers.map(({ status }) => status).sort()
    expect(statuses).to.deep.equal([...Array(10).fill(200), ...Array(20).fill(402)])
    expect(await balance(shop)).to.equal(0)
    await expectReconciled(shop)
  })
})
