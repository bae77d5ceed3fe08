// How long to wait before another try: doubled each time, capped, and random, so that many processes do not reconnect at once.
import type { Clock } from '../../clock.ts'

export interface Backoff {
  firstMs: number
  maxMs: number
}

export function backoffDelay({ firstMs, maxMs }: Backoff, failures: number): number {
  const full = Math.min(maxMs, firstMs * 2 ** failures)
  return full / 2 + Math.random() * (full / 2)
}

/** Resolves `ms` from now, or as soon as the signal is aborted. */
export const sleep = (clock: Clock, ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise(resolve => {
    if (signal?.aborted) return resolve()
    const wake = () => {
      cancel()
      signal?.removeEventListener('abort', wake)
      resolve()
    }
    const cancel = clock.after(ms, wake)
    signal?.addEventListener('abort', wake)
  })
