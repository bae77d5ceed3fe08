// Hosts services in a process. In: the routers and consumers of each service. Out: a process that is alive at once, is ready when its
// engines work, its clock is right and its consumers are attached, and finishes its requests and messages when it is told to stop.
import type { Router } from '@koa/router'
import type { Broker, Consumer } from './broker/broker.ts'
import { isWorkQueue } from './broker/topology.ts'
import type { Clock } from './clock.ts'
import { createClockWatch } from './clock-watch.ts'
import type { RefuseEarly } from './http/early-refusals.ts'
import type { Readiness } from './http/health.ts'
import { type Address, type App, type Listener, listen } from './http/listen.ts'
import type { TrustsCaller } from './http/request-trace.ts'
import type { Logger } from './log/log.ts'
import type { Metrics } from './metrics.ts'
import { createReadiness, type Phase, type READINESS_COLLECTIONS } from './readiness.ts'
import type { Store } from './store/store.ts'
import { withTimeout } from './timeout.ts'
import { Unavailable } from './unavailable.ts'

/** What plays one role. */
export interface Service {
  router?: Router
  /** Answered at METRICS_PORT beside the metrics: what a monitoring system may read without a token. */
  monitoringRouter?: Router
  /** Asked about each request before the router is. */
  refuseEarly?: RefuseEarly
  /** Whose traces are continued where spans are recorded. One service of a process says so. */
  trustsCaller?: TrustsCaller
  /** Called once the engines answer. The process is ready only while the returned consumers are attached. */
  attach?(): Promise<Consumer[]>
  /** Called when the clock of the process is wrong: the service begins no work of its own, such as a sweep, until `resume`. Its consumers
   *  are paused by the host. */
  pause?(): void
  resume?(): void
  /** How long what its consumers have begun may take to end once the process is told to stop. */
  graceMs?: number
  /** Called after its consumers have stopped. Finishes the work that the service began on its own, such as a sweep. */
  stop?(): Promise<void>
}

export interface HostDeps {
  broker: Pick<Broker, 'state' | 'whenUp' | 'roundTrip' | 'close'>
  store: Store<typeof READINESS_COLLECTIONS>
  clock: Clock
  log: Logger
  metrics: Pick<Metrics, 'clockOffset'>
  services: readonly Service[]
  /** Every address the process answers at, the public one first. `readiness` is for /readyz. */
  listeners(readiness: Readiness): readonly (Address & { app: App })[]
  /** Puts into the store what must be there before any work is taken. Repeated until the store answers. */
  prepare(): Promise<void>
  /** How long `drain` takes. */
  stopDelayMs: number
}

export interface RunningHost {
  /** One for each listener, in their order. */
  ports: readonly number[]
  /** Resolves once the process takes work. Rejects when it never will. */
  ready: Promise<void>
  /** Resolves once `prepare` is done, or the store was found to be away. Rejects as `ready` does. */
  firstTry: Promise<void>
  /** The process is not ready from now on and takes no more work, and still answers every request, so that a balancer finds out before a
   *  connection is refused. Resolves after the stop delay; at once where the process is not running yet, and when `stop` is called. */
  drain(): Promise<void>
  /** The longest that `stop` takes, from a call of it or of `drain`, not counting the stop delay. */
  stopMs: number
  /** Refuses new work, finishes the work it has, and closes its connections. Idempotent. */
  stop(): Promise<void>
}

const START_RETRY_MS = 500
const REQUESTS_GRACE_MS = 4_000
/** What a service gets that does not say how long its consumers need. */
const CONSUMERS_GRACE_MS = 4_000
/** At least, for reports of what ended last. */
const REPORTS_GRACE_MS = 500
const SERVICES_GRACE_MS = 500
/** Short: an engine that is down would not answer in more time either. */
const ENGINE_GRACE_MS = 500
/** What stopping takes beside the longest grace: the figures above, and a second for what a busy machine adds. */
const CLOSING_MS = 3_000

export async function startHost(deps: HostDeps): Promise<RunningHost> {
  const { broker, store, clock, log, metrics, services } = deps
  const consumers: Consumer[] = []
  const graces = new Map<Consumer, number>()
  let phase: Phase = 'starting'
  let workStopped: Promise<void> | undefined
  let stopWaiting = (): void => {}
  let endFirstTry = (): void => {}
  const firstTryEnded = new Promise<void>(resolve => {
    endFirstTry = resolve
  })

  const clockWatch = createClockWatch({ store, clock, log, metrics, onChange: setWorking })
  const readiness = createReadiness({ broker, store, clock, log, clockWatch, consumers, phase: () => phase })

  const listeners: Listener[] = []
  try {
    for (const listener of deps.listeners(readiness)) listeners.push(await listen(listener.app, listener, clock))
  } catch (error) {
    await Promise.allSettled([...listeners.map(listener => listener.close(0)), broker.close(0), store.close()])
    throw error
  }

  async function work(): Promise<void> {
    await untilStoreAnswers(clockWatch.start)
    while (phase === 'starting' && !clockWatch.trusted()) await wait(START_RETRY_MS)
    await untilStoreAnswers(deps.prepare)
    endFirstTry()
    for (const service of services) await attach(service)
    if (phase !== 'starting') throw new Unavailable('stopped before it was ready')
    phase = 'running'
    // The clock may have changed while consumers were being attached.
    if (!clockWatch.trusted()) setWorking(false)
  }

  /** After the broker takes messages: the work of a service ends in messages. */
  async function attach(service: Service): Promise<void> {
    if (!service.attach) return
    await broker.whenUp()
    if (phase !== 'starting') return
    for (const consumer of await service.attach()) {
      consumers.push(consumer)
      graces.set(consumer, service.graceMs ?? CONSUMERS_GRACE_MS)
    }
  }

  async function untilStoreAnswers(task: () => Promise<void>): Promise<void> {
    while (phase === 'starting') {
      try {
        return await task()
      } catch (error) {
        if (!(error instanceof Unavailable)) throw error
        endFirstTry()
        // What an engine lacks is said by infra/engine-wait.ts.
        log.debug({ why: error.message }, 'store.awaited')
        await wait(START_RETRY_MS)
      }
    }
  }

  /** Ends early when the process is told to stop. */
  const wait = (ms: number): Promise<void> =>
    new Promise(resolve => {
      const cancel = clock.after(ms, resolve)
      stopWaiting = () => {
        cancel()
        resolve()
      }
    })

  /** A process whose clock is wrong would drop messages as expired, or accept codes that are: other processes do its work meanwhile. */
  function setWorking(working: boolean): void {
    if (phase === 'draining' || phase === 'stopping') return
    for (const service of services) (working ? service.resume : service.pause)?.()
    for (const consumer of consumers)
      (working ? consumer.resume() : consumer.pause()).catch(error => log.error({ err: error }, 'host.not_paused'))
  }

  async function drain(): Promise<void> {
    if (phase !== 'running') return
    phase = 'draining'
    for (const listener of listeners) listener.drain()
    void stopWork()
    await wait(deps.stopDelayMs)
  }

  async function stop(): Promise<void> {
    phase = 'stopping'
    stopWaiting()
    clockWatch.stop()
    const since = clock.now()
    const working = stopWork()
    // Requests come first: the open ones may need this process's own consumers.
    await allSettled(listeners.map(listener => listener.close(REQUESTS_GRACE_MS)))
    await stopAll(
      consumers.filter(({ queue }) => !isWorkQueue(queue)),
      since,
    )
    await working
    await stopAll(consumers.filter(isOfReports), since, REPORTS_GRACE_MS)
    // Work that does not finish in time is left as a crash leaves it, and is repaired in the same way.
    await allSettled(
      services.map(service => withTimeout(clock, SERVICES_GRACE_MS, service.stop?.() ?? Promise.resolve())),
    )
    await allSettled([withTimeout(clock, ENGINE_GRACE_MS, broker.close(0))])
    await allSettled([withTimeout(clock, ENGINE_GRACE_MS, store.close())])
  }

  /** From the signal on no work is begun, also during the stop delay. Calls are answered as long as requests are, and reports are taken
   *  until all else has ended: a channel's work ends in a report, and so does a vendor's callback. */
  function stopWork(): Promise<void> {
    const work = consumers.filter(consumer => isWorkQueue(consumer.queue) && !isOfReports(consumer))
    workStopped ??= stopAll(work, clock.now())
    return workStopped
  }

  const isOfReports = ({ queue }: Consumer): boolean => queue === 'otp.reports'

  /** Each within its grace, which counts from `since`. */
  async function stopAll(stopping: readonly Consumer[], since: number, leastMs = 0): Promise<void> {
    const leftFor = (consumer: Consumer): number => since + (graces.get(consumer) ?? 0) - clock.now()
    await allSettled(stopping.map(consumer => consumer.stop(Math.max(leastMs, leftFor(consumer)))))
  }

  /** Waits for all of them, even if one fails. */
  const allSettled = (tasks: Promise<unknown>[]): Promise<unknown> =>
    Promise.all(tasks.map(task => task.catch(error => log.error({ err: error }, 'host.not_stopped'))))

  const ready = work()
  // A caller that does not await `ready` must not be ended by an unhandled rejection.
  ready.catch(() => {})
  const firstTry = Promise.race([firstTryEnded, ready])
  firstTry.catch(() => {})
  let stopped: Promise<void> | undefined
  return {
    stopMs: Math.max(REQUESTS_GRACE_MS, ...services.map(({ graceMs = CONSUMERS_GRACE_MS }) => graceMs)) + CLOSING_MS,
    ports: listeners.map(listener => listener.port),
    ready,
    firstTry,
    drain,
    stop: () => {
      stopped ??= stop()
      return stopped
    },
  }
}
