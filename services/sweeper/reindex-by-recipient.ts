// Puts the documents that are indexed by a verification's recipient or client address under their new indexes:
// counters, sandbox messages, decisions of the fraud guard and refusals. In: verifications about to be resealed, with
// recipient and address in the clear. Out: those documents under their new indexes, and the codes in sandbox messages
// resealed. They hold indexes only, so they cannot be reindexed without the verification. Refusals that say whom they
// are about can be (reseal-refusals.ts); others are found while the former key is still configured.
import type { Clock } from '../../infra/clock.ts'
import type { Doc, Docs, Filter, Sort, Update } from '../../infra/store/docs.ts'
import { DAY_MS } from '../../infra/time.ts'
import type { CounterName } from '../../machines/quotas.ts'
import type { CountersignStore } from '../domain/collections.ts'
import {
  addressCounters,
  copyFormerCounters,
  RECIPIENT_COUNTS,
  recipientCounter,
} from '../domain/verifications/counter-names.ts'
import type { OtpDoc } from '../domain/verifications/documents.ts'
import { inboxCodeContext } from '../domain/verifications/encryption-context.ts'
import { mailboxIndexes, recipientIndexes, sandboxIndex } from '../domain/verifications/lookup-indexes.ts'
import { createResealText, type ResealedFields, type ResealKeyring } from './resealed-fields.ts'

/** A document that is about to be resealed. */
export interface DueDoc<T> {
  doc: T
  fields: ResealedFields
}

export interface ReindexDeps {
  store: CountersignStore
  keyring: ResealKeyring
  clock: Pick<Clock, 'now'>
}

/** Twice the longest window a limit can have: no counter counts further back. */
const MAX_COUNTER_AGE_MS = 14 * DAY_MS
const PAGE = 500

export function createReindexByRecipient({ store, keyring, clock }: ReindexDeps) {
  function countersOf(doc: OtpDoc, { recipient, address }: ResealedFields): CounterName[] {
    const indexes = recipient === undefined ? null : mailboxIndexes(keyring, doc, recipient)
    return [
      ...(indexes ? RECIPIENT_COUNTS.map(what => recipientCounter(doc, what, indexes)) : []),
      ...(address === undefined ? [] : addressCounters(keyring, doc, address)),
    ]
  }

  async function reindexMessages(due: readonly DueDoc<OtpDoc>[]): Promise<void> {
    const messages = store.docs('sandbox_messages')
    const recipients = new Map(
      due.flatMap(({ doc, fields: { recipient } }) =>
        recipient === undefined ? [] : doc.context.deliveries.map(one => [one.delivery_id, recipient] as const),
      ),
    )
    const storedMessages = await messages.get([...recipients.keys()])
    await Promise.all(
      [...storedMessages.values()].map(({ _id, recipient: before, sealed_code = null }) => {
        const recipient = sandboxIndex(keyring, recipients.get(_id) ?? '')
        const code = createResealText(keyring, { unsealable: false })(sealed_code, inboxCodeContext(_id))
        if (before === recipient && !code) return null
        const $set = { recipient, ...(code ? { sealed_code: code.sealed } : {}) }
        return messages.modify({ _id, recipient: before }, { $set })
      }),
    )
  }

  /** `newIndexes` maps former indexes to new ones. */
  async function replaceIndexes<T extends Doc & { recipient?: string }>(
    docs: Docs<T>,
    newIndexes: ReadonlyMap<string, string>,
  ): Promise<void> {
    if (newIndexes.size === 0) return
    const former = { recipient: { $in: [...newIndexes.keys()] } } as Filter<T>
    for (let found = PAGE; found === PAGE; ) {
      const page = await docs.find(former, { sort: { recipient: 1, _id: -1 } as Sort<T>, limit: PAGE })
      await Promise.all(
        page.map(({ _id, recipient = '' }) =>
          docs.modify({ _id, recipient } as Filter<T>, { $set: { recipient: newIndexes.get(recipient) } } as Update<T>),
        ),
      )
      found = page.length
    }
  }

  const replacedIndexes = (due: readonly DueDoc<OtpDoc>[]): Map<string, string> =>
    new Map(
      due.flatMap(({ doc, fields: { recipient } }) => {
        const [index = '', ...formerIndexes] = recipient === undefined ? [] : recipientIndexes(keyring, doc, recipient)
        return formerIndexes.map(former => [former, index] as const)
      }),
    )

  return async (due: readonly DueDoc<OtpDoc>[]): Promise<void> => {
    const since = clock.now() - MAX_COUNTER_AGE_MS
    const counters = due.flatMap(({ doc, fields }) => (doc.created_at < since ? [] : countersOf(doc, fields)))
    const newIndexes = replacedIndexes(due)
    await Promise.all([
      copyFormerCounters(store.docs('counters'), counters),
      reindexMessages(due),
      replaceIndexes(store.docs('fraud_decisions'), newIndexes),
      replaceIndexes(store.docs('refusals'), newIndexes),
    ])
  }
}
