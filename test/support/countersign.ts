// The whole composition in this process, as services/main.ts starts it, on a site of its own. In: what a test wants different.
// Out: where it answers, and what there is to look at: its engines, its log, its secrets.
import { expect } from 'chai'
import { type Clock, systemClock } from '../../infra/clock.ts'
import { type Config, readConfig } from '../../infra/config/config.ts'
import { createMetrics } from '../../infra/metrics.ts'
import type { Outbound } from '../../infra/outbound/outbound.ts'
import { type Engines, openEngines, type Running, type Services, start } from '../../services/main.ts'
import { type CapturedLog, createCapturedLog } from './captured-log.ts'
import { eventually } from './eventually.ts'
import { type EngineSet, type Env, freshSite, onEachEngineSet, type Site } from './site.ts'

export interface StartOptions {
  engines: EngineSet
  env?: Env
  /** Written to a file that BOOTSTRAP_FILE names. */
  bootstrap?: unknown
  /** All of them, unless told. */
  roles?: string[]
  /** Instead of the real ones. */
  services?: Services
  /** Instead of the guarded one. */
  outbound?: Outbound
  /** A fake one only on embedded engines: real ones have their own time. */
  clock?: Clock
  /** Puts something between the composition and its engines. */
  decorate?(engines: Engines): Engines
  /** False: answers as soon as it listens, and `ready` is still to be awaited. */
  untilReady?: boolean
  /** Where another process lives or lived, instead of a fresh one. */
  site?: Site
}

export interface Countersign extends Running {
  site: Site
  config: Config
  engines: Engines
  log: CapturedLog
  /** What was said to whoever started it: new keys, the demo's guide. */
  printed(): string
  /** Stops it and starts another on the same site, as it was but for these options. */
  restart(options?: Partial<StartOptions>): Promise<Countersign>
}

/** Whoever calls it stops it and wipes its site; `eachEngineSet` does so by itself. */
export async function startCountersign(options: StartOptions): Promise<Countersign> {
  const site = options.site ?? (await freshSite(options.engines, options.env))
  const { clock = systemClock, services, outbound, decorate = (engines: Engines) => engines } = options
  const bootstrap: Env =
    options.bootstrap === undefined ? {} : { BOOTSTRAP_FILE: await site.write('bootstrap.json', options.bootstrap) }
  const { MONGODB_URL, AMQP_URL } = site.env
  const config = readConfig({ ...site.env, ...options.env, MONGODB_URL, AMQP_URL, ...bootstrap }, options.roles ?? [])
  const log = createCapturedLog()
  const engines = openEngines(config, clock, log.log, { prefix: site.prefix, backoff: FAST_RECONNECT })
  const printed: string[] = []
  const running = await start(config, {
    clock,
    log: log.log,
    metrics: createMetrics(),
    engines: decorate(engines),
    ...(services === undefined ? {} : { services }),
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

/** Work is taken, and work can be given: the connection that publishes may come up after the one that consumes. */
async function waitUntilReady({ ready, url }: Running): Promise<void> {
  await ready
  await eventually(async () => expect((await fetch(`${url}/readyz`)).status).to.equal(200), 30_000)
}

/** Tests wait for engines to come back. */
const FAST_RECONNECT = { firstMs: 20, maxMs: 200 }

export type StartCountersign = (options?: Omit<StartOptions, 'engines'>) => Promise<Countersign>

/** Runs a suite on every engine set this run has; what it starts is stopped and wiped after each test. */
export const eachEngineSet = (title: string, suite: (start: StartCountersign, engines: EngineSet) => void): void =>
  onEachEngineSet(title, engines => suite(createStart(engines), engines))

export function createStart(engines: EngineSet): StartCountersign {
  const started: Countersign[] = []
  const sites = new Set<Site>()
  afterEach(async () => {
    await Promise.all(started.splice(0).map(one => one.stop()))
    for (const site of sites) await site.wipe()
    sites.clear()
  })
  const track = (one: Countersign): Countersign => {
    started.push(one)
    return { ...one, restart: async changes => track(await one.restart(changes)) }
  }
  return async (options = {}) => {
    const site = options.site ?? (await freshSite(engines, options.env))
    sites.add(site)
    return track(await startCountersign({ ...options, engines, site }))
  }
}
