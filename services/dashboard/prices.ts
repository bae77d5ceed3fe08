// What messages cost, now and from later times on. A PUT replaces all prices; one that names the prices it replaces
// overwrites no others. Within five seconds they apply to all new messages, so a caller can ask first how many companies
// they would cut off.
import { z } from 'zod'
import { httpException } from '../../infra/http/problem.ts'
import { isoTime } from '../../infra/iso-time.ts'
import { sameJson } from '../../infra/store/ensure.ts'
import { EVERY_COMPANY } from '../domain/audit.ts'
import { MAX_PRICES, type Price, priceKey, pricesAt, readPrices, savePrices } from '../domain/money/prices.ts'
import { timeSchema } from '../domain/openapi/shared-schemas.ts'
import { priceKind, priceSchema } from '../domain/tenancy/price-schema.ts'
import { channel } from '../domain/tenancy/value-schemas.ts'
import { conflict, ok, page } from './answers.ts'
import { countCutOff } from './cut-off.ts'
import { operation } from './operation.ts'
import { pageOf } from './page-schema.ts'
import { pageQuery } from './pages.ts'
import { validationProblem } from './request-input.ts'

const price = z
  .object({
    channel: channel.meta({ description: 'The channel of the message.' }),
    kind: priceKind.optional(),
    country: z
      .string()
      .meta({ description: 'ISO 3166-1 alpha-2, or `*` for every country without a price of its own.' }),
    micros: z.int().min(0).meta({ description: 'In micro-units.' }),
    effective_at: timeSchema('From when it will hold; absent where it holds now.').optional(),
  })
  .meta({ id: 'Price', description: 'What a message costs.' })
type PriceAnswer = z.output<typeof price>

const pricePage = pageOf('PricePage', price)

const pricesTrial = z
  .object({
    companies: z.int().min(0).meta({ description: 'Companies that are not closed and have a live key.' }),
    cut_off: z.int().min(0).meta({
      description: 'Those of them whose balance pays for some message now and would not pay for it at the new prices.',
    }),
  })
  .meta({ id: 'PricesTrial', description: 'What new prices would do.' })

const example: PriceAnswer = { channel: 'sms', country: 'GB', micros: 40_000 }
const scheduledExample: PriceAnswer = { ...example, micros: 45_000, effective_at: '2030-01-01T00:00:00.000Z' }
const examples = [example, scheduledExample]

const prices = z.array(priceSchema).max(MAX_PRICES)

/** Enough for every country on every channel. */
const MAX_LIST_BYTES = 256 * 1024
const MAX_LIST_VALUES = 25_000

const priceView = ({ channel, kind, country, micros, effective_at }: Price): PriceAnswer => ({
  channel,
  ...(kind && { kind }),
  country,
  micros,
  ...(effective_at !== undefined && { effective_at: isoTime(effective_at) }),
})

const viewsAt = (prices: readonly Price[], at: number): PriceAnswer[] => pricesAt(prices, at).map(priceView)

export const priceOperations = [
  operation({
    id: 'listPrices',
    request: 'GET /prices',
    role: 'viewer',
    summary: 'List prices',
    description:
      'What a message costs, by channel and country; with `"kind": "reply"`, what a reply in a WhatsApp chat costs. Those that hold now, and those that are scheduled.',
    query: pageQuery,
    answers: [page(pricePage, 'A page of prices.', example)],
    handle: async ({ ctx, query }, { store, clock, readPageOf }) => {
      const stored = await readPrices(store.docs('prices'))
      const all = pricesAt(stored?.prices ?? [], clock.now())
      const source = {
        read: async (after = '', limit: number) => all.filter(one => priceKey(one) > after).slice(0, limit),
        positionOf: priceKey,
        show: priceView,
      }
      return readPageOf(ctx, source, query)
    },
  }),
  operation({
    id: 'replacePrices',
    request: 'PUT /prices',
    role: 'operator',
    stepUp: true,
    summary: 'Replace all prices',
    description:
      'They apply to new messages within five seconds; a price with `effective_at` from exactly then on, everywhere. Until then it can be replaced or left out. An empty list makes everything free.',
    body: {
      schema: z
        .strictObject({
          prices,
          replaces: prices.optional().meta({
            description:
              'The prices that the caller has read. If others are stored, the answer is 409, and nothing is changed.',
          }),
        })
        .meta({ id: 'PutPricesRequest', description: 'All prices.' }),
      example: { prices: examples },
      maxBytes: 2 * MAX_LIST_BYTES,
      maxValues: 2 * MAX_LIST_VALUES,
    },
    answers: [page(pricePage, 'All prices as they are now.', scheduledExample)],
    refusals: [conflict('Other prices are stored than `replaces` has.')],
    handle: async ({ ctx, body: { prices, replaces } }, { store, clock, withAudit }) => {
      const docs = store.docs('prices')
      refuseContradictions(prices)
      return withAudit(ctx, async () => {
        const now = clock.now()
        refusePast(prices, now)
        const stored = await readPrices(docs)
        const before = viewsAt(stored?.prices ?? [], now)
        if (replaces && !sameJson(before, viewsAt(replaces, now)))
          throw httpException(409, 'The prices were changed meanwhile. Read them again.')
        const after = viewsAt(prices, now)
        return {
          action: 'prices.replace',
          target: 'prices',
          company_id: EVERY_COMPANY,
          before,
          after,
          perform: async () => ((await savePrices(docs, stored, prices)) ? { items: after, next_cursor: null } : null),
        }
      })
    },
  }),
  operation({
    id: 'tryPrices',
    request: 'POST /prices/try',
    role: 'operator',
    summary: 'Count the companies that new prices would cut off',
    description:
      'Saves nothing. A company is cut off if its balance pays for some message now and would not pay for it at these prices, at once or when a scheduled one begins to hold: such live sends would be answered with 402.',
    body: {
      schema: z.strictObject({ prices }).meta({ id: 'TryPricesRequest', description: 'All prices, to be tried.' }),
      example: { prices: examples },
      maxBytes: MAX_LIST_BYTES,
      maxValues: MAX_LIST_VALUES,
    },
    answers: [ok(pricesTrial, 'What they would do.', { companies: 12, cut_off: 3 })],
    handle: async ({ body: { prices } }, { store, clock }) => {
      const now = clock.now()
      refuseContradictions(prices)
      refusePast(prices, now)
      return countCutOff(store, (await readPrices(store.docs('prices')))?.prices ?? [], prices, now)
    },
  }),
]

function refuseContradictions(prices: readonly Price[]): void {
  const keys = new Set<string>()
  const repeated = prices.findIndex(price => keys.size === keys.add(priceKey(price)).size)
  if (repeated >= 0)
    throw validationProblem([{ path: `prices.${repeated}`, message: 'names what an earlier one names' }])
}

function refusePast(prices: readonly Price[], now: number): void {
  const past = prices.findIndex(({ effective_at = now + 1 }) => effective_at <= now)
  if (past >= 0) throw validationProblem([{ path: `prices.${past}.effective_at`, message: 'must be in the future' }])
}
