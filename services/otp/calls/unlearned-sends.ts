// Whether learned routes leave a send out. In: a send that is planned, and its quotas; later, what the limits and the guard say of it.
// Out: yes for a send that looks like pumping, and for one to a recipient who was sent another not long before.
import type { Clock } from '../../../infra/clock.ts'
import type { CallOf } from '../../../machines/calls.ts'
import type { Quota } from '../../../machines/quotas.ts'
import { isRepeated, RECIPIENT_WEIGHS_ONCE_MS } from '../../domain/routes/contribution.ts'
import { startOf } from '../../domain/stats/contribution.ts'
import { type LatestDeps, latestOfRecipient } from '../../domain/verifications/latest-of-recipient.ts'
import type { Reservation } from '../reservation.ts'
import type { SendPlan } from './send-plan.ts'

interface UnlearnedDeps extends LatestDeps {
  clock: Clock
}

interface PlannedSend {
  otp_id: string
  by: CallOf<'otp.send'>['by']
  plan: Pick<SendPlan, 'givenCode' | 'recipient'>
  quotas: readonly Quota[]
}

type IsUnlearned = (counted: Pick<Reservation, 'last_at'>, guarded: Pick<Reservation, 'suspected'>) => boolean

/** Called before the send is counted, because it may have to read the recipient's verification before this one. */
export async function prepareIsUnlearned(
  deps: UnlearnedDeps,
  { otp_id, by, plan, quotas }: PlannedSend,
): Promise<IsUnlearned> {
  // Nothing is learned from test messages, nor from those whose code the caller made. Their documents say so without a mark.
  if (by.mode !== 'live' || plan.givenCode !== null) return () => false
  const latestAt = tellLast(quotas) ? undefined : await startOfLatest(deps, otp_id, by, plan.recipient.value)
  return ({ last_at }, { suspected }) => suspected === true || isRepeated(last_at ?? latestAt, deps.clock.now())
}

/** Whether a counter tells when it was counted before. Quotas of one counter are taken together, and one without rules is not taken. */
function tellLast(quotas: readonly Quota[]): boolean {
  const telling = quotas.find(({ tellsLast }) => tellsLast)
  return quotas.some(({ key, rules }) => key === telling?.key && rules.length > 0)
}

/** When the recipient's verification before this one was started. Where no limit counts the recipient, no counter knows it. */
async function startOfLatest(
  deps: UnlearnedDeps,
  otp_id: string,
  by: PlannedSend['by'],
  recipient: string,
): Promise<number | undefined> {
  const latest = await latestOfRecipient(deps, by, recipient, deps.clock.now() - RECIPIENT_WEIGHS_ONCE_MS)
  return latest === null || latest._id === otp_id ? undefined : startOf(latest)
}
