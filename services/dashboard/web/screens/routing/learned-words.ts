// What the table of providers by country says. In: rows of GET /apps/{id}/routes. Out: the countries in it, and words. Pure.
import type { Schemas } from '../../api/schema.ts'
import { countryName } from '../../data/countries.ts'

type Row = Schemas['RouteRow']

export interface CountryRows {
  /** Of the field that chooses it. */
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

export const STATES: Readonly<Record<Schemas['RouteState'], { name: string; tone: 'good' | 'bad' | 'warning' }>> = {
  ok: { name: 'Works', tone: 'good' },
  silent: { name: 'Silent', tone: 'bad' },
  open: { name: 'Paused after failures', tone: 'bad' },
  paused: { name: 'Paused', tone: 'warning' },
}
