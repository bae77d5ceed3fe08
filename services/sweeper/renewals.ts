// Renews one batch of a collection with the current data key. In: where to begin. Out: how many were looked at and renewed, and where to
// go on. What goes by a verification's recipient (its counters, its messages in the sandbox) is renewed before the verification is:
// cut off in between, the next one finds it again.
import type { Clock } from '../../infra/clock.ts'
import type { Keyring } from '../../infra/crypto/keyring.ts'
import {
  addressCounter,
  type CounterName,
  carryOver,
  RECIPIENT_COUNTS,
  recipientCounter,
  recipientIndexes,
} from '../../infra/otps/counting.ts'
import type { OtpDoc } from '../../infra/otps/documents.ts'
import { SANDBOX_SCOPE } from '../../infra/otps/sealing.ts'
import type { SealedCollection } from '../../infra/privacy/documents.ts'
import { type Renewal, renewedOtp, renewedProvider, renewedWebhook } from '../../infra/privacy/renewal.ts'
import type { CountersignStore } from '../../infra/store/collections.ts'
import type { Change, Docs, Revised } from '../../infra/store/docs.ts'

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

/** Twice the longest window there can be: no counter reaches back further. */
const COUNTED_MS = 2 * 604_800_000
/** Somebody else's change comes first; then it is looked at again. */
const MOST_TRIES = 5

export function renewals({ store, keyring, clock }: RenewalParts) {
  async function renewAll<T extends Revised>(
    docs: Docs<T>,
    batch: readonly T[],
    renewal: (doc: T) => Renewal,
    first: (found: readonly { doc: T; renewal: Renewal }[]) => Promise<unknown> = async () => {},
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

  async function renewNeighbours(due: readonly { doc: OtpDoc; renewal: Renewal }[]): Promise<void> {
    const since = clock.now() - COUNTED_MS
    const counters = due.flatMap(({ doc, renewal }) => (doc.created_at < since ? [] : countersOf(doc, renewal)))
    await Promise.all([carryOver(store.docs('counters'), counters), renewMessages(due)])
  }

  function countersOf(doc: OtpDoc, { recipient, address }: Renewal): CounterName[] {
    const indexes = recipient === undefined ? null : recipientIndexes(keyring, doc, recipient)
    return [
      ...(indexes ? RECIPIENT_COUNTS.map(what => recipientCounter(doc, what, indexes)) : []),
      ...(address === undefined ? [] : [addressCounter(keyring, doc, address)]),
    ]
  }

  async function renewMessages(due: readonly { doc: OtpDoc; renewal: Renewal }[]): Promise<void> {
    const messages = store.docs('sandbox_messages')
    const recipients = new Map(
      due.flatMap(({ doc, renewal: { recipient } }) =>
        recipient === undefined ? [] : doc.context.deliveries.map(one => [one.delivery_id, recipient] as const),
      ),
    )
    const kept = await messages.get([...recipients.keys()])
    await Promise.all(
      [...kept.values()].map(({ _id, recipient: before }) => {
        const recipient = keyring.index(SANDBOX_SCOPE, recipients.get(_id) ?? '')
        return before === recipient ? null : messages.modify({ _id, recipient: before }, { $set: { recipient } })
      }),
    )
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
    return { ...(await renewAll(docs, batch, doc => renewedOtp(keyring, doc), renewNeighbours)), ...ended(batch) }
  }
}
