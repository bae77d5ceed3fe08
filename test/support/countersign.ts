// Starts Countersign in this process, as services/main.ts does. In: the engine set, and what differs from the defaults.
// Out: its URL, and what a test inspects: engines, log, secrets, printed text.
import { type Clock, systemClock } from '../../infra/clock.ts'
import { type Config, readConfig } from '../../infra/config/config.ts'
import { createMetrics } from '../../infra/metrics.ts'
import type { Outbound } from '../../infra/outbound/outbound.ts'
import { type Engines, openEngines, type Running, type Services, start } from '../../services/main.ts'
import { type CapturedLog, createCapturedLog } from './captured-log.ts'
import { untilReady } from './ready.ts'
import { SERVICES_WITHIN_RIGHTS } from './role-rights.ts'
import { type EngineSet, type Env, freshSite, onEachEngineSet, type Site } from './site.ts'
import { withTimeOf } from './store-time.ts'

export interface StartOptions {
  engines: EngineSet
  env?: Env
  /** The content of the file that BOOTSTRAP_FILE names. */
  bootstrap?: unknown
  /** All roles by default. */
  roles?: string[]
  /** Replaces the real services. */
  services?: Services
  /** Replaces the guarded HTTP client for calls to providers and endpoints. */
  outbound?: Outbound
  /** A clock that stands still works on the embedded engines only: RabbitMQ and MongoDB have their own time. */
  clock?: Clock
  /** True: the store keeps its own time, also where `clock` is another. By default it has the time of `clock`. */
  storeHasOwnTime?: boolean
  /** Wraps the engines, for example to record messages or to lose writes. */
  decorate?(engines: Engines): Engines
  /** False: the start resolves as soon as the process listens, and the test awaits `ready` itself. */
  untilReady?: boolean
  /** The site of an earlier or another process; a fresh one by default. */
  site?: Site
}

export interface Countersign extends Omit<Running, 'log'> {
  site: Site
  config: Config
  engines: Engines
  log: CapturedLog
  /** What the process printed for the operator who started it: new keys, and the guide of a first start. */
  printed(): string
  /** Stops this process and starts another on the same site, with these options changed. */
  restart(options?: Partial<StartOptions>): Promise<Countersign>
}

/** The caller stops the process and wipes its site; in `describeCountersign` both happen after each test. */
export async function startCountersign(options: StartOptions): Promise<Countersign> {
  const site = options.site ?? (await freshSite(options.engines, options.env))
  const { clock = systemClock, services, outbound, decorate = (engines: Engines) => engines } = options
  const bootstrap: Env =
    options.bootstrap === undefined ? {} : { BOOTSTRAP_FILE: await site.write('bootstrap.json', options.bootstrap) }
  const { MONGODB_URL, AMQP_URL } = site.env
  const config = readConfig({ ...site.env, ...options.env, MONGODB_URL, AMQP_URL, ...bootstrap }, options.roles ?? [])
  const log = createCapturedLog()
  const opened = await openEngines(config, clock, log.log, { prefix: site.prefix, backoff: FAST_RECONNECT })
  const engines = options.storeHasOwnTime ? opened : withTimeOf(clock, opened)
  const printed: string[] = []
  const running = await start(config, {
    clock,
    log: log.log,
    metrics: createMetrics(),
    engines: decorate(engines),
    services: services ?? SERVICES_WITHIN_RIGHTS,
    ...(outbound === undefined ? {} : { outbound }),
    print: text => void printed.push(text),
  }).catch(async error => {
    await Promise.all([engines.broker.close(0), engines.store.close()])
    throw error
  })
  if (options.untilReady !== false)
    await waitUntilReady(running).catch(async error => {
      await running.stop()
      throw error
    })
  return {
    ...running,
    site,
    config,
    engines,
    log,
    printed: () => printed.join(''),
    async restart(changes = {}) {
      await running.stop()
      return startCountersign({ ...options, site, ...changes })
    },
  }
}

/** Asks /readyz as well, because the connection that publishes may come up after the one that consumes. */
async function waitUntilReady({ ready, url }: Running): Promise<void> {
  await ready
  await untilReady(url)
}

/** Short, because tests wait until a process has reconnected to its engines. */
const FAST_RECONNECT = { firstMs: 20, maxMs: 200 }

export type StartCountersign = (options?: Omit<StartOptions, 'engines'>) => Promise<Countersign>

/** Runs a suite on every engine set of this run. After each test, what it started is stopped and its sites are wiped. */
export const describeCountersign = (
  title: string,
  suite: (start: StartCountersign, engines: EngineSet) => void,
): void => onEachEngineSet(title, engines => suite(createStarter(engines), engines))

/** Runs a suite on the embedded engines, where the engines make no difference to what is looked at. */
export const describeCountersignOnce = (title: string, suite: (start: StartCountersign) => void): void =>
  void describe(title, () => suite(createStarter('embedded')))

/** A start function that stops and wipes after each test of the surrounding suite. */
export function createStarter(engines: EngineSet): StartCountersign {
  const started: Countersign[] = []
  const sites = new Set<Site>()
  afterEach(async () => {
    await Promise.all(started.splice(0).map(countersign => countersign.stop()))
    for (const site of sites) await site.wipe()
    sites.clear()
  })
  const track = (countersign: Countersign): Countersign => {
    started.push(countersign)
    return { ...countersign, restart: async changes => track(await countersign.restart(changes)) }
  }
  return async (options = {}) => {
    const site = options.site ?? (await freshSite(engines, options.env))
    sites.add(site)
    return track(await startCountersign({ ...options, engines, site }))
  }
}
