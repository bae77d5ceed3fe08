// A browser that is signed in to the dashboard. In: the address of the admin API, and the cookie of a session. Out: calls as a page of the
// dashboard makes them, with the cookie, the Origin and the CSRF token.
import { createCookies } from '../../services/dashboard/sign-in/cookie.ts'
import { createSessions, csrfTokenOf } from '../../services/dashboard/sign-in/sessions.ts'
import type { UserDoc, UserRole } from '../../services/domain/users/documents.ts'
import { type TestAdmin, TOKENS } from './admin-api.ts'
import { type Answer, ask } from './api-caller.ts'
import { testKeyring } from './tenancy.ts'
import { addUser, testGrants } from './users.ts'

export interface Browser {
  /** The value of the cookie; null when the browser was told to forget it. */
  cookie: string | null
  csrf: string
  me: Answer['body']
  /** `path` follows /admin/v1. Headers replace those of the browser; an empty one is left out. */
  ask(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
}

interface BrowserOptions {
  /** As the browser shows it: the address of the dashboard by default. */
  origin?: string
}

const sessionCookie = (origin: string): string => createCookies({ secure: origin.startsWith('https:') }).session.name

/** The session in the cookies that an answer of the dashboard at `origin` sets; null when there is none. */
const cookieIn = (answer: Answer, origin: string): string | null => {
  const pairs = answer.headers.getSetCookie().map(cookie => cookie.replace(/;.*/, ''))
  const start = `${sessionCookie(origin)}=`
  return pairs.find(pair => pair.startsWith(start))?.slice(start.length) || null
}

/** A browser in which a user signs in: it keeps the cookies that it is given, and sends them along. */
export interface Visitor {
  /** By name. */
  cookies: Map<string, string>
  /** Calls POST /sign-in, or another path. */
  enter(body: object, headers?: Record<string, string>, path?: string): Promise<Answer>
}

export function createVisitor(url: string): Visitor {
  const cookies = new Map<string, string>()
  return {
    cookies,
    async enter(body, headers = {}, path = '/sign-in') {
      const Cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
      const answer = await post(url, body, { ...(Cookie === '' ? {} : { Cookie }), ...headers }, path)
      for (const cookie of answer.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
        if (value === '') cookies.delete(name)
        else cookies.set(name, value)
      }
      return answer
    },
  }
}

/** Signs in with a body of POST /sign-in; throws when it is refused. */
export async function signIn(url: string, body: object, options: BrowserOptions = {}): Promise<Browser> {
  const answer = await post(url, body)
  if (answer.status !== 200) throw new Error(`not signed in: ${answer.text}`)
  return createBrowser(url, answer, options)
}

export const post = (
  url: string,
  body: object,
  headers: Record<string, string> = {},
  path = '/sign-in',
): Promise<Answer> => ask(`${url}/admin/v1${path}`, { method: 'POST', body: JSON.stringify(body), headers })

/** `signedIn`: the answer of POST /sign-in. */
export function createBrowser(url: string, signedIn: Answer, { origin = url }: BrowserOptions = {}): Browser {
  const browser: Browser = {
    cookie: cookieIn(signedIn, origin),
    csrf: signedIn.body.csrf_token,
    me: signedIn.body,
    async ask(method, path, body, headers = {}) {
      const own = { Cookie: `${sessionCookie(origin)}=${browser.cookie}`, Origin: origin, 'X-CSRF-Token': browser.csrf }
      const given = Object.entries({ ...own, ...headers }).filter(([, value]) => value !== '')
      const answer = await ask(`${url}/admin/v1${path}`, {
        method,
        headers: Object.fromEntries(given),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      if (answer.headers.getSetCookie().length > 0) browser.cookie = cookieIn(answer, origin)
      // Another session has another token.
      const me = answer.body?.me ?? answer.body
      if (typeof me?.csrf_token === 'string') browser.csrf = me.csrf_token
      return answer
    },
  }
  return browser
}

/** A browser in which a new user of the company is signed in. */
export async function userBrowser(
  admin: TestAdmin,
  company_id: string,
  role: UserRole | 'invited',
  address?: string,
): Promise<{ user: UserDoc; browser: Browser }> {
  const user = await addUser(admin.store, company_id, role, testKeyring(), address)
  return { user, browser: await browserOfUser(admin, user) }
}

/** A browser in which this user is signed in. */
export async function browserOfUser({ store, clock, url }: TestAdmin, user: UserDoc): Promise<Browser> {
  const sessions = createSessions({ store, keyring: testKeyring(), grants: testGrants(), clock, operators: TOKENS })
  const { session, token } = sessions.create({ user }, 'test')
  await sessions.insert(session)
  const headers = new Headers({ 'Set-Cookie': `${sessionCookie(url)}=${token}` })
  const body = { id: user._id, csrf_token: csrfTokenOf(token), session_id: session._id }
  return createBrowser(url, { status: 200, headers, body, text: '' })
}
