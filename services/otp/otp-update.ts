// How a changed verification is saved. In: its document before, the step, and what changes in its outbox. Out: the document after, and the
// update that writes it.
import type { Operators } from '../../infra/store/docs.ts'
import type { Step } from '../../machines/otp.step.ts'
import type { Otp } from '../../machines/otp.ts'
import type { SavedOtp } from '../../machines/otp.versions.ts'
import type { OtpDoc } from '../domain/verifications/documents.ts'
import type { OutboxEntry } from '../domain/verifications/effect-messages.ts'
import { firstLookAt, owesDelivery } from '../domain/verifications/owed-deliveries.ts'
import { lookForEventsAt } from '../domain/verifications/owed-events.ts'

/** Either adds or removes: MongoDB does not do both in one write. */
export interface OutboxChange {
  added: readonly OutboxEntry[]
  /** Ids of effects. */
  removed: readonly string[]
  /** When it is saved. A report may be much older, and its effects would look as if they had waited in the outbox since. */
  at: number
  /** Whether the webhook actor is told of an event. */
  notifies: boolean
}

/** The document as the store has it after the write. Its outbox may have fewer effects there, because the relay and the sweeper remove
 *  them, and never more. */
export function updatedDoc(doc: OtpDoc, { saved, dueAt }: Step, outbox: OutboxChange): OtpDoc {
  const after: OtpDoc = {
    ...doc,
    machine: saved.machine,
    version: saved.version,
    value: saved.value,
    context: saved.context,
    last_commands: saved.last_commands,
    outbox: outboxAfter(doc, outbox),
    rev: doc.rev + 1,
  }
  if (dueAt !== null) after.due_at = dueAt
  else delete after.due_at
  const reference = saved.context.link?.reference
  if (reference !== undefined) after.reference = reference
  else delete after.reference
  const owedAt = owedAtAfter(doc, saved, outbox.at)
  if (owedAt !== undefined) after.owed_at = owedAt
  else delete after.owed_at
  if (outbox.notifies) after.events_at = lookForEventsAt(outbox.at)
  return after
}

/** Writes only the members that changed, because everything that is written also goes to the engine's log. */
export function otpUpdate(doc: OtpDoc, { saved, dueAt }: Step, outbox: OutboxChange): Operators<OtpDoc> {
  const { value, last_commands } = saved
  const { added, removed, at, notifies } = outbox
  const reference = saved.context.link?.reference
  const owedAt = owedAtAfter(doc, saved, at)
  return {
    $set: {
      value,
      last_commands,
      ...changedContext(doc, saved),
      ...(dueAt === null ? {} : { due_at: dueAt }),
      ...(reference === undefined ? {} : { reference }),
      ...(owedAt === undefined || owedAt === doc.owed_at ? {} : { owed_at: owedAt }),
      ...(notifies ? { events_at: lookForEventsAt(at) } : {}),
      ...(added.length === 0 ? {} : { outbox_at: at }),
      ...(removed.length > 0 && outboxAfter(doc, outbox).length === 0 ? { outbox_at: null } : {}),
    },
    $unset: {
      ...(dueAt === null ? { due_at: true } : {}),
      ...(reference === undefined && doc.reference !== undefined ? { reference: true } : {}),
      ...(owedAt === undefined && doc.owed_at !== undefined ? { owed_at: true } : {}),
    },
    ...(added.length === 0 ? {} : { $push: { outbox: { $each: [...added] } } }),
    ...(removed.length === 0 ? {} : { $pull: { outbox: { id: { $in: [...removed] } } } }),
  }
}

const outboxAfter = ({ outbox }: Pick<OtpDoc, 'outbox'>, { added, removed }: OutboxChange): OutboxEntry[] => [
  ...outbox.filter(({ id }) => !removed.includes(id)),
  ...added,
]

/** A new delivery is looked at first some time after it was queued, also where an older one still is. */
function owedAtAfter(doc: OtpDoc, { context }: SavedOtp, at: number): number | undefined {
  if (!owesDelivery(context)) return undefined
  return context.deliveries.length > doc.context.deliveries.length ? firstLookAt(at) : doc.owed_at
}

/** The machine keeps the objects of the members that it does not change, so comparing by identity finds the changed members. */
function changedContext({ version, context: old }: SavedOtp, after: SavedOtp): Record<string, unknown> {
  const { context } = after
  const names = Object.keys(context) as (keyof Otp)[]
  const sameShape = version === after.version && names.length === Object.keys(old).length
  if (!sameShape) return { version: after.version, context }
  const changed: Record<string, unknown> = {}
  for (const name of names) if (context[name] !== old[name]) changed[`context.${name}`] = context[name]
  return changed
}
