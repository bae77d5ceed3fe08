// Erases verifications that have ended, with all that belongs to them. In: verifications. Out: how many documents were erased. The
// verifications themselves go last, so that an erasure that was cut off finds them again.
import type { OtpDoc, VerificationStore } from '../verifications/documents.ts'

export interface ErasedCounts {
  verifications: number
  /** Provider calls. */
  attempts: number
  /** Messages of the sandbox. */
  messages: number
  idempotency_keys: number
}

/** Deliveries and verifications whose attempts are removed in one query, and more attempts than they can have. */
const OWNERS_PER_QUERY = 50
const MAX_ATTEMPTS_PER_QUERY = 100_000

export async function eraseVerifications(store: VerificationStore, ended: readonly OtpDoc[]): Promise<ErasedCounts> {
  const deliveries = ended.flatMap(({ context }) => context.deliveries.map(({ delivery_id }) => delivery_id))
  const ids = ended.map(({ _id }) => _id)
  const claimIds = ended.flatMap(({ claims }) => claims ?? [])
  const [attempts, messages, idempotency_keys] = await Promise.all([
    // An approval reply belongs to the verification itself, not to one of its deliveries.
    eraseAttempts(store, [...deliveries, ...ids]),
    deliveries.length === 0
      ? 0
      : store.docs('sandbox_messages').remove({ _id: { $in: deliveries } }, deliveries.length),
    // An idempotency key may lead to a newer verification by now, which keeps it.
    claimIds.length === 0
      ? 0
      : store.docs('claims').remove({ _id: { $in: claimIds }, otp_id: { $in: ids } }, claimIds.length),
  ])
  const verifications = ids.length === 0 ? 0 : await store.docs('otps').remove({ _id: { $in: ids } }, ids.length)
  return { verifications, attempts, messages, idempotency_keys }
}

/** The id of an attempt begins with the id of its owner: a delivery or a verification. */
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
