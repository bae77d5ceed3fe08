import { expect } from 'chai'
import { createMetrics } from '../../../infra/metrics.ts'
import { Duplicate } from '../../../infra/store/docs.ts'
import { createEmbeddedStore } from '../../../infra/store/embedded.ts'
import { instrumentStore } from '../../../infra/store/metrics.ts'
import { CONTRACT_COLLECTIONS } from '../../contract/store.contract.ts'
import { testClock } from '../../support/clock.ts'
import { createTemporaryFolder } from '../../support/temporary-folder.ts'

describe('measured store', () => {
  const metrics = createMetrics()
  const embedded = createEmbeddedStore({
    folder: createTemporaryFolder(),
    collections: CONTRACT_COLLECTIONS,
    clock: testClock(),
  })
  const store = instrumentStore(embedded, metrics)
  after(() => store.close())

  const counts = async () => {
    const { body } = await metrics.render()
    return body.split('\n').filter(line => /^countersign_store_\w+_count/.test(line))
  }
  const byOperation = (operation: string, count: number) =>
    `countersign_store_duration_seconds_count{operation="${operation}"} ${count}`
  const byCollection = (collection: string, count: number) =>
    `countersign_store_collection_seconds_count{collection="${collection}"} ${count}`

  it('observes every operation, by kind and by collection, also one that fails with its error', async () => {
    const counters = store.docs('counters')
    await counters.insert([{ _id: 'a', n: 1 }])
    await counters.get(['a'])
    await counters.get(['b'])
    await counters.find({ _id: 'a' }, { sort: {}, limit: 1 })
    await counters.count({ _id: 'a' })
    await counters.update([{ ids: ['a'], update: { $inc: { n: 1 } } }])
    await counters.modify({ _id: 'a' }, { $inc: { n: 1 } })
    await counters.insert([{ _id: 'b', n: 1 }])
    const refused = counters.modify({ _id: 'b', n: 2 }, { $inc: { n: 1 } }, { upsert: true })
    expect(await refused.catch((thrown: unknown) => thrown)).to.be.instanceOf(Duplicate)
    await counters.remove({ _id: 'a' }, 1)
    await store.docs('things').change([{ _id: 'none', rev: 1, update: { $set: { n: 1 } } }])
    expect(await counts()).to.have.members([
      byOperation('insert', 2),
      byOperation('get', 2),
      byOperation('find', 1),
      byOperation('count', 1),
      byOperation('update', 1),
      byOperation('modify', 2),
      byOperation('remove', 1),
      byOperation('change', 1),
      byCollection('counters', 10),
      byCollection('things', 1),
    ])
  })
})
