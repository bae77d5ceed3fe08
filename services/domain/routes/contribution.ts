// What a verification adds to the counts of its routes, in the hour it started in and in a slot of some seconds. It is a pure function of
// its document, like what it adds to the statistics (../stats/contribution.ts), and is counted with it: what is new after each change, and
// all of it when the hour is counted again.
//
// Within a verification each route weighs once, also where it was resent: a user who resends five times is one user.
import { HOUR_MS } from '../../../infra/time.ts'
import { allWrongCodes, firstWrongAt } from '../../../machines/otp.ids.ts'
import { carriesCode, isMessage } from '../../../machines/otp.queries.ts'
import type { Delivery, Otp } from '../../../machines/otp.ts'
import type { SavedOtp } from '../../../machines/otp.versions.ts'
import { ROUTE_SLOT_MS } from '../../../machines/routes.ts'
import { approvalStep } from '../stats/approval-times.ts'
import { hourOf, isDeliveredInTime, wasSent } from '../stats/contribution.ts'
import { addApproval, addCount, type Cells, cellOf, MAX_ROUTES } from '../stats/counts.ts'
import { routeName } from './route-names.ts'

/** One route of a verification. */
export interface RouteEntry {
  route: string
  /** When its first message was made. */
  at: number
  /** The slot of that message, within the hour in which the verification started: so the same messages are in both. */
  slot: number
  delivered: boolean
  /** A code was entered after it, right or wrong. */
  tried: boolean
  approved: boolean
  /** How long the approval took, as a step of ../stats/approval-times.ts; null unless `approved`. */
  step: number | null
}

export function routeEntries(saved: SavedOtp, startedAt: number): RouteEntry[] {
  const { context: otp } = saved
  if (otp.mode !== 'live' || otp.unlearned || isMessage(otp)) return []
  const earner = earningMessage(saved)
  const guessed = guessedMessage(otp)
  const entries = new Map<string, RouteEntry>()
  for (const delivery of otp.deliveries.filter(carriesCode)) {
    const { provider, channel } = delivery
    if (provider === undefined || !wasSent(delivery)) continue
    const route = routeName({ kind: otp.started_by.kind, channel, country: otp.recipient.country, provider })
    const before = entries.get(route)
    const at = before?.at ?? delivery.created_at
    const approved = before?.approved || delivery === earner
    entries.set(route, {
      route,
      at,
      slot: slotOf(at, startedAt),
      delivered: before?.delivered || isDeliveredInTime(delivery, startedAt),
      tried: before?.tried || delivery === earner || delivery === guessed,
      approved,
      step: approved ? approvalStep((otp.approval?.at ?? at) - at) : null,
    })
  }
  return [...entries.values()]
}

/** The last message with the code that was entered. A user's own message in a chat is earned by none. */
function earningMessage({ value, context: { approval, deliveries } }: SavedOtp): Delivery | undefined {
  if (value !== 'approved' || approval === null || approval.by === null) return undefined
  return deliveries.findLast(
    delivery =>
      delivery.generation === approval.generation &&
      delivery.created_at <= approval.at &&
      carriesCode(delivery) &&
      wasSent(delivery),
  )
}

/** The last message before the first wrong code. A message that was made after it is not known to have arrived. */
function guessedMessage(otp: Otp): Delivery | undefined {
  if (allWrongCodes(otp) === 0) return undefined
  const firstAt = firstWrongAt(otp) ?? Infinity
  return otp.deliveries.findLast(
    delivery => delivery.created_at <= firstAt && carriesCode(delivery) && wasSent(delivery),
  )
}

function slotOf(at: number, startedAt: number): number {
  const hour = hourOf(startedAt)
  const within = Math.min(Math.max(at, hour), hour + HOUR_MS - 1)
  return within - (within % ROUTE_SLOT_MS)
}

/** Whether the first wrong code came. It changes nothing else that is counted. */
export const changesTried = (before: SavedOtp, after: SavedOtp): boolean =>
  allWrongCodes(before.context) === 0 && allWrongCodes(after.context) > 0

/** What a change adds: its entries after, and those before, which are taken out. */
export function* changedEntries(
  before: SavedOtp | null,
  after: SavedOtp,
  startedAt: number,
): Generator<{ entry: RouteEntry; by: 1 | -1 }> {
  if (before !== null) for (const entry of routeEntries(before, startedAt)) yield { entry, by: -1 }
  for (const entry of routeEntries(after, startedAt)) yield { entry, by: 1 }
}

export function addRoute(cells: Cells, { route, delivered, approved, step }: RouteEntry, by: 1 | -1): void {
  const cell = cellOf(cells, route, MAX_ROUTES)
  addCount(cell, 'sent', by)
  if (delivered) addCount(cell, 'delivered', by)
  if (approved) addCount(cell, 'approved', by)
  if (step !== null) addApproval(cell, step, by)
}

/** A recipient weighs once in this time. */
export const RECIPIENT_WEIGHS_ONCE_MS = HOUR_MS

/** Whether a later verification of the recipient is left out. */
export const isRepeated = (lastAt: number | undefined, now: number): boolean =>
  lastAt !== undefined && now - lastAt < RECIPIENT_WEIGHS_ONCE_MS
