// Learned routes as the admin API answers them.
import { z } from 'zod'
import { channel } from '../../domain/tenancy/value-schemas.ts'
import { nextCursor } from '../page-schema.ts'

const count = (description: string) => z.int().min(0).meta({ description })
const share = (description: string) => z.number().min(0).max(1).meta({ description })

export const routeState = z.enum(['ok', 'silent', 'open', 'paused']).meta({
  id: 'RouteState',
  description:
    '`silent`: it accepts messages, and hardly anyone types the code. `open`: its circuit breaker is open, because it fails. `paused`: an operator paused it.',
})

export const routeRow = z
  .object({
    channel: channel.meta({ description: 'The channel.' }),
    country: z.string().nullable().meta({ description: 'The country of the numbers; null for addresses.' }),
    provider: z.string().meta({ description: 'The name of the provider.' }),
    messages: count('Messages of the last 30 days that it accepted. A verification counts once.'),
    delivered: count('Of these, the ones that arrived, by their receipts.'),
    approved: count('Of these, the ones that led to an approval: the last message before it.'),
    conversion: share(
      'Approved by messages. The older a message, the less it counts: half after 24 hours. Null without messages.',
    ).nullable(),
    low: share('With 95 % certainty, the conversion is not below.').nullable(),
    high: share('With 95 % certainty, the conversion is not above.').nullable(),
    seconds_p50: z
      .number()
      .nullable()
      .meta({ description: 'The median time from message to approval, of 30 days; null when none was approved.' }),
    cost_micros: z
      .int()
      .nullable()
      .meta({ description: 'What the vendor charges for a message, in micro-units; null when it is not set.' }),
    share: share('The share of the messages for which it comes first now.'),
    state: routeState,
    because: z.string().meta({ description: 'Why it has this share, in words and figures.' }),
  })
  .meta({ id: 'RouteRow', description: 'What is known of a provider in one country.' })

const suggestion = z
  .object({
    channel: channel.meta({ description: 'The channel whose providers it orders.' }),
    order: z.array(z.string()).meta({ description: 'The names of its providers, the first one first.' }),
    gain: z.number().meta({
      description:
        'What the order is worth, in approvals per message of the channel over all countries: `approvals`, less `cost_micros` by `routing.worth_micros`.',
    }),
    approvals: z.number().meta({
      description: 'How many more messages would be approved, per message; negative where fewer would be.',
    }),
    cost_micros: z.int().nullable().meta({
      description:
        'How much more a message would cost on average, in micro-units; negative where it would cost less. Of countries where cost does not count it has nothing; null where it counts in none that the order changes.',
    }),
    because: z.string().meta({ description: 'Why, in words and figures.' }),
  })
  .meta({ id: 'RouteSuggestion', description: 'A better order of the providers of a channel.' })

export const routePage = z
  .object({
    items: z.array(routeRow).meta({
      description:
        'A row for each provider that serves the country. All rows are in one page, unless they are more than 1 MiB.',
    }),
    next_cursor: nextCursor,
    suggestion: suggestion.nullable().meta({
      description: 'Null while `routing.providers` is `best`, and where the evidence is not sure.',
    }),
  })
  .meta({ id: 'RoutePage', description: 'What is known of the routes of an app.' })

export type RouteRowAnswer = z.output<typeof routeRow>
export type SuggestionAnswer = z.output<typeof suggestion>
