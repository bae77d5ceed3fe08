// GET|PUT /prices: what messages cost, all of them at once. They hold within five seconds, for what is sent from then on.
import { z } from 'zod'
import { replaceAll } from '../../../infra/store/ensure.ts'
import { price as given } from '../../domain/bootstrap/schema.ts'
import { type Price, priceId } from '../../domain/money/documents.ts'
import type { Resource } from '../admin.ts'
import { bodies, invalid } from '../requests.ts'

const list = z.strictObject({ prices: z.array(given).max(2_000) })

const shown = ({ channel, country, micros }: Price) => ({ channel, country, micros })

/** Every country on every channel. */
const LARGEST_BODY = 256 * 1024

export const prices: Resource = (router, { store, page, audited, inTurn }) => {
  const body = bodies(LARGEST_BODY)
  const docs = store.docs('prices')

  router.get('/prices', async ctx => {
    ctx.body = await page(ctx, { docs, filter: {}, show: shown })
  })

  router.put('/prices', async ctx => {
    const wanted = (await body(ctx, list)).prices.map(price => ({
      _id: priceId(price.channel, price.country),
      ...price,
    }))
    refuseRepeated(wanted)
    ctx.body = await inTurn('prices', keep =>
      audited(ctx, async () => ({
        ...{ action: 'prices.replace', target: 'prices', company_id: null },
        before: (await docs.find({}, { sort: { _id: 1 }, limit: 2_000 })).map(shown),
        after: wanted.map(shown),
        perform: async () => {
          await keep()
          await replaceAll(docs, wanted, (stored, { micros }) =>
            stored.micros === micros ? null : { $set: { micros } },
          )
          return { items: wanted.map(shown), next_cursor: null }
        },
      })),
    )
  })
}

function refuseRepeated(wanted: readonly Price[]): void {
  const repeated = wanted.findIndex(({ _id }, at) => wanted.findIndex(other => other._id === _id) < at)
  if (repeated >= 0)
    throw invalid([{ path: `prices.${repeated}`, message: 'names a channel and country a second time' }])
}
