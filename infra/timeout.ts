// Waits no longer than a time. In: work that has begun. Out: its result, or undefined once the time is over.
import type { Clock } from './clock.ts'

/** The work itself goes on after the time. An error that comes then is dropped. */
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
