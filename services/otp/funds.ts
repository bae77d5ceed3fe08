// Pays for messages. In: a verification whose latest delivery has a price. Out: a reservation, or a refusal. The hold on the balance and
// the amount under the spend cap are one write. Test keys and messages without a price cost nothing, and then no account is touched.
import { createCache } from '../../infra/cache.ts'
import type { Clock } from '../../infra/clock.ts'
import type { Docs } from '../../infra/store/docs.ts'
import { PRICED } from '../../machines/channels.ts'
import type { Delivery, Otp, Prices, Recipient } from '../../machines/otp.ts'
import type { AppSettings } from '../../machines/settings.ts'
import { endOfDay, spendCapOf } from '../../machines/spend-caps.ts'
import type { Accounts } from '../domain/money/accounts.ts'
import { holdEntry, voidEntry } from '../domain/money/documents.ts'
import { type PricesDoc, priceList, readPrices } from '../domain/money/prices.ts'
import { CONSOLE_APP_ID } from '../domain/tenancy/console.ts'
import type { OtpDoc } from '../domain/verifications/documents.ts'
import { limitRefusal, refusal } from './refusals.ts'
import { NO_RESERVATION, type Reservation } from './reservation.ts'

export interface Funds {
  /** Those that hold now. */
  pricesFor(sender: Pick<Otp, 'app_id' | 'mode'>, recipient: Pick<Recipient, 'country'>): Promise<Prices>
  /** Holds the price of the latest delivery. */
  take(otp: Otp, settings: CapSettings): Promise<Reservation>
  /** A link costs nothing yet, but the balance must be enough for the code that the user will ask for. */
  checkBalance(otp: Otp, prices: Prices): Promise<Reservation>
  /** Called after every saved change. A paid delivery that is saved keeps its hold, so the sweeper need not check it. */
  onChange(before: OtpDoc | null, after: OtpDoc): void
}

type CapSettings = Pick<AppSettings, 'spend_caps'>

const NO_PRICES: Prices = {}
export const INSUFFICIENT_FUNDS: Reservation = {
  ...NO_RESERVATION,
  refusal: refusal('InsufficientFundsError', 'Top up the balance to send.'),
}

const PRICES_CACHE = { ttlMs: 5_000, maxSize: 1 }

export interface FundsDeps {
  accounts: Accounts
  prices: Pick<Docs<PricesDoc>, 'get'>
  clock: Pick<Clock, 'now'>
}

export function createFunds({ accounts, prices, clock }: FundsDeps): Funds {
  const priceLists = createCache(async () => priceList((await readPrices(prices))?.prices ?? []), {
    ...PRICES_CACHE,
    clock,
  })

  async function hold(otp: Otp, delivery: Delivery, settings: CapSettings): Promise<Reservation> {
    const { company_id, otp_id, app_id, recipient } = otp
    const { delivery_id, channel, micros, created_at: at } = delivery
    const message = { app_id, channel, country: recipient.country }
    const hold = holdEntry({ otp_id, delivery_id, micros, by: otp.started_by.key_id, message })
    const answer = await accounts.enter(company_id, hold, spendCapOf({ app_id, recipient, at }, settings.spend_caps))
    if (answer === 'capped') return { ...NO_RESERVATION, refusal: limitRefusal('spend_cap', endOfDay(at) - at) }
    if (answer === 'short') return INSUFFICIENT_FUNDS
    return { undo: async () => void (await accounts.enter(company_id, voidEntry(otp_id, delivery_id, micros))) }
  }

  return {
    async pricesFor({ app_id, mode }, { country }) {
      // The console sends codes with which users sign in, on the account of the deployment itself.
      if (mode === 'test' || app_id === CONSOLE_APP_ID) return NO_PRICES
      const priceOf = await priceLists.get('all')
      const now = clock.now()
      const all = PRICED.map(priced => [priced, priceOf(priced, country, now)] as const)
      return Object.fromEntries(all.filter(([, micros]) => micros > 0))
    },

    async checkBalance({ company_id, whatsapp }, prices) {
      const micros = whatsapp === 'link_code' ? (prices.reply ?? 0) : 0
      return micros > 0 && (await accounts.balance(company_id)) < micros ? INSUFFICIENT_FUNDS : NO_RESERVATION
    },

    async take(otp, settings) {
      const latest = otp.deliveries.at(-1)
      return latest?.micros ? hold(otp, latest, settings) : NO_RESERVATION
    },

    onChange(before, after) {
      const saved = after.context.deliveries.slice(before?.context.deliveries.length ?? 0)
      for (const { delivery_id, micros } of saved) if (micros > 0) accounts.confirmHold(delivery_id)
    },
  }
}
