// Decides what the write of a change does with effects. In: the document before, the step, and its new effects. Out: which are added to the
// outbox and which are removed from it, and which events the store inserts with the change.
//
// An event is inserted with the change where no other actor has to do anything for it and the store can write both or neither. No crash
// comes between the two then, and nothing has to be removed from the outbox later.
import type { Insertion } from '../../infra/store/docs.ts'
import { isEnded } from '../../machines/otp.queries.ts'
import type { Step } from '../../machines/otp.step.ts'
import type { OtpDoc } from '../domain/verifications/documents.ts'
import type { OutboxEntry } from '../domain/verifications/effect-messages.ts'
import type { UnsentEvent } from './effect-publisher.ts'
import type { OutboxChange } from './otp-update.ts'

export interface NewEffects {
  entries: readonly OutboxEntry[]
  /** Whether the change has events that are remembered with its command. */
  eventsWithCommand: boolean
  /** The ids of effects in the outbox that are published. */
  published: readonly string[]
  /** Given where the store inserts with changes. */
  unsentEvent: UnsentEvent | undefined
  /** The time of the write. */
  at: number
}

export async function effectWrites(
  doc: Pick<OtpDoc, 'outbox'>,
  step: Pick<Step, 'saved'>,
  { entries, eventsWithCommand, published, unsentEvent, at }: NewEffects,
): Promise<{ outbox: OutboxChange; inserts: Insertion[] }> {
  const added: OutboxEntry[] = []
  const inserts: Insertion[] = []
  for (const entry of entries) {
    const event = isEvent(entry) ? await unsentEvent?.(entry) : null
    if (event) inserts.push({ collection: 'events', doc: event })
    else added.push(entry)
  }
  const removed = added.length === 0 ? finishedEffects(doc, step, published) : []
  const notifies = eventsWithCommand || added.some(isEvent)
  return { outbox: { added, removed, at, notifies }, inserts }
}

const isEvent = ({ queue }: OutboxEntry): boolean => queue === 'webhook.deliver'

/** Published effects, and deliveries that have ended: no repeated message changes those. On the embedded broker a delivery of the sandbox
 *  ends before it counts as published, because its message is held until the last receipt. */
const finishedEffects = (
  { outbox }: Pick<OtpDoc, 'outbox'>,
  { saved }: Pick<Step, 'saved'>,
  published: readonly string[],
): string[] =>
  outbox
    .map(({ id }) => id)
    .filter(
      id => published.includes(id) || saved.context.deliveries.some(one => one.delivery_id === id && isEnded(one)),
    )
