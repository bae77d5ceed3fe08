// What an app lets be spent on a country in a day. In: a delivery and its price. Out: counted, or refused until the day is over.
import { type Expense, endOfDay, type Spending } from '../../infra/money/spending.ts'
import type { Delivery, Otp, Recipient } from '../../machines/otp.ts'
import type { AppSettings } from '../../machines/settings.ts'
import { limited } from './refusals.ts'
import { NOTHING, type Reservation } from './reserve.ts'

export interface Caps {
  /** Takes what the latest delivery costs. */
  take(otp: Otp, settings: Pick<AppSettings, 'spend_caps'>): Promise<Reservation>
  /** The money for a delivery came back. */
  giveBack(otp: Otp, delivery_id: string): Promise<void>
}

const OTHERS = '*'

export const capping = (spending: Spending): Caps => ({
  async take(otp, { spend_caps }) {
    const expense = expenseOf(otp, otp.deliveries.at(-1))
    const cap = expense && capOf(spend_caps, otp.recipient)
    if (cap === undefined || !expense) return NOTHING
    if (await spending.take(expense, cap)) return { undo: () => spending.giveBack(expense) }
    return { refusal: limited('spend_cap', endOfDay(expense.at) - expense.at), undo: NOTHING.undo }
  },
  async giveBack(otp, delivery_id) {
    const expense = expenseOf(
      otp,
      otp.deliveries.find(one => one.delivery_id === delivery_id),
    )
    if (expense) await spending.giveBack(expense)
  },
})

/** Numbers of no country are among the others; mail is of no country at all. */
const capOf = (caps: AppSettings['spend_caps'], { kind, country }: Recipient): number | undefined =>
  kind === 'email' ? undefined : ((country === null ? undefined : caps[country]) ?? caps[OTHERS])

const expenseOf = ({ app_id, recipient }: Otp, delivery: Delivery | undefined): Expense | undefined =>
  delivery && delivery.micros > 0
    ? { app_id, country: recipient.country ?? OTHERS, at: delivery.created_at, micros: delivery.micros }
    : undefined
