// What is stored about the people who use the dashboard: users, each of one company, sessions, tickets with which operators sign in once, and
// what a sign-in by code needs. Addresses and names are personal data: both are sealed, and a user is found by a keyed index of the
// address. Of the tokens in cookies and of a ticket only hashes are stored. What grants access has a MAC (grants.ts).
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import type { Doc, RevisedDoc } from '../../../infra/store/docs.ts'
import { collection, type StoreOf } from '../../../infra/store/store.ts'
import type { Mode } from '../../../machines/otp.ts'
import { recipientKey } from '../verifications/lookup-indexes.ts'
import type { OperatorMark } from './operator-marks.ts'

/** Each role may do what the roles before it may. */
export const USER_ROLES = ['viewer', 'developer', 'owner'] as const
export type UserRole = (typeof USER_ROLES)[number]

/** A document that grants access. One without a MAC was written by an earlier release, or by an attacker. */
interface GrantingDoc {
  mac?: string
}

export interface UserDoc extends RevisedDoc, GrantingDoc {
  company_id: string
  role: UserRole
  /** The keyed index of the address. */
  email: string
  sealed_email: string
  sealed_name: string | null
  created_at: number
  last_sign_in_at: number | null
}

export interface SessionDoc extends Doc, GrantingDoc {
  /** Of the token in the cookie. */
  hash: string
  /** The id of the user; null for a session of an operator. */
  user_id: string | null
  /** Null for a session of a user. */
  operator: OperatorMark | null
  /** A few words, such as "Firefox on Linux". */
  browser: string
  created_at: number
  /** To the minute. */
  seen_at: number
  expires_at: number
  purge_at: Date
}

/** The id is the hash of the ticket. */
export interface SignInTicketDoc extends Doc, GrantingDoc {
  operator: OperatorMark
  expires_at: number
  purge_at: Date
}

/** A user who is signing in in one browser. The id is the hash of the browser's flow cookie and of the user's id. */
export interface SignInFlowDoc extends Doc, GrantingDoc {
  /** The verification whose code is good in this browser. */
  otp_id: string
  mode: Mode
  expires_at: number
  purge_at: Date
}

/** A browser in which a user has signed in by code. The id is the hash of its device cookie and of the user's id. */
export interface KnownBrowserDoc extends Doc {
  expires_at: number
  purge_at: Date
}

/** The sign-in mails of the last hour to one user. The id is that of the user, or of one of the user's known browsers. */
export interface SignInMailsDoc extends RevisedDoc {
  /** When they were sent. */
  times: number[]
  purge_at: Date
}

export const USER_COLLECTIONS = {
  users: collection<UserDoc>({
    indexes: [
      { fields: { email: 1 }, unique: true },
      { fields: { company_id: 1, _id: 1 } },
      { fields: { company_id: 1, role: 1 } },
    ],
  }),
  sessions: collection<SessionDoc>({
    indexes: [
      { fields: { hash: 1 }, unique: true },
      { fields: { user_id: 1, _id: 1 } },
      { fields: { 'operator.name': 1, _id: 1 } },
    ],
    purged: true,
  }),
  sign_in_tickets: collection<SignInTicketDoc>({ indexes: [], purged: true }),
  sign_in_flows: collection<SignInFlowDoc>({ indexes: [], purged: true }),
  known_browsers: collection<KnownBrowserDoc>({ indexes: [], purged: true }),
  sign_in_mails: collection<SignInMailsDoc>({ indexes: [], purged: true }),
}

export type UserStore = StoreOf<typeof USER_COLLECTIONS>

/** The contexts that the sealed texts of a user are bound to. */
export const userContext = {
  email: (user_id: string): string => `user:${user_id}:email`,
  name: (user_id: string): string => `user:${user_id}:name`,
}

const EMAIL_SCOPE = 'user email'

/** One scope for all companies, because an address is a user of one company only. */
export const emailIndex = (keyring: Pick<Keyring, 'index'>, email: string): string =>
  keyring.index(EMAIL_SCOPE, recipientKey(email))

/** In any spelling of the address, and under every data key. */
export async function findUserByEmail(
  store: UserStore,
  keyring: Pick<Keyring, 'indexes'>,
  email: string,
): Promise<UserDoc | null> {
  const indexes = keyring.indexes(EMAIL_SCOPE, recipientKey(email))
  const [user] = await store.docs('users').find({ email: { $in: indexes } }, { sort: { email: 1 }, limit: 1 })
  return user ?? null
}
