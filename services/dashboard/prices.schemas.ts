// A price as the admin API answers it.
import { z } from 'zod'
import { channel } from '../domain/tenancy/value-schemas.ts'
import { pageOf } from './page-schema.ts'

export const price = z
  .object({
    channel: channel.meta({ description: 'The channel of the message.' }),
    country: z
      .string()
      .meta({ description: 'ISO 3166-1 alpha-2, or `*` for every country without a price of its own.' }),
    micros: z.int().min(0).meta({ description: 'In micro-units.' }),
  })
  .meta({ id: 'Price', description: 'What a message costs.' })

export const pricePage = pageOf('PricePage', price)

export type PriceAnswer = z.output<typeof price>
