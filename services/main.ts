// The composition root, and a good first file to read. In: the settings and the roles of this process. Out: a running process.
// Only this file knows which engines there are and which service plays which role.
import { realpathSync } from 'node:fs'
import { join, resolve } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import type { Router } from '@koa/router'
import type { AmqpOptions } from '../infra/broker/amqp.ts'
import type { Broker } from '../infra/broker/broker.ts'
import { createEmbeddedBroker } from '../infra/broker/embedded.ts'
import { instrumentBroker } from '../infra/broker/metrics.ts'
import { createTopology } from '../infra/broker/topology.ts'
import { brokerUnlessAway } from '../infra/broker/unless-away.ts'
import { type Clock, systemClock } from '../infra/clock.ts'
import { type Config, ConfigProblems, ROLES, type Role, readConfig, type Secrets } from '../infra/config/config.ts'
import { resolveSecrets } from '../infra/config/development-secrets.ts'
import { asksForHelp, helpText } from '../infra/config/help.ts'
import { createKeyring, type Keyring } from '../infra/crypto/keyring.ts'
import { createEngineWait } from '../infra/engine-wait.ts'
import { createEngineWatch, type EngineWatches } from '../infra/engine-watch.ts'
import { limitHeapGrowth, requireYoungHeap } from '../infra/heap.ts'
import { type RunningHost, type Service, startHost } from '../infra/host.ts'
import { createFindCaller, type FindCaller } from '../infra/http/caller-address.ts'
import type { RefuseEarly } from '../infra/http/early-refusals.ts'
import { createListeners, originOf } from '../infra/http/listeners.ts'
import { createIdentifyOperator, type IdentifyOperator } from '../infra/http/operators.ts'
import { freeAllLeases } from '../infra/leases.ts'
import { createLog, type Logger } from '../infra/log/log.ts'
import { registerCodePattern } from '../infra/log/scrub.ts'
import { createMetrics, type Metrics } from '../infra/metrics.ts'
import { createOutbound } from '../infra/outbound/guarded-outbound.ts'
import type { Outbound } from '../infra/outbound/outbound.ts'
import { createTargetInspector } from '../infra/outbound/target-inspector.ts'
import { BACKUPS, findOpenToOthers } from '../infra/private-files.ts'
import { runProcess } from '../infra/run-process.ts'
import { StartProblem } from '../infra/start-problem.ts'
import { createEmbeddedStore } from '../infra/store/embedded.ts'
import { instrumentStore } from '../infra/store/metrics.ts'
import { storeUnlessAway } from '../infra/store/unless-away.ts'
import { withTimeout } from '../infra/timeout.ts'
import { traceBroker } from '../infra/tracing/traced-broker.ts'
import { traceOutbound } from '../infra/tracing/traced-outbound.ts'
import { traceStore } from '../infra/tracing/traced-store.ts'
import type { Tracing } from '../infra/tracing/tracing.ts'
import { VERSION } from '../infra/version.ts'
import { createCallbacks, createChannelService } from './channel/service.ts'
import { ADMIN_API } from './dashboard/admin-api.ts'
import { SCREENS, SIGN_IN_PATH } from './dashboard/screens.ts'
import { createDashboardService } from './dashboard/service.ts'
import { createInitialData, readBootstrapFile } from './domain/bootstrap/initial-data.ts'
import { COLLECTIONS, type CountersignStore } from './domain/collections.ts'
import { checkKeys, type StorePlace } from './domain/privacy/canary.ts'
import { CODE_IN_MESSAGE } from './domain/texts/code-in-message.ts'
import { brokerDelays } from './domain/webhooks/retry-waits.ts'
import { createEdgeService } from './edge/service.ts'
import { createOtpService } from './otp/service.ts'
import { createSweeperService } from './sweeper/service.ts'
import { createWebhookService } from './webhook/service.ts'

export interface Engines {
  broker: Broker
  store: CountersignStore
  /** Whether they are away. Absent where they are in this process. */
  watches?: EngineWatches
  /** Copies the store while it runs, and answers where to. The embedded one alone: MongoDB has tools of its own. */
  backUp?(): Promise<string>
}

/** What every service is built from. */
export interface Runtime extends Engines {
  config: Config
  secrets: Secrets
  keyring: Keyring
  findCaller: FindCaller
  identifyOperator: IdentifyOperator
  clock: Clock
  log: Logger
  metrics: Metrics
  /** Calls providers and webhook endpoints. */
  outbound: Outbound
  /** Null where no spans are recorded. */
  tracing: Tracing | null
}

export type Services = Partial<Record<Role, (runtime: Runtime) => Service>>

/** For work that a caller waits for: while an engine is known to be away, what asks it is refused at once. */
function forCallers<Ports extends Engines>(ports: Ports): Ports {
  const { broker, store, watches } = ports
  if (!watches) return ports
  return { ...ports, broker: brokerUnlessAway(broker, watches.broker), store: storeUnlessAway(store, watches.store) }
}

/** Providers call back at the address that clients call, so the edge serves their routes too. Its OpenAPI document describes the whole
 *  product, also where another process plays the role of the dashboard. */
const createEdgeWithCallbacks = (given: Runtime): Service => {
  const runtime = forCallers(given)
  const screens = runtime.config.roles.includes('dashboard') ? SCREENS : []
  const service = createEdgeService({ ...runtime, otherApis: [ADMIN_API], screens })
  service.router?.use(createCallbacks(runtime).routes())
  return service
}

/** The pages call the client API at their own address (Try it), and link to its reference. Another origin would be
 *  closed to them: the API lets no page of another origin use a server key, and the pages' policy lets them call no
 *  other origin. So where another process plays the edge, the dashboard answers the client API too, to signed-in
 *  people alone: a dashboard holds secrets that compute codes, and strangers have no business there. This adds no secret
 *  and no consumer: the edge needs fewer secrets than the dashboard, keeps nothing, and asks the OTP actor over the
 *  broker. Vendors call back at the edge alone, where logins and Twilio's clients call too. The lines of these requests
 *  have the role of this process. */
const createDashboardWithClientApi = (given: Runtime): Service => {
  const runtime = forCallers(given)
  const dashboard = createDashboardService(runtime)
  if (runtime.config.roles.includes('edge')) return dashboard
  const edge = createEdgeService({ ...runtime, otherApis: [ADMIN_API], screens: SCREENS, forOwnPages: true })
  if (edge.router) dashboard.router?.use(dashboard.requireSession, edge.router.routes())
  const stop = async (): Promise<void> => void (await Promise.all([dashboard.stop?.(), edge.stop?.()]))
  return { ...dashboard, stop }
}

/** Which service plays which role. */
export const SERVICES: Required<Services> = {
  edge: createEdgeWithCallbacks,
  otp: createOtpService,
  'channel:sms': createChannelService('sms'),
  'channel:whatsapp': createChannelService('whatsapp'),
  'channel:telegram': createChannelService('telegram'),
  'channel:email': createChannelService('email'),
  webhook: createWebhookService,
  sweeper: createSweeperService,
  dashboard: createDashboardWithClientApi,
}

export interface Running extends Omit<RunningHost, 'ports' | 'firstTry'> {
  /** The public address, `http://host:port`. */
  url: string
  metricsUrl: string | null
  secrets: Secrets
  /** The log of the process as a whole. */
  log: Logger
  /** Copies the embedded store. */
  backUp?(): Promise<string>
}

/** What tests replace. `npm start` replaces nothing. */
export interface StartOverrides {
  clock?: Clock
  log?: Logger
  metrics?: Metrics
  engines?: Engines
  outbound?: Outbound
  services?: Services
  print?(text: string): void
}

/** How long MongoDB may take to answer, or to refuse, before the process says that it listens. */
const FIRST_TRY_MS = 3_000

/** Starts the roles of `config`. It listens when this resolves, and takes work once `ready` resolves. */
export async function start(config: Config, overrides: StartOverrides = {}): Promise<Running> {
  registerCodePattern(CODE_IN_MESSAGE)
  const bootstrap = await readBootstrapFile(config)
  const processLog = overrides.log ?? createLog({ level: config.logLevel })
  const runtime = await createRuntime(config, await resolveSecrets(config), processLog, overrides)
  const { secrets, keyring, log, store, outbound, tracing } = runtime
  const close = async (): Promise<void> => void (await Promise.all([outbound.close(), tracing?.close()]))
  if (usesDataFolder(config))
    for (const open of findOpenToOthers(config.dataDir)) log.warn(open, 'data_folder.open_to_other_users')

  const serviceLogs = new Map<Router, Logger>()
  const earlyRefusals: { refuse: RefuseEarly; log: Logger }[] = []
  const services = config.roles.flatMap(role => {
    const serviceLog = processLog.child({ role })
    const service = (overrides.services ?? SERVICES)[role]?.({ ...runtime, log: serviceLog })
    if (service?.router) serviceLogs.set(service.router, serviceLog)
    if (service?.refuseEarly) earlyRefusals.push({ refuse: service.refuseEarly, log: serviceLog })
    return service ?? []
  })
  const routers = [...serviceLogs.keys()]
  const monitoringRouters = services.flatMap(({ monitoringRouter = [] }) => monitoringRouter)
  const trustsCaller = services.find(service => service.trustsCaller)?.trustsCaller
  const initialData = createInitialData({
    ...runtime,
    bootstrap,
    inspect: createTargetInspector({ privateTargets: config.privateTargets }),
    print: overrides.print ?? (text => void process.stdout.write(text)),
  })

  const host = await startHost({
    ...forCallers(runtime),
    services,
    stopDelayMs: config.stopDelayMs,
    listeners: readiness =>
      createListeners(
        { ...runtime, routers, monitoringRouters, serviceLogs, earlyRefusals, ...(trustsCaller && { trustsCaller }) },
        readiness,
      ),
    async prepare() {
      await store.ping()
      const source = config.secrets.data ? null : config.dataDir
      await checkKeys({ store, keyring, lostKeyIds: config.lostDataKeys, source, place: placeOf(config) })
      if (config.engine.kind === 'embedded') await freeAllLeases(store.docs('leases'))
      await initialData.write()
    },
  })

  // What keeps a process from working for good, such as a wrong password, is said before it says that it listens. The embedded engines
  // answer at once. A MongoDB that is away must not delay the line for long; the process answers /healthz meanwhile.
  const firstTry =
    config.engine.kind === 'embedded' ? host.firstTry : withTimeout(systemClock, FIRST_TRY_MS, host.firstTry)
  await firstTry.catch(async error => {
    await host.stop().finally(close)
    throw error
  })

  const [url = '', metricsUrl = null] = host.ports.map(port => originOf(config.http.host, port))
  log.info({ url, roles: config.roles, engine: config.engine.kind }, 'countersign.listening')
  const ready = host.ready.then(() => {
    const publicUrl = config.http.publicUrl ?? url
    const adminUrl = config.roles.includes('dashboard') ? publicUrl : null
    const signInUrl = adminUrl === null ? null : `${adminUrl}${SIGN_IN_PATH}`
    // A token that the operator supplied is known to them, and logs would keep it.
    const adminToken = config.secrets.adminTokens === null ? (secrets.adminTokens[0]?.token ?? null) : null
    initialData.printGuide({ url: publicUrl, adminUrl, adminToken, signInUrl })
  })
  // A caller that does not await `ready` must not be ended by an unhandled rejection.
  ready.catch(() => {})
  const { backUp } = runtime
  return {
    url,
    metricsUrl,
    secrets,
    log,
    ready,
    drain: host.drain,
    stopMs: host.stopMs,
    stop: () => host.stop().finally(close),
    ...(backUp ? { backUp } : {}),
  }
}

/** For the embedded store, or for secrets that the environment does not give. */
const usesDataFolder = ({ engine, secrets }: Config): boolean =>
  engine.kind === 'embedded' || Object.values(secrets).includes(null)

async function createRuntime(
  config: Config,
  secrets: Secrets,
  processLog: Logger,
  overrides: StartOverrides,
): Promise<Runtime> {
  const clock = overrides.clock ?? systemClock
  const log = processLog.child({ role: roleText(config.roles) })
  const metrics = overrides.metrics ?? createMetrics({ processMetrics: true })
  metrics.buildInfo.set({ version: VERSION, node: process.version, engine: config.engine.kind }, 1)
  for (const role of config.roles) metrics.role.set({ role }, 1)
  const engines = overrides.engines ?? (await openEngines(config, clock, log))
  const findCaller = createFindCaller(config.http.trustedProxies)
  const tracing = config.tracesUrl === null ? null : await openTracing(config.tracesUrl, config, clock, log)
  const broker = instrumentBroker(engines.broker, metrics, clock)
  const store = instrumentStore(engines.store, metrics)
  const outbound = overrides.outbound ?? createOutbound({ privateTargets: config.privateTargets })
  return {
    config,
    secrets,
    keyring: createKeyring({ dataKeys: secrets.data, codeSecrets: secrets.code }),
    findCaller,
    identifyOperator: createIdentifyOperator({ tokens: secrets.adminTokens, findCaller, clock, log }),
    clock,
    log,
    metrics,
    ...(engines.backUp ? { backUp: engines.backUp } : {}),
    ...(engines.watches ? { watches: engines.watches } : {}),
    tracing,
    broker: tracing ? traceBroker(broker, tracing, clock) : broker,
    store: tracing ? traceStore(store, tracing) : store,
    outbound: tracing ? traceOutbound(outbound, tracing) : outbound,
  }
}

/** Loaded when it is needed. */
async function openTracing(url: string, { roles }: Pick<Config, 'roles'>, clock: Clock, log: Logger): Promise<Tracing> {
  const { createOpenTelemetry } = await import('../infra/tracing/open-telemetry.ts')
  const attributes = { 'service.name': 'countersign', 'service.version': VERSION, 'countersign.role': roleText(roles) }
  return createOpenTelemetry({ url, attributes, clock, log })
}

/** The data of a development system may be deleted to start over. */
const placeOf = ({ engine, production, dataDir }: Config): StorePlace =>
  engine.kind === 'embedded'
    ? { setting: 'DATA_DIR', deletable: production ? null : resolve(dataDir) }
    : { setting: 'MONGODB_URL', deletable: null }

/** For lines that belong to the whole process. One text in every line, so that log stores give the field one type. */
const roleText = (roles: readonly Role[]): string => (roles.length === ROLES.length ? 'all' : roles.join())

/** The engines that the settings name. `amqp` is for tests, which share one RabbitMQ and give each its own queues. Drivers are loaded
 *  when they are needed: those of MongoDB and RabbitMQ take some 20 MiB. */
export async function openEngines(
  config: Config,
  clock: Clock,
  log: Logger,
  amqp: Partial<AmqpOptions> = {},
): Promise<Engines> {
  const { engine, dataDir, production } = config
  const topology = createTopology(brokerDelays(config.backoff))
  if (engine.kind === 'embedded') {
    const store = createEmbeddedStore({ folder: dataDir, collections: COLLECTIONS, clock, strict: !production })
    return {
      store,
      broker: createEmbeddedBroker({ topology, clock, log }),
      async backUp() {
        const folder = backupFolder(dataDir, clock.now())
        await store.copyTo(folder)
        return folder
      },
    }
  }
  const { createMongoStore, mongoHosts } = await import('../infra/store/mongo.ts')
  const { createAmqpBroker } = await import('../infra/broker/amqp.ts')
  const { mongodbUrl, amqpUrls } = engine
  const mongo = { engine: 'MongoDB', setting: 'MONGODB_URL', hosts: mongoHosts(mongodbUrl) }
  const rabbit = { engine: 'RabbitMQ', setting: 'AMQP_URL', hosts: amqpUrls.map(url => new URL(url).host) }
  const waits = {
    store: createEngineWait({ ...mongo, clock: systemClock, log }),
    broker: createEngineWait({ ...rabbit, clock: systemClock, log }),
  }
  const watches: EngineWatches = {
    store: createEngineWatch({
      engine: mongo.engine,
      probe: () => store.ping(),
      clock: systemClock,
      wait: waits.store,
    }),
    broker: createEngineWatch({
      engine: rabbit.engine,
      probe: () => broker.roundTrip(PROBE_MS),
      clock: systemClock,
      wait: waits.broker,
    }),
  }
  const store = createMongoStore({
    url: mongodbUrl,
    collections: COLLECTIONS,
    strict: !production,
    wait: waits.store,
    watch: watches.store,
  })
  const broker = createAmqpBroker({
    urls: amqpUrls,
    topology,
    log,
    wait: waits.broker,
    watch: watches.broker,
    ...amqp,
  })
  return { store, broker, watches }
}

/** Long, as MongoDB's time-out is: on a starved machine RabbitMQ is slow, and a late answer shows that it works. */
const PROBE_MS = 10_000

/** `2026-11-17T16-58-03.120Z`: without colons, which some file systems refuse. */
const backupFolder = (dataDir: string, at: number): string =>
  join(resolve(dataDir), BACKUPS, new Date(at).toISOString().replaceAll(':', '-'))

/** Runs the whole process, from its environment and command line to its exit code. */
export async function run(
  overrides: (config: Config) => StartOverrides | Promise<StartOverrides> = () => ({}),
): Promise<void> {
  const words = process.argv.slice(2)
  if (asksForHelp(words)) return void process.stdout.write(helpText())
  await runProcess(async () => {
    const config = await readSettings(words)
    requireYoungHeap(config.heapYoungMb)
    if (config.engine.kind === 'embedded') limitHeapGrowth()
    return start(config, await overrides(config))
  })
}

/** Every problem of wrong settings and a wrong bootstrap file is reported at once. */
async function readSettings(words: readonly string[]): Promise<Config> {
  try {
    return readConfig(process.env, words)
  } catch (problems) {
    if (!(problems instanceof ConfigProblems)) throw problems
    const bootstrapProblem: unknown = await readBootstrapFile(problems.bootstrap).catch(error => error)
    if (!(bootstrapProblem instanceof StartProblem)) throw problems
    throw new StartProblem(`${problems.message}\n${bootstrapProblem.message}`)
  }
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) await run()
