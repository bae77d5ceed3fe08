// A price, and what new prices would do, as the admin API answers them.
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

export const pricesTrial = z
  .object({
    companies: z.int().min(0).meta({ description: 'Companies that are not closed and have a live key.' }),
    cut_off: z.int().min(0).meta({
      description: 'Those of them whose balance pays for some message now and would not pay for it at the new prices.',
    }),
  })
  .meta({ id: 'PricesTrial', description: 'What new prices would do.' })

export type PricesTrialAnswer = z.output<typeof pricesTrial>
export type PriceAnswer = z.output<typeof price>
