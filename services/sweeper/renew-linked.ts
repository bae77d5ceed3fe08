// Renews the documents that are indexed by a verification's recipient or client address: counters, sandbox messages and decisions of the
// fraud guard. In: verifications about to be renewed, with recipient and address in the clear. Out: those documents under their new
// indexes. They hold indexes only, so they cannot be renewed without the verification.
import type { Clock } from '../../infra/clock.ts'
import type { Keyring } from '../../infra/crypto/keyring.ts'
import { DAY_MS } from '../../infra/time.ts'
import type { CountersignStore } from '../domain/collections.ts'
import {
  addressCounter,
  type CounterName,
  copyFormerCounters,
  RECIPIENT_COUNTS,
  recipientCounter,
} from '../domain/verifications/counter-names.ts'
import type { OtpDoc } from '../domain/verifications/documents.ts'
import { type AppMode, recipientIndexes, sandboxIndex } from '../domain/verifications/lookup-indexes.ts'
import type { Renewal } from './renewal.ts'

export interface DueRenewal<T> {
  doc: T
  renewal: Renewal
}

export interface LinkedRenewalDeps {
  store: CountersignStore
  keyring: Pick<Keyring, 'index' | 'indexes'>
  clock: Pick<Clock, 'now'>
}

/** Twice the longest window a limit can have: no counter counts further back. */
const MAX_COUNTER_AGE_MS = 14 * DAY_MS
const PAGE = 500

export function createRenewLinked({ store, keyring, clock }: LinkedRenewalDeps) {
  function countersOf(doc: OtpDoc, { recipient, address }: Renewal): CounterName[] {
    const indexes = recipient === undefined ? null : recipientIndexes(keyring, doc, recipient)
    return [
      ...(indexes ? RECIPIENT_COUNTS.map(what => recipientCounter(doc, what, indexes)) : []),
      ...(address === undefined ? [] : [addressCounter(keyring, doc, address)]),
    ]
  }

  async function renewMessages(due: readonly DueRenewal<OtpDoc>[]): Promise<void> {
    const messages = store.docs('sandbox_messages')
    const recipients = new Map(
      due.flatMap(({ doc, renewal: { recipient } }) =>
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
  async function renewDecisions({ app_id, mode }: AppMode, newIndexes: ReadonlyMap<string, string>): Promise<void> {
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

  function indexReplacements(
    due: readonly DueRenewal<OtpDoc>[],
  ): { appMode: AppMode; newIndexes: Map<string, string> }[] {
    const byAppMode = new Map<string, { appMode: AppMode; newIndexes: Map<string, string> }>()
    for (const { doc, renewal } of due) {
      if (renewal.recipient === undefined) continue
      const { app_id, mode } = doc
      const [index = '', ...formerIndexes] = recipientIndexes(keyring, doc, renewal.recipient)
      const name = `${app_id}:${mode}`
      const { newIndexes } = byAppMode.get(name) ?? { newIndexes: new Map<string, string>() }
      for (const former of formerIndexes) newIndexes.set(former, index)
      byAppMode.set(name, { appMode: { app_id, mode }, newIndexes })
    }
    return [...byAppMode.values()].filter(({ newIndexes }) => newIndexes.size > 0)
  }

  return async (due: readonly DueRenewal<OtpDoc>[]): Promise<void> => {
    const since = clock.now() - MAX_COUNTER_AGE_MS
    const counters = due.flatMap(({ doc, renewal }) => (doc.created_at < since ? [] : countersOf(doc, renewal)))
    await Promise.all([
      copyFormerCounters(store.docs('counters'), counters),
      renewMessages(due),
      ...indexReplacements(due).map(({ appMode, newIndexes }) => renewDecisions(appMode, newIndexes)),
    ])
  }
}
