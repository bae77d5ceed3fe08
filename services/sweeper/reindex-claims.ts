// Puts idempotency keys under the index of the current data key. In: a batch of claims. Out: how many were renewed, and
// how many do not open. A claim holds its key sealed, so it can be indexed again; one on what a message says has none,
// and is over in minutes. The claim under the former index stays until it expires: processes that were not restarted
// yet may look for it there. A claim whose send was cut off is removed: whose key it is, only a verification could say.
import type { Clock } from '../../infra/clock.ts'
import type { Keyring } from '../../infra/crypto/keyring.ts'
import { unsealOrNull } from '../../infra/crypto/unseal-or-null.ts'
import { getOne } from '../../infra/store/one-doc.ts'
import { isMessage } from '../../machines/otp.queries.ts'
import type { CountersignStore } from '../domain/collections.ts'
import { isAbandoned } from '../domain/verifications/claim-holds.ts'
import type { ClaimDoc, OtpDoc } from '../domain/verifications/documents.ts'
import { atRest, idempotencyKeyContext } from '../domain/verifications/encryption-context.ts'
import { idempotencyIndexes, type KeyOwner } from '../domain/verifications/lookup-indexes.ts'
import { createResealText } from './resealed-fields.ts'

export interface ReindexClaimDeps {
  store: Pick<CountersignStore, 'docs'>
  keyring: Pick<Keyring, 'seal' | 'unseal' | 'isCurrent' | 'indexes'>
  clock: Pick<Clock, 'now'>
}

/** The claim of an idempotency key. */
type KeyClaimDoc = ClaimDoc & { sealed_key: string }

const isOfKey = (claim: ClaimDoc): claim is KeyClaimDoc => claim.sealed_key !== undefined

type Outcome = 'current' | 'renewed' | 'unsealable'

export function createReindexClaims({ store, keyring, clock }: ReindexClaimDeps) {
  const [claims, otps] = [store.docs('claims'), store.docs('otps')]

  async function reindex(claim: KeyClaimDoc, otp: OtpDoc): Promise<Outcome> {
    const { company_id, mode, context } = otp
    const owner: KeyOwner = { company_id, mode, kind: isMessage(context) ? 'message' : context.started_by.kind }
    const key = unsealOrNull(keyring, claim.sealed_key, idempotencyKeyContext(owner))
    if (key === null) return 'unsealable'
    const [id = ''] = idempotencyIndexes(keyring, owner, key)
    const sealed_key = keyring.seal(key, idempotencyKeyContext(owner))
    const fields = { unsealable: false }
    const link = createResealText(keyring, fields)(claim.answer?.sealed_action_url ?? null, atRest.link(otp._id))
    const answer = claim.answer && link ? { ...claim.answer, sealed_action_url: link.sealed } : claim.answer
    const renewed = { sealed_key, ...(answer && { answer }) }
    const isThere = id === claim._id || (await copyTo(id, claim, renewed))
    if (isThere) await claims.modify({ _id: claim._id, sealed_key: claim.sealed_key }, { $set: renewed })
    // A claim that could not be copied yet counts too, so that there is another pass.
    return isThere && fields.unsealable ? 'unsealable' : 'renewed'
  }

  /** False while a call holds the new index. That call finds the verification under the former one, and frees the new one. */
  async function copyTo(
    id: string,
    claim: KeyClaimDoc,
    renewed: Pick<KeyClaimDoc, 'sealed_key' | 'answer'>,
  ): Promise<boolean> {
    const { otp_id, claimed_at, expires_at, purge_at } = claim
    // First, so that an erasure of the verification finds the copy.
    await otps.update([{ ids: [otp_id], update: { $addToSet: { claims: id } } }])
    // No call holds the copy, because its verification exists.
    const copy = { _id: id, otp_id, held_until: 0, claimed_at, ...renewed, expires_at, purge_at }
    if ((await claims.insert([copy]))[0] === 'inserted') {
      await removeIfErased(copy, claim)
      return true
    }
    const existing = await getOne(claims, id)
    if (existing === undefined) return false
    const isBound = (await otps.get([existing.otp_id], { certain: true })).has(existing.otp_id)
    if (!isBound && isAbandoned(existing, clock.now())) await remove(existing)
    return isBound
  }

  /** An erasure may have removed the claims of the verification before there was a copy. Then the claim that was copied is gone. If it is
   *  still there, the erasure finds the copy, see services/domain/privacy/erasure.ts. */
  async function removeIfErased(copy: ClaimDoc, { _id, otp_id }: ClaimDoc): Promise<void> {
    const copied = await getOne(claims, _id)
    if (copied?.otp_id !== otp_id) await remove(copy)
  }

  /** Conditional on what was read: a call that has taken the claim over keeps it. */
  const remove = ({ _id, otp_id, held_until }: ClaimDoc): Promise<number> =>
    claims.remove({ _id, otp_id, held_until }, 1)

  /** The link was sealed by the verification, maybe with an older key than the claim. */
  const isCurrent = ({ sealed_key, answer }: KeyClaimDoc): boolean =>
    keyring.isCurrent(sealed_key) && (!answer?.sealed_action_url || keyring.isCurrent(answer.sealed_action_url))

  async function renew(claim: ClaimDoc, otp: OtpDoc | undefined): Promise<Outcome> {
    const now = clock.now()
    if (!isOfKey(claim) || isCurrent(claim) || claim.expires_at <= now) return 'current'
    if (otp) return reindex(claim, otp)
    // Its send may still be under way: the next pass finds a verification, or that the send was cut off.
    if (!isAbandoned(claim, now)) return 'renewed'
    await remove(claim)
    return 'current'
  }

  return async (batch: readonly ClaimDoc[]): Promise<{ renewed: number; unsealable: number }> => {
    const found = await otps.get(batch.map(({ otp_id }) => otp_id))
    const outcomes = await Promise.all(batch.map(claim => renew(claim, found.get(claim.otp_id))))
    const count = (outcome: Outcome) => outcomes.filter(one => one === outcome).length
    return { renewed: count('renewed'), unsealable: count('unsealable') }
  }
}
