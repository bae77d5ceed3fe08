// Erases verifications that have ended, with all that belongs to them. In: verifications. Out: how many documents were erased. The
// verifications themselves go last, so that an erasure that was cut off finds them again.
import { idsUnder } from '../../../infra/store/store.ts'
import type { OtpDoc, VerificationStore } from '../verifications/documents.ts'

export interface ErasedCounts {
  verifications: number
  /** Provider calls. */
  attempts: number
  /** Messages of the sandbox. */
  messages: number
  idempotency_keys: number
}

/** Deliveries and verifications whose documents are removed in one query, and more documents than they can have. */
const OWNERS_PER_QUERY = 50
const MAX_DOCS_PER_QUERY = 100_000

export async function eraseVerifications(store: VerificationStore, ended: readonly OtpDoc[]): Promise<ErasedCounts> {
  const deliveries = ended.flatMap(({ context }) => context.deliveries.map(({ delivery_id }) => delivery_id))
  const ids = ended.map(({ _id }) => _id)
  const [attempts, messages, idempotency_keys] = await Promise.all([
    // An approval reply belongs to the verification itself, not to one of its deliveries.
    eraseOwned(store, 'attempts', [...deliveries, ...ids]),
    deliveries.length === 0
      ? 0
      : store.docs('sandbox_messages').remove({ _id: { $in: deliveries } }, deliveries.length),
    eraseClaims(store, ended),
    eraseMetadataIndexes(store, ended),
    eraseJoinedIds(store, ended),
  ])
  const verifications = ids.length === 0 ? 0 : await store.docs('otps').remove({ _id: { $in: ids } }, ids.length)
  return { verifications, attempts, messages, idempotency_keys }
}

/** A rotation of data keys may be copying a claim meanwhile. It first names the copy in the verification, and after the copy is stored it
 *  looks whether the claim that it copied is still there. If so, its copy is found here the second time, and if not, it removes the copy
 *  itself (services/sweeper/reindex-claims.ts). */
async function eraseClaims(store: VerificationStore, ended: readonly OtpDoc[]): Promise<number> {
  const withClaims = ended.filter(({ claims = [] }) => claims.length > 0)
  if (withClaims.length === 0) return 0
  const erased = await removeClaimsOf(store, withClaims)
  const readAgain = await store.docs('otps').get(withClaims.map(({ _id }) => _id))
  return erased + (await removeClaimsOf(store, [...readAgain.values()]))
}

async function removeClaimsOf(store: VerificationStore, otps: readonly OtpDoc[]): Promise<number> {
  const claimIds = otps.flatMap(({ claims }) => claims ?? [])
  if (claimIds.length === 0) return 0
  // An idempotency key may lead to a newer verification by now, which keeps it.
  const otp_id = { $in: otps.map(({ _id }) => _id) }
  return store.docs('claims').remove({ _id: { $in: claimIds }, otp_id }, claimIds.length)
}

async function eraseMetadataIndexes(store: VerificationStore, ended: readonly OtpDoc[]): Promise<void> {
  const owners = ended.filter(({ metadata }) => metadata !== undefined).map(({ _id }) => _id)
  await eraseOwned(store, 'metadata_indexes', owners)
}

async function eraseJoinedIds(store: VerificationStore, ended: readonly OtpDoc[]): Promise<void> {
  const ids = ended.flatMap(({ context }) => (context.joined ?? []).map(({ otp_id }) => otp_id))
  if (ids.length > 0) await store.docs('joined_ids').remove({ _id: { $in: ids } }, ids.length)
}

async function eraseOwned(
  store: VerificationStore,
  collection: 'attempts' | 'metadata_indexes',
  owners: readonly string[],
): Promise<number> {
  let erased = 0
  for (let at = 0; at < owners.length; at += OWNERS_PER_QUERY) {
    const some = owners.slice(at, at + OWNERS_PER_QUERY)
    const $or = some.map(idsUnder)
    erased += await store.docs(collection).remove({ $or }, MAX_DOCS_PER_QUERY)
  }
  return erased
}

export const sumCounts = <C extends object>(one: C, other: C): C =>
  Object.fromEntries(
    Object.entries(one).map(([name, count]) => [name, Number(count) + Number(other[name as keyof C] ?? 0)]),
  ) as C
