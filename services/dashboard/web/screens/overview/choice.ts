// What the viewer looks at: range, mode and split. It stands in the address, so that it can be bookmarked and sent to a colleague.

import { RANGES, type Range } from './period.ts'
import { DIMENSION_NAMES, DIMENSIONS, type Dimension } from './split.ts'

export type ModeChoice = 'both' | 'live' | 'test'
export type SplitChoice = 'none' | Dimension

export interface Choice {
  range: Range
  mode: ModeChoice
  by: SplitChoice
}

export const RANGE_OPTIONS: readonly { value: Range; label: string }[] = [
  { value: '24h', label: '24 hours' },
  { value: '7d', label: '7 days' },
  { value: '30d', label: '30 days' },
]

export const MODE_OPTIONS: readonly { value: ModeChoice; label: string }[] = [
  { value: 'both', label: 'Both' },
  { value: 'live', label: 'Live' },
  { value: 'test', label: 'Test' },
]

export const SPLIT_OPTIONS: readonly { value: SplitChoice; label: string }[] = [
  { value: 'none', label: 'None' },
  ...DIMENSIONS.map(value => ({ value, label: DIMENSION_NAMES[value] })),
]

const USUAL: Choice = { range: '24h', mode: 'both', by: 'none' }

/** The choice in a query. A value that is none of them counts as the usual one. */
export function readChoice(query: Readonly<Record<string, string | undefined>>): Choice {
  return {
    range: RANGES.find(range => range === query.range) ?? USUAL.range,
    mode: MODE_OPTIONS.find(({ value }) => value === query.mode)?.value ?? USUAL.mode,
    by: DIMENSIONS.find(dimension => dimension === query.by) ?? USUAL.by,
  }
}

/** The query of a choice, with its question mark; empty for the usual one. */
export function queryOf(choice: Choice): string {
  const words = (['range', 'mode', 'by'] as const)
    .filter(name => choice[name] !== USUAL[name])
    .map(name => `${name}=${choice[name]}`)
  return words.length === 0 ? '' : `?${words.join('&')}`
}

/** The range in a sentence: "in the last 24 hours". */
export const rangeWords = (range: Range): string => RANGE_OPTIONS.find(({ value }) => value === range)?.label ?? range
