// A price as an operator writes it, in the bootstrap file and in PUT /prices. Prices are stored by money/, but money/ must not import
// tenancy/, whose schemas are used here: tenancy/ imports money/.
import { z } from 'zod'
import { channel, countryOrAll } from './value-schemas.ts'

export const priceSchema = z
  .strictObject({ channel, country: countryOrAll, micros: z.int().min(0) })
  .meta({ id: 'PriceInput', description: 'What a message costs, in micro-units.' })
