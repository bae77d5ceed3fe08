// Prices as a table of countries and channels, to be read and edited. In: the list of the API. Out: rows, what an edit changes, and the
// list again. A price that is scheduled has a key of its own, with its time. Pure.
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

/** `effectiveAt`: of a price that is scheduled, as the API writes it. */
export const cellKey = (priced: Priced, country: string, effectiveAt?: string): CellKey =>
  effectiveAt === undefined ? `${priced}:${country}` : `${priced}:${country}@${effectiveAt}`

interface Cell {
  priced: Priced
  country: string
  effectiveAt?: string
}

function cellOf(key: CellKey): Cell {
  const [, priced, country = '', effectiveAt] = /^(\w+):([^@]+)(?:@(.+))?$/.exec(key) ?? []
  return { priced: priced as Priced, country, ...(effectiveAt && { effectiveAt }) }
}

export interface ScheduledPrice extends Required<Cell> {
  key: CellKey
  micros: number
}

/** In the order in which they begin to hold. */
export const scheduledIn = (prices: Prices): ScheduledPrice[] =>
  [...prices]
    .flatMap(([key, micros]) => {
      const { effectiveAt, ...cell } = cellOf(key)
      return effectiveAt === undefined ? [] : [{ key, ...cell, effectiveAt, micros }]
    })
    .sort((one, other) => Date.parse(one.effectiveAt) - Date.parse(other.effectiveAt))

/** The changes of an edit hold from a later time on: what holds now stays. Null where one removes a price, which cannot be scheduled. */
export function scheduleChanges(before: Prices, after: Prices, effectiveAt: string): Prices | null {
  const scheduled = new Map(after)
  for (const key of changedCells(before, after)) {
    const { priced, country, effectiveAt: isScheduled } = cellOf(key)
    if (isScheduled) continue
    const [was, micros] = [before.get(key), after.get(key)]
    if (micros === undefined) return null
    if (was === undefined) scheduled.delete(key)
    else scheduled.set(key, was)
    scheduled.set(cellKey(priced, country, effectiveAt), micros)
  }
  return scheduled
}

/** Micro-units by message and country. */
export type Prices = ReadonlyMap<CellKey, number>

export const pricesOf = (list: readonly Price[]): Prices =>
  new Map(
    list.map(({ channel, kind, country, micros, effective_at }) => [
      cellKey(kind ?? channel, country, effective_at),
      micros,
    ]),
  )

export const listOf = (prices: Prices): Price[] =>
  [...prices].map(([key, micros]) => {
    const { priced, country, effectiveAt } = cellOf(key)
    const price: Price =
      priced === 'reply' ? { channel: 'whatsapp', kind: priced, country, micros } : { channel: priced, country, micros }
    return effectiveAt === undefined ? price : { ...price, effective_at: effectiveAt }
  })

/** The countries with a price of their own, now or later, in the order of their codes; the default first. */
export const countriesOf = (prices: Prices): string[] => [
  ANY_COUNTRY,
  ...[...new Set([...prices.keys()].map(key => cellOf(key).country))].filter(country => country !== ANY_COUNTRY).sort(),
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

/** One price that a change set, replaced or removed. */
export interface PriceChange extends Cell {
  /** Null where there was none, and where there is none now. */
  was: number | null
  micros: number | null
}

export const priceChanges = (before: Prices, after: Prices): PriceChange[] =>
  changedCells(before, after).map(key => ({
    ...cellOf(key),
    was: before.get(key) ?? null,
    micros: after.get(key) ?? null,
  }))

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
