// The documents of a store as JSON text. Tests search them for what must not be stored.
import { COLLECTIONS, type CountersignStore } from '../../services/domain/collections.ts'

export type CollectionName = keyof typeof COLLECTIONS

export const collectionNames = Object.keys(COLLECTIONS) as CollectionName[]

export const rawDocuments = async (store: CountersignStore, name: CollectionName): Promise<string[]> =>
  (await store.docs(name).find({}, { sort: { _id: 1 }, limit: 100_000 })).map(doc => JSON.stringify(doc))

/** The collections with a document that contains the text. */
export async function collectionsContaining(store: CountersignStore, text: string): Promise<CollectionName[]> {
  const found: CollectionName[] = []
  for (const name of collectionNames)
    if ((await rawDocuments(store, name)).some(document => document.includes(text))) found.push(name)
  return found
}
