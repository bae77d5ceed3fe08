// A provider as the admin API answers it.
import { z } from 'zod'
import { jsonObject } from '../../domain/openapi/shared-schemas.ts'
import { PROVIDER_TYPES } from '../../domain/tenancy/providers.ts'
import { channel } from '../../domain/tenancy/value-schemas.ts'
import { pageOf } from '../page-schema.ts'

export const providerType = z.enum(PROVIDER_TYPES).meta({
  id: 'ProviderType',
  description: 'The kind of vendor. docs/providers.md lists what the config of each holds.',
})

export const provider = z
  .object({
    name: z.string().meta({ description: 'Unique within the app. Part of the address that the vendor calls.' }),
    channel: channel.meta({ description: 'The channel it serves.' }),
    type: providerType,
    position: z.int().meta({ description: 'Providers are tried in the order of positions, then of names.' }),
    config: jsonObject.nullable().meta({
      description: 'With fingerprints in place of secrets. Null when its data key is no longer configured.',
    }),
  })
  .meta({ id: 'Provider', description: 'An account with a vendor.' })

export const providerPage = pageOf('ProviderPage', provider)

export type ProviderAnswer = z.output<typeof provider>
