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
  it('leaves out what the caller does not read, and is confirmed by a majority if it must be certain, and only then', async () => {
    const asked: unknown[] = []
    const collection = {
      find(_: unknown, { projection, readConcern }: Record<string, unknown>) {
        asked.push([projection, readConcern])
        return { toArray: async () => [] }
      },
    } as unknown as Collection<MongoDoc>
    const docs = createMongoDocs<Parcel>(collection, { indexes: [] }, false, work => work())
    const page = { sort: {}, limit: 1 }
    await docs.find({ _id: 'a' }, { ...page, only: ['small'] })
    await docs.find({ _id: 'a' }, { ...page, certain: true })
    expect(asked).to.deep.equal([
      [{ small: 1 }, undefined],
      [undefined, { level: 'linearizable' }],
    ])
  })
})
