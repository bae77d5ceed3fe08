// In: the caller's identity and its idempotency-key header. Out: the id of the claim, or null without a key.
import { createHash } from 'node:crypto'
import { encodeLengthPrefixed } from '../../infra/crypto/length-prefix.ts'
import type { Identity } from '../../machines/calls.ts'
import { problem } from '../domain/errors.ts'
import { MAX_IDEMPOTENCY_KEY_LENGTH } from './schemas.requests.ts'

/** A key counts within a company, a mode and a kind of API key: a device must not be able to use up a key of the backend. */
export function claimOf({ company_id, mode, kind }: Identity, key: string): string | null {
  if (key === '') return null
  if (key.length > MAX_IDEMPOTENCY_KEY_LENGTH)
    throw problem('InvalidIdempotencyKeyError', {
      detail: `The idempotency key may have at most ${MAX_IDEMPOTENCY_KEY_LENGTH} characters.`,
    })
  return createHash('sha256')
    .update(encodeLengthPrefixed([company_id, mode, kind, key]))
    .digest('base64url')
}
