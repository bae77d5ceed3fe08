// How a changed verification is saved. In: its document before, the step, and what changes in its outbox. Out: the document after, and the
// update that writes it.
import type { Operators } from '../../../infra/store/docs.ts'
import { withoutMembers } from '../../../infra/without-members.ts'
import { isEnded } from '../../../machines/otp.queries.ts'
import type { Step } from '../../../machines/otp.step.ts'
import type { Otp } from '../../../machines/otp.ts'
import type { SavedOtp } from '../../../machines/otp.versions.ts'
import type { OtpDoc } from '../../domain/verifications/documents.ts'
import { firstLookAt, lookForEventsAt, owesDelivery } from '../../domain/verifications/owed.ts'
import type { OutboxEntry } from '../../domain/verifications/queue-messages.ts'

/** Either adds or removes: MongoDB does not do both in one write. */
export interface OutboxChange {
  added: readonly OutboxEntry[]
  /** Ids of effects. */
  removed: readonly string[]
  /** When it is saved. A report may be much older, and its effects would look as if they had waited in the outbox since. */
  at: number
}

/** Members that a step may change, beside the context and the outbox. */
const CHANGING = ['value', 'last_commands', 'due_at', 'reference', 'owed_at', 'events_at'] as const

/** `after`: the document as the store has it after the write. Its outbox may have fewer effects there, because the relay and the sweeper
 *  remove them, and never more. `update` writes only the members that changed, because everything that is written also goes to the
 *  engine's log. */
export function otpUpdate(
  doc: OtpDoc,
  { saved, dueAt, effects }: Pick<Step, 'saved' | 'dueAt' | 'effects'>,
  { added, removed, at }: OutboxChange,
): { after: OtpDoc; update: Operators<OtpDoc> } {
  const outbox = [...doc.outbox.filter(({ id }) => !removed.includes(id)), ...added]
  const changing: Record<(typeof CHANGING)[number], unknown> = {
    value: saved.value,
    last_commands: saved.last_commands,
    due_at: dueAt ?? undefined,
    reference: saved.context.link?.reference,
    owed_at: owedAtAfter(doc, saved, at),
    events_at: effects.some(({ type }) => type === 'notify') ? lookForEventsAt(at) : doc.events_at,
  }
  const changed: Record<string, unknown> = {}
  const unset: Record<string, true> = {}
  for (const name of CHANGING) {
    if (changing[name] === doc[name]) continue
    if (changing[name] === undefined) unset[name] = true
    else changed[name] = changing[name]
  }
  const { version, context } = saved
  const after: OtpDoc = { ...doc, version, context, outbox, rev: doc.rev + 1, ...changed }
  const set = { ...changedContext(doc, saved), ...changed }
  if (added.length > 0) set.outbox_at = at
  else if (removed.length > 0 && outbox.length === 0) set.outbox_at = null
  const update: Operators<OtpDoc> = { $set: set, $unset: unset }
  if (added.length > 0) update.$push = { outbox: { $each: [...added] } }
  if (removed.length > 0) update.$pull = { outbox: { id: { $in: [...removed] } } }
  return {
    after: Object.keys(unset).length === 0 ? after : withoutMembers(after, name => Object.hasOwn(unset, name)),
    update,
  }
}

/** Published effects, and deliveries that have ended: no repeated message changes those. On the embedded broker a delivery of the sandbox
 *  ends before it counts as published, because its message is held until the last receipt. */
export const finishedEffects = (
  { outbox }: Pick<OtpDoc, 'outbox'>,
  { context }: Pick<SavedOtp, 'context'>,
  published: readonly string[],
): string[] =>
  outbox
    .map(({ id }) => id)
    .filter(id => published.includes(id) || context.deliveries.some(one => one.delivery_id === id && isEnded(one)))

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
