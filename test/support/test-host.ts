// A host on fake engines whose state a test sets. In: services. Out: a running host, and what it closed.
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
  /** Silent: it does not answer at all. */
  store: 'up' | 'down' | 'silent'
}

export interface TestHost extends RunningHost {
  /** Set a member to change the state of the engine. */
  engines: EngineStates
  /** The engines and parts that were closed, in order. */
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
  ...replaced
}: TestHostOptions = {}): Promise<TestHost> {
  const engines: EngineStates = { broker: 'up', store: 'up' }
  const [clock, log] = [testClock(), createCapturedLog()]
  const routers = services.flatMap(service => service.router ?? [])
  let readiness = async (): Promise<Readiness> => ({})
  const host = await startHost({
    clock,
    log: log.log,
    services,
    broker: { state: () => engines.broker, close: async () => void closed.push('broker') },
    store: { ping: () => pingStore(engines), close: async () => void closed.push('store') },
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
    readiness,
    async get(path) {
      const response = await fetch(`http://127.0.0.1:${host.ports[0]}${path}`)
      return { status: response.status, body: (await response.json()) as Body }
    },
  }
}

async function pingStore({ store }: EngineStates): Promise<void> {
  if (store === 'silent') await new Promise(() => {})
  if (store === 'down') throw new Unavailable('the store is down')
}

/** A consumer that is attached while `attached` returns true. */
export const fakeConsumer = (
  attached: () => boolean = () => true,
  stop: Consumer['stop'] = async () => {},
): Consumer => ({
  attached,
  stop,
})
