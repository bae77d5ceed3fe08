// A database of a release that indexed recipients by app and mode as well: the new index is made when the store is
// opened, and finds what was stored before. The embedded store drops the old index; on MongoDB it stays, because
// processes of the old release may still use it.
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { MongoClient, type Sort as MongoSort } from 'mongodb'
import { systemClock } from '../../../../infra/clock.ts'
import { newId } from '../../../../infra/ids.ts'
import type { Docs } from '../../../../infra/store/docs.ts'
import { createEmbeddedStore } from '../../../../infra/store/embedded.ts'
import { createMongoStore } from '../../../../infra/store/mongo.ts'
import { collection } from '../../../../infra/store/store.ts'
import { COLLECTIONS, type CountersignStore } from '../../../../services/domain/collections.ts'
import type { OtpDoc } from '../../../../services/domain/verifications/documents.ts'
import { latestOfRecipient } from '../../../../services/domain/verifications/latest-of-recipient.ts'
import { MONGODB_URL, onRealEngines } from '../../../support/engines.ts'
import { device, issued } from '../../../support/otp.ts'
import { documentOf } from '../../../support/queued-otps.ts'

const OLD_INDEX = { fields: { app_id: 1, mode: 1, recipient: 1, _id: -1 } } as const
const OLD_COLLECTIONS = {
  ...COLLECTIONS,
  otps: collection<OtpDoc>({ ...COLLECTIONS.otps, indexes: [OLD_INDEX, ...COLLECTIONS.otps.indexes.slice(1)] }),
}

const otp = (at: number): OtpDoc => documentOf(issued({ at, otp_id: newId('otp', at), link: null }), at)

const NEW_NAME = 'recipient_1__id_-1_context.started_by.kind_1'

type Open = (collections: typeof COLLECTIONS) => CountersignStore

async function useAndClose(store: CountersignStore, use: (otps: Docs<OtpDoc>) => Promise<void>): Promise<void> {
  try {
    await use(store.docs('otps'))
  } finally {
    await store.close()
  }
}

async function findAfterUpgrade(open: Open): Promise<void> {
  const [before, after] = [otp(Date.UTC(2100, 0, 1)), otp(Date.UTC(2100, 0, 2))]
  await useAndClose(open(OLD_COLLECTIONS), async otps => void (await otps.insert([before])))
  await useAndClose(open(COLLECTIONS), async otps => {
    await otps.insert([after])
    const filter = { recipient: { $in: [before.recipient] } }
    expect(await otps.find(filter, { sort: { _id: -1 }, limit: 9 })).to.deep.equal([after, before])
  })
  // A process of the old release that is started once more, as in a rolling upgrade that is taken back.
  await useAndClose(open(OLD_COLLECTIONS), async otps => {
    const filter = { app_id: before.app_id, mode: before.mode, recipient: before.recipient }
    expect(await otps.count(filter)).to.equal(2)
  })
}

describe('the index of recipients, on the embedded store', () => {
  it('is made for a database of an older release', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'countersign-upgrade-'))
    try {
      await findAfterUpgrade(collections => createEmbeddedStore({ folder, collections, clock: systemClock }))
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
})

onRealEngines('the index of recipients, on MongoDB', { MONGODB_URL }, () => {
  it('is made for a database of an older release', async () => {
    const url = String(MONGODB_URL)
    const database = `test_${randomBytes(6).toString('hex')}`
    const client = new MongoClient(url)
    try {
      await findAfterUpgrade(collections => createMongoStore({ url, database, collections, strict: true }))
      const names = (await client.db(database).collection('otps').indexes()).map(({ name }) => name)
      expect(names).to.include.members([NEW_NAME, 'app_id_1_mode_1_recipient_1__id_-1'])
    } finally {
      await client.db(database).dropDatabase()
      await client.close()
    }
  })

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
