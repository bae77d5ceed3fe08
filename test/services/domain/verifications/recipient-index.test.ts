// How MongoDB finds the verifications of a recipient.
import { randomBytes } from 'node:crypto'
import { expect } from 'chai'
import { MongoClient, type Sort as MongoSort } from 'mongodb'
import { newId } from '../../../../infra/ids.ts'
import type { Docs } from '../../../../infra/store/docs.ts'
import { createMongoStore } from '../../../../infra/store/mongo.ts'
import { COLLECTIONS, type CountersignStore } from '../../../../services/domain/collections.ts'
import type { OtpDoc } from '../../../../services/domain/verifications/documents.ts'
import { latestOfRecipient } from '../../../../services/domain/verifications/latest-of-recipient.ts'
import { MONGODB_URL, onRealEngines } from '../../../support/engines.ts'
import { device, issued } from '../../../support/otp.ts'
import { documentOf } from '../../../support/queued-otps.ts'

const otp = (at: number): OtpDoc => documentOf(issued({ at, otp_id: newId('otp', at), link: null }), at)

async function useAndClose(store: CountersignStore, use: (otps: Docs<OtpDoc>) => Promise<void>): Promise<void> {
  try {
    await use(store.docs('otps'))
  } finally {
    await store.close()
  }
}

onRealEngines('the index of recipients, on MongoDB', { MONGODB_URL }, () => {
  it('finds the latest that a server started without reading the documents of those that devices started', async () => {
    const url = String(MONGODB_URL)
    const database = `test_${randomBytes(6).toString('hex')}`
    const client = new MongoClient(url)
    try {
      const store = createMongoStore({ url, database, collections: COLLECTIONS, strict: true })
      const [pending, ...others] = Array.from({ length: 50 }, (_, nth) => otp(Date.UTC(2100, 0, 1) + nth))
      const byDevices = others.map(doc => ({ ...doc, context: { ...doc.context, started_by: device } }))
      await useAndClose(store, async otps => {
        await otps.insert([pending as OtpDoc, ...byDevices])
        const finding = client.db(database).collection<OtpDoc>('otps')
        const asked: unknown[] = []
        const find: typeof otps.find = async (filter, page) => {
          const plan = await finding
            .find(filter as object)
            .sort(page.sort as MongoSort)
            .limit(page.limit)
            .explain('executionStats')
          asked.push(plan.executionStats.totalDocsExamined)
          return otps.find(filter, page)
        }
        const keyring = { indexes: () => [pending?.recipient ?? ''] }
        const by = { app_id: 'app_1', mode: 'live', kind: 'server' } as const
        expect((await latestOfRecipient({ otps: { find }, keyring }, by, '+44'))?._id).to.equal(pending?._id)
        expect(asked).to.deep.equal([1])
      })
    } finally {
      await client.db(database).dropDatabase()
      await client.close()
    }
  })
})
