// The explanation of a route as the admin API answers it.
import { z } from 'zod'
import { whatsAppMode } from '../../machines/settings.ts'
import { channelReason, problemType, recipientType } from '../domain/openapi/shared-schemas.ts'
import { channel } from '../domain/tenancy/value-schemas.ts'

const channelChoice = z
  .object({
    channel: channel.meta({ description: 'The channel.' }),
    place: z.int().nullable().meta({ description: 'Its place in the order, from 1; null when it is not in it.' }),
    usable: z.boolean().meta({ description: 'Whether it can be used.' }),
    obstacle: channelReason
      .nullable()
      .meta({ description: 'As in `NoEnabledChannelError`; null when a send may use it.' }),
    reason: z.string().nullable().meta({ description: 'The obstacle, in words.' }),
    provider: z.string().nullable().meta({
      description:
        'The provider that would be called first, or with `routing.providers` `best` the one that usually would; null where none would. Whether its breaker is open is not looked at.',
    }),
  })
  .meta({ id: 'ChannelChoice', description: 'What speaks for or against a channel.' })

export const routePreview = z
  .object({
    channel: channel
      .nullable()
      .meta({ description: 'The channel that a send would use now; null when it is refused.' }),
    refusal: problemType.nullable().meta({ description: 'The error that a send would get.' }),
    why: z.string().meta({ description: 'In words.' }),
    recipient_type: recipientType.nullable().meta({ description: 'Null when it is not a valid recipient.' }),
    country: z.string().nullable().meta({ description: 'The country of a phone number.' }),
    order: z.array(channel).meta({ description: 'The routing order of the country.' }),
    whatsapp_mode: whatsAppMode.nullable().meta({ description: 'The WhatsApp mode of the app.' }),
    channels: z.array(channelChoice).meta({ description: 'Every channel.' }),
  })
  .meta({ id: 'RoutePreview', description: 'Which channel a send would use, and why.' })

export type RoutePreviewAnswer = z.output<typeof routePreview>
