// What is known of an app's providers in each country, which of them comes first there, and why.
import { z } from 'zod'
import { findBreakers } from '../../domain/breakers/documents.ts'
import { factsNow } from '../../domain/routes/documents.ts'
import { findKnownProviders } from '../../domain/tenancy/documents.ts'
import { resolveSettings } from '../../domain/tenancy/settings.ts'
import { country } from '../../domain/tenancy/value-schemas.ts'
import { ok } from '../answers.ts'
import { operation } from '../operation.ts'
import { NO_LIMIT, wholeListFields } from '../pages.ts'
import { breakerView } from '../providers/breaker-view.ts'
import { placesOf, type RoutesInput, rowsOf, suggestionFor } from './rows.ts'
import { type RouteRowAnswer, routePage } from './schemas.ts'

const query = z.strictObject({
  country: country
    .optional()
    .meta({ description: 'Only this country, ISO 3166-1 alpha-2; all that were sent to without it.' }),
  ...wholeListFields,
})

export const learnedRouteOperations = [
  operation({
    id: 'listRoutes',
    request: 'GET /apps/{id}/routes',
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
    handle: async ({ ctx, app, query: { country, cursor } }, { store, clock, readPageOf }) => {
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
      const places = placesOf(input, country)
      // A page goes on behind a place, so it holds all rows of each of its places.
      const source = {
        read: async (last: string | undefined, limit: number) => {
          const begin = last === undefined ? 0 : Number(last) + 1
          return places.slice(begin, begin + limit).map((place, at) => ({ at: begin + at, rows: rowsOf(input, place) }))
        },
        // An app may have sent to two hundred countries, and other requests wait.
        portion: 1,
        positionOf: ({ at }: RowsOfPlace) => String(at),
        show: ({ rows }: RowsOfPlace) => rows,
      }
      const page = await readPageOf(ctx, source, { limit: NO_LIMIT, cursor })
      return { ...page, items: page.items.flat(), suggestion: suggestionFor(input, country) }
    },
  }),
]

interface RowsOfPlace {
  /** The place, by its number. */
  at: number
  rows: RouteRowAnswer[]
}
