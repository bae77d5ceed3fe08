// Whether this process can do its work. In: its engines, its clock, its consumers and its phase. Out: one check for each thing that work
// needs. An engine is ready when it has worked: the store when a write has committed, the broker when a message has come back.
import { randomUUID } from 'node:crypto'
import { type Broker, type BrokerState, CallTimeout, type Consumer } from './broker/broker.ts'
import type { Clock } from './clock.ts'
import type { ClockWatch } from './clock-watch.ts'
import type { Check, Readiness } from './http/health.ts'
import type { Logger } from './log/log.ts'
import { scrub } from './log/scrub.ts'
import { createReading } from './reading.ts'
import type { Doc } from './store/docs.ts'
import { collection, type Store } from './store/store.ts'
import { HOUR_MS } from './time.ts'
import { withTimeout } from './timeout.ts'
import { Unavailable } from './unavailable.ts'

/** What a process has written last to see whether it can. */
export interface WriteProbe extends Doc {
  at: number
  purge_at: Date
}

export const READINESS_COLLECTIONS = {
  write_probes: collection<WriteProbe>({ indexes: [], belongsTo: [{ to: null, why: 'of processes' }], purged: true }),
}

export type ProbedStore = Pick<Store<typeof READINESS_COLLECTIONS>, 'docs' | 'ping'>

export interface ReadinessDeps {
  broker: Pick<Broker, 'state' | 'roundTrip'>
  store: ProbedStore
  clock: Clock
  log: Logger
  clockWatch: Pick<ClockWatch, 'check'>
  consumers: readonly Pick<Consumer, 'attached'>[]
  phase(): Phase
}

/** `draining`: told to stop, and still serving everything. */
export type Phase = 'starting' | 'running' | 'draining' | 'stopping'

const ENGINE_TIMEOUT_MS = 3_000
/** However often /readyz is asked, the engines are asked no more often than this. */
const FRESH_MS = 1_000
/** /readyz is answered within a second, also while an engine hangs. */
const WAIT_MS = 800
/** The document of a process that has ended is removed after this time. */
const PROBE_RETENTION_MS = HOUR_MS

export function createReadiness(deps: ReadinessDeps): Readiness {
  const { broker, store, clock, log, clockWatch, consumers, phase } = deps
  const probes = store.docs('write_probes')
  const _id = randomUUID()
  const logChanges = createChangeLog(log)

  async function write(): Promise<void> {
    const at = clock.now()
    const purge_at = new Date(at + PROBE_RETENTION_MS)
    await probes.modify({ _id }, { $set: { at, purge_at } }, { upsert: true })
  }

  async function sendAndReceive(): Promise<void> {
    const state = broker.state()
    if (state !== 'up') throw new Unavailable(BROKER_STATES[state])
    await broker.roundTrip(ENGINE_TIMEOUT_MS)
  }

  /** A check that hangs does not delay the answer: until it ends, the one before counts. */
  function engineCheck(name: string, proof: string, work: () => Promise<void>): () => Promise<Check> {
    const reading = createReading({
      read: () => checkOnce(name, proof, work),
      clock,
      freshMs: FRESH_MS,
      waitMs: WAIT_MS,
    })
    return () => reading.latest().catch(() => ({ name, ok: false, detail: 'no answer yet' }))
  }

  async function checkOnce(name: string, proof: string, work: () => Promise<void>): Promise<Check> {
    const failure = await failureWithin(clock, ENGINE_TIMEOUT_MS, work)
    if (failure === null) return { name, ok: true, detail: proof }
    if (!isOfEngine(failure)) log.error({ check: name, err: failure }, 'readiness.failed')
    return { name, ok: false, detail: describe(failure) }
  }

  const answers = engineCheck('store', 'answers', () => store.ping())
  const commits = engineCheck('store', 'a write was committed', write)
  const brokerCheck = engineCheck('broker', 'a message came back', sendAndReceive)

  return async () => {
    // A starting process has not yet compared its keys with the store's, and until then it writes nothing.
    const storeCheck = phase() === 'starting' ? answers : commits
    const engines = await Promise.all([storeCheck(), brokerCheck()])
    const checks = [processCheck(phase()), ...engines, clockWatch.check(), consumersCheck(phase(), consumers)]
    logChanges(checks)
    return checks
  }
}

function processCheck(phase: Phase): Check {
  const detail = phase === 'draining' ? 'stopping' : phase
  return { name: 'process', ok: phase === 'running', detail }
}

function consumersCheck(phase: Phase, consumers: ReadinessDeps['consumers']): Check {
  const attached = consumers.filter(consumer => consumer.attached()).length
  const ok = phase !== 'starting' && attached === consumers.length
  return { name: 'consumers', ok, detail: `${attached} of ${consumers.length} attached` }
}

const BROKER_STATES: Record<BrokerState, string> = {
  up: 'connected',
  blocked: 'it takes no messages: it lacks memory or disk',
  down: 'not connected',
}

/** Null when the work was done in time, else why not. */
async function failureWithin(clock: Clock, ms: number, work: () => Promise<void>): Promise<unknown> {
  const failure = work().then(
    () => null,
    (error: unknown) => error ?? new Error('failed without an error'),
  )
  const known = await withTimeout(clock, ms, failure)
  return known === undefined ? new CallTimeout() : known
}

const isOfEngine = (failure: unknown): boolean => failure instanceof Unavailable || failure instanceof CallTimeout

/** The adapters' own words. Those of a driver may name an address, so they are only logged. */
function describe(failure: unknown): string {
  if (failure instanceof CallTimeout) return `no answer within ${ENGINE_TIMEOUT_MS / 1000} s`
  return failure instanceof Unavailable ? scrub(failure.message) : 'failed: see readiness.failed in the log'
}

/** Logs a check that was ok and is not any more, and when it is again. */
function createChangeLog(log: Logger): (checks: readonly Check[]) => void {
  const wasOk = new Map<string, boolean>()
  return checks => {
    for (const { name: check, ok, detail } of checks) {
      if (wasOk.get(check) === true && !ok) log.warn({ check, detail }, 'readiness.lost')
      if (wasOk.get(check) === false && ok) log.info({ check }, 'readiness.restored')
      wasOk.set(check, ok)
    }
  }
}
