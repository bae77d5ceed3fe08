// What an app may spend on a country in a day (UTC), by its settings. Pure.
import type { Recipient } from './otp.ts'
import type { AppSettings } from './settings.ts'

export const OTHER_COUNTRIES = '*'

/** What is spent together: on a country, or on all numbers without one. */
export const cappedGroup = ({ country }: Pick<Recipient, 'country'>): string => country ?? OTHER_COUNTRIES

/** Numbers without a country fall under `*`. Email addresses have no cap. */
export const capMicros = (
  caps: AppSettings['spend_caps'],
  { kind, country }: Pick<Recipient, 'kind' | 'country'>,
): number | undefined =>
  kind === 'email' ? undefined : ((country === null ? undefined : caps[country]) ?? caps[OTHER_COUNTRIES])
