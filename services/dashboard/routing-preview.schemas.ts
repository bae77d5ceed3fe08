// The explanation of a route as the admin API answers it.
import { z } from 'zod'
import type { Obstacle } from '../../machines/channels.ts'
import { whatsAppMode } from '../../machines/settings.ts'
import { enumOf, problemType, recipientType } from '../domain/openapi/shared-schemas.ts'
import { channel } from '../domain/tenancy/value-schemas.ts'

const obstacle = enumOf<Obstacle>({
  disabled: true,
  cannot_reach_recipient: true,
  no_provider: true,
  no_business_number: true,
  not_provable_by_device: true,
}).meta({ id: 'ChannelObstacle', description: 'Why a channel cannot be used.' })

const channelChoice = z
  .object({
    channel: channel.meta({ description: 'The channel.' }),
    place: z.int().nullable().meta({ description: 'Its place in the order, from 1; null when it is not in it.' }),
    usable: z.boolean().meta({ description: 'Whether it can be used.' }),
    obstacle: obstacle.nullable().meta({ description: 'Null when it can be used.' }),
    reason: z.string().nullable().meta({ description: 'The obstacle, in words.' }),
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
