// Pays for a test of a provider, which is a message like any other. In: the app, the channel and the recipient of a
// test. Out: a charge that can be given back, or a refusal: the kind of number or the country is blocked, the company
// has had its tests of the day, the spend cap is reached, or the balance is too low. A refused test leaves nothing
// behind.
import type { Clock } from '../../../infra/clock.ts'
import { rateLimited } from '../../../infra/http/problem.ts'
import { newId } from '../../../infra/ids.ts'
import type { Docs } from '../../../infra/store/docs.ts'
import { DAY_MS } from '../../../infra/time.ts'
import type { Channel } from '../../../machines/channels.ts'
import { isGeoBlocked, refusedNumberKind } from '../../../machines/routing.ts'
import { endOfDay, spendCapOf } from '../../../machines/spend-caps.ts'
import type { CountersignStore } from '../../domain/collections.ts'
import { problem } from '../../domain/errors.ts'
import type { Accounts } from '../../domain/money/accounts.ts'
import { refundEntry, testHoldEntry } from '../../domain/money/documents.ts'
import { priceList, readPrices } from '../../domain/money/prices.ts'
import { CONSOLE_APP_ID } from '../../domain/tenancy/console.ts'
import type { App } from '../../domain/tenancy/documents.ts'
import { resolveSettings } from '../../domain/tenancy/settings.ts'
import type { CounterDoc } from '../../domain/verifications/documents.ts'
import type { ParsedRecipient } from '../../domain/verifications/valid-recipient.ts'
import { validationProblem } from '../request-input.ts'

export interface ChargedTest {
  app: App
  channel: Channel
  /** The name of the provider. */
  provider: string
  recipient: ParsedRecipient
  /** Who tests. */
  by: string
}

export interface TestCharge {
  /** The vendor did not take the message, so its price is given back. */
  refund(): Promise<void>
  /** Nothing was sent: the price is given back, and the test does not count. */
  undo(): Promise<void>
}

/** Throws the refusal. */
export type ChargeTest = (test: ChargedTest) => Promise<TestCharge>

export const MAX_TESTS_PER_DAY = 20

export interface ChargeTestDeps {
  store: CountersignStore
  accounts: Pick<Accounts, 'enter'>
  clock: Pick<Clock, 'now'>
}

export function createChargeTest({ store, accounts, clock }: ChargeTestDeps): ChargeTest {
  const dailyTests = createDailyTests(store.docs('counters'))

  async function priceOf(app_id: string, channel: Channel, country: string | null, at: number): Promise<number> {
    if (app_id === CONSOLE_APP_ID) return 0
    return priceList((await readPrices(store.docs('prices')))?.prices ?? [])(channel, country, at)
  }

  /** Answers how the price is given back. */
  async function hold(test: ChargedTest, at: number): Promise<() => Promise<void>> {
    const { app, channel, provider, recipient, by } = test
    const { _id: app_id, company_id } = app
    const target = targetOf(recipient)
    const micros = await priceOf(app_id, channel, target.country, at)
    if (micros === 0) return async () => {}
    const delivery_id = newId('dlv', at)
    const { spend_caps } = resolveSettings(app.settings)
    const message = { app_id, channel, country: target.country }
    const cap = spendCapOf({ app_id, recipient: target, at }, spend_caps)
    const answer = await accounts.enter(company_id, testHoldEntry(provider, { delivery_id, micros, by, message }), cap)
    if (answer === 'capped')
      throw rateLimited({
        scope: 'spend_cap',
        detail: 'The spend cap of this country is reached for today. Nothing was sent.',
        waitMs: endOfDay(at) - at,
      })
    if (answer === 'short')
      throw problem('InsufficientFundsError', {
        detail: 'A test costs as much as any message, and the balance is too low. Nothing was sent.',
      })
    return async () => void (await accounts.enter(company_id, refundEntry(null, delivery_id, micros)))
  }

  return async test => {
    const { app, recipient } = test
    const settings = resolveSettings(app.settings)
    const numberKind = recipient.kind === 'phone' ? recipient.numberKind : undefined
    const refusedKind = refusedNumberKind(settings, numberKind)
    if (refusedKind !== null)
      throw validationProblem([
        { path: 'recipient', message: `is of the kind ${refusedKind}, and the app sends to no such numbers` },
      ])
    if (isGeoBlocked(settings, targetOf(recipient)))
      throw problem('GeoBlockedError', { detail: 'The app does not send to this country. Nothing was sent.' })
    const at = clock.now()
    await dailyTests.take(app.company_id, at)
    const giveBackTest = () => dailyTests.giveBack(app.company_id, at)
    const refund = await hold(test, at).catch(async refusal => {
      await giveBackTest()
      throw refusal
    })
    return { refund, undo: async () => void (await Promise.all([refund(), giveBackTest()])) }
  }
}

const targetOf = (recipient: ParsedRecipient) => ({
  kind: recipient.kind,
  country: recipient.kind === 'phone' ? recipient.country : null,
})

/** Counts the tests of a company on a day (UTC). The count is in the store, so all processes share it. */
function createDailyTests(counters: Pick<Docs<CounterDoc>, 'insert' | 'modify'>) {
  const idOf = (company_id: string, at: number) => `provider_tests:${company_id}:${Math.floor(at / DAY_MS)}`
  return {
    async take(company_id: string, at: number): Promise<void> {
      const _id = idOf(company_id, at)
      const purge_at = new Date(endOfDay(at) + DAY_MS)
      const [answer] = await counters.insert([{ _id, windows: {}, granted: 1, purge_at }])
      if (answer === 'inserted') return
      const counted = await counters.modify({ _id, granted: { $lt: MAX_TESTS_PER_DAY } }, { $inc: { granted: 1 } })
      if (counted) return
      throw rateLimited({
        scope: 'provider_test',
        detail: `The providers of a company are tested at most ${MAX_TESTS_PER_DAY} times a day (UTC).`,
        waitMs: endOfDay(at) - at,
      })
    },
    async giveBack(company_id: string, at: number): Promise<void> {
      await counters.modify({ _id: idOf(company_id, at), granted: { $gt: 0 } }, { $inc: { granted: -1 } })
    },
  }
}
