// What vendors' callbacks have in common once their signature is checked. In: a signed body. Out: what it says, or `BadCallback`.
import type { z } from 'zod'
import { BadCallback } from '../provider.ts'
import { parseJson } from './vendor-http.ts'

const MAX_CLOCK_DIFFERENCE_MS = 5 * 60_000

/** Whether a signed time is at most five minutes from now, either way: clocks differ, and what is older may be a replay. */
export const isRecent = (at: number, now: number): boolean => Math.abs(now - at) <= MAX_CLOCK_DIFFERENCE_MS

/** Bodies with a byte order mark are read; the mark is part of what was signed all the same. */
export function parseCallbackBody<T>(schema: z.ZodType<T>, body: Uint8Array): T {
  const parsed = schema.safeParse(parseJson(body))
  if (!parsed.success) throw new BadCallback('the body is not what the vendor documents')
  return parsed.data
}
