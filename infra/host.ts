// Hosts services in a process. In: what each serves over HTTP and what each consumes. Out: a process that is alive at once,
// ready when its engines answer and its consumers are attached, and that finishes what is in hand when told to stop.
import type { Router } from '@koa/router'
import type Koa from 'koa'
import type { Broker, Consumer } from './broker/broker.ts'
import type { Clock } from './clock.ts'
import type { Readiness } from './http/health.ts'
import { type Listener, listen } from './http/listen.ts'
import type { Logger } from './log/log.ts'
import { Unavailable } from './unavailable.ts'

/** One role at work. */
export interface Service {
  router?: Router
  /** Called once the engines answer; what it consumes counts towards readiness. */
  attach?(): Promise<Consumer[]>
  /** Called when its consumers take no more work: finishes what it began by itself. */
  stop?(): Promise<void>
}

export interface HostDeps {
  broker: Pick<Broker, 'state' | 'close'>
  store: { ping(): Promise<void>; close(): Promise<void> }
  clock: Clock
  log: Logger
  services: readonly Service[]
  /** Every address it answers at; the first is the public one. `readiness` is for whoever shows it. */
  listeners(readiness: () => Promise<Readiness>): readonly { app: Koa; host: string; port: number }[]
  /** What must be in the store before any work is taken. Repeated until the store answers. */
  prepare(): Promise<void>
}

export interface RunningHost {
  /** Of each door, in their order. */
  ports: readonly number[]
  /** Resolves once work is taken; rejects when it never will be. */
  ready: Promise<void>
  /** Refuses new work, finishes what is in hand, hangs up. Idempotent. */
  stop(): Promise<void>
}

const PING_TIMEOUT_MS = 2_000
const PREPARE_RETRY_MS = 500
/** Together they stay below the ten seconds an orchestrator grants. */
const REQUESTS_GRACE_MS = 4_000
const CONSUMERS_GRACE_MS = 4_000
const SERVICES_GRACE_MS = 500
/** An engine that is away is not waited for. */
const ENGINE_GRACE_MS = 500

export async function startHost(deps: HostDeps): Promise<RunningHost> {
  const { broker, store, clock, log, services } = deps
  const consumers: Consumer[] = []
  let phase: 'starting' | 'running' | 'stopping' = 'starting'
  let stopWaiting = (): void => {}

  const readiness = async (): Promise<Readiness> => ({
    process: phase === 'running' ? 'up' : 'down',
    store: (await withTimeout(clock, PING_TIMEOUT_MS, respondsToPing(store))) ? 'up' : 'down',
    broker: broker.state(),
    consumers: phase !== 'starting' && consumers.every(consumer => consumer.attached()) ? 'up' : 'down',
  })

  const listeners: Listener[] = []
  try {
    for (const listener of deps.listeners(readiness)) listeners.push(await listen(listener.app, listener, clock))
  } catch (error) {
    await Promise.allSettled([...listeners.map(listener => listener.close(0)), broker.close(0), store.close()])
    throw error
  }

  async function work(): Promise<void> {
    await prepareStore()
    for (const service of services) if (phase === 'starting') consumers.push(...((await service.attach?.()) ?? []))
    if (phase !== 'starting') throw new Unavailable('stopped before it was ready')
    phase = 'running'
  }

  async function prepareStore(): Promise<void> {
    while (phase === 'starting') {
      try {
        return await deps.prepare()
      } catch (error) {
        if (!(error instanceof Unavailable)) throw error
        log.warn({ err: error }, 'store.awaited')
        await new Promise<void>(resolve => {
          const cancel = clock.after(PREPARE_RETRY_MS, resolve)
          stopWaiting = () => {
            cancel()
            resolve()
          }
        })
      }
    }
  }

  async function stop(): Promise<void> {
    phase = 'stopping'
    stopWaiting()
    // Requests first: those in hand may still need this process's own consumers.
    await allSettled(listeners.map(listener => listener.close(REQUESTS_GRACE_MS)))
    await stopConsumers()
    // What is not finished by then is left as a crash would leave it, and repaired as after one.
    await allSettled(services.map(service => withTimeout(clock, SERVICES_GRACE_MS, service.stop?.())))
    await allSettled([withTimeout(clock, ENGINE_GRACE_MS, broker.close(0))])
    await allSettled([withTimeout(clock, ENGINE_GRACE_MS, store.close())])
  }

  /** The last attached first: what a channel has in hand ends in a report, and the consumer of reports was attached before it. */
  async function stopConsumers(): Promise<void> {
    const deadline = clock.now() + CONSUMERS_GRACE_MS
    for (const consumer of consumers.toReversed())
      await allSettled([consumer.stop(Math.max(0, deadline - clock.now()))])
  }

  /** Whatever becomes of one, the others are waited for. */
  const allSettled = (ends: Promise<unknown>[]): Promise<unknown> =>
    Promise.all(ends.map(end => end.catch(error => log.error({ err: error }, 'host.not_stopped'))))

  const ready = work()
  // Whoever awaits it is told; who does not must not be killed by it.
  ready.catch(() => {})
  let stopped: Promise<void> | undefined
  return {
    ports: listeners.map(listener => listener.port),
    ready,
    stop: () => {
      stopped ??= stop()
      return stopped
    },
  }
}

const respondsToPing = (store: HostDeps['store']): Promise<boolean> =>
  store.ping().then(
    () => true,
    () => false,
  )

/** What the work comes to, or undefined when time is up. */
async function withTimeout<T>(clock: Clock, ms: number, startWork: Promise<T> | undefined): Promise<T | undefined> {
  let cancel = (): void => {}
  const late = new Promise<undefined>(resolve => {
    cancel = clock.after(ms, () => resolve(undefined))
  })
  return Promise.race([startWork, late]).finally(() => cancel())
}
