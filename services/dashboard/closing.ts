// Closes, reopens and deletes companies and apps. In: the stored document, `closed` of a request, and its caller. Out:
// what is to be stored. What closing means is said at `Closable`.
import { z } from 'zod'
import { httpException } from '../../infra/http/problem.ts'
import { isoTime, isoTimeOrNull } from '../../infra/iso-time.ts'
import { timeSchema } from '../domain/openapi/shared-schemas.ts'
import { DELETABLE_AFTER_MS } from '../domain/retention.ts'
import { CONSOLE_APP_ID, CONSOLE_COMPANY_ID } from '../domain/tenancy/console.ts'
import type { Closable } from '../domain/tenancy/documents.ts'
import type { Principal } from './access.ts'

/** As it is written in a change. */
export const closed = z.boolean().optional().meta({ description: 'Whether its keys are refused. Its data is kept.' })

type Closed = Required<Omit<Closable, 'deleted_at'>>

/** What is closed already keeps the time at which it was closed first. Throws where an operator closed it and another
 *  wants to reopen it. */
export function changeClosing(
  { closed_at = null, closed_by_operator = false }: Closable,
  closed: boolean | undefined,
  { role }: Pick<Principal, 'role'>,
  now: number,
): Closed {
  if (closed === undefined) return { closed_at, closed_by_operator }
  const byOperator = role === 'operator'
  if (closed) return { closed_at: closed_at ?? now, closed_by_operator: closed_by_operator || byOperator }
  if (closed_by_operator && !byOperator)
    throw httpException(403, 'An operator closed it, and only an operator reopens it.')
  return { closed_at: null, closed_by_operator: false }
}

export const deletableAt = timeSchema(
  'From when on it can be deleted: 30 days after it was closed. Null while it is open.',
).nullable()

export const deletableAtOf = ({ closed_at = null }: Closable): string | null =>
  isoTimeOrNull(closed_at === null ? null : closed_at + DELETABLE_AFTER_MS)

/** Throws unless it has been closed for long enough. */
export function requireDeletable(doc: Closable & { _id: string }, what: 'app' | 'company', now: number): void {
  if (doc._id === CONSOLE_COMPANY_ID || doc._id === CONSOLE_APP_ID)
    throw httpException(409, 'The console cannot be deleted: it sends the codes with which people sign in.')
  const { closed_at = null } = doc
  if (closed_at === null)
    throw httpException(409, `The ${what} is open. Close it: 30 days later it can be deleted. Nothing was deleted.`)
  const from = closed_at + DELETABLE_AFTER_MS
  if (now < from)
    throw httpException(409, `The ${what} can be deleted from ${isoTime(from)} on, 30 days after it was closed.`)
}

export const NOT_DELETABLE =
  'It is open, or was closed less than 30 days ago. The detail says from when on it can be deleted.'
