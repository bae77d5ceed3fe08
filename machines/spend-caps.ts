// Spend caps: how much an app may spend on a country in a day (UTC), by its settings. What was spent is counted beside
// the balance that pays for it, so a hold and its count change in one write (services/domain/money/booking.ts). Pure.
import { DAY_MS } from '../infra/time.ts'
import type { Recipient } from './otp.ts'
import type { AppSettings } from './settings.ts'

const OTHER_COUNTRIES = '*'

export interface SpendCap {
  /** Names an app, a country and a day: `capKey`. */
  key: string
  /** Micro-units that all holds of this key may come to together. */
  limit: number
}

/** What a cap looks at: the app and the recipient of a message, and when the message was made. */
export interface CappedMessage {
  app_id: string
  recipient: Pick<Recipient, 'kind' | 'country'>
  at: number
}

/** The cap that applies to a message, if there is one. */
export function spendCapOf(
  { app_id, recipient, at }: CappedMessage,
  caps: AppSettings['spend_caps'],
): SpendCap | undefined {
  const limit = capMicros(caps, recipient)
  return limit === undefined ? undefined : { key: capKey(app_id, cappedGroup(recipient), at), limit }
}

/** What is spent together: on a country, or on all numbers without one. */
export const cappedGroup = ({ country }: Pick<Recipient, 'country'>): string => country ?? OTHER_COUNTRIES

/** Numbers without a country fall under `*`. Email addresses have no cap. */
export const capMicros = (
  caps: AppSettings['spend_caps'],
  { kind, country }: Pick<Recipient, 'kind' | 'country'>,
): number | undefined =>
  kind === 'email' ? undefined : ((country === null ? undefined : caps[country]) ?? caps[OTHER_COUNTRIES])

const dayOf = (at: number): number => Math.floor(at / DAY_MS)

export const endOfDay = (at: number): number => (dayOf(at) + 1) * DAY_MS

/** A delivery counts on the day it was made: `at`. */
export const capKey = (app_id: string, country: string, at: number): string => `${app_id}:${country}:${dayOf(at)}`

/** Whether the key's day is over. A key lives one day longer, because the clocks of processes differ. */
export const isExpiredKey = (key: string, now: number): boolean =>
  Number(key.slice(key.lastIndexOf(':') + 1)) < dayOf(now) - 1
