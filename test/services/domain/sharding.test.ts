// What is declared of sharding must be what a MongoDB cluster accepts, and every query that asks all shards must be accounted for.
import { expect } from 'chai'
import type { CollectionSpec, Collections } from '../../../infra/store/store.ts'
import { COLLECTIONS } from '../../../services/domain/collections.ts'
import { isOneDocument, keyFields, namesShardKey } from '../../support/sharding.ts'

const all: [string, CollectionSpec][] = Object.entries(COLLECTIONS as Collections)
const sharded = all.filter(([, { sharding }]) => sharding !== undefined)

describe('the declared shard keys', () => {
  it('are those of every collection that grows with the sends', () => {
    expect(sharded.map(([name]) => name)).to.include.members([
      'otps',
      'attempts',
      'events',
      'counters',
      'claims',
      'ledger',
    ])
  })

  it('stand at the beginning of every unique index, as MongoDB demands', () => {
    const refused = sharded.flatMap(([name, spec]) =>
      spec.indexes
        .filter(({ unique, fields }) => unique && !beginsWithKey(spec, Object.keys(fields)))
        .map(({ fields }) => `${name}: ${JSON.stringify(fields)}`),
    )
    expect(refused).to.deep.equal([])
  })

  it('are of one kind: a hashed field has no other beside it', () => {
    for (const [name, { sharding }] of sharded) {
      const kinds = Object.values(sharding?.key ?? {})
      expect(kinds, name).to.satisfy(() => kinds.length === 1 || !kinds.includes('hashed'))
    }
  })

  it('are named by every index, or the index says who asks all shards by it, and why', () => {
    const silent = sharded.flatMap(([name, spec]) =>
      spec.indexes
        .filter(({ fields, scatter }) => !scatter && Object.keys(fields)[0] !== keyFields(spec)[0])
        .map(({ fields }) => `${name}: ${JSON.stringify(fields)}`),
    )
    expect(silent).to.deep.equal([])
  })

  it('are there where an index says so', () => {
    const needless = all
      .filter(([, { sharding, indexes }]) => !sharding && indexes.some(({ scatter }) => scatter))
      .map(([name]) => name)
    expect(needless).to.deep.equal([])
  })
})

const beginsWithKey = (spec: CollectionSpec, fields: readonly string[]): boolean =>
  Object.values(spec.sharding?.key ?? {}).every(kind => kind === 1) &&
  keyFields(spec).every((path, at) => fields[at] === path)

describe('a filter', () => {
  const byId: CollectionSpec = { indexes: [], sharding: { key: { _id: 'hashed' } } }
  const byEntry: CollectionSpec = { indexes: [], sharding: { key: { company_id: 1, entry: 1 } } }

  it('names the key by one value or by a list of values, also inside $and and in every branch of $or', () => {
    expect(namesShardKey(byId, { _id: 'x', rev: 1 })).to.equal(true)
    expect(namesShardKey(byId, { _id: { $in: ['x', 'y'] } })).to.equal(true)
    expect(namesShardKey(byId, { $and: [{ rev: 1 }, { _id: { $eq: 'x' } }] })).to.equal(true)
    expect(namesShardKey(byId, { $or: [{ _id: 'x' }, { _id: 'y' }] })).to.equal(true)
  })

  it('does not name it by a range, nor in one branch of $or alone', () => {
    expect(namesShardKey(byId, { _id: { $gt: 'x' } })).to.equal(false)
    expect(namesShardKey(byId, { app_id: 'x' })).to.equal(false)
    expect(namesShardKey(byId, { $or: [{ _id: 'x' }, { app_id: 'y' }] })).to.equal(false)
    expect(namesShardKey(byId, {})).to.equal(false)
  })

  it('is sent to the shards of a company by the first field of two', () => {
    expect(namesShardKey(byEntry, { company_id: 'x' })).to.equal(true)
    expect(namesShardKey(byEntry, { entry: 'y' })).to.equal(false)
  })

  it('changes one document by the whole key, or by its id where the document is not returned', () => {
    for (const operation of ['update', 'remove', 'modify']) {
      expect(isOneDocument(byEntry, { company_id: 'x', entry: 'y' }, operation)).to.equal(true)
      expect(isOneDocument(byEntry, { company_id: 'x' }, operation)).to.equal(false)
      expect(isOneDocument(byEntry, { _id: 'z' }, operation)).to.equal(operation !== 'modify')
    }
  })
})
