// The documents of a store as JSON text, and the files of an embedded one. Tests search them for what must not be stored.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { COLLECTIONS, type CountersignStore } from '../../services/domain/collections.ts'
import type { CollectionName } from '../../services/domain/personal-data.ts'

export type { CollectionName }

export const collectionNames = Object.keys(COLLECTIONS) as CollectionName[]

export const rawDocuments = async (store: CountersignStore, name: CollectionName): Promise<string[]> =>
  (await store.docs(name).find({}, { sort: { _id: 1 }, limit: 100_000 })).map(doc => JSON.stringify(doc))

/** Without those that hold keys. */
export async function dataFiles(folder: string): Promise<string[]> {
  const names = (await readdir(folder)).filter(name => !name.startsWith('secrets'))
  return Promise.all(names.map(name => readFile(join(folder, name), 'latin1')))
}

/** The collections with a document that contains the text. */
export async function collectionsContaining(store: CountersignStore, text: string): Promise<CollectionName[]> {
  const found: CollectionName[] = []
  for (const name of collectionNames)
    if ((await rawDocuments(store, name)).some(document => document.includes(text))) found.push(name)
  return found
}
