// A site: the storage of one test's deployment. It has a data folder and, on real engines, a database and queues that no other test uses.
// It outlives the processes that run on it, and is wiped after the test.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTopology, type Topology } from '../../infra/broker/topology.ts'
import { readConfig } from '../../infra/config/config.ts'
import { brokerDelays } from '../../services/domain/webhooks/retry-waits.ts'
import { dropDatabase, returnDatabase, takeDatabase } from './databases.ts'
import { AMQP_URL, MONGODB_URL, onRealEngines } from './engines.ts'
import { freshPrefix, removeQueues } from './rabbitmq.ts'

export type EngineSet = 'embedded' | 'real'
export type Env = Record<string, string>

export interface Site {
  engines: EngineSet
  /** The environment variables of a process on this site. */
  env: Env
  /** The prefix of its queues' names. */
  prefix: string
  /** Of its processes. */
  topology(): Topology
  /** Writes a file into the data folder and returns its path. */
  write(name: string, content: unknown): Promise<string>
  wipe(): Promise<void>
}

interface SiteOptions {
  /** True: its database is dropped with it, and not used again by a later test. */
  dropsDatabase?: boolean
}

/** Settings in `env` replace the site's own, for example to reach an engine through a proxy. */
export async function freshSite(
  engines: EngineSet,
  env: Env = {},
  { dropsDatabase = false }: SiteOptions = {},
): Promise<Site> {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-site-'))
  const real = engines === 'real'
  const [database, prefix] = [real ? await takeDatabase() : '', freshPrefix()]
  const mongodbUrl = env.MONGODB_URL ?? (real ? (MONGODB_URL ?? '') : '')
  const settings: Env = {
    NODE_ENV: 'test',
    PORT: '0',
    DATA_DIR: folder,
    LOG_LEVEL: 'debug',
    BOOTSTRAP_FILE: '',
    // An empty variable counts as unset. The environment of the tests may name engines that this site does not use.
    AMQP_URL: real ? (AMQP_URL ?? '') : '',
    ...env,
    MONGODB_URL: real ? withDatabase(mongodbUrl, database) : '',
  }
  const topology = (): Topology => createTopology(brokerDelays(readConfig(settings, []).backoff))
  return {
    engines,
    env: settings,
    prefix,
    topology,
    async write(name, content) {
      const file = join(folder, name)
      await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content))
      return file
    },
    async wipe() {
      await rm(folder, { recursive: true, force: true })
      if (!real) return
      if (dropsDatabase) await dropDatabase(database)
      else returnDatabase(database)
      await removeQueues({ topology: topology(), prefix })
    },
  }
}

const withDatabase = (url: string, name: string): string =>
  url.replace(/^([^:]+:\/\/[^/?]+)\/?[^?]*/, (_, servers: string) => `${servers}/${name}`)

/** For a rule that the engines do not decide, in a suite that runs on each engine set: `it` on the embedded engines alone. */
export const itOnceOf = (engines: EngineSet): ((title: string, test: () => Promise<void>) => void) =>
  engines === 'embedded' ? (title, test) => void it(title, test) : () => {}

/** Runs a suite on the embedded engines and, if this run has them, on RabbitMQ and MongoDB. */
export function onEachEngineSet(title: string, suite: (engines: EngineSet) => void): void {
  describe(`${title}, on embedded engines`, () => suite('embedded'))
  onRealEngines(`${title}, on RabbitMQ and MongoDB`, { AMQP_URL, MONGODB_URL }, () => suite('real'))
}
