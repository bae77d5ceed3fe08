// A refused send as the admin API answers it.
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

export type RefusalRecordAnswer = z.output<typeof refusalRecord>
