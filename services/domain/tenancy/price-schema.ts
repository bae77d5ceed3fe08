// A price as an operator writes it, in the bootstrap file and in PUT /prices. It lies here because money/, where prices are stored,
// is below the schemas it needs.
import { z } from 'zod'
import { channel, countryOrAll } from './value-schemas.ts'

export const priceSchema = z.strictObject({ channel, country: countryOrAll, micros: z.int().min(0) })
