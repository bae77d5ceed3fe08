import { randomUUID } from 'node:crypto'
import { MongoClient } from 'mongodb'
import { createMongoStore } from '../../infra/store/mongo.ts'
import { MONGODB_URL, onRealEngines } from '../support/engines.ts'
import { CONTRACT_COLLECTIONS, type ContractStore, type StoreUnderTest, storeContract } from './store.contract.ts'

onRealEngines('the store on MongoDB', { MONGODB_URL }, () => {
  const url = MONGODB_URL ?? ''

  const open = async (): Promise<StoreUnderTest> => {
    const database = `contract_${randomUUID()}`
    const opened: ContractStore[] = []
    const handle = (): ContractStore => {
      const store = createMongoStore({ url, database, collections: CONTRACT_COLLECTIONS, strict: true })
      opened.push(store)
      return store
    }
    const store = handle()
    await store.ping()
    return {
      store,
      now: Date.now,
      reopen: async () => handle(),
      async close() {
        for (const one of opened) await one.close()
        const client = new MongoClient(url)
        await client.db(database).dropDatabase()
        await client.close()
      },
    }
  }

  storeContract('keeps the contract', open)
})
