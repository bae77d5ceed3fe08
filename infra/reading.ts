// What an engine is asked for again and again: figures of /metrics, checks of /readyz, what waits. In: how to read it. Out: what was read
// last. Callers share a reading. One that is late delays its callers for a moment only: they get what is known, if it is recent. While
// readings are late they go on between the calls, so that a slow engine is told from one that is away.
import type { Clock } from './clock.ts'
import { createTimer, withTimeout } from './timeout.ts'
import { Unavailable } from './unavailable.ts'

export interface Reading<T> {
  /** What was read last, read again where that is no longer fresh. Rejects where nothing recent is known. */
  latest(): Promise<T>
  /** How long ago it was read last; where it never was, how long ago it was asked for first. */
  ageMs(): number
}

export interface ReadingOptions<T> {
  read(): Promise<T>
  clock: Clock
  /** For so long the same is answered. Without it, each call reads again. */
  freshMs?: number
  /** How long a caller waits for a new reading. */
  waitMs?: number
}

const WAIT_MS = 500
/** Nothing older is answered. */
const MAX_AGE_MS = 5_000
/** Late readings go on at this distance, for so long after the last call. */
const NEXT_MS = 2_000
const GO_ON_MS = 60_000

export function createReading<T>({ read, clock, freshMs = 0, waitMs = WAIT_MS }: ReadingOptions<T>): Reading<T> {
  let known: { value: T; at: number } | null = null
  let failure: unknown = new Unavailable('it was not read in time')
  let underWay: Promise<void> | null = null
  let firstCallAt: number | null = null
  let lastCallAt = 0
  const next = createTimer(clock)

  async function readOnce(): Promise<void> {
    const startedAt = clock.now()
    try {
      const value = await read()
      known = { value, at: clock.now() }
    } catch (error) {
      failure = error
    }
    underWay = null
    const now = clock.now()
    if (now - startedAt > waitMs && now - lastCallAt < GO_ON_MS) next.set(NEXT_MS, () => void start())
  }

  function start(): Promise<void> {
    underWay ??= readOnce()
    return underWay
  }

  /** A value from before the clock was set back would be kept for too long. */
  function recent(maxAgeMs: number): { value: T } | null {
    const ageMs = known === null ? -1 : clock.now() - known.at
    return ageMs >= 0 && ageMs < maxAgeMs ? known : null
  }

  return {
    async latest() {
      lastCallAt = clock.now()
      firstCallAt ??= lastCallAt
      const fresh = recent(freshMs)
      if (fresh) return fresh.value
      await withTimeout(clock, waitMs, start())
      const found = recent(MAX_AGE_MS)
      if (!found) throw failure
      return found.value
    },
    ageMs() {
      const now = clock.now()
      return Math.max(0, now - (known?.at ?? firstCallAt ?? now))
    },
  }
}
