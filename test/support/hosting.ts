// A host on engines that do as they are told, for tests of its own behaviour.
import type { BrokerState, Consumer } from '../../infra/broker/broker.ts'
import { type Hosted, type HostParts, host, type Service } from '../../infra/host.ts'
import { healthRouter, type Readiness } from '../../infra/http/health.ts'
import { httpShell } from '../../infra/http/shell.ts'
import { createMetrics } from '../../infra/metrics.ts'
import { Unavailable } from '../../infra/unavailable.ts'
import { type CapturedLog, capturedLog } from './captured-log.ts'
import { type TestClock, testClock } from './clock.ts'

export interface Engines {
  broker: BrokerState
  /** Silent: neither yes nor no. */
  store: 'up' | 'down' | 'silent'
}

export interface Hosting extends Hosted {
  /** Set a member to change what the engine does. */
  engines: Engines
  /** What was closed, in order. */
  closed: string[]
  clock: TestClock
  log: CapturedLog
  readiness(): Promise<Readiness>
  get(path: string): Promise<{ status: number; body: Body }>
}

type Body = { parts?: Readiness } & Record<string, unknown>

export interface HostingOptions extends Partial<Pick<HostParts, 'prepare' | 'broker'>> {
  services?: Service[]
  ports?: number[]
  /** Told of each closing as it happens. */
  closed?: string[]
}

const open: Hosted[] = []

/** Call it in a suite: what it hosts is stopped after each test. */
export function hosts(): (options?: HostingOptions) => Promise<Hosting> {
  afterEach(() => Promise.all(open.splice(0).map(hosted => hosted.stop())))
  return async options => {
    const hosting = await hostWith(options)
    open.push(hosting)
    return hosting
  }
}

async function hostWith({ services = [], ports = [0], closed = [], ...own }: HostingOptions = {}): Promise<Hosting> {
  const engines: Engines = { broker: 'up', store: 'up' }
  const [clock, log] = [testClock(), capturedLog()]
  const routers = services.flatMap(service => service.router ?? [])
  let readiness = async (): Promise<Readiness> => ({})
  const hosted = await host({
    ...{ clock, log: log.log, services },
    broker: { state: () => engines.broker, close: async () => void closed.push('broker') },
    store: { ping: () => pinged(engines), close: async () => void closed.push('store') },
    prepare: async () => {},
    doors(asked) {
      readiness = asked
      const app = () => httpShell({ log: log.log, metrics: createMetrics(), clock }, [healthRouter(asked), ...routers])
      return ports.map(port => ({ app: app(), host: '127.0.0.1', port }))
    },
    ...own,
  })
  return {
    ...{ ...hosted, engines, closed, clock, log, readiness },
    async get(path) {
      const response = await fetch(`http://127.0.0.1:${hosted.ports[0]}${path}`)
      return { status: response.status, body: (await response.json()) as Body }
    },
  }
}

async function pinged({ store }: Engines): Promise<void> {
  if (store === 'silent') await new Promise(() => {})
  if (store === 'down') throw new Unavailable('the store is away')
}

/** A consumer that is attached while `attached` says so. */
export const consumer = (attached: () => boolean = () => true, stop: Consumer['stop'] = async () => {}): Consumer => ({
  attached,
  stop,
})
