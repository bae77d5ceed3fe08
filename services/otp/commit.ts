// load → step → save, the one way a stored verification changes. In: its id and how to make the command from what is stored.
// Out: the verification after, and the reply. The write is conditional on the revision; whoever lost the race loads and steps again.
// A verification saved here a moment ago need not be loaded: it is tried as it was, once, and only for a write that its revision guards.
import type { OtpDoc, Outgoing } from '../../infra/otps/documents.ts'
import { outgoing } from '../../infra/otps/outbox.ts'
import type { Docs, Operators } from '../../infra/store/docs.ts'
import { Unavailable } from '../../infra/unavailable.ts'
import type { Refusal } from '../../machines/calls.ts'
import { type OtpCommand, type Step, step } from '../../machines/otp.step.ts'
import type { Otp, Reply } from '../../machines/otp.ts'
import type { SavedOtp } from '../../machines/otp.versions.ts'
import type { Lately } from './lately.ts'
import { NOTHING, type Reservation } from './reserve.ts'

export interface Intent {
  command(doc: OtpDoc): OtpCommand | Promise<OtpCommand>
  /** What the change needs beyond the document (a counted message, its price), asked for once the machine has agreed. */
  reserve?(next: Step, doc: OtpDoc): Promise<Reservation>
}

export type Committed = { doc: OtpDoc; reply: Reply } | { doc: OtpDoc; refusal: Refusal }

const MOST_TRIES = 5

/** Whose verification it may be: an app in one of its two worlds. */
export type Owner = Pick<OtpDoc, 'app_id' | 'mode'>

/** Null when there is no such verification, or it is not this owner's: nobody can tell which. */
export type Commit = (otp_id: string, owner: Owner | null, intent: Intent) => Promise<Committed | null>

export interface CommitParts {
  otps: Pick<Docs<OtpDoc>, 'get' | 'change'>
  relay(otp_id: string, effects: readonly Outgoing[]): void
  lately: Lately
  /** Told of every change that was saved. */
  changed?(before: OtpDoc, after: OtpDoc): void
}

export const committing =
  ({ otps, relay, lately, changed }: CommitParts): Commit =>
  async (otp_id, owner, intent) => {
    let reservation: Reservation | null = null
    let reservedFor: string | undefined
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const recent = lately.get(otp_id)
      lately.forget(otp_id)
      const doc = recent ?? (await otps.get([otp_id])).get(otp_id)
      if (!doc || (owner && (doc.app_id !== owner.app_id || doc.mode !== owner.mode))) {
        // Erased since it was last seen here.
        await reservation?.undo()
        return null
      }
      const command = await intent.command(doc)
      const next = step(doc, command)
      if (!next.changed) {
        if (recent) continue
        await reservation?.undo()
        return { doc, reply: next.reply }
      }
      const delivery = newDeliveryOf(doc, next)
      // What was paid is paid for one delivery: after a lost race there is another in its place, maybe at another price.
      if (reservation && delivery !== reservedFor) {
        await reservation.undo()
        reservation = null
      }
      reservedFor = delivery
      reservation ??= (await intent.reserve?.(next, doc)) ?? NOTHING
      if (reservation.refusal) {
        if (!recent) return { doc, refusal: reservation.refusal }
        reservation = null
        continue
      }
      const saved = savedDoc(doc, next)
      const effects = outgoing(saved, next.effects, command.at)
      const [answer] = await otps.change([{ _id: otp_id, rev: doc.rev, update: saving(doc, next, effects) }])
      if (answer === 'won') {
        lately.keep(saved)
        changed?.(doc, saved)
        relay(otp_id, effects)
        return { doc: saved, reply: next.reply }
      }
    }
    await reservation?.undo()
    throw new Unavailable('too many changes of one verification at once')
  }

const newDeliveryOf = (doc: OtpDoc, { saved }: Step): string | undefined =>
  saved.context.deliveries.length > doc.context.deliveries.length
    ? saved.context.deliveries.at(-1)?.delivery_id
    : undefined

/** As the store has it after the write, but for the outbox, which others empty meanwhile. */
function savedDoc({ due_at: _, reference: __, ...doc }: OtpDoc, { saved, dueAt }: Step): OtpDoc {
  const reference = saved.context.link?.reference
  return {
    ...doc,
    ...saved,
    ...(dueAt === null ? {} : { due_at: dueAt }),
    ...(reference === undefined ? {} : { reference }),
    rev: doc.rev + 1,
  }
}

/** Only what changed: most of a verification stays as it was begun, and whatever is written is written to the engine's log too. */
function saving(doc: OtpDoc, { saved, dueAt }: Step, effects: readonly Outgoing[]): Operators<OtpDoc> {
  const { value, last_commands } = saved
  const reference = saved.context.link?.reference
  return {
    $set: {
      ...{ value, last_commands, ...changedContext(doc, saved) },
      ...(dueAt === null ? {} : { due_at: dueAt }),
      ...(reference === undefined ? {} : { reference }),
      ...(effects[0] === undefined ? {} : { outbox_at: effects[0].at }),
    },
    $unset: {
      ...(dueAt === null ? { due_at: true } : {}),
      ...(reference === undefined && doc.reference !== undefined ? { reference: true } : {}),
    },
    ...(effects.length === 0 ? {} : { $push: { outbox: { $each: [...effects] } } }),
  }
}

/** A machine keeps the members it does not change, so they are the very same. */
function changedContext(before: SavedOtp, after: SavedOtp): Record<string, unknown> {
  const [old, fresh] = [before.context, after.context]
  const names = Object.keys(fresh) as (keyof Otp)[]
  const sameShape = before.version === after.version && names.length === Object.keys(old).length
  if (!sameShape) return { version: after.version, context: fresh }
  const changed = names.filter(name => fresh[name] !== old[name])
  return Object.fromEntries(changed.map(name => [`context.${name}`, fresh[name]]))
}
