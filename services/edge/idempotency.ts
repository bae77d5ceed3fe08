// In: the caller and its idempotency-key header. Out: the claim it makes, or null without a key.
import { createHash } from 'node:crypto'
import { encodeLengthPrefixed } from '../../infra/crypto/length-prefix.ts'
import type { Identity } from '../../machines/calls.ts'
import { problem } from '../domain/errors.ts'
import { LONGEST_IDEMPOTENCY_KEY } from './schemas.requests.ts'

/** A key counts within its company, mode and kind of API key: a public key must not be able to plant a backend's. */
export function claimOf({ company_id, mode, kind }: Identity, key: string): string | null {
  if (key === '') return null
  if (key.length > LONGEST_IDEMPOTENCY_KEY)
    throw problem('InvalidIdempotencyKeyError', {
      detail: `The idempotency key may have at most ${LONGEST_IDEMPOTENCY_KEY} characters.`,
    })
  return createHash('sha256')
    .update(encodeLengthPrefixed([company_id, mode, kind, key]))
    .digest('base64url')
}
