// What is known of an app's providers in each country, which of them comes first there, and why.
import { setImmediate } from 'node:timers/promises'
import { z } from 'zod'
import { findBreakers } from '../../domain/breakers/documents.ts'
import { factsNow } from '../../domain/routes/documents.ts'
import { findKnownProviders } from '../../domain/tenancy/documents.ts'
import { resolveSettings } from '../../domain/tenancy/settings.ts'
import { country } from '../../domain/tenancy/value-schemas.ts'
import { ok } from '../answers.ts'
import { operation } from '../operation.ts'
import { breakerView } from '../providers/breaker-view.ts'
import { placesOf, type RoutesInput, rowsOf, suggestionFor } from './rows.ts'
import { type RouteRowAnswer, routePage } from './schemas.ts'

const query = z.strictObject({
  country: country
    .optional()
    .meta({ description: 'Only this country, ISO 3166-1 alpha-2; all that were sent to without it.' }),
})

export const learnedRouteOperations = [
  operation({
    id: 'listRoutes',
    route: 'GET /apps/{id}/routes',
    role: 'viewer',
    summary: 'Compare providers by country',
    description:
      'What the messages of live keys in the last 30 days say about each provider, which share of the messages it gets first, and why. The last message before an approval earns it, while `GET /apps/{id}/stats?by=provider` counts a verification for the provider of its first message. Left out are messages that the fraud guard suspects, codes made elsewhere, and further verifications of a recipient within an hour.',
    query,
    answers: [
      ok(routePage, 'The rows, and a better order where there is one.', {
        items: [
          {
            channel: 'sms',
            country: 'GB',
            provider: 'main-sms',
            messages: 1_204,
            delivered: 1_130,
            approved: 963,
            conversion: 0.812,
            low: 0.765,
            high: 0.853,
            seconds_p50: 14,
            cost_micros: 42_000,
            share: 0,
            state: 'ok',
            because: 'It is number 2 in the list, and gets what the ones before it cannot send.',
          },
        ],
        next_cursor: null,
        suggestion: {
          channel: 'sms',
          order: ['main-sms', 'backup-sms'],
          gain: 0.094,
          approvals: 0.094,
          cost_micros: null,
          because: 'In GB, main-sms converts 81 % (77 to 85 %); backup-sms converts 72 % (68 to 76 %).',
        },
      }),
    ],
    handle: async ({ app, query: { country } }, { store, clock }) => {
      const [providers, breakers, stored] = await Promise.all([
        findKnownProviders(store, app._id),
        findBreakers(store, app._id, clock.now()),
        store.docs('route_facts').get([app._id]),
      ])
      const input: RoutesInput = {
        providers,
        open: new Set(providers.filter(one => breakerView(breakers, one)?.state === 'open').map(({ name }) => name)),
        facts: factsNow(stored.get(app._id), clock.now()),
        rule: resolveSettings(app.settings).routing,
      }
      const items: RouteRowAnswer[] = []
      for (const place of placesOf(input, country)) {
        items.push(...rowsOf(input, place))
        // An app may have sent to two hundred countries, and other requests wait.
        await setImmediate()
      }
      return { items, next_cursor: null, suggestion: suggestionFor(input, country) }
    },
  }),
]
