// The groups in which the fraud guard counts a phone number or a mailbox, and how often a message of a slowed group may pass. Pure.
import { isLargeProvider, mailDomainOf } from './fraud.mail-domains.ts'
import type { Reason } from './fraud.ts'
import type { WindowRule } from './windows.ts'

/** What devices send is also counted over the whole app, to numbers and to mailboxes apart. */
export const ALL_NUMBERS = 'all numbers'
export const ALL_ADDRESSES = 'all addresses'
/** Mailboxes have no country. Those of the large providers are watched as a whole: honest users have most of theirs there. */
export const LARGE_PROVIDERS = 'large mailbox providers'
export const OTHER_MAIL_DOMAINS = 'other mail domains'

/** Whom a message goes to: a phone number, or a mailbox as limits count it. */
export interface GuardedRecipient {
  value: string
  /** The country of a number that belongs to one. */
  country: string | null
}

/** The names of a recipient's groups; null where there is none. */
export interface GroupNames {
  all: string
  /** For a mailbox, the kind of its provider. */
  country: string
  /** For a mailbox, its domain. */
  range: string | null
  /** The number without its last four digits. */
  block: string | null
}

export const isMailbox = (value: string): boolean => value.includes('@')

export function groupNamesOf({ value, country }: GuardedRecipient): GroupNames {
  if (!isMailbox(value))
    return { all: ALL_NUMBERS, country: countryName(country), range: rangeOf(value), block: blockOf(value) }
  const domain = mailDomainOf(value)
  const isLarge = isLargeProvider(domain)
  return {
    all: ALL_ADDRESSES,
    country: isLarge ? LARGE_PROVIDERS : OTHER_MAIL_DOMAINS,
    range: isLarge ? null : domain,
    block: null,
  }
}

const countryName = (country: string | null): string => country ?? 'no country'
/** A million numbers. */
const rangeOf = (number: string): string => number.slice(0, -6)
/** Ten thousand numbers. */
export const blockOf = (number: string): string => number.slice(0, -4)
export const hundredOf = (number: string): string => number.slice(0, -2)

/** How often a number that is verified again and again counts as verified. */
export const VERIFIED_RULES: readonly WindowRule[] = [{ max: 1, seconds: 3_600 }]

const PACE_SECONDS = 600

export const paceRules = ({ pace }: Pick<Reason, 'pace'>): WindowRule[] =>
  pace === null ? [] : [{ max: pace, seconds: PACE_SECONDS }]
