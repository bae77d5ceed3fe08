// What the fraud guard decided, in words. In: decisions and tallies of the API. Out: sentences. Pure.
import type { Schemas } from '../../api/schema.ts'
import { CHANNEL_NAMES } from '../../data/channels.ts'
import { countryName } from '../../data/countries.ts'

export type Decision = Schemas['FraudDecision']
export type PrefixTally = Schemas['PrefixTally']

const SIGNALS: Readonly<Record<Schemas['FraudSignal'], string>> = {
  neighbours: 'Neighbouring numbers',
  unverified: 'Too many not verified',
}

export const signalWords = (signal: Schemas['FraudSignal']): string => SIGNALS[signal]

/** "Refused", or "Would be refused" where the guard only records. */
export function outcomeWords({
  outcome,
  channel,
  enforced,
}: Pick<Decision, 'outcome' | 'channel' | 'enforced'>): string {
  if (outcome === 'refused') return enforced ? 'Refused' : 'Would be refused'
  const name = channel === null ? 'another channel' : CHANNEL_NAMES[channel]
  return enforced ? `Moved to ${name}` : `Would move to ${name}`
}

export interface Foresight {
  /** Messages that were sent and would have been refused. */
  refused: number
  /** Messages that would have taken another channel. */
  moved: number
  /** The time of the oldest of them. */
  since: string | null
}

/** What the guard would have done, had it refused: over decisions that it only recorded. */
export function foresee(decisions: readonly Decision[]): Foresight {
  const recorded = decisions.filter(({ enforced }) => !enforced)
  return {
    refused: recorded.filter(({ outcome }) => outcome === 'refused').length,
    moved: recorded.filter(({ outcome }) => outcome === 'moved').length,
    since: recorded.reduce<string | null>((first, { at }) => (first === null || at < first ? at : first), null),
  }
}

const GROUPS: Readonly<Record<string, string>> = {
  'no country': 'Numbers of no country',
  'all numbers': 'All numbers',
  'all addresses': 'All email addresses',
  'large mailbox providers': 'Large mailbox providers',
  'other mail domains': 'Other mail domains',
}

/** A country by its name, a range by its first digits, other groups in words. */
export const prefixWords = (prefix: string): string =>
  prefix.startsWith('+') ? `${prefix}…` : (GROUPS[prefix] ?? countryName(prefix))

/** "80%", or a dash where nothing was counted. */
export const shareWords = (share: number | null): string => (share === null ? '–' : `${Math.round(share * 100)}%`)

export const shareOf = ({ sent, verified }: Schemas['ConversionCounts']): number | null =>
  sent === 0 ? null : Math.min(1, verified / sent)

/** The counts of all days together. */
export const sumOf = (days: readonly Schemas['ConversionCounts'][]): Schemas['ConversionCounts'] => ({
  sent: days.reduce((sum, { sent }) => sum + sent, 0),
  verified: days.reduce((sum, { verified }) => sum + verified, 0),
})
