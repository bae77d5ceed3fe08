// Waits on the clock: for work, but no longer than a time; for a time alone; and to do something once after a time.
import type { Clock } from './clock.ts'

/** The result of the work, or undefined once the time is over. The work itself goes on then, and an error that it throws is dropped. */
export async function withTimeout<T>(
  clock: Pick<Clock, 'after'>,
  ms: number,
  work: Promise<T>,
): Promise<T | undefined> {
  let cancel = (): void => {}
  const late = new Promise<undefined>(resolve => {
    cancel = clock.after(ms, () => resolve(undefined))
  })
  return Promise.race([work, late]).finally(() => cancel())
}

/** Resolves `ms` from now, or as soon as the signal is aborted. */
export const sleep = (clock: Pick<Clock, 'after'>, ms: number, signal?: AbortSignal): Promise<void> =>
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

export interface Timer {
  /** Does nothing while it is set. It can be set again once it has run or was cancelled. */
  set(ms: number, task: () => void): void
  cancel(): void
}

export function createTimer(clock: Pick<Clock, 'after'>): Timer {
  let cancel: (() => void) | null = null
  return {
    set(ms, task) {
      cancel ??= clock.after(ms, () => {
        cancel = null
        task()
      })
    },
    cancel() {
      cancel?.()
      cancel = null
    },
  }
}
