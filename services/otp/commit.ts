// load → step → save, the one way a stored verification changes. In: its id and how to make the command from what is stored.
// Out: the verification after, and the reply. The write is conditional on the revision; whoever lost the race loads and steps again.
// A verification saved here a moment ago need not be loaded: it is tried as it was, once, and only for a write that its revision guards.

import type { Docs } from '../../infra/store/docs.ts'
import { Unavailable } from '../../infra/unavailable.ts'
import type { Refusal } from '../../machines/calls.ts'
import { type OtpCommand, type Step, step } from '../../machines/otp.step.ts'
import type { Reply } from '../../machines/otp.ts'
import type { OtpDoc } from '../domain/verifications/documents.ts'
import type { OutboxEntry } from '../domain/verifications/effect-messages.ts'
import { outboxEntries } from '../domain/verifications/outbox.ts'
import type { BoundedMap } from './bounded-map.ts'
import { otpUpdate, updatedDoc } from './otp-update.ts'
import { NO_RESERVATION, type Reservation } from './reservation.ts'

export interface Intent {
  command(doc: OtpDoc): OtpCommand | Promise<OtpCommand>
  /** What the change needs beyond the document (a counted message, its price), asked for once the machine has agreed. */
  reserve?(next: Step, doc: OtpDoc): Promise<Reservation>
}

export type CommitResult = { doc: OtpDoc; reply: Reply } | { doc: OtpDoc; refusal: Refusal }

const MAX_TRIES_AFTER_LOST_RACE = 5

/** Whose verification it may be: an app in one of its two worlds. */
export type Owner = Pick<OtpDoc, 'app_id' | 'mode'>

/** Null when there is no such verification, or it is not this owner's: nobody can tell which. */
export type Commit = (otp_id: string, owner: Owner | null, intent: Intent) => Promise<CommitResult | null>

export interface CommitDeps {
  otps: Pick<Docs<OtpDoc>, 'get' | 'change'>
  relay(otp_id: string, effects: readonly OutboxEntry[]): void
  /** Verifications as this process saved them last. In their first seconds several things happen to each. */
  recentOtps: BoundedMap<OtpDoc>
  /** Told of every change that was saved. */
  onChange?(before: OtpDoc, after: OtpDoc): void
}

export const createCommit =
  ({ otps, relay, recentOtps, onChange }: CommitDeps): Commit =>
  async (otp_id, owner, intent) => {
    const reserved = createReservationKeeper(intent)
    for (let tries = 0; tries < MAX_TRIES_AFTER_LOST_RACE; tries += 1) {
      const recent = recentOtps.get(otp_id)
      recentOtps.delete(otp_id)
      const doc = recent ?? (await otps.get([otp_id])).get(otp_id)
      if (!doc || !owns(owner, doc)) {
        // Erased since it was last seen here.
        await reserved.undo()
        return null
      }
      const command = await intent.command(doc)
      const next = step(doc, command)
      const refusal = next.changed ? await reserved.ask(next, doc) : undefined
      if (next.changed && !refusal) {
        const saved = updatedDoc(doc, next)
        const effects = outboxEntries(saved, next.effects, command.at)
        const [answer] = await otps.change([{ _id: otp_id, rev: doc.rev, update: otpUpdate(doc, next, effects) }])
        if (answer === 'lost') continue
        recentOtps.set(otp_id, saved)
        onChange?.(doc, saved)
        relay(otp_id, effects)
        return { doc: saved, reply: next.reply }
      }
      // What is told without a write is told on the strength of what the store has.
      if (recent) continue
      await reserved.undo()
      return refusal ? { doc, refusal } : { doc, reply: next.reply }
    }
    await reserved.undo()
    throw new Unavailable('too many changes of one verification at once')
  }

const owns = (owner: Owner | null, { app_id, mode }: OtpDoc): boolean =>
  owner === null || (app_id === owner.app_id && mode === owner.mode)

/** What the change has reserved, kept from one try to the next. */
function createReservationKeeper({ reserve }: Intent): {
  ask(next: Step, doc: OtpDoc): Promise<Refusal | undefined>
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
    async ask(next, doc) {
      const delivery = newDeliveryOf(doc, next)
      // What was paid is paid for one delivery: after a lost race there is another in its place, maybe at another price.
      if (reserved && reserved.delivery !== delivery) await undo()
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
