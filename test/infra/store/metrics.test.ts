import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { createMetrics } from '../../../infra/metrics.ts'
import { Duplicate } from '../../../infra/store/docs.ts'
import { createEmbeddedStore } from '../../../infra/store/embedded.ts'
import { instrumentStore } from '../../../infra/store/metrics.ts'
import { CONTRACT_COLLECTIONS, type ContractStore, storeContract } from '../../contract/store.contract.ts'
import { testClock } from '../../support/clock.ts'

async function open() {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-measured-'))
  const metrics = createMetrics()
  const handles: ContractStore[] = []
  const opened = (): ContractStore => {
    const inner = createEmbeddedStore({ folder, collections: CONTRACT_COLLECTIONS, clock: testClock() })
    handles.push(inner)
    return instrumentStore(inner, metrics)
  }
  const store = opened()
  return {
    store,
    now: testClock().now,
    metrics,
    async reopen() {
      await store.close()
      return opened()
    },
    async close() {
      for (const handle of handles) await handle.close()
      rmSync(folder, { recursive: true })
    },
  }
}

storeContract('the measured store', open)

describe('measured store', () => {
  let under: Awaited<ReturnType<typeof open>>
  beforeEach(async () => {
    under = await open()
  })
  afterEach(() => under.close())

  const counts = async () => {
    const { body } = await under.metrics.render()
    return body.split('\n').filter(line => /^countersign_store_\w+_count/.test(line))
  }
  const byOperation = (operation: string, count: number) =>
    `countersign_store_duration_seconds_count{operation="${operation}"} ${count}`
  const byCollection = (collection: string, count: number) =>
    `countersign_store_collection_seconds_count{collection="${collection}"} ${count}`

  it('observes every operation, by kind and by collection', async () => {
    const counters = under.store.docs('counters')
    await counters.insert([{ _id: 'a', n: 1 }])
    await counters.get(['a'])
    await counters.get(['b'])
    await counters.find({ _id: 'a' }, { sort: {}, limit: 1 })
    await counters.count({ _id: 'a' })
    await counters.update([{ ids: ['a'], update: { $inc: { n: 1 } } }])
    await counters.modify({ _id: 'a' }, { $inc: { n: 1 } })
    await counters.remove({ _id: 'a' }, 1)
    await under.store.docs('things').change([{ _id: 'none', rev: 1, update: { $set: { n: 1 } } }])
    expect(await counts()).to.have.members([
      byOperation('insert', 1),
      byOperation('get', 2),
      byOperation('find', 1),
      byOperation('count', 1),
      byOperation('update', 1),
      byOperation('modify', 1),
      byOperation('remove', 1),
      byOperation('change', 1),
      byCollection('counters', 8),
      byCollection('things', 1),
    ])
  })

  it('observes failed operations too, and passes the error on', async () => {
    const coded = under.store.docs('coded')
    await coded.insert([
      { _id: 'a', code: 1 },
      { _id: 'b', code: 2 },
    ])
    const error = await coded.modify({ _id: 'b' }, { $set: { code: 1 } }).catch((thrown: unknown) => thrown)
    expect(error).to.be.instanceOf(Duplicate)
    expect(await counts()).to.include(byOperation('modify', 1))
  })
})
