// GET|PUT /prices, POST /prices/try. A PUT replaces all prices. Within five seconds they apply to all new messages, so a caller can ask
// first how many companies they would cut off.
import type { Context } from 'koa'
import { z } from 'zod'
import { replaceAll } from '../../infra/store/ensure.ts'
import { type Price, priceId } from '../domain/money/documents.ts'
import { priceSchema } from '../domain/tenancy/price-schema.ts'
import type { AddRoutes } from './admin-deps.ts'
import { countCutOff } from './cut-off.ts'
import type { PriceAnswer, PricesTrialAnswer } from './prices.schemas.ts'
import { createReadBody, validationProblem } from './request-input.ts'

const MAX_PRICES = 2_000
export const pricesBody = z.strictObject({ prices: z.array(priceSchema).max(MAX_PRICES) })

const priceView = ({ channel, country, micros }: Price): PriceAnswer => ({ channel, country, micros })

/** Enough for every country on every channel. */
const MAX_BODY_BYTES = 256 * 1024

export const addPriceRoutes: AddRoutes = (router, { store, readPage, withAudit, changeExclusively }) => {
  const readBody = createReadBody(MAX_BODY_BYTES)
  const docs = store.docs('prices')
  const readPrices = () => docs.find({}, { sort: { _id: 1 }, limit: MAX_PRICES })
  const readWanted = async (ctx: Context): Promise<Price[]> => {
    const wanted = (await readBody(ctx, pricesBody)).prices.map(price => ({
      _id: priceId(price.channel, price.country),
      ...price,
    }))
    refuseRepeated(wanted)
    return wanted
  }

  router.get('/prices', async ctx => {
    ctx.body = await readPage(ctx, { docs, filter: {}, show: priceView })
  })

  router.put('/prices', async ctx => {
    const wanted = await readWanted(ctx)
    ctx.body = await changeExclusively('prices', renewLease =>
      withAudit(ctx, async () => ({
        action: 'prices.replace',
        target: 'prices',
        company_id: null,
        before: (await readPrices()).map(priceView),
        after: wanted.map(priceView),
        perform: async () => {
          await renewLease()
          await replaceAll(docs, wanted, (stored, { micros }) =>
            stored.micros === micros ? null : { $set: { micros } },
          )
          return { items: wanted.map(priceView), next_cursor: null }
        },
      })),
    )
  })

  router.post('/prices/try', async ctx => {
    const wanted = await readWanted(ctx)
    const answer: PricesTrialAnswer = await countCutOff(store, await readPrices(), wanted)
    ctx.body = answer
  })
}

function refuseRepeated(wanted: readonly Price[]): void {
  const repeated = wanted.findIndex(({ _id }, at) => wanted.findIndex(other => other._id === _id) < at)
  if (repeated >= 0)
    throw validationProblem([{ path: `prices.${repeated}`, message: 'names a channel and country a second time' }])
}
