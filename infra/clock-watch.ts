// Compares the clock of this process with the store's, at start and every minute. In: the store's time. Out: a gauge, a warning when they
// are more than 2 s apart, and the word that the process must not work when they are more than 10 s apart: processes agree on what has
// expired only if their clocks agree, and the store's is the one clock that all of them can ask.
import type { Clock } from './clock.ts'
import type { Check } from './http/health.ts'
import type { Logger } from './log/log.ts'
import type { Metrics } from './metrics.ts'
import type { Collections, Store } from './store/store.ts'
import { MINUTE_MS } from './time.ts'
import { Unavailable } from './unavailable.ts'

export interface ClockWatchDeps {
  store: Pick<Store<Collections>, 'ping' | 'time'>
  clock: Clock
  log: Logger
  metrics: Pick<Metrics, 'clockOffset'>
  /** Called when the process may not work by its clock any more, and when it may again. */
  onChange(trusted: boolean): void
}

export interface ClockWatch {
  /** Resolves after the first comparison, and goes on comparing until `stop`. Rejects with `Unavailable` while the store does not answer;
   *  it can then be called again. */
  start(): Promise<void>
  /** False until the first comparison, and while the clocks are more than 10 s apart. */
  trusted(): boolean
  check(): Check
  stop(): void
}

const WARN_ABOVE_MS = 2_000
const TRUST_UP_TO_MS = 10_000
const COMPARE_EVERY_MS = MINUTE_MS
/** Sooner while the process waits for its clock to be right, or for the store to tell its time. */
const COMPARE_AGAIN_MS = 5_000
/** A longer round trip could hide what deserves a warning. */
const MAX_ROUND_TRIP_MS = WARN_ABOVE_MS

type Verdict = 'unknown' | 'right' | 'apart' | 'wrong'

export function createClockWatch({ store, clock, log, metrics, onChange }: ClockWatchDeps): ClockWatch {
  let verdict: Verdict = 'unknown'
  let offsetMs = 0
  let stopped = false
  let cancelNext = (): void => {}

  const isTrusted = (): boolean => verdict === 'right' || verdict === 'apart'

  /** How far this clock is ahead of the store's, at least: a slow answer is no offset. */
  async function measure(): Promise<number> {
    // A ping may have to connect first. What follows it is a single round trip.
    await store.ping()
    const before = clock.now()
    const storeTime = await store.time()
    const after = clock.now()
    if (Math.abs(after - before) > MAX_ROUND_TRIP_MS) throw new Unavailable('the store took too long to tell its time')
    const offsets = [before - storeTime, after - storeTime].sort((a, b) => Math.abs(a) - Math.abs(b))
    const [nearest = 0, farthest = 0] = offsets
    return Math.sign(nearest) === Math.sign(farthest) ? nearest : 0
  }

  async function compare(): Promise<void> {
    offsetMs = await measure()
    metrics.clockOffset.set(offsetMs / 1000)
    const [previous, wasTrusted] = [verdict, isTrusted()]
    verdict = verdictOf(offsetMs)
    if (verdict !== previous) logVerdict(previous)
    if (isTrusted() !== wasTrusted) onChange(isTrusted())
  }

  function logVerdict(previous: Verdict): void {
    const fields = { offset_ms: offsetMs }
    if (verdict === 'wrong') log.error(fields, 'clock.wrong')
    if (verdict === 'apart') log.warn(fields, 'clock.apart')
    if (verdict === 'right' && previous !== 'unknown') log.info(fields, 'clock.right')
  }

  function compareAgainIn(ms: number): void {
    if (stopped) return
    cancelNext = clock.after(ms, () => {
      compare().then(
        () => compareAgainIn(isTrusted() ? COMPARE_EVERY_MS : COMPARE_AGAIN_MS),
        error => {
          if (!(error instanceof Unavailable)) log.error({ err: error }, 'clock.not_compared')
          compareAgainIn(COMPARE_AGAIN_MS)
        },
      )
    })
  }

  return {
    async start() {
      await compare()
      compareAgainIn(isTrusted() ? COMPARE_EVERY_MS : COMPARE_AGAIN_MS)
    },
    trusted: isTrusted,
    check: () => ({ name: 'clock', ok: isTrusted(), detail: describe(verdict, offsetMs) }),
    stop() {
      stopped = true
      cancelNext()
    },
  }
}

function verdictOf(offsetMs: number): Verdict {
  const apart = Math.abs(offsetMs)
  if (apart > TRUST_UP_TO_MS) return 'wrong'
  return apart > WARN_ABOVE_MS ? 'apart' : 'right'
}

function describe(verdict: Verdict, offsetMs: number): string {
  if (verdict === 'unknown') return "not yet compared with the store's"
  if (verdict === 'right') return "agrees with the store's"
  return `${(Math.abs(offsetMs) / 1000).toFixed(1)} s ${offsetMs > 0 ? 'ahead of' : 'behind'} the store's`
}
