import { expect } from 'chai'
import { batchDocs } from '../../../infra/store/batched-docs.ts'
import type { Docs } from '../../../infra/store/docs.ts'
import { createEmbeddedStore } from '../../../infra/store/embedded.ts'
import { type Thing, things } from '../../contract/store/collections.ts'
import { CONTRACT_COLLECTIONS, type ContractStore, storeContract } from '../../contract/store.contract.ts'
import { testClock } from '../../support/clock.ts'
import { createTemporaryFolder } from '../../support/temporary-folder.ts'

const openStore = (folder: string): ContractStore =>
  createEmbeddedStore({ folder, collections: CONTRACT_COLLECTIONS, clock: testClock() })

/** Every collection batched, as a service batches its own. */
function batchStore(store: ContractStore): ContractStore {
  const batched = new Map<string, unknown>()
  const docs = (name: keyof typeof CONTRACT_COLLECTIONS) => {
    const found = batched.get(name) ?? batchDocs(store.docs(name) as Docs<Thing>)
    batched.set(name, found)
    return found
  }
  return { ...store, docs: docs as ContractStore['docs'] }
}

storeContract('the embedded store with batched collections', async () => {
  const folder = createTemporaryFolder()
  const handles = [openStore(folder)]
  const store = batchStore(handles[0] as ContractStore)
  return {
    store,
    now: testClock().now,
    async reopen() {
      await store.close()
      const reopened = openStore(folder)
      handles.push(reopened)
      return batchStore(reopened)
    },
    close: async () => void (await Promise.all(handles.map(handle => handle.close()))),
  }
})

describe('a batched collection', () => {
  const store = openStore(createTemporaryFolder())
  after(() => store.close())
  let calls: string[]
  let docs: Docs<Thing>
  beforeEach(async () => {
    calls = []
    const plain = store.docs('things')
    const counted = (name: 'get' | 'insert' | 'change' | 'update') =>
      ((...args: [never]) => {
        calls.push(name)
        return plain[name](...args)
      }) as never
    docs = batchDocs({
      ...plain,
      get: counted('get'),
      insert: counted('insert'),
      change: counted('change'),
      update: counted('update'),
    })
  })

  it('makes one call of each kind for many callers in one tick, and gives each its own answers', async () => {
    const all = things('tick', 4, () => ({ n: 0 }))
    const [a = '', b = '', c = '', d = ''] = all.map(({ _id }) => _id)
    const inserted = await Promise.all([docs.insert(all.slice(0, 2)), docs.insert(all.slice(1))])
    expect(inserted).to.deep.equal([
      ['inserted', 'inserted'],
      ['duplicate', 'inserted', 'inserted'],
    ])
    const updated = await Promise.all([
      docs.update([{ ids: [a, 'never was', b], update: { $inc: { n: 1 } } }]),
      docs.update([]),
      docs.update([{ ids: ['never was'], update: { $inc: { n: 1 } } }]),
      docs.update([
        { ids: [b], update: { $inc: { n: 10 } } },
        { ids: [c, d], update: { $inc: { n: 100 } } },
      ]),
    ])
    expect(updated).to.deep.equal([
      ['updated', 'missing', 'updated'],
      [],
      ['missing'],
      ['updated', 'updated', 'updated'],
    ])
    const changed = await Promise.all([
      docs.change([{ _id: a, rev: 1, update: { $inc: { n: 1_000 } } }]),
      docs.change([
        { _id: a, rev: 1, update: { $inc: { n: 1_000 } } },
        { _id: d, rev: 1, update: { $inc: { n: 1_000 } } },
      ]),
    ])
    expect(changed).to.deep.equal([['won'], ['lost', 'won']])
    const [found, one] = await Promise.all([docs.get([a, b, c, d]), docs.get([b])])
    expect([...found.values()].map(({ n }) => n)).to.deep.equal([1_001, 11, 100, 1_100])
    expect([...one.keys()]).to.deep.equal([b])
    expect(calls).to.deep.equal(['insert', 'update', 'change', 'get'])
  })
})
