// Countries for fields and tables. Out: every code that the API takes, and its name in the viewer's language.
import { isCountry } from '../../../domain/tenancy/countries.ts'

const LETTERS = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']

const names = new Intl.DisplayNames(undefined, { type: 'region' })

/** The code itself where the browser knows no name for it. */
export const countryName = (code: string): string => names.of(code) ?? code

/** In the order of their names. */
export const COUNTRY_CODES: readonly string[] = LETTERS.flatMap(first => LETTERS.map(second => `${first}${second}`))
  .filter(isCountry)
  .sort((one, other) => countryName(one).localeCompare(countryName(other)))
