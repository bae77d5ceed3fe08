// A host on engines that do as they are told, for tests of its own behaviour.
import type { BrokerState, Consumer } from '../../infra/broker/broker.ts'
import { type HostDeps, type RunningHost, type Service, startHost } from '../../infra/host.ts'
import { createHealthRouter, type Readiness } from '../../infra/http/health.ts'
import { createHttpShell } from '../../infra/http/shell.ts'
import { createMetrics } from '../../infra/metrics.ts'
import { Unavailable } from '../../infra/unavailable.ts'
import { type CapturedLog, createCapturedLog } from './captured-log.ts'
import { type TestClock, testClock } from './clock.ts'

export interface EngineStates {
  broker: BrokerState
  /** Silent: neither yes nor no. */
  store: 'up' | 'down' | 'silent'
}

export interface TestHost extends RunningHost {
  /** Set a member to change what the engine does. */
  engines: EngineStates
  /** What was closed, in order. */
  closed: string[]
  clock: TestClock
  log: CapturedLog
  readiness(): Promise<Readiness>
  get(path: string): Promise<{ status: number; body: Body }>
}

type Body = { parts?: Readiness } & Record<string, unknown>

export interface TestHostOptions extends Partial<Pick<HostDeps, 'prepare' | 'broker'>> {
  services?: Service[]
  ports?: number[]
  /** Told of each closing as it happens. */
  closed?: string[]
}

const open: RunningHost[] = []

/** Call it in a suite: what it hosts is stopped after each test. */
export function useHosts(): (options?: TestHostOptions) => Promise<TestHost> {
  afterEach(() => Promise.all(open.splice(0).map(hosted => hosted.stop())))
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
  ...own
}: TestHostOptions = {}): Promise<TestHost> {
  const engines: EngineStates = { broker: 'up', store: 'up' }
  const [clock, log] = [testClock(), createCapturedLog()]
  const routers = services.flatMap(service => service.router ?? [])
  let readiness = async (): Promise<Readiness> => ({})
  const hosted = await startHost({
    clock,
    log: log.log,
    services,
    broker: { state: () => engines.broker, close: async () => void closed.push('broker') },
    store: { ping: () => pingStore(engines), close: async () => void closed.push('store') },
    prepare: async () => {},
    listeners(asked) {
      readiness = asked
      const app = () =>
        createHttpShell({ log: log.log, metrics: createMetrics(), clock }, [createHealthRouter(asked), ...routers])
      return ports.map(port => ({ app: app(), host: '127.0.0.1', port }))
    },
    ...own,
  })
  return {
    ...hosted,
    engines,
    closed,
    clock,
    log,
    readiness,
    async get(path) {
      const response = await fetch(`http://127.0.0.1:${hosted.ports[0]}${path}`)
      return { status: response.status, body: (await response.json()) as Body }
    },
  }
}

async function pingStore({ store }: EngineStates): Promise<void> {
  if (store === 'silent') await new Promise(() => {})
  if (store === 'down') throw new Unavailable('the store is away')
}

/** A consumer that is attached while `attached` says so. */
export const fakeConsumer = (
  attached: () => boolean = () => true,
  stop: Consumer['stop'] = async () => {},
): Consumer => ({
  attached,
  stop,
})
