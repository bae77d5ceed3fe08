// How many messages of an hour may stay unverified. In: the tally of a group of numbers. Out: what was counted, and the allowance. Pure.
//
// The allowance is a floor, what is usually verified there in ten minutes, and a number of messages for each that was verified. So an app
// whose users verify is allowed more the busier it is, and one that is pumped is not.
import {
  type ConversionCounts,
  countsUpToNow,
  settledCounts,
  type Tally,
  usualConversion,
  usualPace,
} from './fraud.tally.ts'
import type { KeyKind } from './otp.ts'
import type { LimitRule } from './settings.ts'

/** The groups of numbers that have a tally. `app`: all numbers that the app's devices send to. */
export type TallyScope = 'app' | 'country' | 'range'

export interface Allowance extends ConversionCounts {
  unverified: number
  allowed: number
  /** The share that is usually verified; null when it is not known. */
  usual: number | null
  /** Its usual conversion is known, and it would be within its allowance even without the floor. */
  isProven: boolean
}

/** A conversion that is not known is taken for this. That of devices is high, because an attacker can verify numbers of their own, and
 *  would get so many more messages for each; that of servers is low, so that a new app is not slowed down by mistake. */
const ASSUMED_CONVERSION: Record<KeyKind, number> = { publishable: 0.7, server: 0.25 }
/** How much less than usual may be verified. */
const MARGIN = 1.5
/** For each verified message so many others are allowed. A device's are bounded, because a fraudster can lower its usual conversion for
 *  days; a server's allow one verified message in twenty. */
const MIN_PER_VERIFIED = 0.5
const MAX_PER_VERIFIED: Record<KeyKind, number> = { publishable: 3, server: 19 }

/** Below these counts chance does not slow down a small app. */
const SERVER_FLOORS: Record<TallyScope, number> = { app: 100, country: 100, range: 30 }
/** In minutes of what the app's devices may send. */
const FLOOR_MINUTES: Record<TallyScope, number> = { app: 2, country: 2, range: 0.5 }
const MAX_PER_MINUTE = 600
/** An app whose devices may send little is not slowed down by chance either. */
const MIN_FLOOR = 10

/** How many messages the app's devices may send in a minute. More than 600 count as that: floors must not grow without end. */
export const devicesPerMinute = (rules: readonly LimitRule[]): number =>
  Math.min(MAX_PER_MINUTE, ...rules.map(({ max, seconds }) => (seconds < 60 ? (max * 60) / seconds : max)))

export const floorOf = (scope: TallyScope, kind: KeyKind, perMinute: number): number =>
  kind === 'server' ? SERVER_FLOORS[scope] : Math.max(MIN_FLOOR, Math.ceil(FLOOR_MINUTES[scope] * perMinute))

export function allowanceOf(tally: Tally, floor: number, kind: KeyKind, now: number): Allowance {
  // Devices send few messages, so each counts at once. A server's last minutes are not judged: their users may still be entering codes.
  const { sent, verified } = kind === 'publishable' ? countsUpToNow(tally, now) : settledCounts(tally, now)
  const usual = usualConversion(tally, now)
  const unverified = Math.max(0, sent - verified)
  const withoutFloor = usualPace(tally, now) + unverifiedPerVerified(usual ?? ASSUMED_CONVERSION[kind], kind) * verified
  return {
    sent,
    verified,
    unverified,
    allowed: floor + withoutFloor,
    usual,
    isProven: usual !== null && unverified < withoutFloor,
  }
}

const unverifiedPerVerified = (conversion: number, kind: KeyKind): number =>
  Math.min(MAX_PER_VERIFIED[kind], Math.max(MIN_PER_VERIFIED, (MARGIN * (1 - conversion)) / conversion))

/** The next message would be one too many. */
export const isUsedUp = ({ unverified, allowed }: Allowance): boolean => unverified >= allowed
