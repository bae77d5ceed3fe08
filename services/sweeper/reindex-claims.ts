// Puts idempotency keys under the index of the current data key. In: a batch of claims. Out: how many were renewed, and how many do not
// open. A claim holds its key sealed, so it can be indexed again. The claim under the former index stays until it expires: processes that
// were not restarted yet may look for it there.
import type { Clock } from '../../infra/clock.ts'
import type { Keyring } from '../../infra/crypto/keyring.ts'
import { unsealOrNull } from '../../infra/crypto/unseal-or-null.ts'
import type { CountersignStore } from '../domain/collections.ts'
import type { ClaimDoc, OtpDoc } from '../domain/verifications/documents.ts'
import { idempotencyKeyContext } from '../domain/verifications/encryption-context.ts'
import { idempotencyIndexes } from '../domain/verifications/lookup-indexes.ts'

export interface ReindexClaimDeps {
  store: Pick<CountersignStore, 'docs'>
  keyring: Pick<Keyring, 'seal' | 'unseal' | 'isCurrent' | 'indexes'>
  clock: Pick<Clock, 'now'>
}

type Outcome = 'current' | 'renewed' | 'unsealable'

/** Then the sweep of claims looks at a copy, and removes it if its verification was erased while it was copied. */
const COPY_CHECKED_AFTER_MS = 30_000

export function createReindexClaims({ store, keyring, clock }: ReindexClaimDeps) {
  const [claims, otps] = [store.docs('claims'), store.docs('otps')]

  async function reindex(claim: ClaimDoc, otp: OtpDoc): Promise<Outcome> {
    const { company_id, mode, context } = otp
    const owner = { company_id, mode, kind: context.started_by.kind }
    const key = unsealOrNull(keyring, claim.sealed_key, idempotencyKeyContext(owner))
    if (key === null) return 'unsealable'
    const [id = ''] = idempotencyIndexes(keyring, owner, key)
    const sealed_key = keyring.seal(key, idempotencyKeyContext(owner))
    if (id === claim._id || (await copyTo(id, { ...claim, sealed_key })))
      await claims.modify({ _id: claim._id, sealed_key: claim.sealed_key }, { $set: { sealed_key } })
    // A claim that could not be copied yet counts too, so that there is another pass.
    return 'renewed'
  }

  /** False while a call holds the new index. That call finds the verification under the former one, and frees the new one. */
  async function copyTo(id: string, claim: ClaimDoc): Promise<boolean> {
    // First, so that an erasure of the verification always finds the copy.
    await otps.update([{ ids: [claim.otp_id], update: { $addToSet: { claims: id } } }])
    const copy = { ...claim, _id: id, held_until: clock.now() + COPY_CHECKED_AFTER_MS }
    if ((await claims.insert([copy]))[0] === 'inserted') return true
    const existing = (await claims.get([id])).get(id)
    return existing !== undefined && (await otps.get([existing.otp_id])).has(existing.otp_id)
  }

  async function renew(claim: ClaimDoc, otp: OtpDoc | undefined): Promise<Outcome> {
    if (keyring.isCurrent(claim.sealed_key) || claim.expires_at <= clock.now()) return 'current'
    if (otp) return reindex(claim, otp)
    // Its send is still under way, or was cut off: the next pass finds a verification, or no claim.
    return claim.held_until === undefined ? 'current' : 'renewed'
  }

  return async (batch: readonly ClaimDoc[]): Promise<{ renewed: number; unsealable: number }> => {
    const found = await otps.get(batch.map(({ otp_id }) => otp_id))
    const outcomes = await Promise.all(batch.map(claim => renew(claim, found.get(claim.otp_id))))
    const count = (outcome: Outcome) => outcomes.filter(one => one === outcome).length
    return { renewed: count('renewed'), unsealable: count('unsealable') }
  }
}
