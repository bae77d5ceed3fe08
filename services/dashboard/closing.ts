// Closes and reopens companies and apps. In: the stored document, `closed` of a request, and its caller. Out: what is to be stored.
// What closing means is said at `Closable`.
import { z } from 'zod'
import { httpException } from '../../infra/http/problem.ts'
import type { Closable } from '../domain/tenancy/documents.ts'
import type { Principal } from './access.ts'

/** As it is written in a change. */
export const closed = z.boolean().optional().meta({ description: 'Whether its keys are refused. Its data is kept.' })

/** What is closed already keeps the time at which it was closed first. Throws where an operator closed it and another
 *  wants to reopen it. */
export function changeClosing(
  { closed_at = null, closed_by_operator = false }: Closable,
  closed: boolean | undefined,
  { role }: Pick<Principal, 'role'>,
  now: number,
): Required<Closable> {
  if (closed === undefined) return { closed_at, closed_by_operator }
  const byOperator = role === 'operator'
  if (closed) return { closed_at: closed_at ?? now, closed_by_operator: closed_by_operator || byOperator }
  if (closed_by_operator && !byOperator)
    throw httpException(403, 'An operator closed it, and only an operator reopens it.')
  return { closed_at: null, closed_by_operator: false }
}
