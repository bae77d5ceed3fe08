// What messages cost. A PUT replaces all prices; one that names the prices it replaces overwrites no others. Within
// five seconds they apply to all new messages, so a caller can ask first how many companies they would cut off.
import { z } from 'zod'
import { httpException } from '../../infra/http/problem.ts'
import { replaceAll, sameJson } from '../../infra/store/ensure.ts'
import { type Price, priceDoc, priceUpdate } from '../domain/money/documents.ts'
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

const MAX_PRICES = 2_000

const prices = z.array(priceSchema).max(MAX_PRICES)

/** Enough for every country on every channel. */
const MAX_LIST_BYTES = 256 * 1024

const priceView = ({ channel, kind, country, micros }: Price): PriceAnswer => ({
  channel,
  ...(kind && { kind }),
  country,
  micros,
})

export const priceOperations = [
  operation({
    id: 'listPrices',
    route: 'GET /prices',
    role: 'viewer',
    summary: 'List prices',
    description:
      'What a message costs, by channel and country; with `"kind": "reply"`, what a reply in a WhatsApp chat costs.',
    query: pageQuery,
    answers: [page(pricePage, 'A page of prices.', example)],
    handle: ({ ctx, query }, { store, readPage }) =>
      readPage(ctx, { docs: store.docs('prices'), filter: {}, show: priceView }, query),
  }),
  operation({
    id: 'replacePrices',
    route: 'PUT /prices',
    role: 'operator',
    stepUp: true,
    summary: 'Replace all prices',
    description: 'They apply to new messages within five seconds. An empty list makes everything free.',
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
      example: { prices: [example] },
      maxBytes: 2 * MAX_LIST_BYTES,
    },
    answers: [page(pricePage, 'All prices as they are now.', example)],
    refusals: [
      conflict('Other prices are stored than `replaces` has, or another PUT of all prices takes more than 10 s.'),
    ],
    handle: async ({ ctx, body: { prices, replaces } }, { store, withAudit, changeExclusively }) => {
      const docs = store.docs('prices')
      const wanted = documentsOf(prices)
      return changeExclusively('prices', renewLease =>
        withAudit(ctx, async () => {
          const before = (await docs.find({}, ALL)).map(priceView)
          if (replaces && !sameJson(microsById(before), microsById(replaces)))
            throw httpException(409, 'The prices were changed meanwhile. Read them again.')
          return {
            action: 'prices.replace',
            target: 'prices',
            company_id: null,
            before,
            after: wanted.map(priceView),
            perform: async () => {
              await renewLease()
              await replaceAll(docs, wanted, priceUpdate)
              return { items: wanted.map(priceView), next_cursor: null }
            },
          }
        }),
      )
    },
  }),
  operation({
    id: 'tryPrices',
    route: 'POST /prices/try',
    role: 'operator',
    summary: 'Count the companies that new prices would cut off',
    description:
      'Saves nothing. A company is cut off if its balance pays for some message now and would not pay for it at these prices: such live sends would be answered with 402.',
    body: {
      schema: z.strictObject({ prices }).meta({ id: 'TryPricesRequest', description: 'All prices, to be tried.' }),
      example: { prices: [example] },
      maxBytes: MAX_LIST_BYTES,
    },
    answers: [ok(pricesTrial, 'What they would do.', { companies: 12, cut_off: 3 })],
    handle: async ({ body: { prices } }, { store }) =>
      countCutOff(store, await store.docs('prices').find({}, ALL), documentsOf(prices)),
  }),
]

const ALL = { sort: { _id: 1 }, limit: MAX_PRICES } as const

const microsById = (prices: readonly PriceAnswer[]) =>
  Object.fromEntries(prices.map(price => [priceDoc(price)._id, price.micros]))

function documentsOf(prices: readonly PriceAnswer[]): Price[] {
  const wanted = prices.map(priceDoc)
  const repeated = wanted.findIndex(({ _id }, at) => wanted.findIndex(other => other._id === _id) < at)
  if (repeated >= 0)
    throw validationProblem([{ path: `prices.${repeated}`, message: 'names what an earlier one names' }])
  return wanted
}
