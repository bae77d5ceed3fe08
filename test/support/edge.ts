// The edge's operations over HTTP, with stubs for the OTP actor and for the tenants. In: settings of the edge. Out:
// requests to it, the calls it made to the actor, and the stubs. Tests in test/flow run through the real actor.
import { createFindCaller } from '../../infra/http/caller-address.ts'
import { withEarlyRefusals } from '../../infra/http/early-refusals.ts'
import { type Listener, listen } from '../../infra/http/listen.ts'
import { createRefusalPacing, type RefusalPacing } from '../../infra/http/refusal-pacing.ts'
import { createHttpShell } from '../../infra/http/shell.ts'
import { createMetrics } from '../../infra/metrics.ts'
import type { OtpAnswer, OtpCall, VerificationView } from '../../machines/calls.ts'
import { ADMIN_API } from '../../services/dashboard/admin-api.ts'
import { SCREENS } from '../../services/dashboard/screens.ts'
import type { NewRefusal } from '../../services/domain/refusals/refusal-log.ts'
import { hashApiKey } from '../../services/domain/tenancy/api-keys.ts'
import type { ApiKey } from '../../services/domain/tenancy/documents.ts'
import { resolveSettings } from '../../services/domain/tenancy/settings.ts'
import type { TenantApp } from '../../services/domain/tenancy/tenancy.ts'
import type { OtpDoc } from '../../services/domain/verifications/documents.ts'
import { createReferenceRouter } from '../../services/edge/docs/router.ts'
import { createElementRouter } from '../../services/edge/element.ts'
import { CLIENT_API } from '../../services/edge/operations.ts'
import { createApiRouter } from '../../services/edge/router.ts'
import { createCapturedLog } from './captured-log.ts'
import { testClock } from './clock.ts'
import { testKeyring } from './tenancy.ts'

export const OTP_ID = 'otp_01k2m8x4e9s7v3hqz5tnw6yb0c'

export const KEYS = {
  serverLive: 'sk_live_0123456789',
  serverTest: 'sk_test_0123456789',
  deviceLive: 'pk_live_0123456789',
  deviceTest: 'pk_test_0123456789',
}

export const HOOK_SECRET = 'whsec_c2VjcmV0LW9mLWFuLWFwcA=='

export const view = (more: Partial<VerificationView> = {}): VerificationView => ({
  otp_id: OTP_ID,
  status: 'pending',
  channel: 'sms',
  masked_recipient: '+44****56',
  sealed_action_url: null,
  completion: 'code',
  ...more,
})

interface RecordedCall {
  queue: string
  id: string
  call: OtpCall
  budgetMs: number
}

type Settings = Partial<TenantApp['settings']>

export interface EdgeOptions {
  settings?: Settings
  maxBodyBytes?: number
  maxInFlight?: number
  trustedProxies?: string[]
  publicUrl?: string
  pacing?: RefusalPacing
}

export type TestEdge = Awaited<ReturnType<typeof startTestEdge>>

export async function startTestEdge(options: EdgeOptions = {}) {
  const clock = testClock()
  const keyring = testKeyring()
  const captured = createCapturedLog()
  const metrics = createMetrics()
  const calls: RecordedCall[] = []
  const lookups: string[] = []
  const uses: string[] = []
  const docs = new Map<string, OtpDoc>()
  const refusals: NewRefusal[] = []
  const keys = new Map(
    Object.values(KEYS).map(key => {
      const [prefix, mode] = key.split('_')
      return [hashApiKey(key), apiKey(`key_${prefix}${mode}`, key)]
    }),
  )
  const stubs = {
    answer: async (_: OtpCall): Promise<unknown> =>
      ({ kind: 'verification', verification: view() }) satisfies OtpAnswer,
    keyByHash: async (hash: string): Promise<ApiKey | null> => keys.get(hash) ?? null,
    settings: { ...options.settings } as Settings,
  }
  const http = {
    maxBodyBytes: options.maxBodyBytes ?? 16_384,
    maxInFlight: options.maxInFlight ?? 2_000,
    publicUrl: options.publicUrl ?? null,
  }
  const api = createApiRouter({
    outbound: { request: async () => Promise.reject(new Error('the edge of these tests calls nobody')) },
    clock,
    keyring,
    http,
    findCaller: createFindCaller(options.trustedProxies ?? []),
    log: captured.log,
    broker: {
      request: (queue, { id, body }, budgetMs) => {
        // A broker carries JSON.
        const call = JSON.parse(JSON.stringify(body)) as OtpCall
        calls.push({ queue, id, call, budgetMs })
        return stubs.answer(call)
      },
    },
    tenancy: {
      keyByHash: hash => {
        lookups.push(hash)
        return stubs.keyByHash(hash)
      },
      hookSecrets: async () => ({
        company_id: 'cmp_acme',
        secrets: [{ mode: 'test', secret: HOOK_SECRET }],
        missingKey: null,
      }),
      app: async id => ({
        id,
        company_id: 'cmp_acme',
        name: 'Shop',
        settings: { ...resolveSettings({}), ...stubs.settings },
        sealed_challenge_secret: null,
      }),
    },
    usage: { record: ({ _id }) => void uses.push(_id) },
    refusals: { record: refusal => void refusals.push(refusal) },
    otps: {
      get: async ids => new Map(ids.flatMap(id => (docs.has(id) ? [[id, docs.get(id) as OtpDoc]] : []))),
      find: async () => [...docs.values()],
    },
    joinedIds: { get: async () => new Map() },
  })
  const reference = createReferenceRouter({
    http: { publicUrl: options.publicUrl ?? null, port: 3000 },
    parts: [CLIENT_API, ADMIN_API],
    screens: SCREENS,
  })
  const { pacing = createRefusalPacing({ clock }) } = options
  const shell = createHttpShell({ log: captured.log, metrics, clock, pacing }, [
    api.router,
    api.twilio,
    api.hooks,
    createElementRouter(),
    reference,
  ])
  const app = withEarlyRefusals(shell, { refuse: api.refuseEarly, log: captured.log, metrics, clock, pacing })
  const server: Listener = await listen(app, { host: '127.0.0.1', port: 0 })
  const url = `http://127.0.0.1:${server.port}`

  return {
    url,
    port: server.port,
    stubs,
    calls,
    lookups,
    uses,
    keys,
    docs,
    refusals,
    clock,
    keyring,
    captured,
    metrics,
    /** Every operation that does something, as documents write it. */
    served: api.router.stack.flatMap(({ methods, path }) =>
      methods
        .filter(method => ['GET', 'POST'].includes(method) && methods.length <= 2)
        .map(method => `${method} ${String(path).replaceAll(/:(\w+)/g, '{$1}')}`),
    ),
    close: () => server.close(0),
    request: (path: string, init: RequestInit = {}) => fetch(url + path, init),
    post: (path: string, body: unknown, { key = KEYS.serverTest, headers = {} }: RequestOptions = {}) =>
      fetch(`${url}/api/v1${path}`, {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${key}`, ...headers },
      }),
    get: (path: string, { key = KEYS.serverTest, headers = {} }: RequestOptions = {}) =>
      fetch(`${url}/api/v1${path}`, { headers: { Authorization: `Bearer ${key}`, ...headers } }),
  }
}

interface RequestOptions {
  key?: string
  headers?: Record<string, string>
}

export const apiKey = (id: string, key: string, more: Partial<ApiKey> = {}): ApiKey => ({
  _id: id,
  last4: key.slice(-4),
  app_id: 'app_shop',
  company_id: 'cmp_acme',
  kind: key.startsWith('pk') ? 'publishable' : 'server',
  mode: key.includes('live') ? 'live' : 'test',
  hash: hashApiKey(key),
  created_at: 0,
  revoked_at: null,
  ...more,
})

type ProblemBody = Record<string, unknown> & { type: string; status: number; detail: string }

export const problemOf = async (response: Response): Promise<ProblemBody> => (await response.json()) as ProblemBody
