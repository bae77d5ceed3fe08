// GET|PUT /prices: what messages cost, all of them at once. They hold within five seconds, for what is sent from then on.
import { z } from 'zod'
import { replaceAll } from '../../../infra/store/ensure.ts'
import { price as given } from '../../domain/bootstrap/schema.ts'
import { type Price, priceId } from '../../domain/money/documents.ts'
import type { AddRoutes } from '../admin-deps.ts'
import { createReadBody, validationProblem } from '../request-input.ts'

const pricesBody = z.strictObject({ prices: z.array(given).max(2_000) })

const priceView = ({ channel, country, micros }: Price) => ({ channel, country, micros })

/** Every country on every channel. */
const MAX_BODY_BYTES = 256 * 1024

export const addPriceRoutes: AddRoutes = (router, { store, readPage, withAudit, changeExclusively }) => {
  const readBody = createReadBody(MAX_BODY_BYTES)
  const docs = store.docs('prices')

  router.get('/prices', async ctx => {
    ctx.body = await readPage(ctx, { docs, filter: {}, show: priceView })
  })

  router.put('/prices', async ctx => {
    const wanted = (await readBody(ctx, pricesBody)).prices.map(price => ({
      _id: priceId(price.channel, price.country),
      ...price,
    }))
    refuseRepeated(wanted)
    ctx.body = await changeExclusively('prices', renewLease =>
      withAudit(ctx, async () => ({
        action: 'prices.replace',
        target: 'prices',
        company_id: null,
        before: (await docs.find({}, { sort: { _id: 1 }, limit: 2_000 })).map(priceView),
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
}

function refuseRepeated(wanted: readonly Price[]): void {
  const repeated = wanted.findIndex(({ _id }, at) => wanted.findIndex(other => other._id === _id) < at)
  if (repeated >= 0)
    throw validationProblem([{ path: `prices.${repeated}`, message: 'names a channel and country a second time' }])
}
