// A price as an operator writes it, in the bootstrap file and in PUT /prices. Prices are stored by money/, but money/ must not import
// tenancy/, whose schemas are used here: tenancy/ imports money/.
import { z } from 'zod'
import { channel, countryOrAll } from './value-schemas.ts'

export const priceKind = z.literal('reply').meta({
  description: 'Of `whatsapp` only: the price of a reply in a chat that the user began. Absent: of other messages.',
})

/** ISO 8601 in a request, epoch milliseconds in the store. */
const effectiveAt = z.iso
  .datetime({ offset: true, error: 'must be a time, such as "2030-01-31T12:00:00Z"' })
  .nullish()
  .transform(text => (text ? Date.parse(text) : undefined))
  .meta({ description: 'From when it holds, in place of the price before it; null or absent: at once.' })

export const priceSchema = z
  .strictObject({
    channel,
    kind: priceKind.optional(),
    country: countryOrAll,
    micros: z.int().min(0),
    effective_at: effectiveAt,
  })
  .refine(({ channel, kind }) => kind === undefined || channel === 'whatsapp', {
    path: ['kind'],
    error: 'is for the channel whatsapp alone',
  })
  .meta({ id: 'PriceInput', description: 'What a message costs, in micro-units.' })
