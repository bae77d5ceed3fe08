// What goes by a verification's recipient or address, renewed along with it: counters, messages of the sandbox, decisions of the fraud
// guard. None of them can be read, so they are found by what the verification says in the clear.
import type { Clock } from '../../infra/clock.ts'
import type { Keyring } from '../../infra/crypto/keyring.ts'
import type { CountersignStore } from '../domain/collections.ts'
import {
  addressCounter,
  type CounterName,
  carryOver,
  RECIPIENT_COUNTS,
  recipientCounter,
  recipientIndexes,
  type World,
} from '../domain/verifications/counting.ts'
import type { OtpDoc } from '../domain/verifications/documents.ts'
import { sandboxIndex } from '../domain/verifications/sealing.ts'
import type { Renewal } from './renewal.ts'

/** A document, and what it must change. */
export interface Due<T> {
  doc: T
  renewal: Renewal
}

export interface NeighbourParts {
  store: CountersignStore
  keyring: Pick<Keyring, 'index' | 'indexes'>
  clock: Pick<Clock, 'now'>
}

/** Twice the longest window there can be: no counter reaches back further. */
const COUNTED_MS = 2 * 604_800_000
const PAGE = 500

export function renewingNeighbours({ store, keyring, clock }: NeighbourParts) {
  function countersOf(doc: OtpDoc, { recipient, address }: Renewal): CounterName[] {
    const indexes = recipient === undefined ? null : recipientIndexes(keyring, doc, recipient)
    return [
      ...(indexes ? RECIPIENT_COUNTS.map(what => recipientCounter(doc, what, indexes)) : []),
      ...(address === undefined ? [] : [addressCounter(keyring, doc, address)]),
    ]
  }

  async function renewMessages(due: readonly Due<OtpDoc>[]): Promise<void> {
    const messages = store.docs('sandbox_messages')
    const recipients = new Map(
      due.flatMap(({ doc, renewal: { recipient } }) =>
        recipient === undefined ? [] : doc.context.deliveries.map(one => [one.delivery_id, recipient] as const),
      ),
    )
    const kept = await messages.get([...recipients.keys()])
    await Promise.all(
      [...kept.values()].map(({ _id, recipient: before }) => {
        const recipient = sandboxIndex(keyring, recipients.get(_id) ?? '')
        return before === recipient ? null : messages.modify({ _id, recipient: before }, { $set: { recipient } })
      }),
    )
  }

  /** By app and mode, since indexes are. `fresh` tells the new index of each former one. */
  async function renewDecisions({ app_id, mode }: World, fresh: ReadonlyMap<string, string>): Promise<void> {
    const decisions = store.docs('fraud_decisions')
    const former = { app_id, mode, recipient: { $in: [...fresh.keys()] } }
    for (let found = PAGE; found === PAGE; ) {
      const page = await decisions.find(former, { sort: { recipient: 1, _id: -1 }, limit: PAGE })
      await Promise.all(
        page.map(({ _id, recipient }) =>
          decisions.modify({ _id, recipient }, { $set: { recipient: fresh.get(recipient) } }),
        ),
      )
      found = page.length
    }
  }

  function formerIndexes(due: readonly Due<OtpDoc>[]): { world: World; fresh: Map<string, string> }[] {
    const worlds = new Map<string, { world: World; fresh: Map<string, string> }>()
    for (const { doc, renewal } of due) {
      if (renewal.recipient === undefined) continue
      const { app_id, mode } = doc
      const [index = '', ...formerly] = recipientIndexes(keyring, doc, renewal.recipient)
      const name = `${app_id}:${mode}`
      const { fresh } = worlds.get(name) ?? { fresh: new Map<string, string>() }
      for (const former of formerly) fresh.set(former, index)
      worlds.set(name, { world: { app_id, mode }, fresh })
    }
    return [...worlds.values()].filter(({ fresh }) => fresh.size > 0)
  }

  return async (due: readonly Due<OtpDoc>[]): Promise<void> => {
    const since = clock.now() - COUNTED_MS
    const counters = due.flatMap(({ doc, renewal }) => (doc.created_at < since ? [] : countersOf(doc, renewal)))
    await Promise.all([
      carryOver(store.docs('counters'), counters),
      renewMessages(due),
      ...formerIndexes(due).map(({ world, fresh }) => renewDecisions(world, fresh)),
    ])
  }
}
