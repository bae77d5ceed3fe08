// How long a call holds an idempotency key. In: a claim without a verification. Out: whether its verification can still be saved.
import { ulidTime } from '../../../infra/ids.ts'
import type { ClaimDoc } from './documents.ts'

/** Longer than the edge waits for any call, so that a claim is taken over only from a process that is dead. */
export const CLAIM_HELD_MS = 30_000

/** For some time after its hold, a claim leads to the same verification still, in case its process was only slow. */
const SAME_VERIFICATION_FOR_MS = 30_000

/** So much older than its verification can an id be that a call took over from a dead process. */
export const MAX_AGE_OF_TAKEN_OVER_ID_MS = CLAIM_HELD_MS + SAME_VERIFICATION_FOR_MS

/** Whether a claim without a verification will never have the one that it leads to: its process died long ago, or the verification was
 *  erased. The key is then free, and its next call makes a verification with an id of its own. An id says when its verification was
 *  made: searches and statistics go by it, so an old one must not be used, even if one call after the other took it over and died. */
export function isAbandoned({ otp_id, held_until }: Pick<ClaimDoc, 'otp_id' | 'held_until'>, now: number): boolean {
  const madeAt = ulidTime(otp_id) ?? now
  return (
    now >= held_until + SAME_VERIFICATION_FOR_MS || (now >= held_until && now > madeAt + MAX_AGE_OF_TAKEN_OVER_ID_MS)
  )
}
