import { expect } from 'chai'
import type { Collection } from 'mongodb'
import type { Doc } from '../../../infra/store/docs.ts'
import { createMongoDocs } from '../../../infra/store/mongo/docs.ts'
import type { MongoDoc } from '../../../infra/store/mongo/mongo-doc.ts'

interface Parcel extends Doc {
  small: string
  large: string
}

describe('a page on MongoDB', () => {
  it('leaves out what the caller does not read, in the engine', async () => {
    const asked: unknown[] = []
    const collection = {
      find(_: unknown, options: { projection: unknown }) {
        asked.push(options.projection)
        return { toArray: async () => [] }
      },
    } as unknown as Collection<MongoDoc>
    const docs = createMongoDocs<Parcel>(collection, { indexes: [] }, false, work => work())
    await docs.find({ _id: 'a' }, { sort: {}, limit: 1, only: ['small'] })
    await docs.find({ _id: 'a' }, { sort: {}, limit: 1 })
    expect(asked).to.deep.equal([{ small: 1 }, undefined])
  })

  it('is confirmed by a majority of the engine if it must be certain, and only then', async () => {
    const asked: unknown[] = []
    const collection = {
      find(_: unknown, { readConcern }: { readConcern?: unknown }) {
        asked.push(readConcern)
        return { toArray: async () => [] }
      },
    } as unknown as Collection<MongoDoc>
    const docs = createMongoDocs<Parcel>(collection, { indexes: [] }, false, work => work())
    await docs.find({ _id: 'a' }, { sort: {}, limit: 1 })
    await docs.find({ _id: 'a' }, { sort: {}, limit: 1, certain: true })
    expect(asked).to.deep.equal([undefined, { level: 'linearizable' }])
  })
})
