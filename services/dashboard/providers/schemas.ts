// A provider as the admin API answers it.
import { z } from 'zod'
import { BREAKER_STATES } from '../../domain/breakers/documents.ts'
import { jsonObject, timeSchema } from '../../domain/openapi/shared-schemas.ts'
import { TEST_OUTCOMES } from '../../domain/tenancy/provider-test.ts'
import { PROVIDER_TYPES } from '../../domain/tenancy/provider-types/list.ts'
import { channel } from '../../domain/tenancy/value-schemas.ts'
import { pageOf } from '../page-schema.ts'

export const providerType = z.enum(PROVIDER_TYPES).meta({
  id: 'ProviderType',
  description: 'The kind of vendor. docs/providers.md lists what the config of each holds.',
})

const breaker = z
  .object({
    state: z.enum(BREAKER_STATES).meta({
      id: 'BreakerState',
      description:
        '`closed`: the provider is called. `open`: it failed too often and is not called. `half_open`: one message tests whether it works again.',
    }),
    since: timeSchema('Since when it is closed, or since when it is not.'),
    processes: z.int().min(1).meta({ description: 'How many processes of the channel have this state.' }),
  })
  .meta({
    id: 'Breaker',
    description: 'The circuit breaker: the worst state that a process of the channel reports.',
  })

export const provider = z
  .object({
    name: z.string().meta({ description: 'Unique within the app. Part of the address that the vendor calls.' }),
    channel: channel.meta({ description: 'The channel it serves.' }),
    type: z.string().meta({
      description: 'A `ProviderType`, or one that only a newer release knows: then the provider is left out.',
    }),
    paused: z.boolean().meta({ description: 'It is not used while it is true. Its receipts count.' }),
    countries: z.array(z.string()).nullable().meta({
      description: 'The countries whose numbers it serves; null: all. Recipients without a country are served.',
    }),
    cost_micros: z.record(z.string(), z.int()).meta({
      description:
        'What the vendor charges for a message, in micro-units by country; `*` holds where the country has no entry. Empty where it is not known.',
    }),
    position: z.int().meta({ description: 'Providers are tried in the order of positions, then of names.' }),
    config: jsonObject.nullable().meta({
      description:
        'With fingerprints in place of secrets. Null when its data key is no longer configured, and when the release does not know its type.',
    }),
    breaker: breaker.nullable().meta({
      description: 'Null when no process has used the provider lately, and for a sandbox.',
    }),
  })
  .meta({ id: 'Provider', description: 'An account with a vendor.' })

export const replacedProvider = z
  .strictObject(provider.pick({ countries: true, cost_micros: true, config: true }).partial().shape)
  .meta({
    id: 'ReplacedProvider',
    description:
      'What the caller has read of the provider. If other values of these members are stored, or the provider was deleted, the answer is 409, and nothing is changed. Null: there was none of this name, and if there is one now, the answer is 409.',
  })

export const providerPage = pageOf('ProviderPage', provider)

export const providerTest = z
  .object({
    outcome: z.enum(TEST_OUTCOMES).meta({
      id: 'TestOutcome',
      description:
        '`accepted`: the vendor took the message. `refused`: it answered with an error. `no_answer`: it was not reached, did not answer in time, or its answer does not say whether it took the message.',
    }),
    http_status: z.int().nullable().meta({
      description: "The status of the vendor's answer. Null without one, and for SMTP.",
    }),
    vendor_code: z.string().nullable().meta({ description: "The vendor's own error code; of SMTP the reply codes." }),
    vendor_text: z.string().nullable().meta({
      description:
        "The vendor's words, without numbers and addresses, at most 200 characters. Where no vendor answered, the words are ours.",
    }),
    ms: z.int().meta({ description: 'How long the call took.' }),
  })
  .meta({ id: 'ProviderTest', description: 'What the vendor said to a test message.' })

export type ProviderTestResult = z.output<typeof providerTest>

export type ProviderAnswer = z.output<typeof provider>
