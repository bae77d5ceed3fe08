// Refuses changes that another site makes a user's browser send. In: a request with a session. Out: nothing, or 403. Two independent
// proofs are needed: an Origin that is the dashboard's own, which browsers write and pages cannot, and a token that only a page of the
// dashboard can read.
import type { Context } from 'koa'
import { isSameSecret } from '../../../infra/crypto/compare-secrets.ts'
import { httpException } from '../../../infra/http/problem.ts'

export const CSRF_HEADER = 'X-CSRF-Token'

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS'])

export interface SameOrigin {
  /** For a request that a session would authorize. */
  checkChange(ctx: Context, csrfToken: string): void
  /** For a request without a session: a client that is no browser has no Origin. */
  checkOriginIfAny(ctx: Context): void
}

/** `publicUrl`: null when PUBLIC_URL is not set. Then the Origin must have the host that the request was sent to. */
export function createSameOrigin(publicUrl: string | null): SameOrigin {
  const publicOrigin = publicUrl === null ? null : new URL(publicUrl).origin

  const isOwn = (origin: string, host: string): boolean => {
    if (publicOrigin !== null) return origin === publicOrigin
    return URL.canParse(origin) && /^https?:$/.test(new URL(origin).protocol) && new URL(origin).host === host
  }
  function checkOrigin(ctx: Context): void {
    if (isOwn(ctx.get('origin'), ctx.get('host').toLowerCase())) return
    const expected = publicOrigin === null ? 'of this host' : publicOrigin
    throw httpException(403, `The Origin header must be ${expected}: a change must come from a page of the dashboard.`)
  }
  return {
    checkChange(ctx, csrfToken) {
      if (SAFE_METHODS.has(ctx.method)) return
      checkOrigin(ctx)
      if (!isSameSecret(ctx.get(CSRF_HEADER), csrfToken))
        throw httpException(403, `A change with a session needs the header ${CSRF_HEADER}. GET /me shows its value.`)
    },
    checkOriginIfAny(ctx) {
      if (ctx.get('origin') !== '') checkOrigin(ctx)
    },
  }
}
