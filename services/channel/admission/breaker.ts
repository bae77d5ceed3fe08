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
  enter(): BreakerEntry | null
  shutDown(): void
}

/** To be used for one call, or given up. */
export interface BreakerEntry {
  /** Makes the call and counts it. What `failed` says of its answer, or that it throws, counts against the provider. */
  run<T>(call: () => Promise<T>, failed: (answer: T) => boolean): Promise<T>
  cancel(): void
}

const WINDOW_MS = 60_000
const WINDOW_BUCKETS = 10
const OPEN_MS = 30_000
/** opossum opens above its threshold, we at 50 %. */
const OPENING_RULES = { volumeThreshold: 10, errorThresholdPercentage: 50 - 1e-6, timeout: false as const }
/** opossum's own timers would run by the real clock. This one never rings. */
const NEVER_MS = 2 ** 31 - 1

/** What opossum is told of a call that came to nothing. */
class CountedFailure<T> extends Error {
  readonly answer: T
  constructor(answer: T) {
    super('counts against the provider')
    this.answer = answer
  }
}

export interface BreakerDeps {
  clock: Pick<Clock, 'now'>
  onChange?(state: BreakerState): void
}

export function createBreaker({ clock, onChange = () => {} }: BreakerDeps): Breaker {
  let bucketRotation = new EventEmitter()
  let rotatedAt = clock.now()
  let openedAt = 0
  let probing = false
  let circuit = createCircuit(false)

  function createCircuit(halfOpen: boolean) {
    bucketRotation = new EventEmitter()
    const newCircuit = new CircuitBreaker((call: () => Promise<unknown>) => call(), {
      ...OPENING_RULES,
      resetTimeout: NEVER_MS,
      rollingCountTimeout: WINDOW_MS,
      rollingCountBuckets: WINDOW_BUCKETS,
      rollingPercentilesEnabled: false,
      enableSnapshots: false,
      rotateBucketController: bucketRotation,
      ...(halfOpen ? { state: HALF_OPEN } : {}),
    })
    newCircuit.on('open', () => {
      openedAt = clock.now()
      probing = false
      onChange('open')
    })
    newCircuit.on('close', () => {
      probing = false
      onChange('closed')
    })
    return newCircuit
  }

  function catchUpWithClock(): void {
    const now = clock.now()
    const passed = Math.floor((now - rotatedAt) / (WINDOW_MS / WINDOW_BUCKETS))
    for (let slice = 0; slice < Math.min(passed, WINDOW_BUCKETS); slice += 1) bucketRotation.emit('rotate')
    rotatedAt += passed * (WINDOW_MS / WINDOW_BUCKETS)
    if (!circuit.opened || now < openedAt + OPEN_MS) return
    // With an empty window: what it did half a minute ago does not count against a provider that is back.
    circuit.shutdown()
    circuit = createCircuit(true)
    onChange('half_open')
  }

  const state = (): BreakerState => (circuit.opened ? 'open' : circuit.halfOpen ? 'half_open' : 'closed')

  function createEntry(enteredCircuit: typeof circuit): BreakerEntry {
    return {
      cancel() {
        if (enteredCircuit === circuit && enteredCircuit.halfOpen) probing = false
      },
      async run<T>(call: () => Promise<T>, failed: (answer: T) => boolean): Promise<T> {
        // Opened since it was let in: it goes as those go that were on their way when that happened.
        if (enteredCircuit.opened || enteredCircuit.isShutdown) return call()
        try {
          return (await enteredCircuit.fire(async () => {
            const answer = await call()
            if (failed(answer)) throw new CountedFailure(answer)
            return answer
          })) as T
        } catch (error) {
          if (error instanceof CountedFailure) return error.answer
          throw error
        }
      },
    }
  }

  function isShut(): boolean {
    catchUpWithClock()
    return circuit.opened || (circuit.halfOpen && probing)
  }

  return {
    state,
    isShut,
    enter() {
      if (isShut()) return null
      probing = circuit.halfOpen
      return createEntry(circuit)
    },
    shutDown: () => circuit.shutdown(),
  }
}

const HALF_OPEN = {
  name: '',
  enabled: true,
  closed: false,
  open: false,
  halfOpen: true,
  warmUp: false,
  shutdown: false,
}
