// Tickets for signing in once. In: an operator; later a ticket. Out: a ticket for a link, of which only the hash is stored; later the
// operator, or null for a ticket that is unknown, forged, used or expired, or whose operator's token was changed since.
//
// A ticket is used up before the session begins. A crash between the two loses the ticket and never gives two sessions.
import { createHash, randomBytes } from 'node:crypto'
import type { Clock } from '../../../infra/clock.ts'
import type { AdminToken } from '../../../infra/config/secrets.ts'
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { getOne } from '../../../infra/store/one-doc.ts'
import { HOUR_MS } from '../../../infra/time.ts'
import type { UserStore } from './documents.ts'
import type { Grants } from './grants.ts'
import { markOf, operatorWith } from './operator-marks.ts'

export const SIGN_IN_TICKET_MS = HOUR_MS
const TICKET_BYTES = 32

export interface SignInTickets {
  create(operator: AdminToken): Promise<string>
  /** Uses the ticket up. Of two uses at the same time one gets the operator. */
  use(ticket: string): Promise<AdminToken | null>
}

export interface SignInTicketDeps {
  store: UserStore
  keyring: Pick<Keyring, 'index' | 'indexes'>
  grants: Grants
  clock: Pick<Clock, 'now'>
  operators: readonly AdminToken[]
}

export function createSignInTickets({ store, keyring, grants, clock, operators }: SignInTicketDeps): SignInTickets {
  const tickets = store.docs('sign_in_tickets')
  return {
    async create(operator) {
      const ticket = randomBytes(TICKET_BYTES).toString('base64url')
      const expires_at = clock.now() + SIGN_IN_TICKET_MS
      await tickets.insert([
        grants.stamp('sign_in_tickets', {
          _id: hashOf(ticket),
          operator: markOf(keyring, operator),
          expires_at,
          purge_at: new Date(expires_at),
        }),
      ])
      return ticket
    },

    async use(ticket) {
      const _id = hashOf(ticket)
      const stored = await getOne(tickets, _id)
      if (!stored || stored.expires_at <= clock.now() || !grants.isGenuine('sign_in_tickets', stored)) return null
      const operator = operatorWith(keyring, operators, stored.operator)
      if (operator === undefined) return null
      return (await tickets.remove({ _id }, 1)) === 1 ? operator : null
    },
  }
}

/** A plain hash is safe because a ticket has 256 random bits. */
const hashOf = (ticket: string): string => createHash('sha256').update(ticket).digest('hex')
