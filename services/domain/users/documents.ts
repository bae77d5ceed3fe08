// What is stored about the people who use the dashboard: users, sessions, passkeys, tickets with which operators sign
// in once, and what a sign-in by code or passkey needs. A user is a person in one company: a person in several is
// several users with one address (people.ts). Addresses and names are personal data: both are sealed, and a user is
// found by a keyed index of the address. Of the tokens in cookies and of a ticket only hashes are stored. What grants
// access has a MAC (grants.ts).
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import type { Doc, RevisedDoc } from '../../../infra/store/docs.ts'
import { collection, type StoreOf } from '../../../infra/store/store.ts'
import { DAY_MS } from '../../../infra/time.ts'
import type { Mode } from '../../../machines/otp.ts'
import { recipientKey } from '../verifications/lookup-indexes.ts'
import type { OperatorMark } from './operator-marks.ts'

/** Each role may do what the roles before it may. */
export const USER_ROLES = ['viewer', 'developer', 'owner'] as const
export type UserRole = (typeof USER_ROLES)[number]

/** A document that grants access. One without a MAC was written by an attacker. */
interface GrantingDoc {
  mac?: string
}

/** A member of a company, or a person who is invited to become one. */
export interface UserDoc extends RevisedDoc, GrantingDoc {
  company_id: string
  role: UserRole
  /** The keyed index of the address. */
  email: string
  sealed_email: string
  sealed_name: string | null
  created_at: number
  /** When the user last began a session in this company. */
  last_sign_in_at: number | null
  /** Only an invitation has it: it grants nothing, and ends then. Accepting it removes this member and `purge_at`. */
  invited_until?: number
}

export const INVITATION_MS = 14 * DAY_MS

export const isInvitation = ({ invited_until }: Pick<UserDoc, 'invited_until'>): boolean => invited_until !== undefined

export interface SessionDoc extends Doc, GrantingDoc {
  /** The hash of the token in the cookie. */
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
  /** When the person last proved who they are: by signing in, or again since. */
  stepped_up_at: number
  expires_at: number
  purge_at: Date
}

/** A passkey belongs to the user with whom it was added, and goes with that user; it signs the person in (people.ts). */
export interface PasskeyDoc extends RevisedDoc, GrantingDoc {
  user_id: string
  /** As the authenticator names it, in base64url. */
  credential_id: string
  /** COSE, in base64url. */
  public_key: string
  /** How many signatures were made. An authenticator that does not count leaves it at 0. */
  counter: number
  /** How the authenticator can be reached, for the browser's dialogue. */
  transports: string[]
  /** In the words of its owner. */
  name: string
  created_at: number
  last_used_at: number | null
  /** Its place among the passkeys of the person, from 1: at most one passkey has it, so the limit holds in a race.
   *  `person`: the first user of the person. */
  person?: string
  slot?: number
}

/** A challenge that an assertion was accepted for. The id is its hash. */
export interface SpentAssertionDoc extends Doc {
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

/** When something limited was done of late. */
export interface RecentTimesDoc extends RevisedDoc {
  times: number[]
  purge_at: Date
}

const EXPIRES = [{ to: null, why: 'the id is a hash that names no owner; gone within 180 days' }] as const

export const USER_COLLECTIONS = {
  users: collection<UserDoc>({
    belongsTo: [{ to: 'companies', ofOwner: company_id => ({ company_id }) }],
    indexes: [
      { fields: { email: 1, company_id: 1 }, unique: true },
      { fields: { company_id: 1, _id: 1 } },
      { fields: { company_id: 1, role: 1 } },
    ],
    // Invitations.
    purged: true,
  }),
  sessions: collection<SessionDoc>({
    belongsTo: [{ to: 'users', ofOwner: user_id => ({ user_id }) }],
    indexes: [
      { fields: { hash: 1 }, unique: true },
      { fields: { user_id: 1, _id: 1 } },
      { fields: { 'operator.name': 1, _id: 1 } },
    ],
    purged: true,
  }),
  passkeys: collection<PasskeyDoc>({
    belongsTo: [{ to: 'users', ofOwner: user_id => ({ user_id }) }],
    indexes: [
      { fields: { credential_id: 1 }, unique: true },
      { fields: { user_id: 1, _id: 1 } },
      { fields: { person: 1, slot: 1 }, unique: true, partial: { slot: { $gt: 0 } } },
    ],
  }),
  spent_assertions: collection<SpentAssertionDoc>({ belongsTo: EXPIRES, indexes: [], purged: true }),
  sign_in_tickets: collection<SignInTicketDoc>({ belongsTo: EXPIRES, indexes: [], purged: true }),
  sign_in_flows: collection<SignInFlowDoc>({ belongsTo: EXPIRES, indexes: [], purged: true }),
  known_browsers: collection<KnownBrowserDoc>({ belongsTo: EXPIRES, indexes: [], purged: true }),
  /** The sign-in mails of the last hour to one mailbox. The id is a keyed index of it, or that of a known browser. */
  sign_in_mails: collection<RecentTimesDoc>({ belongsTo: EXPIRES, indexes: [], purged: true }),
  /** The invitations of the last day by a company, or by a company to one address. The id is a hash. */
  invitation_times: collection<RecentTimesDoc>({ belongsTo: EXPIRES, indexes: [], purged: true }),
}

export type UserStore = StoreOf<typeof USER_COLLECTIONS>

/** The contexts that the sealed texts of a user are bound to. */
export const userContext = {
  email: (user_id: string): string => `user:${user_id}:email`,
  name: (user_id: string): string => `user:${user_id}:name`,
}

const EMAIL_SCOPE = 'user email'

/** One scope for all companies, because a person signs in to all of them at once. */
export const emailIndex = (keyring: Pick<Keyring, 'index'>, email: string): string =>
  keyring.index(EMAIL_SCOPE, recipientKey(email))

/** More than a person is a user of. */
const MAX_USERS_OF_AN_ADDRESS = 1_000

/** In any spelling of the address, and under every data key. `company_id`: of this company alone. None of them is checked (grants.ts). */
export function findUsersByEmail(
  store: UserStore,
  keyring: Pick<Keyring, 'indexes'>,
  email: string,
  company_id?: string,
): Promise<UserDoc[]> {
  const indexes = keyring.indexes(EMAIL_SCOPE, recipientKey(email))
  const filter = { email: { $in: indexes }, ...(company_id === undefined ? {} : { company_id }) }
  return store.docs('users').find(filter, { sort: { email: 1, company_id: 1 }, limit: MAX_USERS_OF_AN_ADDRESS })
}
