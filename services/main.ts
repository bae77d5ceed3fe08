// The composition root: the only place that knows which adapters there are and which service plays which role.
import { realpathSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { amqpBroker } from '../infra/broker/amqp.ts'
import type { Broker } from '../infra/broker/broker.ts'
import { embeddedBroker } from '../infra/broker/embedded.ts'
import { measuredBroker } from '../infra/broker/measured.ts'
import { topology } from '../infra/broker/topology.ts'
import { type Clock, systemClock } from '../infra/clock.ts'
import { type Config, ConfigProblems, type Role, readConfig, type Secrets } from '../infra/config.ts'
import { createKeyring, type Keyring } from '../infra/crypto/keyring.ts'
import { type Hosted, host, type Service } from '../infra/host.ts'
import { healthRouter } from '../infra/http/health.ts'
import { metricsRouter } from '../infra/http/metrics.ts'
import { operators } from '../infra/http/operator.ts'
import { httpShell } from '../infra/http/shell.ts'
import { createLog, type Logger } from '../infra/log.ts'
import { createMetrics, type Metrics } from '../infra/metrics.ts'
import { developmentSecrets } from '../infra/secrets.ts'
import { COLLECTIONS, type CountersignStore } from '../infra/store/collections.ts'
import { embeddedStore } from '../infra/store/embedded.ts'
import { measuredStore } from '../infra/store/measured.ts'
import { mongoStore } from '../infra/store/mongo.ts'
import { applyBootstrap, BootstrapProblems, readBootstrap } from '../infra/tenancy/bootstrap.ts'
import { edge } from './edge/service.ts'
import { otp } from './otp/service.ts'
import { sweeper } from './sweeper/service.ts'

export interface Engines {
  broker: Broker
  store: CountersignStore
}

/** What every service is made from. */
export interface Runtime extends Engines {
  config: Config
  secrets: Secrets
  keyring: Keyring
  clock: Clock
  log: Logger
  metrics: Metrics
}

export type Services = Partial<Record<Role, (runtime: Runtime) => Service>>

/** Which service plays which role. */
const SERVICES: Services = { edge, otp, sweeper }

export function openEngines(config: Config, clock: Clock, log: Logger): Engines {
  const { engine, dataDir, production } = config
  const queues = topology(config.backoff)
  if (engine.kind === 'embedded')
    return {
      store: embeddedStore({ folder: dataDir, collections: COLLECTIONS, clock, strict: !production }),
      broker: embeddedBroker({ topology: queues, clock, log }),
    }
  return {
    store: mongoStore({ url: engine.mongodbUrl, collections: COLLECTIONS, strict: !production }),
    broker: amqpBroker({ url: engine.amqpUrl, topology: queues, log }),
  }
}

export interface Running extends Omit<Hosted, 'ports'> {
  /** Where it answers, `http://host:port`. */
  url: string
  metricsUrl: string | null
  secrets: Secrets
}

/** Starts the roles of `config`. Tests bring their own clock, engines or services; `npm start` brings none. */
export async function start(
  config: Config,
  own: { clock?: Clock; log?: Logger; engines?: Engines; services?: Services } = {},
): Promise<Running> {
  const bootstrap = config.bootstrapFile === null ? null : readBootstrap(await readFile(config.bootstrapFile, 'utf8'))
  const secrets = await resolveSecrets(config)
  const clock = own.clock ?? systemClock
  const log = own.log ?? createLog({ level: config.logLevel })
  const metrics = createMetrics({ processMetrics: true })
  const opened = own.engines ?? openEngines(config, clock, log)
  const broker = measuredBroker(opened.broker, metrics, clock)
  const store = measuredStore(opened.store, metrics)
  const keyring = createKeyring({ dataKeys: secrets.data, codeSecrets: secrets.code })
  const runtime: Runtime = { config, secrets, keyring, clock, log, metrics, broker, store }
  const services = config.roles.flatMap(role => (own.services ?? SERVICES)[role]?.(runtime) ?? [])
  const routers = services.flatMap(service => service.router ?? [])
  const { http, metricsPort } = config

  const hosted = await host({
    ...{ broker, store, clock, log, services },
    doors: readiness => [
      {
        app: httpShell(runtime, [
          healthRouter(readiness),
          metricsRouter(metrics, operators(secrets.adminTokens)),
          ...routers,
        ]),
        ...{ host: http.host, port: http.port },
      },
      ...(metricsPort === null
        ? []
        : [{ app: httpShell(runtime, [metricsRouter(metrics)]), host: http.host, port: metricsPort }]),
    ],
    prepare: async () => {
      await store.ping()
      if (bootstrap === null) return
      const { minted, mintedSecrets, warnings } = await applyBootstrap(bootstrap, { store, keyring, clock })
      for (const warning of warnings) log.warn({ warning }, 'bootstrap.warned')
      // Shown once and never again, so on the terminal and not through the log, which would rightly hide it.
      for (const { id, key } of minted) process.stdout.write(`New key ${id}: ${key}\n`)
      for (const { app_id, secret } of mintedSecrets)
        process.stdout.write(`New webhook signing secret of ${app_id}: ${secret}\n`)
    },
  })
  const [port, openPort] = hosted.ports
  const url = origin(http.host, port)
  log.info({ url, roles: config.roles, engine: config.engine.kind }, 'countersign.listening')
  return {
    ...{ url, secrets, ready: hosted.ready, stop: hosted.stop },
    metricsUrl: openPort === undefined ? null : origin(http.host, openPort),
  }
}

async function resolveSecrets(config: Config): Promise<Secrets> {
  const { code, data, adminTokens } = config.secrets
  if (code && data && adminTokens) return { code, data, adminTokens }
  const made = await developmentSecrets(config.dataDir)
  return { code: code ?? made.code, data: data ?? made.data, adminTokens: adminTokens ?? made.adminTokens }
}

const origin = (host: string, port: number | undefined): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`

const STOP_WITHIN_MS = 9_500

async function main(): Promise<void> {
  const running = await start(readConfig(process.env, process.argv.slice(2)))
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.once(signal, () => {
      setTimeout(() => process.exit(0), STOP_WITHIN_MS).unref()
      void running.stop().then(() => process.exit(0))
    })
  await running.ready
}

function fail(error: unknown): never {
  const known = error instanceof ConfigProblems || error instanceof BootstrapProblems
  const text =
    known || !(error instanceof Error) ? String((error as Error).message ?? error) : (error.stack ?? error.message)
  process.stderr.write(`Countersign cannot start.\n${text}\n`)
  process.exit(1)
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url))
  main().catch(fail)
