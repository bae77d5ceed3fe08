// A host on fake engines whose state a test sets. In: services. Out: a running host, and what it closed.
import type { BrokerState, Consumer } from '../../infra/broker/broker.ts'
import type { Clock } from '../../infra/clock.ts'
import { type HostDeps, type RunningHost, type Service, startHost } from '../../infra/host.ts'
import { type Check, createHealthRouter, type Readiness } from '../../infra/http/health.ts'
import { createHttpShell } from '../../infra/http/shell.ts'
import { createMetrics, type Metrics } from '../../infra/metrics.ts'
import type { WriteProbe } from '../../infra/readiness.ts'
import type { Docs } from '../../infra/store/docs.ts'
import { Unavailable } from '../../infra/unavailable.ts'
import { type CapturedLog, createCapturedLog } from './captured-log.ts'
import { type TestClock, testClock } from './clock.ts'

export interface EngineStates {
  /** Silent: it is connected and does not answer at all. */
  broker: BrokerState | 'silent'
  /** Full: it answers, and refuses every write. */
  store: 'up' | 'down' | 'silent' | 'full'
  /** How far the store's clock is behind this process's. */
  clockOffsetMs: number
  /** Writes and round trips that /readyz has asked for. */
  asked: { store: number; broker: number }
}

export interface TestHost extends RunningHost {
  /** Set a member to change the state of the engine. */
  engines: EngineStates
  /** The engines and parts that were closed, in order. */
  closed: string[]
  clock: TestClock
  log: CapturedLog
  metrics: Metrics
  readiness: Readiness
  get(path: string): Promise<{ status: number; body: Body }>
  /** A check of /readyz, by its name. */
  check(name: string): Promise<Check | undefined>
}

type Body = { checks?: Check[] } & Record<string, unknown>

export interface TestHostOptions extends Partial<Pick<HostDeps, 'prepare' | 'broker' | 'stopDelayMs'>> {
  /** Before the start. */
  engines?: Partial<EngineStates>
  services?: Service[]
  ports?: number[]
  /** A list to record what is closed, for a host that does not start. */
  closed?: string[]
}

const open: RunningHost[] = []

/** Call it in a suite: its hosts stop after each test. */
export function useHosts(): (options?: TestHostOptions) => Promise<TestHost> {
  afterEach(() => Promise.all(open.splice(0).map(host => host.stop())))
  return async options => {
    const testHost = await startTestHost(options)
    open.push(testHost)
    return testHost
  }
}

async function startTestHost({
  services = [],
  ports = [0],
  closed = [],
  engines: initial = {},
  ...replaced
}: TestHostOptions = {}): Promise<TestHost> {
  const engines: EngineStates = {
    broker: 'up',
    store: 'up',
    clockOffsetMs: 0,
    asked: { store: 0, broker: 0 },
    ...initial,
  }
  const [clock, log, metrics] = [testClock(), createCapturedLog(), createMetrics()]
  const routers = services.flatMap(service => service.router ?? [])
  let readiness: Readiness = async () => []
  const host = await startHost({
    clock,
    log: log.log,
    metrics,
    services,
    stopDelayMs: 0,
    broker: fakeBroker(engines, closed),
    store: fakeStore(engines, clock, closed),
    prepare: async () => {},
    listeners(given) {
      readiness = given
      const app = () =>
        createHttpShell({ log: log.log, metrics: createMetrics(), clock }, [createHealthRouter(given), ...routers])
      return ports.map(port => ({ app: app(), host: '127.0.0.1', port }))
    },
    ...replaced,
  })
  return {
    ...host,
    engines,
    closed,
    clock,
    log,
    metrics,
    readiness,
    async get(path) {
      const response = await fetch(`http://127.0.0.1:${host.ports[0]}${path}`)
      return { status: response.status, body: (await response.json()) as Body }
    },
    check: async wanted => (await readiness()).find(({ name }) => name === wanted),
  }
}

const never = () => new Promise<never>(() => {})

const fakeBroker = (engines: EngineStates, closed: string[]): HostDeps['broker'] => ({
  state: () => (engines.broker === 'silent' ? 'up' : engines.broker),
  async roundTrip() {
    engines.asked.broker += 1
    if (engines.broker === 'silent') await never()
  },
  whenUp: async () => {},
  close: async () => void closed.push('broker'),
})

function fakeStore(engines: EngineStates, clock: Clock, closed: string[]): HostDeps['store'] {
  const ping = async (): Promise<void> => {
    if (engines.store === 'silent') await never()
    if (engines.store === 'down') throw new Unavailable('the store is down')
  }
  const probes: Pick<Docs<WriteProbe>, 'modify'> = {
    async modify() {
      engines.asked.store += 1
      await ping()
      if (engines.store === 'full') throw new Unavailable('the disk is full')
      return null
    },
  }
  return {
    docs: () => probes as Docs<never>,
    ping,
    async time() {
      await ping()
      return clock.now() - engines.clockOffsetMs
    },
    forgetRemoved: async () => {},
    close: async () => void closed.push('store'),
  }
}

/** A consumer that is attached while `attached` returns true. */
export const fakeConsumer = (
  attached: () => boolean = () => true,
  stop: Consumer['stop'] = async () => {},
  queue: Consumer['queue'] = 'channel.sms',
): Consumer => ({
  queue,
  attached,
  stop,
  pause: async () => {},
  resume: async () => {},
})
