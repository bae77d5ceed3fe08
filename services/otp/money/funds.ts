// What messages cost, and whether there is money for them, and room below a cap: both are taken in one write, and given back in one.
// Test keys cost nothing; where nothing has a price, nothing is asked.

import { CHANNELS } from '../../../machines/channels.ts'
import type { Delivery, Mode, Otp, Prices, Recipient } from '../../../machines/otp.ts'
import type { AppSettings } from '../../../machines/settings.ts'
import type { Accounts } from '../../domain/money/accounts.ts'
import { holdEntry, voidEntry } from '../../domain/money/documents.ts'
import { refusal } from '../refusals.ts'
import { NO_RESERVATION, type Reservation } from '../reservation.ts'
import type { Prices as PriceLists } from './prices.ts'
import { spendCapFor, spendCapRefusal } from './spend-caps.ts'

export interface Funds {
  pricesFor(mode: Mode, recipient: Pick<Recipient, 'country'>): Promise<Prices>
  /** Takes what the latest delivery costs. */
  take(otp: Otp, settings: CapSettings): Promise<Reservation>
  /** A link costs nothing yet, but whoever gets one must be able to pay for its code. */
  checkBalance(otp: Otp, prices: Prices): Promise<Reservation>
}

type CapSettings = Pick<AppSettings, 'spend_caps'>

const NO_PRICES: Prices = {}
export const INSUFFICIENT_FUNDS: Reservation = {
  ...NO_RESERVATION,
  refusal: refusal('InsufficientFundsError', 'Top up the balance to send.'),
}

export function createFunds({ accounts, prices }: { accounts: Accounts; prices: PriceLists }): Funds {
  async function hold(otp: Otp, delivery: Delivery, settings: CapSettings): Promise<Reservation> {
    const { company_id, otp_id } = otp
    const { delivery_id, micros } = delivery
    const hold = holdEntry(otp_id, delivery_id, micros)
    const answer = await accounts.enter(company_id, hold, spendCapFor(otp, delivery, settings))
    if (answer === 'capped') return { ...NO_RESERVATION, refusal: spendCapRefusal(delivery) }
    if (answer === 'short') return INSUFFICIENT_FUNDS
    return { undo: async () => void (await accounts.enter(company_id, voidEntry(otp_id, delivery_id, micros))) }
  }

  return {
    async pricesFor(mode, { country }) {
      if (mode === 'test') return NO_PRICES
      const priceOf = await prices.list()
      const priced = CHANNELS.map(channel => [channel, priceOf(channel, country)] as const)
      return Object.fromEntries(priced.filter(([, micros]) => micros > 0))
    },

    async checkBalance({ company_id, whatsapp }, prices) {
      const micros = whatsapp === 'link_code' ? (prices.whatsapp ?? 0) : 0
      return micros > 0 && (await accounts.balance(company_id)) < micros ? INSUFFICIENT_FUNDS : NO_RESERVATION
    },

    async take(otp, settings) {
      const latest = otp.deliveries.at(-1)
      return latest?.micros ? hold(otp, latest, settings) : NO_RESERVATION
    },
  }
}
