// Deleting an app or a company. What is deleted follows from what each collection declares, so the tests fill every collection that says it
// belongs to an owner, for two owners, and look for what is left.
import { expect } from 'chai'
import type { Doc, Docs, Filter } from '../../../infra/store/docs.ts'
import { isServedByIndex } from '../../../infra/store/index-coverage.ts'
import type { Belonging, CollectionSpec, Collections } from '../../../infra/store/store.ts'
import { COLLECTIONS, type CountersignStore } from '../../../services/domain/collections.ts'
import { createAccounts } from '../../../services/domain/money/accounts.ts'
import { openAccount } from '../../../services/domain/money/batches.ts'
import { creditEntry } from '../../../services/domain/money/documents.ts'
import { createDeletionSweeps, DELETE_AFTER_MS } from '../../../services/sweeper/deletions.ts'
import { createCapturedLog } from '../../support/captured-log.ts'
import { type TestClock, testClock } from '../../support/clock.ts'
import { collectionNames, rawDocuments } from '../../support/raw-documents.ts'
import { eachStore } from '../../support/stores.ts'
import { interceptWrites } from '../../support/tenancy.ts'

const all = Object.entries(COLLECTIONS as Collections) as [string, CollectionSpec][]
const belongings = all.flatMap(([name, spec]) =>
  (spec.belongsTo ?? []).map((belonging: Belonging) => ({ name, spec, belonging })),
)

describe('what a collection belongs to', () => {
  it('is declared by every collection', () => {
    const silent = all.filter(([, { belongsTo = [] }]) => belongsTo.length === 0).map(([name]) => name)
    expect(silent).to.deep.equal([])
  })

  it('is a collection that deletes what it owns', () => {
    const filtered = belongings.filter(({ belonging }) => 'ofOwner' in belonging).map(({ belonging }) => belonging.to)
    expect([...new Set(filtered)].sort()).to.deep.equal(['apps', 'companies', 'users'])
    const byCode = belongings.filter(({ belonging }) => 'erasedWithOwner' in belonging)
    expect([...new Set(byCode.map(({ belonging }) => belonging.to))].sort()).to.deep.equal(['companies', 'otps'])
    // An app is deleted like any other when its company is.
    expect(byCode.filter(({ belonging }) => belonging.to === 'companies').map(({ name }) => name)).to.deep.equal([
      'apps',
    ])
  })

  it('is found by an index', () => {
    const unserved = belongings.filter(
      ({ spec, belonging }) => 'ofOwner' in belonging && !isServedByIndex(spec, belonging.ofOwner('x')),
    )
    expect(unserved.map(({ name }) => name)).to.deep.equal([])
  })
})

/** A document that a filter matches. */
function matching(filter: Filter<Doc>, nth: number): Doc {
  const { $or: branches = [], ...own } = filter
  // The first endpoint of an app is found by one branch, the others by the other.
  const members = { ...own, ...(branches[Math.min(nth, branches.length - 1)] ?? {}) } as Record<string, unknown>
  const { _id = `doc_${counted()}` } = members
  const id = typeof _id === 'string' ? _id : `${(_id as { $gte: string }).$gte}${counted()}`
  return { ...members, _id: id }
}

let documents = 0
const counted = (): string => {
  documents += 1
  return String(documents).padStart(8, '0')
}

/** Unique indexes refuse a second document that lacks their fields. */
const withUniqueFields = ({ indexes }: CollectionSpec, doc: Doc): Doc => {
  const fields = indexes.flatMap(({ unique, partial, fields }) => (unique && !partial ? Object.keys(fields) : []))
  return { ...Object.fromEntries(fields.map(field => [field, `value ${counted()}`])), ...doc }
}

/** More than a batch. */
const MANY = 230
const CLOSED_AT = Date.UTC(2029, 11, 1)

eachStore('the sweep of deletions', fresh => {
  let store: CountersignStore
  let clock: TestClock
  beforeEach(async () => {
    store = await fresh()
    clock = testClock()
  })
  const { log } = createCapturedLog()
  const docsOf = (name: string) => store.docs(name as keyof typeof COLLECTIONS) as unknown as Docs<Doc>

  const sweepOf = (swept: CountersignStore) => {
    const accounts = createAccounts({ store: swept, clock, log })
    return createDeletionSweeps({ store: swept, accounts, clock, log }).deletions?.([0])
  }
  const sweep = () => sweepOf(store)

  async function addCompany(_id: string, members: object = {}): Promise<void> {
    const company = { _id, name: `Name of ${_id}`, ...openAccount(_id, 0, 0), created_at: 0, rev: 0, ...members }
    await store.docs('companies').insert([company])
  }
  async function addApp(_id: string, company_id: string, members: object = {}): Promise<void> {
    await store
      .docs('apps')
      .insert([{ _id, company_id, name: `Name of ${_id}`, settings: {}, created_at: 0, rev: 0, ...members }])
  }
  const asked = () => ({ closed_at: CLOSED_AT, deleted_at: clock.now() })

  /** Documents of each collection that an owner may have, and of those that belong to its verifications and people. */
  async function fill(owner: 'apps' | 'companies', id: string, many: number): Promise<void> {
    for (const { name, spec, belonging } of belongings) {
      if (belonging.to !== owner || !('ofOwner' in belonging)) continue
      const docs = Array.from({ length: name === 'route_facts' ? 1 : many }, (_, nth) =>
        withUniqueFields(spec, matching(belonging.ofOwner(id), nth)),
      )
      if (name === 'otps') for (const otp of docs) await addOwnedBy(otp, id)
      else expect(await docsOf(name).insert(docs), name).to.include('inserted')
      if (name === 'users') for (const user of docs) await fillUser(user._id)
    }
  }

  async function addOwnedBy(otp: Doc, mark: string): Promise<void> {
    const { _id } = otp
    const context = { deliveries: [{ delivery_id: `dlv_${_id}` }], joined: [{ otp_id: `joined_${_id}` }] }
    await docsOf('otps').insert([{ ...otp, context, claims: [`claim_${_id}`], metadata: 'sealed' } as Doc])
    await docsOf('attempts').insert([{ _id: `dlv_${_id}:1`, mark } as Doc])
    await docsOf('sandbox_messages').insert([{ _id: `dlv_${_id}`, mark } as Doc])
    await docsOf('claims').insert([{ _id: `claim_${_id}`, otp_id: _id, mark } as Doc])
    await docsOf('metadata_indexes').insert([{ _id: `${_id}:1`, mark } as Doc])
    await docsOf('joined_ids').insert([{ _id: `joined_${_id}`, mark } as Doc])
  }

  async function fillUser(user_id: string): Promise<void> {
    for (const { name, spec, belonging } of belongings)
      if (belonging.to === 'users' && 'ofOwner' in belonging)
        await docsOf(name).insert([withUniqueFields(spec, matching(belonging.ofOwner(user_id), 0))])
  }

  async function counts(): Promise<Record<string, number>> {
    const found = await Promise.all(
      collectionNames.map(async name => [name, (await rawDocuments(store, name)).length] as const),
    )
    return Object.fromEntries(found.filter(([, count]) => count > 0))
  }

  async function holding(text: string): Promise<string[]> {
    const found: string[] = []
    for (const name of collectionNames)
      if ((await rawDocuments(store, name)).some(one => one.includes(text))) found.push(name)
    return found
  }

  it('deletes all that belongs to an app, in batches, and nothing of another', async () => {
    await addCompany('cmp_1')
    await addApp('app_2', 'cmp_1')
    await fill('apps', 'app_2', 3)
    const other = await counts()
    await addApp('app_1', 'cmp_1', asked())
    await fill('apps', 'app_1', MANY)
    const both = await counts()
    for (const { name, belonging } of belongings)
      if (belonging.to === 'apps' || belonging.to === 'otps')
        expect(both[name], name).to.be.greaterThan(other[name] ?? 0)

    await sweep()
    expect(await counts(), 'a call that found the app may be under way').to.deep.equal(both)
    await clock.advance(DELETE_AFTER_MS)
    let runs = 0
    for (; (await store.docs('apps').get(['app_1'])).size > 0; runs += 1) {
      await sweep()
      expect(runs, 'runs').to.be.lessThan(100)
    }
    expect(runs, 'each run deletes a few batches').to.be.greaterThan(5)
    expect(await counts()).to.deep.equal({ ...other, deletions: 1 })
    expect(await holding('app_1')).to.deep.equal(['deletions'])
    const [deleted] = (await store.docs('deletions').get(['app_1'])).values()
    expect(deleted).to.include({ name: 'Name of app_1', company_id: 'cmp_1', closed_at: CLOSED_AT })
  })

  it('goes on where a crash cut it off, at any write', async () => {
    await addCompany('cmp_1')
    await addApp('app_1', 'cmp_1', asked())
    await fill('apps', 'app_1', 2)
    await clock.advance(DELETE_AFTER_MS)
    const crash = new Error('crashed')
    let last = ''
    const calls = new Set<string>()
    for (let nth = 1; last !== 'apps.remove'; nth += 1) {
      let writes = 0
      const crashing = interceptWrites(store, {
        after: call => {
          writes += 1
          if (writes !== nth) return
          last = call
          calls.add(call)
          throw crash
        },
      })
      await sweepOf(crashing)
      expect(nth, 'runs').to.be.lessThan(200)
    }
    expect(calls.size, [...calls].join()).to.be.greaterThan(12)
    expect(await counts()).to.deep.equal({ companies: 1, deletions: 1 })
  })

  it('deletes a company once its apps are gone, with its people, and keeps what was entered in the ledger', async () => {
    await addCompany('cmp_2')
    await fill('companies', 'cmp_2', 2)
    const other = await counts()
    await addCompany('cmp_1', { ...asked(), timezone: 'Europe/Berlin' })
    await addApp('app_1', 'cmp_1')
    await fill('apps', 'app_1', 2)
    await fill('companies', 'cmp_1', 2)
    const accounts = createAccounts({ store, clock, log })
    await accounts.enter('cmp_1', creditEntry('credit:1', { micros: 70, note: 'a transfer', by: 'ada' }))
    for (let run = 0; (await store.docs('companies').get(['cmp_1'])).size > 0; run += 1) {
      await clock.advance(DELETE_AFTER_MS)
      await sweep()
      expect(run, 'runs').to.be.lessThan(20)
    }
    await accounts.settled()
    expect(await counts()).to.deep.equal({ ...other, deletions: 2, ledger: 1 })
    expect(await holding('cmp_1')).to.have.members(['deletions', 'ledger'])
    const [deleted] = (await store.docs('deletions').get(['cmp_1'])).values()
    expect(deleted?.account).to.deep.equal({ balance: 70, seq: 1, settled_seq: 0, timezone: 'Europe/Berlin' })
  })

  it('leaves a company while an entry comes in that is not in the ledger yet', async () => {
    await addCompany('cmp_1', asked())
    await clock.advance(DELETE_AFTER_MS)
    const accounts = createAccounts({ store, clock, log })
    let entered = false
    const late = interceptWrites(store, {
      before: async call => {
        if (call !== 'deletions.modify' || entered) return
        entered = true
        await accounts.enter('cmp_1', creditEntry('credit:late', { micros: 5, note: 'late', by: 'ada' }))
      },
    })
    await sweepOf(late)
    expect((await store.docs('companies').get(['cmp_1'])).size).to.equal(1)
    await sweep()
    expect((await store.docs('companies').get(['cmp_1'])).size).to.equal(0)
    const [deleted] = (await store.docs('deletions').get(['cmp_1'])).values()
    expect(deleted?.account).to.include({ balance: 5, seq: 1 })
    expect((await rawDocuments(store, 'ledger')).length).to.equal(1)
    await accounts.settled()
  })
})
