// What is written of a verification that changed. In: it as it was, and the step. Out: it as it will be, and the update that makes it so.

import type { Operators } from '../../infra/store/docs.ts'
import type { Step } from '../../machines/otp.step.ts'
import type { Otp } from '../../machines/otp.ts'
import type { SavedOtp } from '../../machines/otp.versions.ts'
import type { OtpDoc } from '../domain/verifications/documents.ts'
import type { OutboxEntry } from '../domain/verifications/effect-messages.ts'

/** As the store has it after the write, but for the outbox, which others empty meanwhile. */
export function updatedDoc({ due_at: _, reference: __, ...doc }: OtpDoc, { saved, dueAt }: Step): OtpDoc {
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
export function otpUpdate(doc: OtpDoc, { saved, dueAt }: Step, effects: readonly OutboxEntry[]): Operators<OtpDoc> {
  const { value, last_commands } = saved
  const reference = saved.context.link?.reference
  return {
    $set: {
      value,
      last_commands,
      ...changedContext(doc, saved),
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
