// The path /callbacks/{app_id}/{provider}, which vendors call. In: an HTTP request that anyone may have sent. Out: 2xx
// once the reports it leads to are safe in the broker. Before the vendor's signature has been checked over the exact
// bytes, the router only reads a body of limited size and looks up the provider's secret, which is cached.
import { Router } from '@koa/router'
import type { Context } from 'koa'
import { type Cache, createCache } from '../../../infra/cache.ts'
import type { Clock } from '../../../infra/clock.ts'
import type { Config } from '../../../infra/config/config.ts'
import {
  createMissingKeyReporter,
  isMissingKeyError,
  MISSING_KEY_RETRY_MS,
  type MissingKeyError,
} from '../../../infra/crypto/missing-key-reporter.ts'
import { createAttemptThrottle } from '../../../infra/http/attempt-throttle.ts'
import { readBytes } from '../../../infra/http/body.ts'
import type { FindCaller } from '../../../infra/http/caller-address.ts'
import { httpException, type Problem, rateLimited } from '../../../infra/http/problem.ts'
import { traceOf } from '../../../infra/http/request-trace.ts'
import { isGivenId } from '../../../infra/ids.ts'
import type { Logger } from '../../../infra/log/log.ts'
import type { Metrics } from '../../../infra/metrics.ts'
import { MINUTE_MS } from '../../../infra/time.ts'
import { requestOf, type Trace } from '../../../infra/trace.ts'
import type { Channel } from '../../../machines/channels.ts'
import { problem } from '../../domain/errors.ts'
import { PROVIDER_NAME } from '../../domain/tenancy/providers.ts'
import { TENANT_CACHE, type Tenancy } from '../../domain/tenancy/tenancy.ts'
import { BadCallback, BadSignature, type Callback, type CallbackItem } from '../provider.ts'
import type { BuildProvider, BuiltProvider } from '../providers/factories.ts'
import { createBodyLimiter } from './body-limits.ts'
import type { HandleCallback } from './receipts.ts'

export interface CallbackDeps {
  tenancy: Pick<Tenancy, 'providersOf'>
  buildProvider: BuildProvider
  handleCallback: HandleCallback
  findCaller: FindCaller
  clock: Clock
  log: Logger
  metrics: Pick<Metrics, 'callbacks'>
  http: Pick<Config['http'], 'publicUrl' | 'maxBodyBytes'>
}

interface KnownProvider extends BuiltProvider {
  app_id: string
  channel: Channel
}

/** Vendors put many receipts into one callback, so the limit is at least this, even when `MAX_BODY_BYTES` is lower. */
const MIN_BODY_LIMIT_BYTES = 2 ** 20
/** Protects the memory of the process while bodies arrive. */
const BODY_LIMITS = { maxTotalBytes: 64 * 2 ** 20, timeoutMs: 10_000 }
/** Protects the store and the broker once bodies have arrived. */
const MAX_CONCURRENT_CALLBACKS = 256

/** In a minute, of one caller and one provider: a vendor's servers call for many apps, and a wrong secret of one must
 *  not keep out the callbacks of the others. Counted whether or not the provider exists, so that the answer does not
 *  tell.
 *
 *  A right signature of a vendor counts even then: anyone with an account there can have the same servers call this
 *  address, signed with the secret of that account. That of `http` does not: people chose its secret, so it may be
 *  guessed. */
const MAX_WRONG_SIGNATURES = 30
const TOO_MANY_WRONG = 'Too many callbacks with a wrong signature came from this address.'

/** What the check of a signature needs could not be had. */
const PREPARATION_RETRY_MS = 10_000

const subjectOf = ({ app_id = '', name = '' }: Record<string, string | undefined>): string =>
  isGivenId('app', app_id) && PROVIDER_NAME.test(name) ? `${app_id}/${name}` : 'none'

export function createCallbackRouter(deps: CallbackDeps): Router {
  const { log, metrics, clock, http, findCaller } = deps
  const throttle = createAttemptThrottle({ maxFailures: MAX_WRONG_SIGNATURES, windowMs: MINUTE_MS, clock })
  const providersByApp = createProviderCache(deps)
  const maxBytes = Math.max(http.maxBodyBytes, MIN_BODY_LIMIT_BYTES)
  const limitBody = createBodyLimiter(BODY_LIMITS, clock)
  const reportMissingKey = createMissingKeyReporter({ log, clock })
  let inProgress = 0

  async function findProvider(
    { app_id = '', name = '' }: Record<string, string | undefined>,
    trace: Trace,
  ): Promise<KnownProvider | null> {
    if (!isGivenId('app', app_id) || !PROVIDER_NAME.test(name)) return null
    const found = (await providersByApp.get(app_id)).get(name) ?? null
    if (!isMissingKeyError(found)) return found
    // Not 401: the signature may be right, and a vendor may not repeat a callback after a 401.
    reportMissingKey(found, { ...requestOf({ trace }), app_id, provider: name })
    throw retryLater(MISSING_KEY_RETRY_MS)
  }

  async function handleBody(ctx: Context, body: Uint8Array): Promise<void> {
    const trace = traceOf(ctx)
    const subject = subjectOf(ctx.params)
    const waitMs = throttle.waitMs(findCaller(ctx), subject)
    const refuseThrottled = (): void => {
      if (waitMs > 0) throw rateLimited({ scope: 'callback_signature', detail: TOO_MANY_WRONG, waitMs })
    }
    const known = await findProvider(ctx.params, trace)
    if (known === null || known.type === 'http') refuseThrottled()
    const callback = toCallback(ctx, http.publicUrl, body)
    // Only Meta sends such a request. A failed handshake is 403 whether or not the app exists, so that it does not tell
    // which apps exist.
    if (callback?.method === 'GET' && callback.url.searchParams.has('hub.mode'))
      return respondToHandshake(ctx, known, callback)
    const items = known && callback && (await parse(known, callback, trace))
    if (!known || !items) {
      refuseThrottled()
      throttle.countFailure(findCaller(ctx), subject)
      throw httpException(401, 'The signature is missing or wrong.')
    }
    const { app_id, name, type, channel, secrets } = known
    await deps.handleCallback({ app_id, provider: name, type, channel, secrets, trace }, items)
    ctx.body = ''
  }

  /** Null when the signature is wrong, or when the provider has no callbacks. */
  async function parse(
    { app_id, name, type, provider }: KnownProvider,
    callback: Callback,
    trace: Trace,
  ): Promise<readonly CallbackItem[] | null> {
    await provider.prepareCallback?.(callback, clock.now()).catch((error: unknown) => {
      log.warn({ ...requestOf({ trace }), app_id, provider: name, err: error }, 'callback.refused')
      throw retryLater(PREPARATION_RETRY_MS)
    })
    try {
      return provider.parseCallback?.(callback, clock.now()) ?? null
    } catch (error) {
      const isUnsigned = error instanceof BadSignature
      if (!isUnsigned && !(error instanceof BadCallback)) throw error
      metrics.callbacks.inc({ provider: type, kind: 'call', outcome: isUnsigned ? 'unsigned' : 'unreadable' })
      log.warn({ ...requestOf({ trace }), app_id, provider: name, err: error }, 'callback.refused')
      if (isUnsigned) return null
      throw httpException(400, 'The callback is signed but cannot be understood.')
    }
  }

  function respondToHandshake(ctx: Context, known: KnownProvider | null, { url }: Callback): void {
    const answer = known?.provider.answerHandshake?.(url.searchParams) ?? null
    if (answer === null) throw httpException(403, 'The verify token is wrong.')
    ctx.body = answer
  }

  async function runWithinLimit(work: () => Promise<void>): Promise<void> {
    if (inProgress >= MAX_CONCURRENT_CALLBACKS) throw retryLater(1_000)
    inProgress += 1
    try {
      await work()
    } finally {
      inProgress -= 1
    }
  }

  async function handle(ctx: Context): Promise<void> {
    ctx.set('Cache-Control', 'no-store')
    const done = limitBody(ctx.req)
    try {
      // The body is read before the app is looked up, so that the time of the response does not tell which apps exist.
      const body = await readBytes(ctx, maxBytes)
      await runWithinLimit(() => handleBody(ctx, body))
      ctx.type = 'text/plain'
    } finally {
      done()
    }
  }

  const router = new Router({ sensitive: true })
  router.get('/callbacks/:app_id/:name', handle).post('/callbacks/:app_id/:name', handle)
  return router
}

function createProviderCache({
  tenancy,
  buildProvider,
  clock,
}: CallbackDeps): Cache<Map<string, KnownProvider | MissingKeyError>> {
  const load = async (app_id: string): Promise<Map<string, KnownProvider | MissingKeyError>> => {
    const { providers, unreadable } = await tenancy.providersOf(app_id)
    const known = new Map<string, KnownProvider | MissingKeyError>(
      unreadable.map(({ name, problem }) => [name, problem]),
    )
    for (const setup of providers) {
      // The sandbox has no vendor that calls back.
      if (setup.type !== 'sandbox') known.set(setup.name, { app_id, channel: setup.channel, ...buildProvider(setup) })
    }
    return known
  }
  return createCache(load, { ...TENANT_CACHE, clock })
}

const retryLater = (ms: number): Problem =>
  problem('ServiceUnavailableError', {
    detail: 'Call again later.',
    headers: { 'Retry-After': String(Math.ceil(ms / 1000)) },
  })

/** Vendors sign the address they were given, which begins with `PUBLIC_URL`. Without that setting, the request's own
 *  host is used. */
function toCallback(ctx: Context, publicUrl: string | null, body: Uint8Array): Callback | null {
  const address = `${publicUrl ?? `${ctx.protocol}://${ctx.host}`}${ctx.path}${ctx.search}`
  if (!URL.canParse(address)) return null
  const headers = Object.entries(ctx.headers).map(([name, value]) => [name, value?.toString()] as const)
  return {
    method: ctx.method === 'POST' ? 'POST' : 'GET',
    url: new URL(address),
    headers: Object.fromEntries(headers),
    body,
  }
}
