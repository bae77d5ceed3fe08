// In: an answer of the OTP actor. Out: the headers `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers) for the limit
// that is nearest to its end: for server keys only, because a device would learn of a stranger's counters.
import type { Identity, OtpAnswer } from '../../machines/calls.ts'

export const RATE_LIMIT_HEADER = 'RateLimit'
export const RATE_LIMIT_POLICY_HEADER = 'RateLimit-Policy'

export function rateLimitHeaders({ kind }: Identity, answer: OtpAnswer): Record<string, string> {
  if (kind !== 'server') return {}
  if (answer.kind === 'refused') {
    const { scope, retry_after_ms } = answer
    return scope === undefined || retry_after_ms === undefined
      ? {}
      : { [RATE_LIMIT_HEADER]: state(scope, 0, retry_after_ms) }
  }
  const limit = 'limit' in answer ? answer.limit : undefined
  if (limit === undefined) return {}
  const { scope, max, seconds, remaining, more_in_ms } = limit
  return {
    [RATE_LIMIT_HEADER]: state(scope, remaining, more_in_ms),
    [RATE_LIMIT_POLICY_HEADER]: `"${scope}";q=${max};w=${seconds}`,
  }
}

const state = (scope: string, remaining: number, moreInMs: number): string =>
  `"${scope}";r=${remaining};t=${Math.ceil(moreInMs / 1000)}`
