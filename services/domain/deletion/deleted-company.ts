// A company that was deleted, for the books: as far as its ledger and its statements need it.
import { getOne } from '../../../infra/store/one-doc.ts'
import type { CountersignStore } from '../collections.ts'
import type { Company } from '../tenancy/documents.ts'

/** Null for a company that is there, or never was. One whose deletion goes on still has its account, and is answered as if it were there. */
export async function findDeletedCompany(store: Pick<CountersignStore, 'docs'>, id: string): Promise<Company | null> {
  const deleted = await getOne(store.docs('deletions'), id)
  if (!deleted?.account) return findBeingDeleted(store, id)
  const { _id, name, closed_at, asked_at, account } = deleted
  return {
    _id,
    name,
    ...account,
    batches: [],
    looked_up: 0,
    spent: {},
    created_at: 0,
    closed_at,
    deleted_at: asked_at,
    rev: 0,
  }
}

async function findBeingDeleted(store: Pick<CountersignStore, 'docs'>, id: string): Promise<Company | null> {
  const { deleted_at, ...company } = (await getOne(store.docs('companies'), id)) ?? {}
  return deleted_at === undefined ? null : (company as Company)
}
