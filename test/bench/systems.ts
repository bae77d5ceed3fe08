// Starts the systems that are put under load: the product, as one process per role or as one process, the bare pipeline and the floor.
// Each has its own site, which is removed afterwards.
import { randomBytes } from 'node:crypto'
import { MongoClient } from 'mongodb'
import { queueNames } from '../../infra/broker/amqp/queues.ts'
import { ROLES, type Role } from '../../infra/config/config.ts'
import { YOUNG_HEAP_FLAG } from '../../infra/heap.ts'
import type { Child } from '../support/child.ts'
import { withRabbitChannel } from '../support/rabbitmq.ts'
import { type EngineSet, type Env, freshSite, type Site } from '../support/site.ts'
import { addressOf, type LaunchOptions, launchProcess, stopProcess, waitUntilReady } from './launch.ts'

export interface System {
  url: string
  key: string
  processes: Child[]
  /** How many sends are finished since the start, with their events, where the API does not say so. */
  countFinished?(): Promise<number>
  stop(): Promise<void>
}

export interface Countersign extends System {
  env: Env
}

export const KEY = 'the-test-key-of-the-bench'
export const TOKEN = 'the-operator-of-the-bench'
export const NO_LIMIT = [{ max: 1_000_000_000, seconds: 60 }]

/** Every limit is counted, and none is ever reached. */
const BOOTSTRAP = {
  companies: [
    {
      id: 'cmp_bench',
      apps: [
        {
          id: 'app_bench',
          keys: [{ id: 'key_bench', kind: 'server', mode: 'test', key: KEY }],
          settings: { limits: { app: NO_LIMIT, app_without_client_ip: NO_LIMIT } },
        },
      ],
    },
  ],
}

const secret = (): string => `k1:${randomBytes(32).toString('base64')}`

/** The roles of each process. An empty list is all roles. The first process serves the API. */
export type Layout = readonly (readonly Role[])[]

export const ONE_PROCESS_PER_ROLE: Layout = ROLES.map(role => [role])
export const ALL_IN_ONE: Layout = [[]]
/** Sends are accepted and not delivered, as in the bare pipeline. */
export const WITHOUT_CONSUMERS: Layout = [['edge'], ['otp']]

interface CountersignOptions {
  /** Runs before the processes start. */
  prepare?(site: Site): Promise<void>
  bootstrap?: object
  /** More settings of the processes. */
  settings?: Env
  launch?: LaunchOptions
}

export async function startCountersign(
  engines: EngineSet,
  layout: Layout,
  { prepare = async () => {}, bootstrap = BOOTSTRAP, settings = {}, launch = {} }: CountersignOptions = {},
): Promise<Countersign> {
  const site = await freshSite(
    engines,
    {
      NODE_ENV: 'production',
      LOG_LEVEL: 'warn',
      ENGINE: engines === 'embedded' ? 'embedded' : '',
      CODE_SECRETS: secret(),
      DATA_KEYS: secret(),
      ADMIN_TOKEN: TOKEN,
      ...settings,
    },
    { dropsDatabase: true },
  )
  await prepare(site)
  const BOOTSTRAP_FILE = await site.write('bootstrap.json', bootstrap)
  const env: Env = { ...site.env, AMQP_PREFIX: site.prefix, BOOTSTRAP_FILE }
  // As infra/start.sh does.
  const flags = [...(launch.flags ?? []), ...(env.HEAP_YOUNG_MB ? [YOUNG_HEAP_FLAG + env.HEAP_YOUNG_MB] : [])]
  const processes = layout.map(roles => launchProcess('countersign.process', env, [...roles], { ...launch, flags }))
  const urls = await Promise.all(processes.map(waitUntilReady))
  return {
    env,
    processes,
    key: KEY,
    url: urls[0] ?? '',
    async stop() {
      await Promise.all(processes.map(stopProcess))
      await site.wipe()
    },
  }
}

export interface Bare extends System {
  /** Without consumers, published messages would pile up, so they are dropped. */
  tidy(): Promise<void>
}

export async function startBare(): Promise<Bare> {
  const { site, ...pipeline } = await startPipeline(['bare.edge.process', 'bare.actor.process'])
  const queue = queueNames(site.prefix).queue('channel.sms')
  return { ...pipeline, tidy: () => withRabbitChannel(async channel => void (await channel.purgeQueue(queue))) }
}

export async function startFloor(): Promise<System> {
  const names = ['bare.edge.process', 'floor.actor.process', 'floor.channel.process']
  const { site, ...pipeline } = await startPipeline(names)
  const client = new MongoClient(site.env.MONGODB_URL ?? '')
  return {
    ...pipeline,
    // The event is the last thing that a send writes.
    countFinished: () => client.db().collection('events').estimatedDocumentCount(),
    async stop() {
      await client.close()
      await pipeline.stop()
    },
  }
}

async function startPipeline(names: readonly string[]): Promise<System & { site: Site }> {
  const site = await freshSite('real', {}, { dropsDatabase: true })
  const env: Env = { ...site.env, AMQP_PREFIX: site.prefix }
  const processes = names.map(name => launchProcess(name, env))
  const [url = ''] = await Promise.all(processes.map(addressOf))
  return {
    site,
    url,
    processes,
    key: KEY,
    async stop() {
      await Promise.all(processes.map(stopProcess))
      await site.wipe()
    },
  }
}
