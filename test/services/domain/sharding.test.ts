// What is declared of sharding must be what a MongoDB cluster accepts, and every query that asks all shards must be accounted for.
import { expect } from 'chai'
import type { CollectionSpec, Collections } from '../../../infra/store/store.ts'
import { COLLECTIONS } from '../../../services/domain/collections.ts'
import { keyFields } from '../../support/sharding.ts'

const all: [string, CollectionSpec][] = Object.entries(COLLECTIONS as Collections)
const sharded = all.filter(([, { sharding }]) => sharding !== undefined)

describe('the declared shard keys', () => {
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
