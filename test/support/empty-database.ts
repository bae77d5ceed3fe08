// A database of the embedded store with all tables and indexes of the product and no document. A process of the tests makes one, and copies
// it for each store that it opens: making them takes 18 ms of processor time more than copying them.
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock } from '../../infra/clock.ts'
import { DATABASE_FILE } from '../../infra/store/embedded/sqlite.ts'
import { createEmbeddedStore } from '../../infra/store/embedded.ts'
import { COLLECTIONS } from '../../services/domain/collections.ts'
import { createTemporaryFolder } from './temporary-folder.ts'

let made: Promise<string> | undefined

/** `folder` is one in which no store was opened yet. */
export async function copyEmptyDatabase(folder: string): Promise<void> {
  made ??= makeEmptyDatabase()
  await copyFile(await made, join(folder, DATABASE_FILE))
}

async function makeEmptyDatabase(): Promise<string> {
  const folder = createTemporaryFolder()
  await createEmbeddedStore({ folder, collections: COLLECTIONS, clock: systemClock, strict: true }).close()
  return join(folder, DATABASE_FILE)
}
