// Serves the operations of the API. In: an HTTP request. Out: the OTP actor's answer. Every request is checked in the
// same order: path, key, body. The OTP actor decides the rest: the edge holds no verification, it sends a call, waits
// and passes the answer on.
import { Router } from '@koa/router'
import type { Context, Middleware } from 'koa'
import type { Broker } from '../../infra/broker/broker.ts'
import type { Clock } from '../../infra/clock.ts'
import type { Config } from '../../infra/config/config.ts'
import type { Keyring } from '../../infra/crypto/keyring.ts'
import { createMissingKeyReporter } from '../../infra/crypto/missing-key-reporter.ts'
import { createReadJson } from '../../infra/http/body.ts'
import type { FindCaller } from '../../infra/http/caller-address.ts'
import type { RefuseEarly } from '../../infra/http/early-refusals.ts'
import { httpException } from '../../infra/http/problem.ts'
import { describeRequest } from '../../infra/http/request-log.ts'
import { type TrustsCaller, traceOf } from '../../infra/http/request-trace.ts'
import { isId } from '../../infra/ids.ts'
import type { Logger } from '../../infra/log/log.ts'
import { routerPath } from '../../infra/openapi/operation.ts'
import type { Outbound } from '../../infra/outbound/outbound.ts'
import type { Docs } from '../../infra/store/docs.ts'
import { NotBegun } from '../../infra/unavailable.ts'
import type { Identity, OtpAnswer, OtpCall } from '../../machines/calls.ts'
import type { KeyKind } from '../../machines/otp.ts'
import { createAdmission } from '../domain/admission.ts'
import { notExecuted, problem } from '../domain/errors.ts'
import type { RefusalLog } from '../domain/refusals/refusal-log.ts'
import type { Tenancy } from '../domain/tenancy/tenancy.ts'
import type { JoinedIdDoc, OtpDoc } from '../domain/verifications/documents.ts'
import { requestOtp } from '../domain/verifications/queue-messages.ts'
import { createRespond, rateLimitHeaders } from './answers.ts'
import { bearerKeyOf, createIdentify, createTrustsCaller } from './api-keys.ts'
import { createCalls } from './calls.ts'
import { createCheckToken } from './challenge-tokens.ts'
import { allowCrossOrigin, createPreflight, removeCorsHeaders } from './cors.ts'
import { createEarlyRefusal } from './early-refusal.ts'
import { createHookRouter } from './hooks/hooks.ts'
import type { KeyUsage } from './key-usage.ts'
import { OPERATIONS } from './operations.ts'
import { createPublishableKeyRules } from './publishable-keys.ts'
import { createRecordRefusal } from './record-refusal.ts'
import { REPLAYED_HEADER } from './schemas.requests.ts'
import { createReadStatus } from './status.ts'
import { createTwilioRouter } from './twilio/router.ts'
import { parseBody } from './validation.ts'

export interface RouterDeps {
  broker: Pick<Broker, 'request'>
  tenancy: Pick<Tenancy, 'keyByHash' | 'app' | 'hookSecrets'>
  otps: Pick<Docs<OtpDoc>, 'get' | 'find'>
  joinedIds: Pick<Docs<JoinedIdDoc>, 'get'>
  usage: Pick<KeyUsage, 'record'>
  refusals: Pick<RefusalLog, 'record'>
  keyring: Pick<Keyring, 'seal' | 'unseal' | 'indexes'>
  clock: Pick<Clock, 'now' | 'after'>
  outbound: Pick<Outbound, 'request'>
  log: Pick<Logger, 'error' | 'warn'>
  findCaller: FindCaller
  http: Pick<Config['http'], 'maxBodyBytes' | 'maxInFlight' | 'publicUrl'>
}

const NOT_STORED = { 'Cache-Control': 'no-store' }

export interface ApiRouters {
  router: Router
  twilio: Router
  hooks: Router
  refuseEarly: RefuseEarly
  trustsCaller: TrustsCaller
}

export function createApiRouter(deps: RouterDeps): ApiRouters {
  const { broker, clock, findCaller, http, keyring, refusals, tenancy, usage } = deps
  const admission = createAdmission({ clock, maxInFlight: http.maxInFlight })
  const identify = createIdentify({ tenancy, clock, admission, usage })
  const publishableKeys = createPublishableKeyRules({ tenancy, clock, checkToken: createCheckToken(deps) })
  const calls = createCalls(deps)
  const reportMissingKey = createMissingKeyReporter(deps)
  const respond = createRespond({ keyring, reportMissingKey })
  const readStatus = createReadStatus({ ...deps, reportMissingKey })
  const readJson = createReadJson(http.maxBodyBytes)
  const early = createEarlyRefusal({ admission, clock })

  const authenticate = async (ctx: Context, kinds: readonly KeyKind[]): Promise<Identity> => {
    ctx.set(NOT_STORED)
    const by = await identify(bearerKeyOf(ctx.get('authorization')), kinds, () => findCaller(ctx)).catch(throwNotBegun)
    early.remember(ctx.get('authorization'), by)
    describeRequest(ctx, { app_id: by.app_id, key_id: by.key_id })
    return by
  }

  const checkOrigin = async (ctx: Context, by: Identity): Promise<void> => {
    if (by.kind === 'server') removeCorsHeaders(ctx)
    // The page may read this answer, which says why it may read no other.
    else if (!(await publishableKeys.allowsOrigin(by, ctx.get('origin')))) {
      throw problem('OriginNotAllowedError', { detail: 'The app does not list this origin.' })
    }
  }

  const callOtp = async (ctx: Context, body: OtpCall, waitMs?: number): Promise<OtpAnswer> => {
    requireConnectedCaller(ctx)
    const answer = await admission.call(body.by, () =>
      requestOtp(broker, body, traceOf(ctx), waitMs).catch(throwNotBegun),
    )
    ctx.set(rateLimitHeaders(body.by, answer))
    return answer
  }

  const router = new Router({ sensitive: true })
  for (const { path, keys, command } of OPERATIONS) {
    if (command === null) continue
    const { schema, sends, shape } = command
    const toCall = command.callBuilder(calls)
    // When the edge itself refuses. What the OTP actor refuses is an answer.
    const onRefused = sends === undefined ? () => {} : createRecordRefusal(refusals, sends)
    const handle: Middleware = async ctx => {
      const by = await authenticate(ctx, keys)
      const trace = traceOf(ctx)
      const askOtp = async (): Promise<OtpAnswer> => {
        await checkOrigin(ctx, by)
        if (sends !== undefined && by.kind === 'publishable') await publishableKeys.checkSend(by)
        // Before the body is read, because a refusal must cost as little as possible.
        if (!early.hasAdmitted(ctx.req)) admission.check(by)
        const body = parseBody(schema, await readJson(ctx))
        describeSubject(ctx, body)
        const { nearestKnown, ignoredProxy } = findCaller(ctx)
        // Behind a proxy that is not trusted all callers have one address.
        const address = ignoredProxy === null ? nearestKnown : null
        return callOtp(ctx, await publishableKeys.withCheckedToken(toCall(body, by, ctx), address))
      }
      const answered = await askOtp().catch(error => {
        onRefused(by, trace.request_id, error)
        throw error
      })
      const answer = respond(answered, trace)
      if (answered.kind === 'verification' && answered.replayed) ctx.set(REPLAYED_HEADER, 'true')
      describeRequest(ctx, { otp_id: answer.otp_id })
      ctx.body = shape(answer)
    }
    // Pages use publishable keys. A server key must not be in a page.
    const isForPages = keys.includes('publishable')
    if (isForPages) router.options(path, createPreflight('POST')).post(path, allowCrossOrigin, handle)
    else router.post(path, handle)
    router.all(path, refuseOtherMethods(isForPages ? 'OPTIONS, POST' : 'POST'))
    early.addPath(path, { headers: isForPages ? { ...NOT_STORED, Vary: 'Origin' } : NOT_STORED, onRefused })
  }
  // After the commands: `/otp/:otp_id` would take `send` for an id.
  for (const { path, keys, reads } of OPERATIONS) {
    if (reads === null) continue
    const handle: Middleware = async ctx => {
      const by = await authenticate(ctx, keys)
      await checkOrigin(ctx, by)
      const [id = ''] = Object.values<string>(ctx.params)
      ctx.body = await admission.read<object>(by, () => readStatus[reads](id, by, traceOf(ctx)))
    }
    if (keys.includes('publishable'))
      router.options(routerPath(path), createPreflight('GET')).get(routerPath(path), allowCrossOrigin, handle)
    else router.get(routerPath(path), handle)
  }
  const twilio = createTwilioRouter({
    ...deps,
    identify,
    admission,
    calls,
    callOtp,
    respond,
    reportMissingKey,
  })
  const hooks = createHookRouter({
    tenancy,
    clock,
    refusals,
    calls,
    authenticate: ctx => authenticate(ctx, ['server']),
    callOtp,
    respond,
    reportMissingKey,
  })
  return { router, twilio, hooks, refuseEarly: early.refuse, trustsCaller: createTrustsCaller(identify) }
}

/** The edge changes nothing before it asks the OTP actor. */
function throwNotBegun(error: unknown): never {
  throw error instanceof NotBegun ? notExecuted('An engine of the service does not answer now.') : error
}

/** The log names the verification of a refused call too. */
function describeSubject(ctx: Context, body: unknown): void {
  if (typeof body !== 'object' || body === null || !('otp_id' in body)) return
  if (typeof body.otp_id === 'string' && isId('otp', body.otp_id)) describeRequest(ctx, { otp_id: body.otp_id })
}

/** A caller that hung up while its request waited here gets nothing executed. Its next attempt is another request. */
function requireConnectedCaller(ctx: Context): void {
  if (!ctx.writable) throw notExecuted('The caller hung up.')
}

const refuseOtherMethods =
  (allowed: string): Middleware =>
  () => {
    throw httpException(405, `This address takes ${allowed}.`, { Allow: allowed })
  }
