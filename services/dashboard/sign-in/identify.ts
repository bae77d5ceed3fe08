// In: a request to the admin API. Out: its caller, or a refusal. A request with an Authorization header is an operator's, whether or not it
// has a cookie too: a wrong token is refused even beside a valid session.

import type { IdentifyOperator } from '../../../infra/http/operators.ts'
import { httpException } from '../../../infra/http/problem.ts'
import { type IdentifyPrincipal, operatorPrincipal } from '../access.ts'
import type { Cookie } from './cookie.ts'
import type { SameOrigin } from './same-origin.ts'
import type { Sessions } from './sessions.ts'

/** A page that reads again by itself says so: its viewer may be away. */
const POLL_HEADER = 'X-Poll'

export interface IdentifyDeps {
  identifyOperator: IdentifyOperator
  sessionCookie: Pick<Cookie, 'read'>
  sessions: Pick<Sessions, 'find'>
  sameOrigin: Pick<SameOrigin, 'checkChange'>
}

export const createIdentifyPrincipal =
  ({ identifyOperator, sessionCookie, sessions, sameOrigin }: IdentifyDeps): IdentifyPrincipal =>
  async ctx => {
    if (ctx.get('authorization') !== '') return { ...operatorPrincipal(identifyOperator(ctx)), session: null }
    const cookie = sessionCookie.read(ctx)
    if (cookie.kind === 'conflicting')
      throw unauthorized('There are two session cookies. Delete the cookies of this site, and sign in again.')
    if (cookie.kind === 'none') throw unauthorized("Sign in, or send an operator's token.")
    const isUse = ctx.get(POLL_HEADER) === ''
    const caller = cookie.kind === 'token' ? await sessions.find(cookie.token, { isUse }) : null
    if (caller?.session == null) throw unauthorized('The session has ended. Sign in again.')
    sameOrigin.checkChange(ctx, caller.session.csrf_token)
    return caller
  }

const unauthorized = (detail: string) => httpException(401, detail, { 'WWW-Authenticate': 'Bearer' })
