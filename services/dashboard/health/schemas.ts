// What keeps an app's messages or events from leaving now, as the admin API answers it.
import { z } from 'zod'
import { timeSchema } from '../../domain/openapi/shared-schemas.ts'
import { channel } from '../../domain/tenancy/value-schemas.ts'
import { endpoint, pauseReason } from '../webhook/schemas.ts'

const cause = z
  .object({
    cause: z
      .enum([
        'verifications_stopped',
        'channel_stopped',
        'webhooks_stopped',
        'provider_open',
        'provider_half_open',
        'provider_silent',
        'endpoint_paused',
      ])
      .meta({
        id: 'HealthCauseType',
        description:
          '`verifications_stopped`: no process takes calls, so they are answered with 503. `channel_stopped`: messages of the app wait, and no process of their channel runs. `webhooks_stopped`: events wait, and no process delivers them. `provider_open`: the provider failed too often and is not called. `provider_half_open`: one call tests such a provider. `provider_silent`: the provider accepts messages, and hardly anyone types the code; the routes of the app say what the others get. `endpoint_paused`: a webhook endpoint is not called.',
      }),
    channel: channel.nullable().meta({ description: 'Of `channel_stopped`, and of a provider.' }),
    provider: z.string().nullable().meta({ description: 'The name of the provider.' }),
    countries: z
      .array(z.string())
      .optional()
      .meta({ description: 'Of `provider_silent` alone: where it is. Empty for messages of no country.' }),
    endpoint: endpoint
      .pick({ id: true, name: true, url: true })
      .meta({ id: 'HealthEndpoint', description: 'Of `endpoint_paused` alone: the endpoint.' })
      .optional(),
    reason: pauseReason.nullable().meta({ description: 'Of `endpoint_paused`.' }),
    since: timeSchema('Null where it is not known.').nullable(),
  })
  .meta({ id: 'HealthCause', description: 'Something that keeps messages or events from leaving.' })

export const appHealth = z
  .object({ causes: z.array(cause).meta({ description: 'Empty while all is well.' }) })
  .meta({ id: 'AppHealth', description: "Whether an app's messages and events leave." })

export type HealthCause = z.output<typeof cause>
