// Which messages of a verification stay paid although they failed. In: the verification. Out: the delivery, or whether its price is kept.
// A company's own gateway could deliver a code and report that it failed. An approval by code shows that a message with it arrived.
import { HOUR_MS } from '../infra/time.ts'
import { carriesCode } from './otp.queries.ts'
import type { Delivery, Otp } from './otp.ts'

/** These failed before a provider was called, unless one had taken the message: a vendor may report a message as canceled. */
const NEVER_SENT: ReadonlySet<Delivery['reason']> = new Set(['superseded', 'no_provider', 'insufficient_funds'])

/** Whether the price of a message is not refunded. */
export const isPaid = ({ status, charge }: Delivery): boolean => status !== 'failed' || charge !== undefined

/** A receipt that comes later is no longer believed: the vendor has settled its bill by then. */
const LATE_RECEIPT_MS = 72 * HOUR_MS

/** Whether a receipt that comes now says of a failed message that it arrived after all. The first one counts. */
export const isLateReceipt = ({ status, late_receipt_at, updated_at }: Delivery, at: number): boolean =>
  status === 'failed' && late_receipt_at === undefined && at - updated_at <= LATE_RECEIPT_MS

/** Whether a provider was called for a message that failed. It may have refused the message, or not answered: it can
 *  have delivered the code all the same. */
const reachedProvider = ({ provider, reason }: Delivery): boolean => provider !== undefined || !NEVER_SENT.has(reason)

/** The delivery whose refund an approval by code takes back: the latest of the generation that a provider took. Where none did, the latest
 *  that reached a provider, unless another one that is still queued and paid for may have brought the code. None when one of the generation
 *  is sent, or arrived after it had failed. */
export function deliveryToRecharge({ deliveries, generation }: Otp): Delivery | undefined {
  const current = deliveries.filter(one => one.generation === generation && carriesCode(one))
  if (current.some(hasArrived)) return undefined
  const refunded = current.filter(one => one.status === 'failed' && one.micros > 0)
  const taken = refunded.findLast(({ provider }) => provider !== undefined)
  return taken ?? (current.some(mayHaveArrived) ? undefined : refunded.findLast(reachedProvider))
}

/** Whether a delivery that fails now, as `after` says, is not refunded. After an approval by code this holds for every
 *  message that reached a provider. Another one was not sent, and is refunded, unless no other message of the approved
 *  generation can have brought the code: then this one did, and what the provider answered came later or was lost. */
export function keepsPrice({ approval, deliveries }: Otp, before: Delivery, after: Delivery): boolean {
  if (!approval?.by || before.micros === 0 || !carriesCode(before)) return false
  if (reachedProvider(after)) return true
  return (
    before.generation === approval.generation &&
    !deliveries.some(
      one => one !== before && one.generation === approval.generation && carriesCode(one) && mayHaveArrived(one),
    )
  )
}

/** A message of a free channel that is still queued does not count: it may never be sent, and nothing would be paid. */
const mayHaveArrived = ({ micros, status, charge }: Delivery): boolean =>
  status === 'sent' || status === 'delivered' || (status === 'queued' && micros > 0) || charge !== undefined

const hasArrived = ({ status, late_receipt_at }: Delivery): boolean =>
  status === 'sent' || status === 'delivered' || late_receipt_at !== undefined
