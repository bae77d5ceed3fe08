// load → step → save: the only way in which calls and reports change a stored verification. In: its id, and how to make the command from
// the document. Out: the verification after, and the reply. Erasure steps and saves by itself (services/dashboard/privacy). The relay, the
// sweeper and key rotation write bookkeeping and resealed texts only, and no new state.
//
// The write is conditional on the revision; after a lost race it loads and steps again.
// A verification that this process saved a moment ago is not loaded the first time: if it is out of date, the conditional write is lost.

import type { BoundedMap } from '../../infra/bounded-map.ts'
import type { Clock } from '../../infra/clock.ts'
import { createSerialRunner } from '../../infra/serial-runner.ts'
import type { Docs, Operators } from '../../infra/store/docs.ts'
import { LOST, retryAfterLostRace, TooManyRaces } from '../../infra/store/lost-race.ts'
import { changeOne, getOne } from '../../infra/store/one-doc.ts'
import type { Trace } from '../../infra/trace.ts'
import { withoutMembers } from '../../infra/without-members.ts'
import type { Refusal } from '../../machines/calls.ts'
import { leaveUnlearned, markHardestChallenge } from '../../machines/otp.changes.ts'
import { idsOf } from '../../machines/otp.ids.ts'
import { isEnded, isMessage } from '../../machines/otp.queries.ts'
import { type OtpCommand, type Step, step } from '../../machines/otp.step.ts'
import type { Otp, Reply } from '../../machines/otp.ts'
import type { SavedOtp } from '../../machines/otp.versions.ts'
import type { JoinedIdDoc, OtpDoc } from '../domain/verifications/documents.ts'
import { firstIdOf } from '../domain/verifications/joined-ids.ts'
import type { AppMode } from '../domain/verifications/lookup-indexes.ts'
import { effectMessages, isInOutbox, type Relay } from '../domain/verifications/outbox.ts'
import { eventsOf, lookForEventsAt, owedDelivery } from '../domain/verifications/owed.ts'
import type { OutboxEntry } from '../domain/verifications/queue-messages.ts'
import { NO_RESERVATION, type Reservation } from './reservation.ts'

export interface Intent {
  command(doc: OtpDoc): OtpCommand | Promise<OtpCommand>
  /** Takes what the change needs beyond the document: a place in the limits, the price of a message. Called when the step changes the
   *  verification, before it is saved. */
  reserve?(next: Step, doc: OtpDoc): Promise<Reservation>
  /** The trace of the call or report that asks for the change. The effects carry it on. */
  trace: Trace | undefined
}

export type CommitResult = { doc: OtpDoc; reply: Reply } | { doc: OtpDoc; refusal: Refusal }

/** The first one included. Few, because a caller waits, and changes of one verification in this process do not race. */
const MAX_TRIES = 5

/** `owner`: live and test verifications of an app are kept apart; null for reports, which may change any verification. Answers null when
 *  the verification does not exist or belongs to another owner: a caller must not learn which. */
export type Commit = (otp_id: string, owner: AppMode | null, intent: Intent) => Promise<CommitResult | null>

export interface CommitDeps {
  otps: Pick<Docs<OtpDoc>, 'get' | 'change'>
  joinedIds: Pick<Docs<JoinedIdDoc>, 'get'>
  relay: Pick<Relay, 'publish' | 'published' | 'removed'>
  /** Verifications as this process last saved them. Most changes of a verification come within its first seconds. */
  recentOtps: BoundedMap<OtpDoc>
  clock: Pick<Clock, 'now'>
  /** Called after every change that was saved. */
  onChange?(before: OtpDoc, after: OtpDoc, trace: Trace | undefined): void
}

export function createCommit({ otps, joinedIds, relay, recentOtps, clock, onChange }: CommitDeps): Commit {
  const runPerOtp = createSerialRunner()

  /** `named`: the id by which the caller names the verification. */
  async function commit(
    otp_id: string,
    named: string,
    owner: AppMode | null,
    intent: Intent,
  ): Promise<CommitResult | null> {
    const reserved = createReservationKeeper(intent)
    let mustBeCertain = false
    const commitOnce = async (): Promise<CommitResult | null | typeof LOST> => {
      const recent = recentOtps.get(otp_id)
      recentOtps.delete(otp_id)
      const doc = recent ?? (await read(otps, otp_id, owner === null, mustBeCertain))
      // Another process may have let a send join since.
      if (recent && !hasId(recent, named)) return LOST
      if (!doc || !owns(owner, doc) || !hasId(doc, named)) {
        // An earlier try may have reserved something, and the verification was erased since.
        await reserved.undo()
        return null
      }
      const command = await intent.command(doc)
      const stepped = step(doc, command)
      const reservation = stepped.changed ? await reserved.take(stepped, doc) : NO_RESERVATION
      const { refusal } = reservation
      const next = withReserved(stepped, doc, reservation)
      if (next.changed && !refusal) {
        const effects = effectMessages(doc, next.effects, command.at, intent.trace)
        const added = effects.filter(isInOutbox)
        const removed = added.length === 0 ? finishedEffects(doc, next.saved, relay.published(otp_id)) : []
        const { after, update } = otpUpdate(doc, next, { added, removed, at: clock.now() })
        if (!(await changeOne(otps, { _id: otp_id, rev: doc.rev, update }))) return LOST
        recentOtps.set(otp_id, after)
        onChange?.(doc, after, intent.trace)
        relay.removed(otp_id, removed)
        relay.publish(otp_id, effects)
        return { doc: after, reply: next.reply }
      }
      // Without a write the revision is not checked, so the answer must not rely on a document that may be out of date.
      if (recent) return LOST
      if (!mustBeCertain && lacksSubject(next.saved, command)) {
        mustBeCertain = true
        return LOST
      }
      await reserved.undo()
      if (refusal) return { doc, refusal }
      // A command that comes again: the process that saved its change may have died before it published the events.
      if (doc.last_commands.some(({ id }) => id === command.id))
        for (const { effect, at } of eventsOf(next.saved))
          relay.publish(otp_id, effectMessages(doc, [effect], at, intent.trace))
      return { doc, reply: next.reply }
    }
    return retryAfterLostRace('a verification', commitOnce, MAX_TRIES).catch(async error => {
      if (error instanceof TooManyRaces) await reserved.undo()
      throw error
    })
  }

  /** Changes of one verification run one after the other in this process, so that they do not lose races against each other. */
  const commitTo = (otp_id: string, named: string, owner: AppMode | null, intent: Intent) =>
    runPerOtp(otp_id, () => commit(otp_id, named, owner, intent))

  return async (otp_id, owner, intent) => {
    const committed = await commitTo(otp_id, otp_id, owner, intent)
    // Reports name a verification by its first id.
    if (committed !== null || owner === null) return committed
    const first = await firstIdOf(joinedIds, otp_id)
    return first === null ? null : commitTo(first, otp_id, owner, intent)
  }
}

/** A report of a missing verification is dropped, so "missing" must be certain: a primary of the store that was cut off may answer from
 *  before the verification was saved. A caller who is told that there is none can ask again. */
async function read(
  otps: Pick<Docs<OtpDoc>, 'get'>,
  otp_id: string,
  isReport: boolean,
  mustBeCertain: boolean,
): Promise<OtpDoc | undefined> {
  const found = mustBeCertain ? undefined : await getOne(otps, otp_id)
  return found ?? (isReport ? await getOne(otps, otp_id, { certain: true }) : undefined)
}

/** Whether the verification does not have the delivery or the link that a report is about. The report would be dropped,
 *  but such a primary may also have answered from before a resend. */
const lacksSubject = ({ context }: SavedOtp, command: OtpCommand): boolean =>
  command.type === 'delivery.reported'
    ? !context.deliveries.some(({ delivery_id }) => delivery_id === command.delivery_id)
    : command.type === 'message.received' && command.reference === ''

const hasId = ({ context }: OtpDoc, otp_id: string): boolean => idsOf(context).includes(otp_id)

/** No call changes a message. */
const owns = (owner: AppMode | null, { app_id, mode, context }: OtpDoc): boolean =>
  owner === null || (app_id === owner.app_id && mode === owner.mode && !isMessage(context))

/** Keeps the reservation of a change from one try to the next, so that a lost race does not count or pay twice. */
function createReservationKeeper({ reserve }: Pick<Intent, 'reserve'>): {
  take(next: Step, doc: OtpDoc): Promise<Reservation>
  undo(): Promise<void>
} {
  let reserved: { reservation: Reservation; delivery: string | undefined } | null = null
  const undo = async (): Promise<void> => {
    const before = reserved
    reserved = null
    await before?.reservation.undo()
  }
  return {
    undo,
    async take(next, doc) {
      const delivery = newDeliveryOf(doc, next)
      // A payment belongs to one delivery. After a lost race the step may make another one, perhaps at another price.
      if (reserved && (reserved.delivery !== delivery || reserved.reservation.forOneTry)) await undo()
      if (reserved) return reserved.reservation
      const reservation = (await reserve?.(next, doc)) ?? NO_RESERVATION
      if (!reservation.refusal) reserved = { reservation, delivery }
      return reservation
    },
  }
}

/** What is known once the message is reserved, and is no step of the machine. Nothing is learned from a verification with a message that
 *  the guard suspects. */
function withReserved(next: Step, doc: OtpDoc, { suspected, solvedHardest }: Reservation): Step {
  const marksMessage = solvedHardest === true && newDeliveryOf(doc, next) !== undefined
  if (!suspected && !marksMessage) return next
  const learned = suspected ? leaveUnlearned(next.saved.context) : next.saved.context
  return { ...next, saved: { ...next.saved, context: marksMessage ? markHardestChallenge(learned) : learned } }
}

const newDeliveryOf = (doc: OtpDoc, { saved }: Step): string | undefined =>
  saved.context.deliveries.length > doc.context.deliveries.length
    ? saved.context.deliveries.at(-1)?.delivery_id
    : undefined

/** Either adds or removes: MongoDB does not do both in one write. */
interface OutboxChange {
  added: readonly OutboxEntry[]
  /** Ids of effects. */
  removed: readonly string[]
  /** When it is saved. A report may be much older, and its effects would look as if they had waited in the outbox since. */
  at: number
}

/** Members that a step may change, beside the context and the outbox. */
const CHANGING = ['value', 'last_commands', 'due_at', 'reference', 'owed_at', 'owed_channel', 'events_at'] as const

/** How a changed verification is saved. `after`: the document as the store has it after the write. Its outbox may have
 *  fewer effects there, because the relay and the sweeper remove them, and never more. `update` writes only the members
 *  that changed, because everything that is written also goes to the engine's log. */
function otpUpdate(
  doc: OtpDoc,
  { saved, dueAt, effects }: Pick<Step, 'saved' | 'dueAt' | 'effects'>,
  { added, removed, at }: OutboxChange,
): { after: OtpDoc; update: Operators<OtpDoc> } {
  const owed = owedDelivery(saved.context)
  const hasNewDelivery = saved.context.deliveries.length > doc.context.deliveries.length
  const outbox = [...doc.outbox.filter(({ id }) => !removed.includes(id)), ...added]
  const changing: Record<(typeof CHANGING)[number], unknown> = {
    value: saved.value,
    last_commands: saved.last_commands,
    due_at: dueAt ?? undefined,
    reference: saved.context.link?.reference,
    owed_at: owed && (hasNewDelivery ? at : doc.owed_at),
    owed_channel: owed?.channel,
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
const finishedEffects = (
  { outbox }: Pick<OtpDoc, 'outbox'>,
  { context }: Pick<SavedOtp, 'context'>,
  published: readonly string[],
): string[] =>
  outbox
    .map(({ id }) => id)
    .filter(id => published.includes(id) || context.deliveries.some(one => one.delivery_id === id && isEnded(one)))

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
