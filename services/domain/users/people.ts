// The users that are one person. In: an address. Out: what the owner of its mailbox may use: memberships, and
// invitations that are still open. Users without a good MAC are left out.
//
// Addresses are looked up without regard to case, and some letters outside ASCII have the same lower case as others: two such mailboxes
// may belong to two people. So a person has the users of one spelling, in which only A to Z and a to z are the same.
import type { Clock } from '../../../infra/clock.ts'
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { findUsersByEmail, isInvitation, type UserDoc, type UserStore, userContext } from './documents.ts'
import type { Grants } from './grants.ts'

export interface People {
  /** For a person who has still to prove the address of the first. Memberships come before invitations, each oldest
   *  first, so that no company changes which is the first by inviting a person who is a member elsewhere. Where no user
   *  has this spelling of the address, those of another are found. */
  withAddress(email: string): Promise<UserDoc[]>
  /** The users of the same person, in the same order. */
  sameAs(user: UserDoc): Promise<UserDoc[]>
}

export interface PeopleDeps {
  store: UserStore
  keyring: Pick<Keyring, 'indexes' | 'unseal'>
  grants: Pick<Grants, 'isGenuine'>
  clock: Pick<Clock, 'now'>
}

export function createPeople({ store, keyring, grants, clock }: PeopleDeps): People {
  const emailOf = ({ _id, sealed_email }: UserDoc): string => keyring.unseal(sealed_email, userContext.email(_id))

  async function inAnySpelling(email: string): Promise<UserDoc[]> {
    const found = await findUsersByEmail(store, keyring, email)
    return found.filter(user => isOpen(user, clock.now()) && grants.isGenuine('users', user)).sort(membersFirst)
  }
  // The index of an address has no MAC: who writes to the store could give a user the index of another. The sealed address decides.
  const inSpelling = (users: readonly UserDoc[], email: string): UserDoc[] =>
    users.filter(user => isSameMailbox(emailOf(user), email))

  return {
    async withAddress(email) {
      const users = await inAnySpelling(email)
      const [first = users[0]] = inSpelling(users, email)
      return first ? inSpelling(users, emailOf(first)) : []
    },
    async sameAs(user) {
      const email = emailOf(user)
      return inSpelling(await inAnySpelling(email), email)
    },
  }
}

/** Whether the user is a member, or an invitation that has not expired. */
export const isOpen = ({ invited_until }: Pick<UserDoc, 'invited_until'>, now: number): boolean =>
  invited_until === undefined || invited_until > now

export const isSameMailbox = (one: string, other: string): boolean => withoutCase(one) === withoutCase(other)

const withoutCase = (email: string): string => email.replace(/[A-Z]/g, letter => letter.toLowerCase())

const membersFirst = (one: UserDoc, other: UserDoc): number =>
  Number(isInvitation(one)) - Number(isInvitation(other)) || (one._id < other._id ? -1 : 1)

/** The user that a sign-in leads to: the membership that was used last; without one, an invitation. */
export function landingOf(users: readonly UserDoc[]): UserDoc | undefined {
  const lastUsed = ({ last_sign_in_at }: UserDoc): number => last_sign_in_at ?? 0
  const [first, ...others] = users.filter(user => !isInvitation(user))
  return first ? others.reduce((best, user) => (lastUsed(user) > lastUsed(best) ? user : best), first) : users[0]
}
