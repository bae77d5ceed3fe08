// Countersign as processes of their own, on a site: what only a process can show. They are killed, and their sites wiped, after
// each test.
import { join } from 'node:path'
import { BUNDLED_CRASHING, BUNDLED_MAIN } from './bundle.ts'
import { type Child, spawnChild } from './child.ts'
import { type CrashPoint, crashEnv } from './crash.ts'
import { untilReady } from './ready.ts'
import { type EngineSet, type Env, freshSite, type Site } from './site.ts'

/** Only shows that the pieces are connected: see echo.ts. */
export const ECHO_SERVICES = join(import.meta.dirname, 'echo.js')

export interface CountersignProcess extends Child {
  /** Where it answers, as soon as it listens. */
  url(): Promise<string>
  /** The same, once it is ready. */
  ready(): Promise<string>
  /** Sends SIGKILL. */
  kill(): Promise<void>
}

export interface KillableProcess extends Pick<CountersignProcess, 'kill' | 'exited'> {
  url: string
}

export interface Processes {
  site(engines: EngineSet, env?: Env): Promise<Site>
  /** `npm start`, without the build, as one file. */
  main(site: Site, env?: Env, roles?: string[]): CountersignProcess
  /** The same on queues of the site's own, with crashing engines, with other services, with a fast clock: see crashing-countersign.ts. */
  crashing(
    site: Site,
    options?: { point?: CrashPoint | undefined; services?: string; env?: Env; roles?: string[] },
  ): CountersignProcess
  /** Any other script. */
  script(file: string, site: Site, point: CrashPoint | null, args: string[]): Child
}

/** Call it in a suite. */
export function useProcesses(): Processes {
  const [running, sites]: [Child[], Site[]] = [[], []]
  afterEach(async () => {
    for (const one of running.splice(0)) {
      one.process.kill('SIGKILL')
      await one.exited
    }
    for (const site of sites.splice(0)) await site.wipe()
  })
  const track = (one: Child): Child => {
    running.push(one)
    return one
  }
  const environment = (site: Site, point: CrashPoint | null = null): Env => ({
    ...site.env,
    AMQP_PREFIX: site.prefix,
    ...crashEnv(point),
  })
  return {
    async site(engines, env) {
      const site = await freshSite(engines, env)
      sites.push(site)
      return site
    },
    main: (site, env = {}, roles = []) => withUrl(track(spawnChild(BUNDLED_MAIN, { ...site.env, ...env }, roles))),
    crashing: (site, { point, services = '', env = {}, roles = [] } = {}) =>
      withUrl(track(spawnChild(BUNDLED_CRASHING, { ...environment(site, point), SERVICES: services, ...env }, roles))),
    script: (file, site, point, args) => track(spawnChild(file, environment(site, point), args)),
  }
}

function withUrl(one: Child): CountersignProcess {
  const url = async (): Promise<string> =>
    JSON.parse(await one.waitForLine(line => line.includes('"msg":"countersign.listening"'))).url
  return {
    ...one,
    url,
    async ready() {
      const address = await url()
      await untilReady(address)
      return address
    },
    async kill() {
      one.process.kill('SIGKILL')
      await one.exited
    },
  }
}
