// The composition root: the only place that knows which adapters there are and which service plays which role.
import { realpathSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { type AmqpOptions, amqpBroker } from '../infra/broker/amqp.ts'
import type { Broker } from '../infra/broker/broker.ts'
import { embeddedBroker } from '../infra/broker/embedded.ts'
import { measuredBroker } from '../infra/broker/measured.ts'
import { topology } from '../infra/broker/topology.ts'
import { type Clock, systemClock } from '../infra/clock.ts'
import { type Config, type Role, readConfig, type Secrets } from '../infra/config/config.ts'
import { developmentSecrets } from '../infra/config/development-secrets.ts'
import { createKeyring, type Keyring } from '../infra/crypto/keyring.ts'
import { type Hosted, host, type Service } from '../infra/host.ts'
import { healthRouter } from '../infra/http/health.ts'
import { metricsRouter } from '../infra/http/metrics.ts'
import { operators } from '../infra/http/operator.ts'
import { httpShell } from '../infra/http/shell.ts'
import { createLog, type Logger } from '../infra/log/log.ts'
import { hideAlso } from '../infra/log/scrub.ts'
import { createMetrics, type Metrics } from '../infra/metrics.ts'
import { guardedOutbound } from '../infra/outbound/guarded.ts'
import { inspecting } from '../infra/outbound/inspect.ts'
import type { Outbound } from '../infra/outbound/outbound.ts'
import { runProcess } from '../infra/process.ts'
import { StartProblem } from '../infra/start-problem.ts'
import { embeddedStore } from '../infra/store/embedded.ts'
import { measuredStore } from '../infra/store/measured.ts'
import { mongoStore } from '../infra/store/mongo.ts'
import { callbacks, channel } from './channel/service.ts'
import { dashboard } from './dashboard/service.ts'
import { applyBootstrap, type Bootstrap, readBootstrap } from './domain/bootstrap/bootstrap.ts'
import { createDemo, type Demo, demoGuide } from './domain/bootstrap/demo.ts'
import { COLLECTIONS, type CountersignStore } from './domain/collections.ts'
import { checkKeys } from './domain/privacy/canary.ts'
import { SPOKEN_CODE } from './domain/texts/spoken-codes.ts'
import { brokerDelays } from './domain/webhooks/ladder.ts'
import { edge } from './edge/service.ts'
import { otp } from './otp/service.ts'
import { sweeper } from './sweeper/service.ts'
import { webhook } from './webhook/service.ts'

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
const front = (runtime: Runtime): Service => {
  const service = edge(runtime)
  service.router?.use(callbacks(runtime).routes())
  return service
}

/** Which service plays which role. */
const SERVICES: Services = {
  edge: front,
  otp,
  'channel:sms': channel('sms'),
  'channel:whatsapp': channel('whatsapp'),
  'channel:telegram': channel('telegram'),
  'channel:email': channel('email'),
  webhook,
  sweeper,
  dashboard,
}

/** `amqp`: tests share one RabbitMQ, each with queues of its own. */
export function openEngines(config: Config, clock: Clock, log: Logger, amqp: Partial<AmqpOptions> = {}): Engines {
  const { engine, dataDir, production } = config
  const queues = topology(brokerDelays(config.backoff))
  if (engine.kind === 'embedded')
    return {
      store: embeddedStore({ folder: dataDir, collections: COLLECTIONS, clock, strict: !production }),
      broker: embeddedBroker({ topology: queues, clock, log }),
    }
  return {
    store: mongoStore({ url: engine.mongodbUrl, collections: COLLECTIONS, strict: !production }),
    broker: amqpBroker({ url: engine.amqpUrl, topology: queues, log, ...amqp }),
  }
}

export interface Running extends Omit<Hosted, 'ports'> {
  /** Where it answers, `http://host:port`. */
  url: string
  metricsUrl: string | null
  secrets: Secrets
}

/** What tests bring instead of the usual; `npm start` brings nothing. */
export interface Own {
  clock?: Clock
  log?: Logger
  metrics?: Metrics
  engines?: Engines
  outbound?: Outbound
  services?: Services
  tell?(text: string): void
}

/** Starts the roles of `config`. */
export async function start(config: Config, own: Own = {}): Promise<Running> {
  hideAlso(SPOKEN_CODE)
  const bootstrap = await bootstrapOf(config)
  const secrets = await resolveSecrets(config)
  const clock = own.clock ?? systemClock
  const log = own.log ?? createLog({ level: config.logLevel })
  const metrics = own.metrics ?? createMetrics({ processMetrics: true })
  const opened = own.engines ?? openEngines(config, clock, log)
  const broker = measuredBroker(opened.broker, metrics, clock)
  const store = measuredStore(opened.store, metrics)
  const keyring = createKeyring({ dataKeys: secrets.data, codeSecrets: secrets.code })
  const outbound = own.outbound ?? guardedOutbound({ privateTargets: config.privateTargets })
  const runtime: Runtime = { config, secrets, keyring, clock, log, metrics, broker, store, outbound }
  const services = config.roles.flatMap(role => (own.services ?? SERVICES)[role]?.(runtime) ?? [])
  const routers = services.flatMap(service => service.router ?? [])
  const { http, metricsPort } = config
  // Secrets are shown once: to whoever started the process, never through the log, which would rightly hide them.
  const tell = own.tell ?? (text => void process.stdout.write(text))
  const inspect = inspecting({ privateTargets: config.privateTargets })
  const apply = { store, keyring, clock, inspect, made: new Map<string, string>() }
  let demo: Demo | null = null

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
      await checkKeys({
        store,
        keyring,
        lost: config.lostDataKeys,
        source: config.secrets.data ? null : config.dataDir,
      })
      if (bootstrap === null) {
        if (!config.production && config.roles.includes('edge')) demo ??= await createDemo(apply)
        return
      }
      const { minted, mintedSecrets, warnings } = await applyBootstrap(bootstrap, apply)
      for (const warning of warnings) log.warn({ warning }, 'bootstrap.warned')
      for (const { id, key } of minted) tell(`New key ${id}: ${key}\n`)
      for (const { app_id, secret } of mintedSecrets) tell(`New webhook signing secret of ${app_id}: ${secret}\n`)
    },
  })
  const [port, openPort] = hosted.ports
  const url = origin(http.host, port)
  const ready = hosted.ready.then(() => {
    const here = http.publicUrl ?? url
    const adminUrl = config.roles.includes('dashboard') ? here : null
    if (demo) tell(demoGuide(demo, { url: here, adminUrl, adminToken: secrets.adminTokens[0]?.token ?? '' }))
  })
  // Whoever awaits it is told; who does not must not be killed by it.
  ready.catch(() => {})
  log.info({ url, roles: config.roles, engine: config.engine.kind }, 'countersign.listening')
  return {
    ...{ url, secrets, ready, stop: () => hosted.stop().finally(outbound.close) },
    metricsUrl: openPort === undefined ? null : origin(http.host, openPort),
  }
}

async function bootstrapOf({ bootstrapFile }: Config): Promise<Bootstrap | null> {
  if (bootstrapFile === null) return null
  const text = await readFile(bootstrapFile, 'utf8').catch(error => {
    throw new StartProblem(`BOOTSTRAP_FILE: cannot be read: ${error.message}`, { cause: error })
  })
  return readBootstrap(text)
}

async function resolveSecrets(config: Config): Promise<Secrets> {
  const { code, data, adminTokens } = config.secrets
  if (code && data && adminTokens) return { code, data, adminTokens }
  const made = await developmentSecrets(config.dataDir)
  return { code: code ?? made.code, data: data ?? made.data, adminTokens: adminTokens ?? made.adminTokens }
}

const origin = (host: string, port: number | undefined): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`

/** The whole process, from its environment and command line to its exit code. */
export const run = (own: (config: Config) => Own = () => ({})): Promise<void> =>
  runProcess(() => {
    const config = readConfig(process.env, process.argv.slice(2))
    return start(config, own(config))
  })

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) await run()
