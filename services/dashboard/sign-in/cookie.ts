// The session cookie. In: a token, or the Cookie header of a request. Out: a Set-Cookie header, or the token. The cookie is for the admin
// API alone: the pages of the dashboard hold nothing of a user, and call the API from the same site, so SameSite=Strict does not hinder
// them even after a link from elsewhere.
import type { Context } from 'koa'

export const ADMIN_PATH = '/admin/v1'
export const SESSION_COOKIE = 'countersign_session'
const TOKEN = /^[A-Za-z0-9_-]{43}$/

/** `conflicting`: two different cookies. The one of an attacker, who can set cookies from a neighbouring domain, cannot be told from
 *  the user's own. */
export type CookieToken = { kind: 'token'; token: string } | { kind: 'none' | 'malformed' | 'conflicting' }

export function readSessionCookie(ctx: Pick<Context, 'get'>): CookieToken {
  const values = ctx
    .get('cookie')
    .split(';')
    .map(pair => pair.trim())
    .filter(pair => pair.startsWith(`${SESSION_COOKIE}=`))
    .map(pair => pair.slice(SESSION_COOKIE.length + 1))
  const [token, ...others] = new Set(values)
  if (token === undefined) return { kind: 'none' }
  if (others.length > 0) return { kind: 'conflicting' }
  return TOKEN.test(token) ? { kind: 'token', token } : { kind: 'malformed' }
}

export interface CookieOptions {
  /** Whether the dashboard is reached by https. */
  secure: boolean
}

export const sessionCookie = (token: string, maxAgeMs: number, { secure }: CookieOptions): string =>
  [
    `${SESSION_COOKIE}=${token}`,
    `Path=${ADMIN_PATH}`,
    `Max-Age=${Math.floor(maxAgeMs / 1000)}`,
    'HttpOnly',
    'SameSite=Strict',
    ...(secure ? ['Secure'] : []),
  ].join('; ')

/** Makes a browser forget the cookie. */
export const endedSessionCookie = (options: CookieOptions): string => sessionCookie('', 0, options)
