// Which messages of a route are evidence. A message is judged once it is older than the time in which nine of ten approve: what is younger
// may still be approved, and would make every provider look bad. Messages whose time to be approved fell into an outage of the service are
// no evidence of silence. Pure.
import { type Outage, ROUTE_SLOT_MS, type RouteCounts, type RouteHistory, type RouteSlot } from './routes.ts'

/** Where no approval was ever seen, neither on the route nor on its channel. */
const UNKNOWN_SECONDS = 120
/** A message is stored some seconds after it was accepted. */
const MIN_SECONDS = 30
/** Slots are kept for four hours (services/domain/routes): an hour to wait, an hour that is not over, and two to spare. */
const MAX_SECONDS = 3_600

/** The share of the approvals that has come when a message is judged. */
export const APPROVED_BY_THEN = 0.9

type Timed = Pick<RouteHistory, 'seconds_p90'>

export const judgeDelayMs = ({ seconds_p90 }: Timed): number =>
  1_000 * Math.min(MAX_SECONDS, Math.max(MIN_SECONDS, seconds_p90 ?? UNKNOWN_SECONDS))

/** Slots that start before this time are judged. */
export const judgedUntil = (history: Timed, now: number): number =>
  Math.floor((now - judgeDelayMs(history)) / ROUTE_SLOT_MS) * ROUTE_SLOT_MS

/** Whether a code of the slot could be entered in all the time until it was judged. */
export const isEvidence = ({ start }: Pick<RouteSlot, 'start'>, history: Timed, outages: readonly Outage[]): boolean =>
  !outages.some(({ from, until }) => start < until && start + ROUTE_SLOT_MS + judgeDelayMs(history) > from)

/** Messages and approvals of the stretches that start from `from` on and before `until`. Each weighs half after every `halfLifeMs` before
 *  `now`. */
export function decayed(
  counts: readonly Pick<RouteCounts, 'start' | 'messages' | 'approved'>[],
  { from, until, now, halfLifeMs }: { from: number; until: number; now: number; halfLifeMs: number },
): { messages: number; approved: number } {
  const sum = { messages: 0, approved: 0 }
  for (const { start, messages, approved } of counts) {
    if (start < from || start >= until) continue
    const weight = Math.exp((-Math.LN2 * Math.max(0, now - start)) / halfLifeMs)
    sum.messages += weight * messages
    sum.approved += weight * Math.min(messages, approved)
  }
  return sum
}
