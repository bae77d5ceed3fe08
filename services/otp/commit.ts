// load → step → save: the only way in which calls and reports change a stored verification. In: its id, and how to make the command from
// the document. Out: the verification after, and the reply. Erasure steps and saves by itself (services/dashboard/privacy). The relay, the
// sweeper and key rotation write bookkeeping and resealed texts only, and no new state.
//
// The write is conditional on the revision; after a lost race it loads and steps again.
// A verification that this process saved a moment ago is not loaded the first time: if it is out of date, the conditional write is lost.

import type { BoundedMap } from '../../infra/bounded-map.ts'
import type { Clock } from '../../infra/clock.ts'
import type { Docs } from '../../infra/store/docs.ts'
import type { Trace } from '../../infra/trace.ts'
import { Unavailable } from '../../infra/unavailable.ts'
import type { Refusal } from '../../machines/calls.ts'
import { type OtpCommand, type Step, step } from '../../machines/otp.step.ts'
import type { Effect, Reply } from '../../machines/otp.ts'
import type { OtpDoc } from '../domain/verifications/documents.ts'
import type { OutboxEntry } from '../domain/verifications/effect-messages.ts'
import type { AppMode } from '../domain/verifications/lookup-indexes.ts'
import { outboxEntries, type Relay } from '../domain/verifications/outbox.ts'
import type { UnsentEvent } from './effect-publisher.ts'
import { effectWrites } from './effect-writes.ts'
import { keepEffects } from './kept-effects.ts'
import { otpUpdate, updatedDoc } from './otp-update.ts'
import { NO_RESERVATION, type Reservation } from './reservation.ts'

export interface Intent {
  command(doc: OtpDoc): OtpCommand | Promise<OtpCommand>
  /** Takes what the change needs beyond the document: a place in the limits, the price of a message. Called when the step changes the
   *  verification, before it is saved. */
  reserve?(next: Step, doc: OtpDoc): Promise<Reservation>
  /** Of the call or report that asks for the change. The effects carry it on. */
  trace: Trace | undefined
  /** The command is a message that comes again until it is settled. Its webhook events are then remembered with the command and not put
   *  into the outbox, which saves the write that would remove them there: the caller publishes them before it settles the message. */
  comesAgain?: true
}

/** `unpublished`: events that the caller must publish; none unless the command `comesAgain`. */
export type CommitResult =
  | { doc: OtpDoc; reply: Reply; unpublished: readonly OutboxEntry[] }
  | { doc: OtpDoc; refusal: Refusal }

const MAX_TRIES_AFTER_LOST_RACE = 5

/** `owner`: live and test verifications of an app are kept apart; null for reports, which may change any verification. Answers null when
 *  the verification does not exist or belongs to another owner: a caller must not learn which. */
export type Commit = (otp_id: string, owner: AppMode | null, intent: Intent) => Promise<CommitResult | null>

export interface CommitDeps {
  otps: Pick<Docs<OtpDoc>, 'get' | 'change'>
  relay: Pick<Relay, 'published' | 'removed'> & ((otp_id: string, effects: readonly OutboxEntry[]) => void)
  /** Given where the store can write an event with the change that causes it. */
  unsentEvent?: UnsentEvent | undefined
  /** Verifications as this process last saved them. Most changes of a verification come within its first seconds. */
  recentOtps: BoundedMap<OtpDoc>
  clock: Pick<Clock, 'now'>
  /** Called after every change that was saved. */
  onChange?(before: OtpDoc, after: OtpDoc, trace: Trace | undefined): void
}

export const createCommit =
  ({ otps, relay, unsentEvent, recentOtps, clock, onChange }: CommitDeps): Commit =>
  async (otp_id, owner, intent) => {
    const reserved = createReservationKeeper(intent)
    for (let tries = 0; tries < MAX_TRIES_AFTER_LOST_RACE; tries += 1) {
      const recent = recentOtps.get(otp_id)
      recentOtps.delete(otp_id)
      const doc = recent ?? (await read(otps, otp_id, owner === null))
      if (!doc || !owns(owner, doc)) {
        // An earlier try may have reserved something, and the verification was erased since.
        await reserved.undo()
        return null
      }
      const command = await intent.command(doc)
      const next = step(doc, command)
      const refusal = next.changed && intent.reserve ? await reserved.take(next, doc) : undefined
      const entriesOf = (effects: readonly Effect[]) => outboxEntries(doc, effects, command.at, intent.trace)
      const kept = keepEffects(doc, next, intent.comesAgain ?? false)
      const unpublished = entriesOf(kept.withCommand)
      if (next.changed && !refusal) {
        const entries = entriesOf(kept.inOutbox)
        const published = relay.published(otp_id)
        const { outbox, inserts } = await effectWrites(doc, next, {
          entries,
          eventsWithCommand: kept.withCommand.length > 0,
          published,
          unsentEvent,
          at: clock.now(),
        })
        const saved = updatedDoc(doc, kept.step, outbox)
        const update = otpUpdate(doc, kept.step, outbox)
        const [answer] = await otps.change([{ _id: otp_id, rev: doc.rev, update, inserts }])
        if (answer === 'lost') continue
        recentOtps.set(otp_id, saved)
        onChange?.(doc, saved, intent.trace)
        if (outbox.removed.length > 0) relay.removed(otp_id, outbox.removed)
        relay(otp_id, outbox.added)
        return { doc: saved, reply: next.reply, unpublished }
      }
      // Without a write the revision is not checked, so the answer must not rely on a document that may be out of date.
      if (recent) continue
      await reserved.undo()
      return refusal ? { doc, refusal } : { doc, reply: next.reply, unpublished }
    }
    await reserved.undo()
    throw new Unavailable('too many changes of one verification at once')
  }

/** A report of a missing verification is dropped, so "missing" must be certain: a primary of the store that was cut off may answer from
 *  before the verification was saved. A caller who is told that there is none can ask again. */
async function read(otps: Pick<Docs<OtpDoc>, 'get'>, otp_id: string, isReport: boolean): Promise<OtpDoc | undefined> {
  const found = (await otps.get([otp_id])).get(otp_id)
  return found ?? (isReport ? (await otps.get([otp_id], { certain: true })).get(otp_id) : undefined)
}

const owns = (owner: AppMode | null, { app_id, mode }: OtpDoc): boolean =>
  owner === null || (app_id === owner.app_id && mode === owner.mode)

/** Keeps the reservation of a change from one try to the next, so that a lost race does not count or pay twice. */
function createReservationKeeper({ reserve }: Pick<Intent, 'reserve'>): {
  take(next: Step, doc: OtpDoc): Promise<Refusal | undefined>
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
      if (reserved) return undefined
      const reservation = (await reserve?.(next, doc)) ?? NO_RESERVATION
      if (!reservation.refusal) reserved = { reservation, delivery }
      return reservation.refusal
    },
  }
}

const newDeliveryOf = (doc: OtpDoc, { saved }: Step): string | undefined =>
  saved.context.deliveries.length > doc.context.deliveries.length
    ? saved.context.deliveries.at(-1)?.delivery_id
    : undefined
