// Waits for a condition instead of sleeping. In: an assertion. Out: its value as soon as it holds; its last error when time is up.

const SHORTEST_MS = 10
const LONGEST_MS = 100

/** The longer it has waited, the less often it looks: the looks of one test take processor time from the others. `nextLookMs` replaces that. */
export async function eventually<T>(
  assertion: () => T | Promise<T>,
  withinMs = 30_000,
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
