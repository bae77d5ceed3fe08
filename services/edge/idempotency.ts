// In: the caller's identity and its idempotency-key header. Out: what the OTP actor claims for it, or null without a key. A caller may
// make a key from a number or an address, so the key is indexed and sealed here, and nothing after this sees it in the clear.
import type { Keyring } from '../../infra/crypto/keyring.ts'
import type { Identity, KeyedClaim } from '../../machines/calls.ts'
import { problem } from '../domain/errors.ts'
import { idempotencyKeyContext } from '../domain/verifications/encryption-context.ts'
import { idempotencyIndexes } from '../domain/verifications/lookup-indexes.ts'
import { MAX_IDEMPOTENCY_KEY_LENGTH } from './schemas.requests.ts'

/** On an answer that an earlier call with the same key got first. */
export const REPLAYED_HEADER = 'Idempotent-Replayed'

export function claimOf(keyring: Pick<Keyring, 'seal' | 'indexes'>, by: Identity, key: string): KeyedClaim | null {
  if (key === '') return null
  if (key.length > MAX_IDEMPOTENCY_KEY_LENGTH)
    throw problem('InvalidIdempotencyKeyError', {
      detail: `The idempotency key may have at most ${MAX_IDEMPOTENCY_KEY_LENGTH} characters.`,
    })
  return {
    // Sorted, because edges with different current data keys must claim in the same order.
    ids: idempotencyIndexes(keyring, by, key).sort(),
    sealed_key: keyring.seal(key, idempotencyKeyContext(by)),
  }
}
