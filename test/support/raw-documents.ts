// Everything in a store, as text, to be searched for what must not be there.
import { COLLECTIONS, type CountersignStore } from '../../services/domain/collections.ts'

export type CollectionName = keyof typeof COLLECTIONS

export const collectionNames = Object.keys(COLLECTIONS) as CollectionName[]

export const rawDocuments = async (store: CountersignStore, name: CollectionName): Promise<string[]> =>
  (await store.docs(name).find({}, { sort: { _id: 1 }, limit: 100_000 })).map(doc => JSON.stringify(doc))

/** The collections in which a text is found. */
export async function collectionsContaining(store: CountersignStore, text: string): Promise<CollectionName[]> {
  const found: CollectionName[] = []
  for (const name of collectionNames)
    if ((await rawDocuments(store, name)).some(one => one.includes(text))) found.push(name)
  return found
}
