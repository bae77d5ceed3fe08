// An API key as the admin API answers it.
import { z } from 'zod'
import { keyKind, keyMode, timeSchema } from '../domain/openapi/shared-schemas.ts'
import { pageOf } from './page-schema.ts'

export const apiKey = z
  .object({
    id: z.string().meta({ description: 'Identifies the key. It is not the key itself.' }),
    app_id: z.string().meta({ description: 'The app it belongs to.' }),
    kind: keyKind,
    mode: keyMode,
    name: z.string().nullable().meta({ description: 'What it is used for, in the words of its owner.' }),
    last4: z.string().nullable().meta({ description: 'The last four characters of the key; null for old keys.' }),
    created_at: timeSchema('When it was created.'),
    last_used_at: timeSchema('When it was last used, to the minute; null when it never was.').nullable(),
    revoked_at: timeSchema('When it was revoked; null while it is valid.').nullable(),
  })
  .meta({ id: 'ApiKey', description: 'A key of the client API, without its value.' })

export const newApiKey = apiKey
  .extend({ key: z.string().meta({ description: 'The key itself. It is in this one response only.' }) })
  .meta({ id: 'NewApiKey', description: 'A key of the client API, with its value.' })

export const apiKeyPage = pageOf('ApiKeyPage', apiKey)

export type ApiKeyAnswer = z.output<typeof apiKey>
