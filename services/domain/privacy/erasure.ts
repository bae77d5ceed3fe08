// Takes verifications that are over out of the store, with all that belongs to them. They go last: whoever is cut off in between finds
// them again.

import type { OtpDoc, VerificationStore } from '../verifications/documents.ts'

export interface ErasedCounts {
  verifications: number
  /** Calls of providers. */
  attempts: number
  /** Of the sandbox. */
  messages: number
  idempotency_keys: number
}

/** Owners whose calls are asked for in one go, and more calls than these have. */
const OWNERS_PER_QUERY = 50
const MAX_ATTEMPTS_PER_QUERY = 100_000

export async function eraseVerifications(store: VerificationStore, ended: readonly OtpDoc[]): Promise<ErasedCounts> {
  const deliveries = ended.flatMap(({ context }) => context.deliveries.map(({ delivery_id }) => delivery_id))
  const ids = ended.map(({ _id }) => _id)
  const claims = ended.flatMap(({ claim }) => claim ?? [])
  const [attempts, messages, idempotency_keys] = await Promise.all([
    // A word of thanks belongs to the verification, not to a delivery of it.
    eraseAttempts(store, [...deliveries, ...ids]),
    deliveries.length === 0
      ? 0
      : store.docs('sandbox_messages').remove({ _id: { $in: deliveries } }, deliveries.length),
    // Not one that leads to another by now.
    claims.length === 0
      ? 0
      : store.docs('claims').remove({ _id: { $in: claims }, otp_id: { $in: ids } }, claims.length),
  ])
  const verifications = ids.length === 0 ? 0 : await store.docs('otps').remove({ _id: { $in: ids } }, ids.length)
  return { verifications, attempts, messages, idempotency_keys }
}

/** Their ids begin with that of what they were for. */
async function eraseAttempts(store: VerificationStore, owners: readonly string[]): Promise<number> {
  let erased = 0
  for (let at = 0; at < owners.length; at += OWNERS_PER_QUERY) {
    const some = owners.slice(at, at + OWNERS_PER_QUERY)
    const $or = some.map(id => ({ _id: { $gte: `${id}:`, $lt: `${id};` } }))
    erased += await store.docs('attempts').remove({ $or }, MAX_ATTEMPTS_PER_QUERY)
  }
  return erased
}

export const sumCounts = <C extends object>(one: C, other: C): C =>
  Object.fromEntries(
    Object.entries(one).map(([name, count]) => [name, Number(count) + Number(other[name as keyof C] ?? 0)]),
  ) as C
