// The headings of the table of prices.
import { countryName } from '../../data/countries.ts'
import { ANY_COUNTRY } from './price-table.ts'

export const countryLabel = (country: string): string =>
  country === ANY_COUNTRY ? 'Every other country' : `${countryName(country)} (${country})`
