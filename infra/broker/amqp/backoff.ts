// How long to wait before trying again: doubling, capped, and jittered so that a fleet does not come back as one.
import type { Clock } from '../../clock.ts'

export interface Backoff {
  firstMs: number
  longestMs: number
}

export function pauseAfter({ firstMs, longestMs }: Backoff, failures: number): number {
  const full = Math.min(longestMs, firstMs * 2 ** failures)
  return full / 2 + Math.random() * (full / 2)
}

/** Resolves `ms` from now, or as soon as the signal is aborted. */
export const nap = (clock: Clock, ms: number, until?: AbortSignal): Promise<void> =>
  new Promise(resolve => {
    if (until?.aborted) return resolve()
    const wake = () => {
      cancel()
      until?.removeEventListener('abort', wake)
      resolve()
    }
    const cancel = clock.after(ms, wake)
    until?.addEventListener('abort', wake)
  })
