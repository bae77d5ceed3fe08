// The cookies of the dashboard. In: a token, or the Cookie header of a request. Out: a Set-Cookie header, or the token.
// They are for the admin API, and for the client API where a dashboard without an edge serves it to its own pages. The
// pages hold nothing of a user, and call from the same site, so SameSite=Strict does not hinder them even after a link
// from elsewhere.
import { randomBytes } from 'node:crypto'
import type { Context } from 'koa'

const SESSION_COOKIE = 'countersign_session'
/** Ties a sign-in by code to the browser that has asked for the code. */
const FLOW_COOKIE = 'countersign_sign_in'
/** Tells a browser in which a user has signed in by code before. */
const DEVICE_COOKIE = 'countersign_device'

const TOKEN_BYTES = 32
const TOKEN = /^[A-Za-z0-9_-]{43}$/

export const newCookieToken = (): string => randomBytes(TOKEN_BYTES).toString('base64url')

/** `conflicting`: two different cookies. The one of an attacker, who can set cookies from a neighbouring domain, cannot be told from
 *  the user's own. */
export type CookieToken = { kind: 'token'; token: string } | { kind: 'none' | 'malformed' | 'conflicting' }

export interface Cookie {
  name: string
  path: string
  read(ctx: Pick<Context, 'get'>): CookieToken
  /** Null unless there is one token. */
  tokenIn(ctx: Pick<Context, 'get'>): string | null
  /** The Set-Cookie header that gives a browser the token. */
  give(token: string, maxAgeMs: number): string
  /** The Set-Cookie header that makes a browser forget it. */
  end(): string
}

export interface Cookies {
  session: Cookie
  flow: Cookie
  device: Cookie
}

/** `secure`: whether the dashboard is reached by https. Then browsers take its cookies from this host alone
 *  (`__Host-`). */
export function createCookies({ secure }: { secure: boolean }): Cookies {
  const create = (plainName: string): Cookie => {
    const name = secure ? `__Host-${plainName}` : plainName
    const path = '/'
    const read: Cookie['read'] = ctx => {
      const values = ctx
        .get('cookie')
        .split(';')
        .map(pair => pair.trim())
        .filter(pair => pair.startsWith(`${name}=`))
        .map(pair => pair.slice(name.length + 1))
      const [token, ...others] = new Set(values)
      if (token === undefined) return { kind: 'none' }
      if (others.length > 0) return { kind: 'conflicting' }
      return TOKEN.test(token) ? { kind: 'token', token } : { kind: 'malformed' }
    }
    const give: Cookie['give'] = (token, maxAgeMs) =>
      [
        `${name}=${token}`,
        `Path=${path}`,
        `Max-Age=${Math.floor(maxAgeMs / 1000)}`,
        'HttpOnly',
        'SameSite=Strict',
        ...(secure ? ['Secure'] : []),
      ].join('; ')
    return {
      name,
      path,
      read,
      tokenIn(ctx) {
        const found = read(ctx)
        return found.kind === 'token' ? found.token : null
      },
      give,
      end: () => give('', 0),
    }
  }
  return { session: create(SESSION_COOKIE), flow: create(FLOW_COOKIE), device: create(DEVICE_COOKIE) }
}
