// The composition root: the only place that knows which adapters there are and which service plays which role.
import { realpathSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { type AmqpOptions, createAmqpBroker } from '../infra/broker/amqp.ts'
import type { Broker } from '../infra/broker/broker.ts'
import { createEmbeddedBroker } from '../infra/broker/embedded.ts'
import { instrumentBroker } from '../infra/broker/metrics.ts'
import { createTopology } from '../infra/broker/topology.ts'
import { type Clock, systemClock } from '../infra/clock.ts'
import { type Config, type Role, readConfig, type Secrets } from '../infra/config/config.ts'
import { readDevelopmentSecrets } from '../infra/config/development-secrets.ts'
import { createKeyring, type Keyring } from '../infra/crypto/keyring.ts'
import { type RunningHost, type Service, startHost } from '../infra/host.ts'
import { createHealthRouter } from '../infra/http/health.ts'
import { createMetricsRouter } from '../infra/http/metrics.ts'
import { createIdentifyOperator } from '../infra/http/operators.ts'
import { createHttpShell } from '../infra/http/shell.ts'
import { createLog, type Logger } from '../infra/log/log.ts'
import { hideAlso } from '../infra/log/scrub.ts'
import { createMetrics, type Metrics } from '../infra/metrics.ts'
import { createOutbound } from '../infra/outbound/guarded-outbound.ts'
import { createInspector } from '../infra/outbound/inspector.ts'
import type { Outbound } from '../infra/outbound/outbound.ts'
import { runProcess } from '../infra/process.ts'
import { StartProblem } from '../infra/start-problem.ts'
import { createEmbeddedStore } from '../infra/store/embedded.ts'
import { instrumentStore } from '../infra/store/metrics.ts'
import { createMongoStore } from '../infra/store/mongo.ts'
import { createCallbackRoutes, createChannelService } from './channel/service.ts'
import { createDashboardService } from './dashboard/service.ts'
import { applyBootstrap, type Bootstrap, readBootstrap } from './domain/bootstrap/bootstrap.ts'
import { createDemo, type DemoKeys, demoGuide } from './domain/bootstrap/demo.ts'
import { COLLECTIONS, type CountersignStore } from './domain/collections.ts'
import { checkKeys } from './domain/privacy/canary.ts'
import { SPOKEN_CODE } from './domain/texts/spoken-codes.ts'
import { brokerDelays } from './domain/webhooks/retry-schedule.ts'
import { createEdgeService } from './edge/service.ts'
import { createOtpService } from './otp/service.ts'
import { createSweeperService } from './sweeper/service.ts'
import { createWebhookService } from './webhook/service.ts'

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
  /** How others are called: webhook endpoints and providers. */
  outbound: Outbound
}

export type Services = Partial<Record<Role, (runtime: Runtime) => Service>>

/** Vendors call us where clients do. */
const createEdgeWithCallbacks = (runtime: Runtime): Service => {
  const service = createEdgeService(runtime)
  service.router?.use(createCallbackRoutes(runtime).routes())
  return service
}

/** Which service plays which role. */
const SERVICES: Services = {
  edge: createEdgeWithCallbacks,
  otp: createOtpService,
  'channel:sms': createChannelService('sms'),
  'channel:whatsapp': createChannelService('whatsapp'),
  'channel:telegram': createChannelService('telegram'),
  'channel:email': createChannelService('email'),
  webhook: createWebhookService,
  sweeper: createSweeperService,
  dashboard: createDashboardService,
}

/** `amqp`: tests share one RabbitMQ, each with queues of its own. */
export function openEngines(config: Config, clock: Clock, log: Logger, amqp: Partial<AmqpOptions> = {}): Engines {
  const { engine, dataDir, production } = config
  const queues = createTopology(brokerDelays(config.backoff))
  if (engine.kind === 'embedded')
    return {
      store: createEmbeddedStore({ folder: dataDir, collections: COLLECTIONS, clock, strict: !production }),
      broker: createEmbeddedBroker({ topology: queues, clock, log }),
    }
  return {
    store: createMongoStore({ url: engine.mongodbUrl, collections: COLLECTIONS, strict: !production }),
    broker: createAmqpBroker({ url: engine.amqpUrl, topology: queues, log, ...amqp }),
  }
}

export interface Running extends Omit<RunningHost, 'ports'> {
  /** Where it answers, `http://host:port`. */
  url: string
  metricsUrl: string | null
  secrets: Secrets
}

/** What tests bring instead of the usual; `npm start` brings nothing. */
export interface StartOverrides {
  clock?: Clock
  log?: Logger
  metrics?: Metrics
  engines?: Engines
  outbound?: Outbound
  services?: Services
  print?(text: string): void
}

/** Starts the roles of `config`. */
export async function start(config: Config, overrides: StartOverrides = {}): Promise<Running> {
  hideAlso(SPOKEN_CODE)
  const bootstrap = await readBootstrapFile(config)
  const secrets = await resolveSecrets(config)
  const clock = overrides.clock ?? systemClock
  const log = overrides.log ?? createLog({ level: config.logLevel })
  const metrics = overrides.metrics ?? createMetrics({ processMetrics: true })
  const engines = overrides.engines ?? openEngines(config, clock, log)
  const broker = instrumentBroker(engines.broker, metrics, clock)
  const store = instrumentStore(engines.store, metrics)
  const keyring = createKeyring({ dataKeys: secrets.data, codeSecrets: secrets.code })
  const outbound = overrides.outbound ?? createOutbound({ privateTargets: config.privateTargets })
  const runtime: Runtime = { config, secrets, keyring, clock, log, metrics, broker, store, outbound }
  const services = config.roles.flatMap(role => (overrides.services ?? SERVICES)[role]?.(runtime) ?? [])
  const routers = services.flatMap(service => service.router ?? [])
  const { http, metricsPort } = config
  // Secrets are shown once: to whoever started the process, never through the log, which would rightly hide them.
  const print = overrides.print ?? (text => void process.stdout.write(text))
  const inspect = createInspector({ privateTargets: config.privateTargets })
  const bootstrapDeps = { store, keyring, clock, inspect, made: new Map<string, string>() }
  let demo: DemoKeys | null = null

  const hosted = await startHost({
    broker,
    store,
    clock,
    log,
    services,
    listeners: readiness => [
      {
        app: createHttpShell(runtime, [
          createHealthRouter(readiness),
          createMetricsRouter(metrics, createIdentifyOperator(secrets.adminTokens)),
          ...routers,
        ]),
        host: http.host,
        port: http.port,
      },
      ...(metricsPort === null
        ? []
        : [{ app: createHttpShell(runtime, [createMetricsRouter(metrics)]), host: http.host, port: metricsPort }]),
    ],
    prepare: async () => {
      await store.ping()
      await checkKeys({
        store,
        keyring,
        lostKeyIds: config.lostDataKeys,
        source: config.secrets.data ? null : config.dataDir,
      })
      if (bootstrap === null) {
        if (!config.production && config.roles.includes('edge')) demo ??= await createDemo(bootstrapDeps)
        return
      }
      const { mintedKeys, mintedSecrets, warnings } = await applyBootstrap(bootstrap, bootstrapDeps)
      for (const warning of warnings) log.warn({ warning }, 'bootstrap.warned')
      for (const { id, key } of mintedKeys) print(`New key ${id}: ${key}\n`)
      for (const { app_id, secret } of mintedSecrets) print(`New webhook signing secret of ${app_id}: ${secret}\n`)
    },
  })
  const [port, boundMetricsPort] = hosted.ports
  const url = origin(http.host, port)
  const ready = hosted.ready.then(() => {
    const baseUrl = http.publicUrl ?? url
    const adminUrl = config.roles.includes('dashboard') ? baseUrl : null
    if (demo) print(demoGuide(demo, { url: baseUrl, adminUrl, adminToken: secrets.adminTokens[0]?.token ?? '' }))
  })
  // Whoever awaits it is told; who does not must not be killed by it.
  ready.catch(() => {})
  log.info({ url, roles: config.roles, engine: config.engine.kind }, 'countersign.listening')
  return {
    url,
    secrets,
    ready,
    stop: () => hosted.stop().finally(outbound.close),
    metricsUrl: boundMetricsPort === undefined ? null : origin(http.host, boundMetricsPort),
  }
}

async function readBootstrapFile({ bootstrapFile }: Config): Promise<Bootstrap | null> {
  if (bootstrapFile === null) return null
  const text = await readFile(bootstrapFile, 'utf8').catch(error => {
    throw new StartProblem(`BOOTSTRAP_FILE: cannot be read: ${error.message}`, { cause: error })
  })
  return readBootstrap(text)
}

async function resolveSecrets(config: Config): Promise<Secrets> {
  const { code, data, adminTokens } = config.secrets
  if (code && data && adminTokens) return { code, data, adminTokens }
  const development = await readDevelopmentSecrets(config.dataDir)
  return {
    code: code ?? development.code,
    data: data ?? development.data,
    adminTokens: adminTokens ?? development.adminTokens,
  }
}

const origin = (host: string, port: number | undefined): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`

/** The whole process, from its environment and command line to its exit code. */
export const run = (overrides: (config: Config) => StartOverrides = () => ({})): Promise<void> =>
  runProcess(() => {
    const config = readConfig(process.env, process.argv.slice(2))
    return start(config, overrides(config))
  })

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) await run()
