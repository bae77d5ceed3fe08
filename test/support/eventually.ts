// Waits for a condition instead of sleeping. In: an assertion. Out: its value as soon as it holds; its last error when time is up.
import type { TestClock } from './clock.ts'

const SHORTEST_MS = 10
const LONGEST_MS = 100

/** The longer it has waited, the less often it looks: the looks of one test take processor time from the others.
 *  `nextLookMs` replaces that. */
export async function eventually<T>(
  assertion: () => T | Promise<T>,
  withinMs = 120_000,
  nextLookMs = (waitedMs: number): number => Math.min(Math.max(waitedMs / 10, SHORTEST_MS), LONGEST_MS),
): Promise<T> {
  const since = performance.now()
  for (;;) {
    try {
      return await assertion()
    } catch (failure) {
      const waitedMs = performance.now() - since
      if (waitedMs > withinMs) throw failure
      await new Promise(resolve => setTimeout(resolve, nextLookMs(waitedMs)))
    }
  }
}

/** How long real calls get between two steps of a clock that stands still. */
const PAUSE_MS = 10
/** Then the clock stands still again: what the sweeper repairs in minutes is not to pass for what works. */
const MOST_STEPS = 3_000

/** For a clock that stands still: it advances a little before each further look. */
export const eventuallyAdvancing = <T>(
  assertion: () => T | Promise<T>,
  clock: Pick<TestClock, 'advance'>,
  stepMs: number,
): Promise<T> => {
  let steps = 0
  return eventually(
    async () => {
      try {
        return await assertion()
      } catch (failure) {
        steps += 1
        if (steps <= MOST_STEPS) await clock.advance(stepMs)
        throw failure
      }
    },
    undefined,
    () => PAUSE_MS,
  )
}
