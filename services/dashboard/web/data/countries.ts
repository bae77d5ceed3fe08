// Countries as people call them. In: what a person typed, or a code of the API. Out: the code, or the English name. Pure.
import { isCountry } from '../../../../machines/countries.ts'

const LETTERS = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']

const names = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' })

export interface Country {
  /** ISO 3166-1 alpha-2. */
  code: string
  name: string
}

/** The name of a code; the code itself where it has none. */
export function countryName(code: string): string {
  try {
    return names.of(code) ?? code
  } catch {
    return code
  }
}

const byName = (one: Country, other: Country): number => one.name.localeCompare(other.name, 'en')

/** By name. */
export const COUNTRIES: readonly Country[] = LETTERS.flatMap(first => LETTERS.map(second => first + second))
  .filter(isCountry)
  .map(code => ({ code, name: countryName(code) }))
  .sort(byName)

/** By name. */
export const COUNTRY_CODES: readonly string[] = COUNTRIES.map(({ code }) => code)

/** These codes by the names of their countries. */
export const sortedByName = (codes: readonly string[]): string[] =>
  codes
    .map(code => ({ code, name: countryName(code) }))
    .sort(byName)
    .map(({ code }) => code)

/** Names that people type and no standard has. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  uk: 'GB',
  'great britain': 'GB',
  england: 'GB',
  usa: 'US',
  america: 'US',
  uae: 'AE',
  holland: 'NL',
  'czech republic': 'CZ',
  turkey: 'TR',
  'ivory coast': 'CI',
}

/** Small letters without accents: people type "Reunion" and "cote d'ivoire". */
const plain = (text: string): string =>
  text.normalize('NFD').replaceAll(/\p{M}/gu, '').replaceAll('’', "'").trim().toLowerCase()

/** The country with this code or name, or the only one whose name begins so. Null where there is none, or several. */
export function findCountry(text: string): Country | null {
  const typed = plain(text)
  if (typed === '') return null
  const wanted = OTHER_NAMES[typed]
  const exact = COUNTRIES.find(
    ({ code, name }) => code === wanted || code.toLowerCase() === typed || plain(name) === typed,
  )
  if (exact) return exact
  const beginning = COUNTRIES.filter(({ name }) => plain(name).startsWith(typed))
  return beginning.length === 1 ? (beginning[0] ?? null) : null
}
