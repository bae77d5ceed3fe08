// What the callbacks of several vendors share. In: a body whose signature was checked. Out: its parsed content, or `BadCallback`.
import type { z } from 'zod'
import { BadCallback } from '../provider.ts'
import { parseJson } from './vendor-http.ts'

const MAX_CLOCK_DIFFERENCE_MS = 5 * 60_000

/** Whether a signed time is at most five minutes before or after now. Clocks differ; an older callback may be a replay. */
export const isRecent = (at: number, now: number): boolean => Math.abs(now - at) <= MAX_CLOCK_DIFFERENCE_MS

/** A byte order mark is skipped here, although it is part of the signed bytes. */
export function parseCallbackBody<T>(schema: z.ZodType<T>, body: Uint8Array): T {
  const parsed = schema.safeParse(parseJson(body))
  if (!parsed.success) throw new BadCallback('the body is not what the vendor documents')
  return parsed.data
}
