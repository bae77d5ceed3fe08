// Prices as a table of countries and channels, to be read and edited. In: the list of the API. Out: rows, what an edit changes, and the
// list again. Pure.
import type { Priced } from '../../../../../machines/channels.ts'
import type { Schemas } from '../../api/schema.ts'
import { editableMicros, parseAmount } from '../../data/amounts.ts'
import { CHANNEL_NAMES } from '../../data/channels.ts'
import { countryName } from '../../data/countries.ts'

export type Price = Schemas['Price']

/** Every country without a price of its own. */
export const ANY_COUNTRY = '*'

export const countryLabel = (country: string): string =>
  country === ANY_COUNTRY ? 'Every other country' : `${countryName(country)} (${country})`

export const PRICED_NAMES: Readonly<Record<Priced, string>> = { ...CHANNEL_NAMES, reply: 'WhatsApp reply' }

export type CellKey = `${Priced}:${string}`

export const cellKey = (priced: Priced, country: string): CellKey => `${priced}:${country}`

/** Micro-units by message and country. */
export type Prices = ReadonlyMap<CellKey, number>

export const pricesOf = (list: readonly Price[]): Prices =>
  new Map(list.map(({ channel, kind, country, micros }) => [cellKey(kind ?? channel, country), micros]))

export const listOf = (prices: Prices): Price[] =>
  [...prices].map(([key, micros]) => {
    const [priced, country] = key.split(':') as [Priced, string]
    return priced === 'reply'
      ? { channel: 'whatsapp', kind: priced, country, micros }
      : { channel: priced, country, micros }
  })

/** The countries with a price of their own, in the order of their codes; the default first. */
export const countriesOf = (prices: Prices): string[] => [
  ANY_COUNTRY,
  ...[...new Set([...prices.keys()].map(key => key.slice(key.indexOf(':') + 1)))]
    .filter(country => country !== ANY_COUNTRY)
    .sort(),
]

/** What a message costs there: a price of its own, else the default, else nothing. */
export const priceIn = (prices: Prices, priced: Priced, country: string): number =>
  prices.get(cellKey(priced, country)) ?? prices.get(cellKey(priced, ANY_COUNTRY)) ?? 0

/** What is in the fields, as typed. An empty field has no price of its own. */
export type Draft = ReadonlyMap<CellKey, string>

export const draftOf = (prices: Prices): Draft =>
  new Map([...prices].map(([key, micros]) => [key, editableMicros(micros)]))

export interface CheckedDraft {
  prices: Prices
  errors: ReadonlyMap<CellKey, string>
}

export function checkDraft(draft: Draft): CheckedDraft {
  const prices = new Map<CellKey, number>()
  const errors = new Map<CellKey, string>()
  for (const [key, text] of draft) {
    if (text.trim() === '') continue
    const parsed = parseAmount(text)
    if ('error' in parsed) errors.set(key, parsed.error)
    else if (parsed.micros < 0) errors.set(key, 'A price is not below zero.')
    else prices.set(key, parsed.micros)
  }
  return { prices, errors }
}

/** The cells that differ. */
export const changedCells = (before: Prices, after: Prices): CellKey[] =>
  [...new Set([...before.keys(), ...after.keys()])].filter(key => before.get(key) !== after.get(key))

export const samePrices = (one: Prices, other: Prices): boolean => changedCells(one, other).length === 0

/** The prices were changed by another operator since the edit began: the own changes go on top of theirs. */
export function rebase(draft: Draft, base: Prices, fresh: Prices): Draft {
  const original = draftOf(base)
  const next = new Map(draftOf(fresh))
  for (const key of new Set([...original.keys(), ...draft.keys()])) {
    const text = draft.get(key) ?? ''
    if (text.trim() === (original.get(key) ?? '')) continue
    next.set(key, text)
  }
  return next
}
