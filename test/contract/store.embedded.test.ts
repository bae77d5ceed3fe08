import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createEmbeddedStore } from '../../infra/store/embedded.ts'
import { testClock } from '../support/clock.ts'
import { CONTRACT_COLLECTIONS, type ContractStore, storeContract } from './store.contract.ts'

storeContract('the embedded store', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-store-'))
  const clock = testClock()
  const handles: ContractStore[] = []
  const open = (): ContractStore => {
    const store = createEmbeddedStore({ folder, collections: CONTRACT_COLLECTIONS, clock })
    handles.push(store)
    return store
  }
  const store = open()
  return {
    store,
    now: clock.now,
    async reopen() {
      await store.close()
      return open()
    },
    async close() {
      for (const handle of handles) await handle.close()
      rmSync(folder, { recursive: true })
    },
  }
})
