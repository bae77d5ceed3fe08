// The groups in which the fraud guard counts a phone number, and how often a message of a slowed group may pass. Pure.
import type { Reason } from './fraud.ts'
import type { WindowRule } from './windows.ts'

/** What devices send is also counted over the whole app. */
export const ALL_NUMBERS = 'all numbers'

export const countryName = (country: string | null): string => country ?? 'no country'
/** A million numbers. */
export const rangeOf = (number: string): string => number.slice(0, -6)
/** Ten thousand numbers. */
export const blockOf = (number: string): string => number.slice(0, -4)
export const hundredOf = (number: string): string => number.slice(0, -2)

/** How often a number that is verified again and again counts as verified. */
export const VERIFIED_RULES: readonly WindowRule[] = [{ max: 1, seconds: 3_600 }]

const PACE_SECONDS = 600

export const paceRules = ({ pace }: Pick<Reason, 'pace'>): WindowRule[] =>
  pace === null ? [] : [{ max: pace, seconds: PACE_SECONDS }]
