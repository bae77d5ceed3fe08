// Deletes what belongs to an app, a company or a user, as the collections declare it (`belongsTo`), a batch at a time. In: an owner. Out:
// whether nothing is left. It remembers no position: what was deleted is not found again, so a crash between two batches loses nothing.
import type { Doc, Docs, Filter, Sort } from '../../../infra/store/docs.ts'
import { scanAll } from '../../../infra/store/scan.ts'
import type { Belonging, CollectionSpec } from '../../../infra/store/store.ts'
import { COLLECTIONS, type CountersignStore } from '../collections.ts'
import { eraseVerifications } from '../privacy/erasure.ts'
import type { OtpDoc } from '../verifications/documents.ts'

type CollectionName = keyof typeof COLLECTIONS

/** Collections whose documents own others. */
type Owner = 'companies' | 'apps' | 'users'

/** Full or partial batches that may still be deleted. */
export interface BatchesLeft {
  left: number
}

const BATCH = 200

interface Owned {
  name: CollectionName
  ofOwner(id: string): Filter<Doc>
}

const belongings = Object.entries(COLLECTIONS).flatMap(([name, { belongsTo = [] }]: [string, CollectionSpec]) =>
  (belongsTo as readonly Belonging[]).map(belonging => ({ name: name as CollectionName, belonging })),
)

const ownedBy = (owner: Owner): Owned[] =>
  belongings.flatMap(({ name, belonging }) =>
    belonging.to === owner && 'ofOwner' in belonging ? [{ name, ofOwner: belonging.ofOwner }] : [],
  )

/** The documents of these collections own others, which go before them. */
const WITH_OWNED: { [N in CollectionName]?: (store: CountersignStore, found: Doc[]) => Promise<unknown> } = {
  otps: (store, found) => eraseVerifications(store, found as OtpDoc[]),
  users: async (store, found) => {
    for (const { _id } of found) await deleteOwned(store, 'users', _id, { left: Number.POSITIVE_INFINITY })
    await store.docs('users').remove({ _id: { $in: found.map(({ _id }) => _id) } }, found.length)
  },
}

/** False when the batches were used up. */
export async function deleteOwned(
  store: CountersignStore,
  owner: Owner,
  id: string,
  batches: BatchesLeft,
): Promise<boolean> {
  for (const owned of ownedBy(owner)) if (!(await deleteAll(store, owned, id, batches))) return false
  return true
}

/** The apps of a company whose deletion was asked for: from then on no call finds them either. */
export async function markAppsDeleted(store: CountersignStore, company_id: string, at: number): Promise<void> {
  const apps = store.docs('apps')
  for await (const { _id, deleted_at } of scanAll(apps, { company_id }))
    if (deleted_at === undefined)
      await apps.modify({ _id, deleted_at: { $exists: false } }, { $set: { deleted_at: at } })
}

/** The people of a company and their sessions: none of them may act in it any more. */
export const deleteUsers = (store: CountersignStore, company_id: string): Promise<boolean> =>
  deleteAll(store, { name: 'users', ofOwner: id => ({ company_id: id }) }, company_id, {
    left: Number.POSITIVE_INFINITY,
  })

async function deleteAll(
  store: CountersignStore,
  { name, ofOwner }: Owned,
  id: string,
  batches: BatchesLeft,
): Promise<boolean> {
  const docs = store.docs(name) as unknown as Docs<Doc>
  const filter = ofOwner(id)
  const deleteWithOwned = WITH_OWNED[name]
  for (let deleted = BATCH; deleted === BATCH; ) {
    if (batches.left <= 0) return false
    if (deleteWithOwned) {
      const found = await docs.find(filter, { sort: { _id: 1 } as Sort<Doc>, limit: BATCH })
      if (found.length > 0) await deleteWithOwned(store, found)
      deleted = found.length
    } else deleted = await docs.remove(filter, BATCH)
    if (deleted > 0) batches.left -= 1
  }
  return true
}
