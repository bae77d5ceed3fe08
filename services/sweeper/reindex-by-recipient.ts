// Puts the documents that are indexed by a verification's recipient or client address under their new indexes: counters, sandbox messages
// and decisions of the fraud guard. In: verifications about to be resealed, with recipient and address in the clear. Out: those documents
// under their new indexes. They hold indexes only, so they cannot be reindexed without the verification.
import type { Clock } from '../../infra/clock.ts'
import type { Keyring } from '../../infra/crypto/keyring.ts'
import { DAY_MS } from '../../infra/time.ts'
import type { CountersignStore } from '../domain/collections.ts'
import {
  addressCounters,
  type CounterName,
  copyFormerCounters,
  RECIPIENT_COUNTS,
  recipientCounter,
} from '../domain/verifications/counter-names.ts'
import type { OtpDoc } from '../domain/verifications/documents.ts'
import { type AppMode, recipientIndexes, sandboxIndex } from '../domain/verifications/lookup-indexes.ts'
import type { ResealedFields } from './resealed-fields.ts'

/** A document that is about to be resealed. */
export interface DueDoc<T> {
  doc: T
  fields: ResealedFields
}

export interface ReindexDeps {
  store: CountersignStore
  keyring: Pick<Keyring, 'index' | 'indexes'>
  clock: Pick<Clock, 'now'>
}

/** Twice the longest window a limit can have: no counter counts further back. */
const MAX_COUNTER_AGE_MS = 14 * DAY_MS
const PAGE = 500

export function createReindexByRecipient({ store, keyring, clock }: ReindexDeps) {
  function countersOf(doc: OtpDoc, { recipient, address }: ResealedFields): CounterName[] {
    const indexes = recipient === undefined ? null : recipientIndexes(keyring, doc, recipient)
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
      [...storedMessages.values()].map(({ _id, recipient: before }) => {
        const recipient = sandboxIndex(keyring, recipients.get(_id) ?? '')
        return before === recipient ? null : messages.modify({ _id, recipient: before }, { $set: { recipient } })
      }),
    )
  }

  /** For one app and mode, because an index belongs to both. `newIndexes` maps former indexes to new ones. */
  async function reindexDecisions({ app_id, mode }: AppMode, newIndexes: ReadonlyMap<string, string>): Promise<void> {
    const decisions = store.docs('fraud_decisions')
    const former = { app_id, mode, recipient: { $in: [...newIndexes.keys()] } }
    for (let found = PAGE; found === PAGE; ) {
      const page = await decisions.find(former, { sort: { recipient: 1, _id: -1 }, limit: PAGE })
      await Promise.all(
        page.map(({ _id, recipient }) =>
          decisions.modify({ _id, recipient }, { $set: { recipient: newIndexes.get(recipient) } }),
        ),
      )
      found = page.length
    }
  }

  function indexReplacements(due: readonly DueDoc<OtpDoc>[]): { appMode: AppMode; newIndexes: Map<string, string> }[] {
    const byAppMode = new Map<string, { appMode: AppMode; newIndexes: Map<string, string> }>()
    for (const { doc, fields } of due) {
      if (fields.recipient === undefined) continue
      const { app_id, mode } = doc
      const [index = '', ...formerIndexes] = recipientIndexes(keyring, doc, fields.recipient)
      const name = `${app_id}:${mode}`
      const { newIndexes } = byAppMode.get(name) ?? { newIndexes: new Map<string, string>() }
      for (const former of formerIndexes) newIndexes.set(former, index)
      byAppMode.set(name, { appMode: { app_id, mode }, newIndexes })
    }
    return [...byAppMode.values()].filter(({ newIndexes }) => newIndexes.size > 0)
  }

  return async (due: readonly DueDoc<OtpDoc>[]): Promise<void> => {
    const since = clock.now() - MAX_COUNTER_AGE_MS
    const counters = due.flatMap(({ doc, fields }) => (doc.created_at < since ? [] : countersOf(doc, fields)))
    await Promise.all([
      copyFormerCounters(store.docs('counters'), counters),
      reindexMessages(due),
      ...indexReplacements(due).map(({ appMode, newIndexes }) => reindexDecisions(appMode, newIndexes)),
    ])
  }
}
