// Sessions of the dashboard. In: a user or an operator who has signed in, or a token from a cookie. Out: a session, or
// null for a token that is unknown, forged, expired or revoked. Nothing is cached: a session that is ended, a user that
// is removed and a role that is changed count from the next request on, in every process. A session of an operator ends
// when its token leaves ADMIN_TOKEN.
import { Buffer } from 'node:buffer'
import { createHash, createHmac } from 'node:crypto'
import type { Clock } from '../../../infra/clock.ts'
import type { AdminToken } from '../../../infra/config/secrets.ts'
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { unsealOrNull } from '../../../infra/crypto/unseal-or-null.ts'
import { newId } from '../../../infra/ids.ts'
import type { Filter } from '../../../infra/store/docs.ts'
import { getOne } from '../../../infra/store/one-doc.ts'
import { HOUR_MS, MINUTE_MS } from '../../../infra/time.ts'
import { maskEmail } from '../../../machines/masking.ts'
import {
  isInvitation,
  type SessionDoc,
  type UserDoc,
  type UserStore,
  userContext,
} from '../../domain/users/documents.ts'
import type { Grants } from '../../domain/users/grants.ts'
import { markOf, operatorWith } from '../../domain/users/operator-marks.ts'
import { isOpen } from '../../domain/users/people.ts'
import { NO_COMPANY, operatorPrincipal, type Principal } from '../access.ts'
import { newCookieToken } from './cookie.ts'

export const SESSION_MS = 12 * HOUR_MS
/** A session that is not used for so long ends. Its use is written once a minute at most, so it may end a minute early. */
export const IDLE_MS = 2 * HOUR_MS
/** More than a person opens in twelve hours. */
const MAX_SESSIONS_AT_ONCE = 10_000

/** The owner of a session. */
export type Person = { user: UserDoc } | { operator: AdminToken }

/** Whose sessions they are: a person's in all companies, or those of the operator of that name. */
export type SessionOwner = { user_ids: readonly string[] } | { operator: string | null }

export type FormerSession = Pick<NonNullable<Principal['session']>, 'expires_at' | 'stepped_up_at'>

export interface NewSession {
  session: SessionDoc
  /** For the cookie. It is not stored. */
  token: string
}

export interface Sessions {
  /** A session that is not stored yet. `former`: the session of the same person that it continues, which ends when that
   *  would have ended. */
  create(person: Person, browser: string, former?: FormerSession): NewSession
  insert(session: SessionDoc): Promise<void>
  /** The caller of a request with this token; null when it has no session. `isUse`: false for a call that a page makes
   *  by itself, which does not keep the session from ending. */
  find(token: string, options?: { isUse?: boolean }): Promise<Principal | null>
  /** The session with this id, if it is one of these. */
  own(owner: SessionOwner, id: string): Promise<SessionDoc | null>
  /** The person has proved again who they are. Null when the session has ended meanwhile. */
  stepUp(id: string): Promise<SessionDoc | null>
  end(id: string): Promise<boolean>
  /** Answers how many there were. */
  endAllOf(owner: SessionOwner): Promise<number>
}

export interface SessionDeps {
  store: UserStore
  keyring: Pick<Keyring, 'index' | 'indexes' | 'unseal'>
  grants: Grants
  clock: Pick<Clock, 'now'>
  operators: readonly AdminToken[]
}

export function createSessions({ store, keyring, grants, clock, operators }: SessionDeps): Sessions {
  const [sessions, users] = [store.docs('sessions'), store.docs('users')]

  function create(person: Person, browser: string, former?: FormerSession): NewSession {
    const token = newCookieToken()
    const now = clock.now()
    const { expires_at, stepped_up_at } = former ?? { expires_at: now + SESSION_MS, stepped_up_at: now }
    const session = grants.stamp('sessions', {
      _id: newId('ses', now),
      hash: hashToken(token),
      user_id: 'user' in person ? person.user._id : null,
      operator: 'operator' in person ? markOf(keyring, person.operator) : null,
      browser,
      created_at: now,
      seen_at: now,
      stepped_up_at,
      expires_at,
      purge_at: new Date(endOf(now, expires_at)),
    })
    return { session, token }
  }

  async function ownerOf({ user_id, operator }: SessionDoc): Promise<Omit<Principal, 'session'> | null> {
    if (operator !== null) return operatorWith(keyring, operators, operator) ? operatorPrincipal(operator.name) : null
    const user = user_id === null ? undefined : await getOne(users, user_id)
    const isGood = user && isOpen(user, clock.now()) && grants.isGenuine('users', user)
    return isGood ? userPrincipal(keyring, user) : null
  }

  return {
    create,

    async insert(session) {
      await sessions.insert([session])
    },

    async find(token, { isUse = true } = {}) {
      const [session] = await sessions.find({ hash: hashToken(token) }, { sort: { hash: 1 }, limit: 1 })
      const now = clock.now()
      if (!session || endsAt(session) <= now || !grants.isGenuine('sessions', session)) return null
      const owner = await ownerOf(session)
      if (owner === null) return null
      // Not inserted again if it was ended meanwhile.
      const { _id: id, expires_at, stepped_up_at } = session
      if (isUse && session.seen_at + MINUTE_MS <= now) {
        const purge_at = new Date(endOf(now, expires_at))
        await sessions.modify({ _id: id }, { $max: { seen_at: now }, $set: { purge_at } })
      }
      return { ...owner, session: { id, csrf_token: csrfTokenOf(token), expires_at, stepped_up_at } }
    },

    async own(owner, id) {
      const session = await getOne(sessions, id)
      if (session === undefined) return null
      const isOwn =
        'operator' in owner
          ? session.operator?.name === owner.operator
          : session.user_id !== null && owner.user_ids.includes(session.user_id)
      return isOwn ? session : null
    },

    async stepUp(id) {
      const session = await getOne(sessions, id)
      // A new MAC would make good what an attacker has written.
      if (!session || !grants.isGenuine('sessions', session)) return null
      const { stepped_up_at, mac } = grants.stamp('sessions', { ...session, stepped_up_at: clock.now() })
      return sessions.modify({ _id: id }, { $set: { stepped_up_at, mac } })
    },

    end: async id => (await sessions.remove({ _id: id }, 1)) === 1,

    endAllOf: owner => sessions.remove(sessionsOf(owner), MAX_SESSIONS_AT_ONCE),
  }
}

export const sessionsOf = (owner: SessionOwner): Filter<SessionDoc> =>
  'operator' in owner ? { 'operator.name': owner.operator } : { user_id: { $in: owner.user_ids } }

const endOf = (seen_at: number, expires_at: number): number => Math.min(seen_at + IDLE_MS, expires_at)

/** When it ends unless it is used again. */
export const endsAt = ({ seen_at, expires_at }: SessionDoc): number => endOf(seen_at, expires_at)

/** A plain hash is safe because a token has 256 random bits. */
const hashToken = (token: string): string => createHash('sha256').update(token).digest('hex')

/** Derived from the token, so that only a page that has asked with the cookie knows it, and nothing is stored. */
export const csrfTokenOf = (token: string): string =>
  createHmac('sha256', Buffer.from(token, 'base64url')).update('csrf').digest('base64url')

/** An invitation grants nothing. */
const INVITED = { role: 'invited', company_id: NO_COMPANY } as const

/** The audit log keeps the name for good, so it holds the masked address only. */
export function userPrincipal(keyring: Pick<Keyring, 'unseal'>, user: UserDoc): Omit<Principal, 'session'> {
  const { _id, sealed_email } = user
  const email = unsealOrNull(keyring, sealed_email, userContext.email(_id))
  const name = email === null ? _id : `${_id} (${maskEmail(email)})`
  const { role, company_id } = isInvitation(user) ? INVITED : user
  return { name, role, company_id, user_id: _id, operator: null }
}
