// What is known about a route: one provider on one channel in one country, for the traffic of one kind of key. Everything about learned
// routes starts from these types: routes.judged.ts (which messages are evidence), routes.estimate.ts (what the evidence says),
// routes.order.ts (which provider comes first; a share also tells its rule, so that a draw knows its reason) and routes.silence.ts (whether
// a provider that accepts messages delivers none, with routes.usual.ts and routes.others.ts). All of them are pure: time and chance are
// arguments.
import type { Channel } from './channels.ts'
import type { KeyKind } from './otp.ts'

export interface RouteKey {
  /** Traffic of devices is kept apart, so that a flood by devices steers nothing for servers. */
  kind: KeyKind
  channel: Channel
  /** Null for email addresses and for numbers of no country. */
  country: string | null
  provider: string
}

/** Messages that started in one stretch of time. `approved` are those that earned an approval: the last message before it. */
export interface RouteCounts {
  /** When the stretch begins. */
  start: number
  /** Accepted by the provider. */
  messages: number
  delivered: number
  approved: number
}

/** Messages of a slot, the short stretch of the fast window. */
export interface RouteSlot extends Pick<RouteCounts, 'start' | 'messages' | 'approved'> {
  /** Those for which a code was entered, right or wrong: they have arrived. */
  tried: number
}

/** The length of a slot. */
export const ROUTE_SLOT_MS = 10_000

/** A time in which no code could be verified, because the service did not work. */
export interface Outage {
  from: number
  until: number
}

/** What is stored about a route over time. */
export interface RouteHistory extends RouteKey {
  /** By hour, oldest first, of the last 30 days. */
  hours: readonly RouteCounts[]
  /** By ROUTE_SLOT_MS, oldest first, of the last hours. The same messages are in `hours` too. */
  slots: readonly RouteSlot[]
  /** How long approvals took, in seconds: the half and nine of ten were faster. Null without approvals. */
  seconds_p50: number | null
  seconds_p90: number | null
}

/** Judged messages: older than the time in which nine of ten approve. Each weighs less the older it is, half after 24 hours. */
export interface Evidence {
  approved: number
  missed: number
}

/** What the other routes of the app do while one gets no codes. `well`: codes of others are entered, so it is the provider. `silent`:
 *  none is, so it is the app's own form, or the app. `unknown`: they have too few messages to tell. */
export type Others = 'well' | 'silent' | 'unknown'

/** Where the sequential test for silence stands. */
export interface Silence {
  /** Grows with messages whose codes are not entered, and falls with those whose codes are. */
  score: number
  /** Slots up to this time are in the score. */
  judged_until: number
  /** Since when the provider is silent in this country; null while it is not. */
  since: number | null
  /** The others are compared from this time on; absent while the score is zero. */
  from?: number
  /** Present from when the score was high enough until it has fallen again. */
  others?: Others
}

/** What the processes that send, and the screens, know about a route. */
export interface RouteFact extends RouteKey {
  /** The messages of the last 30 days, without decay. */
  messages: number
  delivered: number
  approved: number
  evidence: Evidence
  seconds_p50: number | null
  silence: Silence
}
