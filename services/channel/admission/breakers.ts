// A circuit breaker: leaves a provider that keeps failing alone, and lets one call through now and then to see whether it is back.
// opossum counts and decides; time is ours. Its windows are turned, and an open one is half opened, when somebody asks, so that a
// breaker holds no timer and a test can move its clock.
import { EventEmitter } from 'node:events'
import CircuitBreaker from 'opossum'
import type { Clock } from '../../../infra/clock.ts'

export type BreakerState = 'closed' | 'open' | 'half_open'

export interface Breaker {
  state(): BreakerState
  /** Whether `enter` would be in vain. */
  isShut(): boolean
  /** Leave to make one call; null while the provider is to be left alone. Half open, one at a time has it. */
  enter(): Entry | null
  shutDown(): void
}

/** To be used for one call, or given up. */
export interface Entry {
  /** Makes the call and counts it. What `failed` says of its answer, or that it throws, counts against the provider. */
  run<T>(call: () => Promise<T>, failed: (answer: T) => boolean): Promise<T>
  giveUp(): void
}

const WINDOW_MS = 60_000
const SLICES = 10
const OPEN_MS = 30_000
/** opossum opens above its threshold, we at 50 %. */
const RULES = { volumeThreshold: 10, errorThresholdPercentage: 50 - 1e-6, timeout: false as const }
/** opossum's own timers would run by the real clock. This one never rings. */
const NEVER_MS = 2 ** 31 - 1

/** What opossum is told of a call that came to nothing. */
class Counted<T> extends Error {
  readonly answer: T
  constructor(answer: T) {
    super('counts against the provider')
    this.answer = answer
  }
}

export interface BreakerParts {
  clock: Pick<Clock, 'now'>
  changed?(state: BreakerState): void
}

export function breaker({ clock, changed = () => {} }: BreakerParts): Breaker {
  let slices = new EventEmitter()
  let turnedAt = clock.now()
  let openedAt = 0
  let probing = false
  let circuit = made(false)

  function made(halfOpen: boolean) {
    slices = new EventEmitter()
    const fresh = new CircuitBreaker((call: () => Promise<unknown>) => call(), {
      ...{ ...RULES, resetTimeout: NEVER_MS, rollingCountTimeout: WINDOW_MS, rollingCountBuckets: SLICES },
      ...{ rollingPercentilesEnabled: false, enableSnapshots: false, rotateBucketController: slices },
      ...(halfOpen ? { state: HALF_OPEN } : {}),
    })
    fresh.on('open', () => {
      openedAt = clock.now()
      probing = false
      changed('open')
    })
    fresh.on('close', () => {
      probing = false
      changed('closed')
    })
    return fresh
  }

  function lookAtClock(): void {
    const now = clock.now()
    const passed = Math.floor((now - turnedAt) / (WINDOW_MS / SLICES))
    for (let slice = 0; slice < Math.min(passed, SLICES); slice += 1) slices.emit('rotate')
    turnedAt += passed * (WINDOW_MS / SLICES)
    if (!circuit.opened || now < openedAt + OPEN_MS) return
    // With an empty window: what it did half a minute ago does not count against a provider that is back.
    circuit.shutdown()
    circuit = made(true)
    changed('half_open')
  }

  const state = (): BreakerState => (circuit.opened ? 'open' : circuit.halfOpen ? 'half_open' : 'closed')

  function entry(mine: typeof circuit): Entry {
    return {
      giveUp() {
        if (mine === circuit && mine.halfOpen) probing = false
      },
      async run<T>(call: () => Promise<T>, failed: (answer: T) => boolean): Promise<T> {
        // Opened since it was let in: it goes as those go that were on their way when that happened.
        if (mine.opened || mine.isShutdown) return call()
        try {
          return (await mine.fire(async () => {
            const answer = await call()
            if (failed(answer)) throw new Counted(answer)
            return answer
          })) as T
        } catch (error) {
          if (error instanceof Counted) return error.answer
          throw error
        }
      },
    }
  }

  function isShut(): boolean {
    lookAtClock()
    return circuit.opened || (circuit.halfOpen && probing)
  }

  return {
    state,
    isShut,
    enter() {
      if (isShut()) return null
      probing = circuit.halfOpen
      return entry(circuit)
    },
    shutDown: () => circuit.shutdown(),
  }
}

const HALF_OPEN = {
  ...{ name: '', enabled: true, closed: false, open: false, halfOpen: true },
  ...{ warmUp: false, shutdown: false },
}
