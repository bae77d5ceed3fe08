// Refused sends as the admin API answers them.
import { z } from 'zod'
import { limitScope, problemType, timeSchema } from '../domain/openapi/shared-schemas.ts'
import { pageOf } from './page-schema.ts'

export const refusalRecord = z
  .object({
    at: timeSchema('When it was refused.'),
    request_id: z.string().nullable().meta({ description: 'The X-Request-Id of the request.' }),
    app_id: z.string().meta({ description: 'The app.' }),
    key_id: z.string().meta({ description: 'The API key.' }),
    type: problemType.meta({ description: 'The type of the error.' }),
    scope: limitScope.nullable().meta({ description: 'The limit that was hit, if one was.' }),
    country: z.string().nullable().meta({ description: 'The country of the number.' }),
    masked_recipient: z.string().nullable().meta({ description: 'The recipient, masked.' }),
  })
  .meta({ id: 'RefusalRecord', description: 'A send that was refused.' })

export const refusalPage = pageOf('RefusalPage', refusalRecord)

const refusalCount = z
  .object({
    type: problemType.meta({ description: 'The type of the error.' }),
    count: z.int().min(1).meta({ description: 'How many refusals have it.' }),
  })
  .meta({ id: 'RefusalCount', description: 'How many refusals there are of one type.' })

export const refusalSummary = z
  .object({
    types: z.array(refusalCount).meta({ description: 'The most frequent type first.' }),
    counted: z.int().min(0).meta({ description: 'How many were counted.' }),
    complete: z.boolean().meta({ description: 'False when there are too many: then only the newest were counted.' }),
    oldest_at: timeSchema('When the oldest refusal was refused that was looked at; null without any.').nullable(),
  })
  .meta({ id: 'RefusalSummary', description: 'Refused sends and resends by type.' })

export type RefusalSummaryAnswer = z.output<typeof refusalSummary>
export type RefusalRecordAnswer = z.output<typeof refusalRecord>
