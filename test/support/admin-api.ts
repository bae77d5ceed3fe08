// The admin API over HTTP, as an operator calls it. In: a store. Out: a client for a dashboard that runs on it.
import { isIP } from 'node:net'
import type { Router } from '@koa/router'
import type { Broker, Message } from '../../infra/broker/broker.ts'
import { createEmbeddedBroker } from '../../infra/broker/embedded.ts'
import { createTopology } from '../../infra/broker/topology.ts'
import type { Keyring } from '../../infra/crypto/keyring.ts'
import { createFindCaller } from '../../infra/http/caller-address.ts'
import { withEarlyRefusals } from '../../infra/http/early-refusals.ts'
import { createIdentifyOperator } from '../../infra/http/operators.ts'
import { createRefusalPacing } from '../../infra/http/refusal-pacing.ts'
import { createHttpShell } from '../../infra/http/shell.ts'
import type { LoopShares } from '../../infra/loop-shares.ts'
import { createMetrics } from '../../infra/metrics.ts'
import type { PrivateTargets } from '../../infra/outbound/address-check.ts'
import type { Lookup } from '../../infra/outbound/lookup.ts'
import { Unavailable } from '../../infra/unavailable.ts'
import { ADMIN_PATH } from '../../services/dashboard/access.ts'
import type { Admit } from '../../services/dashboard/admit.ts'
import { createDashboardService } from '../../services/dashboard/service.ts'
import type { CountersignStore } from '../../services/domain/collections.ts'
import { type CapturedLog, createCapturedLog } from './captured-log.ts'
import { type TestClock, testClock } from './clock.ts'
import { checkDocumented, parseBody } from './documented-answers.ts'
import { type ServedApp, serveApp } from './serve-app.ts'
import { keyringOf } from './tenancy.ts'

export const TOKENS = [
  { name: 'ada', token: 'token-of-ada' },
  { name: 'bob', token: 'token-of-bob' },
]

// biome-ignore lint/suspicious/noExplicitAny: parsed JSON of any shape
type Json = any

export interface Answer {
  status: number
  headers: Headers
  body: Json
}

interface AskOptions {
  /** Ada's by default; null: no token. */
  token?: string | null
  /** The body as text, in place of JSON. */
  raw?: string
  headers?: Record<string, string>
}

export interface TestAdmin {
  ask(method: string, path: string, body?: unknown, options?: AskOptions): Promise<Answer>
  get(path: string): Promise<Answer>
  store: CountersignStore
  keyring: Keyring
  clock: TestClock
  captured: CapturedLog
  published: Message[]
  url: string
  /** Every operation of the API, as documents write it: `GET /apps/{id}`. */
  served: string[]
}

export interface AdminOptions {
  clock?: TestClock
  /** By default publishing only records, queues are empty and no OTP actor answers. */
  broker?: Partial<Pick<Broker, 'publish' | 'request' | 'depth' | 'dead'>>
  publicUrl?: string
  production?: boolean
  tokens?: typeof TOKENS
  /** The data keys by number, the current one first. */
  keyring?: number[]
  /** The code secrets by number, the current one first. */
  codeSecrets?: number[]
  maxBodyBytes?: number
  privateTargets?: PrivateTargets
  /** By default, calls wait for none. */
  loopShares?: LoopShares
  /** By default every name resolves to a public address. */
  lookup?: Lookup
}

/** In place of admission. */
export const ADMIT_ALL: Pick<Admit, 'identifyInTurn' | 'user' | 'stranger'> = {
  identifyInTurn: identify => identify,
  user: (_, next) => next(),
  stranger: (_, next) => next(),
}

const PUBLIC_ADDRESS = '8.8.8.8'

const open: ServedApp[] = []

/** A suite calls `closeAdmins` after each test. */
export async function startAdmin(store: CountersignStore, options: AdminOptions = {}): Promise<TestAdmin> {
  const { clock = testClock(), maxBodyBytes = 16_384 } = options
  const captured = createCapturedLog()
  const { log } = captured
  const keyring = keyringOf(options.keyring ?? [1], options.codeSecrets ?? [1])
  const published: Message[] = []
  const { depth, dead } = createEmbeddedBroker({ topology: createTopology({ channel: [], webhook: [] }), clock })
  const broker: Pick<Broker, 'publish' | 'request' | 'depth' | 'dead'> = {
    publish: async (_, message) => void published.push(message),
    request: async () => {
      throw new Unavailable('no OTP actor runs here')
    },
    depth,
    dead,
    ...options.broker,
  }
  const { tokens = TOKENS, publicUrl = null, production = false } = options
  const config = {
    http: { maxBodyBytes, publicUrl },
    provider: { timeoutMs: 8_000 },
    privateTargets: options.privateTargets ?? [],
    production,
  }
  const findCaller = createFindCaller([])
  const { lookup = async host => [isIP(host) === 0 ? PUBLIC_ADDRESS : host] } = options
  const { router, refuseEarly } = createDashboardService({
    config,
    secrets: { adminTokens: tokens },
    identifyOperator: createIdentifyOperator({ tokens, findCaller, clock, log }),
    findCaller,
    store,
    broker,
    keyring,
    clock,
    log,
    lookup,
    loopShares: options.loopShares ?? { run: (_, work) => work(), isFull: () => false },
  })
  if (!router || !refuseEarly) throw new Error('the dashboard has no router')
  const shared = {
    log,
    metrics: createMetrics({ processMetrics: false }),
    clock,
    pacing: createRefusalPacing({ clock }),
  }
  const shell = createHttpShell(shared, [router])
  const server = await serveApp(withEarlyRefusals(shell, { ...shared, refuse: refuseEarly }))
  open.push(server)

  const ask: TestAdmin['ask'] = async (method, path, body, { token = TOKENS[0]?.token, raw, headers } = {}) => {
    const sent = raw ?? (body === undefined ? undefined : JSON.stringify(body))
    const response = await fetch(`${server.url}/admin/v1${path}`, {
      method,
      headers: {
        ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
        ...(sent === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(sent === undefined ? {} : { body: sent }),
    })
    const text = await response.text()
    const type = response.headers.get('content-type')
    const answer = { status: response.status, headers: response.headers, body: parseBody(text, type) }
    checkDocumented({ ...answer, method, path: `/admin/v1${path}`, type })
    return answer
  }
  return {
    ask,
    get: path => ask('GET', path),
    store,
    keyring,
    clock,
    captured,
    published,
    url: server.url,
    served: servedBy(router),
  }
}

const servedBy = (router: Router): string[] =>
  router.stack
    .map(({ methods, path }) => ({ method: methods.find(one => one !== 'HEAD'), path: String(path) }))
    // The pages of the dashboard are beside the API.
    .filter(({ path }) => path.startsWith(ADMIN_PATH))
    .map(({ method, path }) => `${method} ${path.slice(ADMIN_PATH.length).replaceAll(/:(\w+)/g, '{$1}')}`)

export async function closeAdmins(): Promise<void> {
  await Promise.all(open.splice(0).map(server => server.close()))
}

/** Creates a company and an app through the API. */
export async function createTenant(admin: TestAdmin, settings?: object): Promise<{ company: string; app: string }> {
  const company = await admin.ask('POST', '/companies', { name: 'Acme' })
  const given = { name: 'Shop', ...(settings === undefined ? {} : { settings }) }
  const app = await admin.ask('POST', `/companies/${company.body.id}/apps`, given)
  if (app.status !== 201) throw new Error(`no app was made: ${JSON.stringify(app.body)}`)
  return { company: company.body.id, app: app.body.id }
}

/** The paths in the `errors` of a refused request. */
export const errorPaths = ({ body }: Answer): string[] => body.errors.map(({ path }: { path: string }) => path)
