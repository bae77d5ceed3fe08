// What messages cost, and whether there is money for them, and room below a cap: both are taken in one write, and given back in one.
// Test keys cost nothing; where nothing has a price, nothing is asked.

import { CHANNELS } from '../../../machines/channels.ts'
import type { Delivery, Mode, Otp, Prices, Recipient } from '../../../machines/otp.ts'
import type { AppSettings } from '../../../machines/settings.ts'
import type { Accounts } from '../../domain/money/accounts.ts'
import { holdOf, voidOf } from '../../domain/money/documents.ts'
import { refused } from '../refusals.ts'
import { NOTHING, type Reservation } from '../reserve.ts'
import { capped, roomFor } from './caps.ts'
import type { Prices as PriceLists } from './prices.ts'

export interface Funds {
  pricesFor(mode: Mode, recipient: Pick<Recipient, 'country'>): Promise<Prices>
  /** Takes what the latest delivery costs. */
  take(otp: Otp, settings: Caps): Promise<Reservation>
  /** A link costs nothing yet, but whoever gets one must be able to pay for its code. */
  afford(otp: Otp, prices: Prices): Promise<Reservation>
}

type Caps = Pick<AppSettings, 'spend_caps'>

const FREE: Prices = {}
export const SHORT: Reservation = {
  ...NOTHING,
  refusal: refused('InsufficientFundsError', 'Top up the balance to send.'),
}

export function funding({ accounts, prices }: { accounts: Accounts; prices: PriceLists }): Funds {
  async function hold(otp: Otp, delivery: Delivery, settings: Caps): Promise<Reservation> {
    const { company_id, otp_id } = otp
    const { delivery_id, micros } = delivery
    const hold = holdOf(otp_id, delivery_id, micros)
    const answer = await accounts.enter(company_id, hold, roomFor(otp, delivery, settings))
    if (answer === 'capped') return { ...NOTHING, refusal: capped(delivery) }
    if (answer === 'short') return SHORT
    return { undo: async () => void (await accounts.enter(company_id, voidOf(otp_id, delivery_id, micros))) }
  }

  return {
    async pricesFor(mode, { country }) {
      if (mode === 'test') return FREE
      const priceOf = await prices.list()
      const asked = CHANNELS.map(channel => [channel, priceOf(channel, country)] as const)
      return Object.fromEntries(asked.filter(([, micros]) => micros > 0))
    },

    async afford({ company_id, whatsapp }, prices) {
      const micros = whatsapp === 'link_code' ? (prices.whatsapp ?? 0) : 0
      return micros > 0 && (await accounts.balance(company_id)) < micros ? SHORT : NOTHING
    },

    async take(otp, settings) {
      const latest = otp.deliveries.at(-1)
      return latest?.micros ? hold(otp, latest, settings) : NOTHING
    },
  }
}
