// What an app has spent below its spend caps, in a replay of past messages. In: messages with their prices, and
// refunds. Out: whether the caps allow one more. It counts as the live account does (services/domain/money/booking.ts):
// what has no cap is not counted, and a refund is deducted from the day of its message. A cap looks at one day, so the
// counts of the day before are dropped.
import { DAY_MS } from '../infra/time.ts'
import type { PastRecipient } from './replay.calls.ts'
import type { AppSettings } from './settings.ts'
import { capMicros, cappedGroup } from './spend-caps.ts'

export function createSpending(caps: AppSettings['spend_caps']) {
  /** By group of countries. */
  const spent = new Map<string, number>()
  /** By call: those whose price is given back later. */
  const refundable = new Map<string, { group: string; micros: number }>()
  let today = Number.NEGATIVE_INFINITY

  function beginDay(at: number): void {
    const day = Math.floor(at / DAY_MS)
    if (day === today) return
    today = day
    spent.clear()
    refundable.clear()
  }

  const add = (group: string, micros: number): void =>
    void spent.set(group, Math.max(0, (spent.get(group) ?? 0) + micros))

  return {
    allows(recipient: PastRecipient, micros: number, at: number): boolean {
      beginDay(at)
      const cap = capMicros(caps, recipient)
      return cap === undefined || micros === 0 || (spent.get(cappedGroup(recipient)) ?? 0) + micros <= cap
    },

    count(
      { id, at }: { id: string; at: number },
      recipient: PastRecipient,
      micros: number,
      isRefundable: boolean,
    ): void {
      beginDay(at)
      if (micros === 0 || capMicros(caps, recipient) === undefined) return
      const group = cappedGroup(recipient)
      add(group, micros)
      if (isRefundable) refundable.set(id, { group, micros })
    },

    /** The price of a call's message is given back, or charged again. */
    correct(call_id: string, as: 'refund' | 'recharge', at: number): void {
      beginDay(at)
      const charge = refundable.get(call_id)
      if (charge !== undefined) add(charge.group, as === 'refund' ? -charge.micros : charge.micros)
    },
  }
}
