// Knows whether an engine is away: it was asked, and has answered nothing for three seconds, not even a question of the
// watch's own. In: every call of the engine, from its adapter. Out: whether it is away, for work that a caller waits
// for. Such work is refused at once while it is, and no longer waited for once it is. Other work waits as long as the
// adapter says: it is better done late than begun again.
import type { Clock } from './clock.ts'
import type { EngineWait } from './engine-wait.ts'
import { createTimer } from './timeout.ts'
import { NotBegun, Unavailable } from './unavailable.ts'

/** What callers wait for, as opposed to work that can be done later. */
export interface Waited {
  away(): boolean
  /** Rejects with `NotBegun` while the engine is away, without beginning the work; and with `Unavailable` once it is away, without
   *  waiting for the work, which goes on. */
  unlessAway<Result>(work: () => Promise<Result>): Promise<Result>
}

export interface EngineWatch extends Waited {
  /** For the adapter: takes note of a call of the engine and of its answer. `isAnswer`: of an error; `Unavailable` is none by default. */
  observe<Result>(call: Promise<Result>, isAnswer?: (error: unknown) => boolean): Promise<Result>
  stop(): void
}

export interface EngineWatches {
  store: EngineWatch
  broker: EngineWatch
}

export interface EngineWatchDeps {
  /** As people call it. */
  engine: string
  /** Asks the engine something that it answers at once, by a call that is observed. Called once a second while the engine is away. */
  probe(): Promise<unknown>
  clock: Pick<Clock, 'after'>
  wait?: Pick<EngineWait, 'lost' | 'answered'>
}

const TICK_MS = 1_000
/** Ticks without an answer, while there are calls under way. A single slow call is no proof, and neither is a process that stood still. */
const SILENT_TICKS_BEFORE_PROBE = 1
const SILENT_TICKS_BEFORE_AWAY = 3
const PROBE_EVERY_MS = 1_000

export function createEngineWatch({ engine, probe, clock, wait }: EngineWatchDeps): EngineWatch {
  const waiting = new Set<(error: Unavailable) => void>()
  const timer = createTimer(clock)
  let away = false
  let stopped = false
  let underWay = 0
  let hasAnswered = false
  let silentTicks = 0

  function tick(): void {
    if (away) {
      // First, because the probe would set it for sooner.
      timer.set(PROBE_EVERY_MS, tick)
      ask()
      return
    }
    silentTicks = hasAnswered || underWay === 0 ? 0 : silentTicks + 1
    hasAnswered = false
    if (silentTicks === SILENT_TICKS_BEFORE_PROBE) ask()
    if (silentTicks === SILENT_TICKS_BEFORE_AWAY) lose()
    else if (underWay > 0) timer.set(TICK_MS, tick)
  }

  function lose(): void {
    away = true
    wait?.lost()
    const rejects = [...waiting]
    waiting.clear()
    for (const reject of rejects) reject(new Unavailable(doesNotAnswer))
    timer.set(PROBE_EVERY_MS, tick)
  }

  /** What comes of it, `observe` notes. */
  const ask = (): void => void probe().catch(() => {})

  function noteAnswer(): void {
    hasAnswered = true
    if (!away) return
    away = false
    silentTicks = 0
    wait?.answered()
  }

  const doesNotAnswer = `${engine} does not answer`

  return {
    away: () => away,
    unlessAway: work =>
      new Promise((resolve, reject) => {
        if (away) throw new NotBegun(doesNotAnswer)
        const working = work()
        waiting.add(reject)
        void working.then(resolve, reject).finally(() => waiting.delete(reject))
      }),
    async observe(call, isAnswer = isRefusal) {
      underWay += 1
      if (!stopped) timer.set(TICK_MS, tick)
      try {
        const result = await call
        noteAnswer()
        return result
      } catch (error) {
        if (isAnswer(error)) noteAnswer()
        throw error
      } finally {
        underWay -= 1
      }
    },
    stop() {
      stopped = true
      timer.cancel()
    },
  }
}

/** An engine that refuses has answered. */
const isRefusal = (error: unknown): boolean => !(error instanceof Unavailable)
