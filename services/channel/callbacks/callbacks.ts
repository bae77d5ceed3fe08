// /callbacks/{app_id}/{provider}: where vendors call us. In: an HTTP request that may be anybody's. Out: 2xx once what the vendor said is
// safe. Nothing is believed before the vendor's own signature has been checked over the very bytes that came; until then no more is
// done than reading a bounded body and looking up, at most once in a few seconds, whose secret to check it with.
import { Router } from '@koa/router'
import type { Context } from 'koa'
import { type Cache, cached } from '../../../infra/cache.ts'
import type { Clock } from '../../../infra/clock.ts'
import type { Config } from '../../../infra/config/config.ts'
import { isKeyProblem, KEY_AWAITED_MS, type KeyProblem, tellingUnopened } from '../../../infra/crypto/unopened.ts'
import { readBytes } from '../../../infra/http/body.ts'
import { httpException, type Problem } from '../../../infra/http/problem.ts'
import type { Logger } from '../../../infra/log/log.ts'
import type { Metrics } from '../../../infra/metrics.ts'
import { problem } from '../../domain/errors.ts'
import { PROVIDER_NAME, type ProviderType } from '../../domain/tenancy/providers.ts'
import type { Tenancy } from '../../domain/tenancy/tenancy.ts'
import type { Build } from '../build.ts'
import { BadCallback, BadSignature, type Callback, type Heard, type Provider } from '../provider.ts'
import type { Hear } from './heard.ts'
import { intake } from './intake.ts'

export interface CallbackParts {
  tenancy: Pick<Tenancy, 'setups'>
  build: Build
  pass: Hear
  clock: Clock
  log: Logger
  metrics: Pick<Metrics, 'callbacks'>
  http: Pick<Config['http'], 'publicUrl' | 'maxBodyBytes'>
}

interface Known {
  app_id: string
  name: string
  type: ProviderType
  provider: Provider
}

/** A changed or removed provider is noticed within this. */
const SETUPS = { forMs: 5_000, most: 10_000 }
/** Vendors put many reports into one call. */
const LEAST_LIMIT_BYTES = 2 ** 20
/** What callbacks could take from everyone else is memory, while they come, and the engines' time, once they are here. */
const INTAKE = { mostBytes: 64 * 2 ** 20, withinMs: 10_000 }
const MOST_AT_ONCE = 256

const APP_ID = /^app_[0-9A-Za-z]{1,64}$/

export function callbackRouter(parts: CallbackParts): Router {
  const { log, metrics, clock, http } = parts
  const setups = knownProviders(parts)
  const maxBytes = Math.max(http.maxBodyBytes, LEAST_LIMIT_BYTES)
  const watch = intake(INTAKE, clock)
  const unopened = tellingUnopened({ log, clock })
  let inHand = 0

  async function find({ app_id = '', name = '' }: Record<string, string | undefined>): Promise<Known | null> {
    if (!APP_ID.test(app_id) || !PROVIDER_NAME.test(name)) return null
    const found = (await setups.get(app_id)).get(name) ?? null
    if (!isKeyProblem(found)) return found
    // A vendor that is told 401 may never say it again, and this one may well be right.
    unopened(found, { app_id, provider: name })
    throw later(KEY_AWAITED_MS)
  }

  async function take(ctx: Context, body: Uint8Array): Promise<void> {
    const known = await find(ctx.params)
    const callback = callbackOf(ctx, http.publicUrl, body)
    // Only Meta asks so, and is answered with 403. Whoever guesses is too, whether or not there is such an app.
    if (callback?.method === 'GET' && callback.url.searchParams.has('hub.mode')) return shakeHands(ctx, known, callback)
    const heard = known && callback && hear(known, callback)
    if (!known || !heard) throw httpException(401, 'The signature is missing or wrong.')
    const { app_id, name, type } = known
    await parts.pass({ app_id, provider: name, type }, heard)
    ctx.body = ''
  }

  /** Null where nobody vouches for it. */
  function hear({ app_id, name, type, provider }: Known, callback: Callback): readonly Heard[] | null {
    try {
      return provider.hear?.(callback, clock.now()) ?? null
    } catch (error) {
      const unsigned = error instanceof BadSignature
      if (!unsigned && !(error instanceof BadCallback)) throw error
      metrics.callbacks.inc({ provider: type, kind: 'call', outcome: unsigned ? 'unsigned' : 'unreadable' })
      log.warn({ app_id, provider: name, err: error }, 'callback.refused')
      if (unsigned) return null
      throw httpException(400, 'It is signed, and says nothing we understand.')
    }
  }

  function shakeHands(ctx: Context, known: Known | null, { url }: Callback): void {
    const answer = known?.provider.shake?.(url.searchParams) ?? null
    if (answer === null) throw httpException(403, 'The token to verify is wrong.')
    ctx.body = answer
  }

  async function inTurn(work: () => Promise<void>): Promise<void> {
    if (inHand >= MOST_AT_ONCE) throw later(1_000)
    inHand += 1
    try {
      await work()
    } finally {
      inHand -= 1
    }
  }

  async function handle(ctx: Context): Promise<void> {
    ctx.set({ 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' })
    const done = watch(ctx.req)
    try {
      // Read before anything is looked up: how soon we answer tells nobody which apps there are.
      const body = await readBytes(ctx, maxBytes)
      await inTurn(() => take(ctx, body))
      ctx.type = 'text/plain'
    } finally {
      done()
    }
  }

  const router = new Router({ sensitive: true })
  router.get('/callbacks/:app_id/:name', handle).post('/callbacks/:app_id/:name', handle)
  return router
}

function knownProviders({ tenancy, build, clock }: CallbackParts): Cache<Map<string, Known | KeyProblem>> {
  const load = async (app_id: string): Promise<Map<string, Known | KeyProblem>> => {
    const { providers, unreadable } = await tenancy.setups(app_id)
    const known = new Map<string, Known | KeyProblem>(unreadable.map(({ name, problem }) => [name, problem]))
    for (const setup of providers) {
      const { name, type } = setup
      // The sandbox plays its receipts itself.
      const provider = type === 'sandbox' ? null : build(setup)
      if (provider) known.set(name, { app_id, name, type, provider })
    }
    return known
  }
  return cached(load, { ...SETUPS, clock })
}

const later = (ms: number): Problem =>
  problem('ServiceUnavailableError', {
    detail: 'Call again later.',
    headers: { 'Retry-After': String(Math.ceil(ms / 1000)) },
  })

/** The address as the vendor has it; without a `PUBLIC_URL`, as it says it has it. */
function callbackOf(ctx: Context, publicUrl: string | null, body: Uint8Array): Callback | null {
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
