// Renews one batch of a collection with the current data key. In: where to begin. Out: how many were looked at and renewed, and where to
// go on. What goes by a verification's recipient is renewed before the verification is: cut off in between, the next one finds it again.
import type { Clock } from '../../infra/clock.ts'
import type { Keyring } from '../../infra/crypto/keyring.ts'
import type { Change, Docs, Revised } from '../../infra/store/docs.ts'
import type { CountersignStore } from '../domain/collections.ts'
import type { SealedCollection } from '../domain/privacy/documents.ts'
import { type Renewal, renewedOtp, renewedProvider, renewedWebhook } from './renewal.ts'
import { type Due, renewingNeighbours } from './renewals.neighbours.ts'

export interface Batch {
  looked: number
  renewed: number
  unsealable: number
  /** The last `_id` seen; null at the end of the collection. */
  last: string | null
}

export interface RenewalParts {
  store: CountersignStore
  keyring: Keyring
  clock: Pick<Clock, 'now'>
}

/** Somebody else's change comes first; then it is looked at again. */
const MOST_TRIES = 5

export function renewals({ store, keyring, clock }: RenewalParts) {
  const neighbours = renewingNeighbours({ store, keyring, clock })

  async function renewAll<T extends Revised>(
    docs: Docs<T>,
    batch: readonly T[],
    renewal: (doc: T) => Renewal,
    first: (found: readonly Due<T>[]) => Promise<unknown> = async () => {},
  ): Promise<Pick<Batch, 'renewed' | 'unsealable'>> {
    const unsealable = new Set<string>()
    let renewed = 0
    let left = batch
    for (let tries = 0; left.length > 0; tries += 1) {
      // They are for the next pass; counted as renewed, they make sure that there is one.
      if (tries === MOST_TRIES) return { renewed: renewed + left.length, unsealable: unsealable.size }
      const found = left.map(doc => ({ doc, renewal: renewal(doc) }))
      for (const { doc, renewal } of found) if (renewal.unsealable) unsealable.add(doc._id)
      const due = found.filter(({ renewal }) => Object.keys(renewal.set).length > 0)
      if (due.length === 0) break
      await first(due)
      const changes = due.map(({ doc: { _id, rev }, renewal: { set } }) => ({ _id, rev, update: { $set: set } }))
      // The documents are revised ones; the port says so in a way that a type parameter does not see.
      const answers = await (docs.change as (changes: readonly Change<Revised>[]) => Promise<('won' | 'lost')[]>)(
        changes,
      )
      renewed += answers.filter(answer => answer === 'won').length
      const lost = due.flatMap(({ doc }, at) => (answers[at] === 'lost' ? [doc._id] : []))
      left = lost.length > 0 ? [...(await docs.get(lost)).values()] : []
    }
    return { renewed, unsealable: unsealable.size }
  }

  return async (collection: SealedCollection, after: string, limit: number): Promise<Batch> => {
    const page = { sort: { _id: 1 }, limit } as const
    const from = { _id: { $gt: after } }
    const ended = (batch: readonly Revised[]) => ({
      looked: batch.length,
      last: batch.length < limit ? null : (batch.at(-1)?._id ?? null),
    })
    if (collection === 'providers') {
      const [docs, batch] = [store.docs('providers'), await store.docs('providers').find(from, page)]
      return { ...(await renewAll(docs, batch, doc => renewedProvider(keyring, doc))), ...ended(batch) }
    }
    if (collection === 'webhooks') {
      const [docs, batch] = [store.docs('webhooks'), await store.docs('webhooks').find(from, page)]
      return { ...(await renewAll(docs, batch, doc => renewedWebhook(keyring, doc))), ...ended(batch) }
    }
    const [docs, batch] = [store.docs('otps'), await store.docs('otps').find(from, page)]
    return { ...(await renewAll(docs, batch, doc => renewedOtp(keyring, doc), neighbours)), ...ended(batch) }
  }
}
