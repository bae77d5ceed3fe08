// Puts the index documents of metadata under their new indexes. In: verifications about to be resealed, with their metadata in the clear.

import type { Keyring } from '../../infra/crypto/keyring.ts'
import { idsUnder } from '../../infra/store/store.ts'
import type { CountersignStore } from '../domain/collections.ts'
import type { OtpDoc } from '../domain/verifications/documents.ts'
import { metadataIndexes } from '../domain/verifications/lookup-indexes.ts'
import { MAX_METADATA_MEMBERS } from '../domain/verifications/metadata.ts'
import type { DueDoc } from './reindex-by-recipient.ts'

/** More calls than try to make one verification at once. */
const MAX_INDEX_DOCS = 10 * MAX_METADATA_MEMBERS

export function createReindexMetadata({
  store,
  keyring,
}: {
  store: CountersignStore
  keyring: Pick<Keyring, 'indexes'>
}) {
  const indexDocs = store.docs('metadata_indexes')

  async function reindex({ doc, fields: { metadata = {} } }: DueDoc<OtpDoc>): Promise<void> {
    const newIndexes = new Map(
      Object.entries(metadata).flatMap(([name, value]) => {
        const [index = '', ...formerIndexes] = metadataIndexes(keyring, doc, name, value)
        return formerIndexes.map(former => [former, index] as const)
      }),
    )
    if (newIndexes.size === 0) return
    const stored = await indexDocs.find(idsUnder(doc._id), { sort: { _id: 1 }, limit: MAX_INDEX_DOCS })
    await Promise.all(
      stored.map(({ _id, index: former }) => {
        const index = newIndexes.get(former)
        return index === undefined ? null : indexDocs.modify({ _id, index: former }, { $set: { index } })
      }),
    )
  }

  return async (due: readonly DueDoc<OtpDoc>[]): Promise<void> => void (await Promise.all(due.map(reindex)))
}
