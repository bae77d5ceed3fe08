// What the table of providers by country and the suggested order say. In: the answer of GET /apps/{id}/routes. Out: the
// countries in it, and words. Pure.
import type { Schemas } from '../../api/schema.ts'
import { formatMicros } from '../../data/amounts.ts'
import { CHANNEL_NAMES } from '../../data/channels.ts'
import { countryName } from '../../data/countries.ts'
import { formatDecimal } from '../../ui/figure-format.ts'

type Row = Schemas['RouteRow']

export interface CountryRows {
  /** The key of the field that chooses it. */
  key: string
  country: string | null
  messages: number
  rows: Row[]
}

/** In the order of the rows: the country with the most messages first. */
export function countriesIn(rows: readonly Row[]): CountryRows[] {
  const countries = new Map<string, CountryRows>()
  for (const row of rows) {
    const key = row.country ?? ''
    const found = countries.get(key) ?? { key, country: row.country, messages: 0, rows: [] }
    found.messages += row.messages
    found.rows.push(row)
    countries.set(key, found)
  }
  return [...countries.values()]
}

export const placeName = (country: string | null): string =>
  country === null ? 'Addresses and numbers of no country' : countryName(country)

/** A line does not end between a figure and its sign. */
export const withoutBreaks = (text: string): string => text.replaceAll(' %', '\u00a0%')

/** What a suggested order gains. Where cost counts, approvals and money are told apart: an order may lose approvals and
 *  still be worth it. */
export function gainWords({ gain, approvals, cost_micros }: Schemas['RouteSuggestion']): string {
  const words = `${approvalsOf(gain)} of 100 messages, over all countries`
  if (cost_micros === null) return `Expected gain: ${words}.`
  return `Expected gain: worth ${words}: ${approvalsOf(approvals)}, and ${costWords(cost_micros)}.`
}

function approvalsOf(perMessage: number): string {
  const figure = formatDecimal(Math.abs(perMessage) * 100)
  if (figure === '0') return 'as many approvals'
  return `${figure} ${perMessage > 0 ? 'more' : 'fewer'} ${figure === '1' ? 'approval' : 'approvals'}`
}

const MICROS_PER_CENT = 10_000
/** An average over countries has no more decimals than that, unless it is small. */
const LEAST_IN_CENTS = 10 * MICROS_PER_CENT

function costWords(perMessage: number): string {
  const micros = Math.abs(perMessage) * 100
  const step = micros < LEAST_IN_CENTS ? 1 : MICROS_PER_CENT
  if (micros === 0) return 'the same cost'
  return `${formatMicros(Math.round(micros / step) * step)} ${perMessage > 0 ? 'more' : 'less'} to pay`
}

/** What was done: a suggested order moves one provider up. `before`: the names in the order that it replaces. */
export function movedWords(
  { channel, order }: Pick<Schemas['RouteSuggestion'], 'channel' | 'order'>,
  before: readonly string[],
): string {
  const known = before.filter(name => order.includes(name))
  const place = Math.max(
    0,
    order.findIndex((name, nth) => name !== known[nth]),
  )
  const name = CHANNEL_NAMES[channel]
  if (place === 0) return `${order[0]} is now the first provider of ${name}.`
  return `${order[place]} is now number ${place + 1} of the providers of ${name}, behind ${order[place - 1]}.`
}

export const STATES: Readonly<Record<Schemas['RouteState'], { name: string; tone: 'good' | 'bad' | 'warning' }>> = {
  ok: { name: 'Works', tone: 'good' },
  silent: { name: 'Silent', tone: 'bad' },
  open: { name: 'Paused after failures', tone: 'bad' },
  paused: { name: 'Paused', tone: 'warning' },
}
