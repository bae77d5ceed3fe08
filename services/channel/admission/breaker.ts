// A circuit breaker for one provider: it opens when the provider keeps failing, and every half minute lets one call through to see
// whether the provider works again. opossum counts and decides. Time comes from our clock: the counting window is rotated and an open
// circuit is half opened when the breaker is used, so that it holds no timer and a test can move the clock.
import { EventEmitter } from 'node:events'
import CircuitBreaker from 'opossum'
import type { Clock } from '../../../infra/clock.ts'
import type { BreakerState } from '../../domain/breakers/documents.ts'

export interface Breaker {
  state(): BreakerState
  /** Whether `enter` would return null. */
  isShut(): boolean
  /** Permission for one call; null while the circuit is open. A half open circuit permits one call at a time. */
  enter(): BreakerEntry | null
  shutDown(): void
}

/** Must be run once or canceled. */
export interface BreakerEntry {
  /** Makes the call and counts it. It counts as a failure when it throws or when `failed` says so of its answer. */
  run<T>(call: () => Promise<T>, failed: (answer: T) => boolean): Promise<T>
  cancel(): void
}

const WINDOW_MS = 60_000
const WINDOW_BUCKETS = 10
const OPEN_MS = 30_000
/** opossum opens above its threshold, and we want to open at exactly 50 %. */
const OPENING_RULES = { volumeThreshold: 10, errorThresholdPercentage: 50 - 1e-6, timeout: false as const }
/** opossum's reset timer would run by the real clock, so it is set to its maximum. */
const NEVER_MS = 2 ** 31 - 1

/** Carries a failed call's answer past opossum, which counts only errors. */
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
    const passedBuckets = Math.floor((now - rotatedAt) / (WINDOW_MS / WINDOW_BUCKETS))
    for (let bucket = 0; bucket < Math.min(passedBuckets, WINDOW_BUCKETS); bucket += 1) bucketRotation.emit('rotate')
    rotatedAt += passedBuckets * (WINDOW_MS / WINDOW_BUCKETS)
    if (!circuit.opened || now < openedAt + OPEN_MS) return
    // The new circuit starts with an empty window: failures before the pause do not count against a provider that works again.
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
        // The circuit has opened since `enter`. The call is made without counting, like those that were already in progress.
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
