// Closes and reopens companies and apps. In: the stored document, and `closed` of a request. Out: `closed_at` as it is to be stored.
// Tenancy.keyByHash refuses the keys of what is closed.
import { z } from 'zod'
import type { Closable } from '../domain/tenancy/documents.ts'

/** As it is written in a change. */
export const closed = z.boolean().optional().meta({ description: 'Whether its keys are refused. Its data is kept.' })

/** What is closed already keeps the time at which it was closed first. */
export function closedAt({ closed_at = null }: Closable, closed: boolean | undefined, now: number): number | null {
  if (closed === undefined) return closed_at
  return closed ? (closed_at ?? now) : null
}
