// Statistics as the admin API answers them.
import { z } from 'zod'
import { timeSchema } from '../../domain/openapi/shared-schemas.ts'
import { pageOf } from '../page-schema.ts'

const count = (description: string) => z.int().min(0).meta({ description })

export const statsRow = z
  .object({
    bucket: timeSchema('When the hour or day begins, in UTC.'),
    channel: z.string().nullable().optional().meta({ description: 'By channel.' }),
    country: z.string().nullable().optional().meta({ description: 'By country; null where there is none.' }),
    provider: z.string().nullable().optional().meta({ description: 'By provider; null where there is none.' }),
    started: count('Verifications that were started.'),
    sent: count('Messages that a provider took.'),
    queued: count('Messages that wait for a provider.'),
    without_receipt: count('Messages that a provider took, and of which no receipt has come.'),
    delivered: count('Messages that arrived, by their receipts.'),
    messages_failed: count(
      'Messages that failed, at the provider or before one took them. All messages are these, `queued`, `without_receipt` and `delivered`.',
    ),
    approved: count('Verifications that were approved.'),
    failed: count('Verifications whose attempts were used up.'),
    expired: count('Verifications that expired.'),
    refused: count('Sends that were refused.'),
    spend_micros: z.int().nullable().meta({
      description:
        'What messages cost in this time, less what was given back in it, by the ledger; a minute later. Null by provider: the statement has it.',
    }),
    conversion: z.number().nullable().meta({ description: 'Approved by started; null when none was started.' }),
    seconds_to_approve_p50: z.number().nullable().meta({ description: 'The median; null when none was approved.' }),
  })
  .meta({ id: 'StatsRow', description: 'What happened in one hour or day.' })

export const statsPage = pageOf('StatsPage', statsRow)

export type StatsRowAnswer = z.output<typeof statsRow>
