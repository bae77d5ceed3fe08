// The routes /hooks/…: a login that makes its own codes calls them when a code is to be delivered. In: its request. Out: a message for each
// code, and the answer that this login expects. Each login has a file with the shape of its body.
//   kratos     Authenticated by a server key of the app. Any 2xx is success.
//   supabase   Authenticated by a Standard Webhooks signature with the secret of the hook, which decides the mode. A refusal is a 200 with
//              `error`, whose words reach the user; a 503 with Retry-After is tried again.
import { Router } from '@koa/router'
import type { Context, Middleware } from 'koa'
import type { z } from 'zod'
import { createCache } from '../../../infra/cache.ts'
import type { Clock } from '../../../infra/clock.ts'
import type { ReportMissingKey } from '../../../infra/crypto/missing-key-reporter.ts'
import { createReadJson, readBytes } from '../../../infra/http/body.ts'
import { asProblem, brokenJson, httpException } from '../../../infra/http/problem.ts'
import { describeRequest } from '../../../infra/http/request-log.ts'
import { traceOf } from '../../../infra/http/request-trace.ts'
import { isGivenId } from '../../../infra/ids.ts'
import { parseJson } from '../../../infra/json.ts'
import type { Trace } from '../../../infra/trace.ts'
import type { Identity, KeyedClaim, OtpAnswer, OtpCall } from '../../../machines/calls.ts'
import { validationProblem } from '../../domain/errors.ts'
import type { RefusalLog } from '../../domain/refusals/refusal-log.ts'
import { inWords } from '../../domain/tenancy/problem-words.ts'
import { TENANT_CACHE, type Tenancy } from '../../domain/tenancy/tenancy.ts'
import { isSignedBy, REPEATABLE_MS } from '../../domain/webhooks/standard-signature.ts'
import { type Answer, unsealed } from '../answers.ts'
import type { Calls } from '../calls.ts'
import { createRecordRefusal } from '../record-refusal.ts'
import { problemsOf } from '../validation.ts'
import type { HookMessage } from './hook-message.ts'
import { kratosBody } from './kratos.ts'
import { supabaseBody } from './supabase.ts'

export interface HookDeps {
  tenancy: Pick<Tenancy, 'hookSecrets'>
  clock: Pick<Clock, 'now'>
  refusals: Pick<RefusalLog, 'record'>
  calls: Pick<Calls, 'createMessage'>
  /** By the API key of the request. */
  authenticate(ctx: Context): Promise<Identity>
  callOtp(ctx: Context, call: OtpCall): Promise<OtpAnswer>
  respond(answer: OtpAnswer, trace: Trace): Answer
  reportMissingKey: ReportMissingKey
}

/** By which a call that comes twice is known; empty: not at all. */
interface CallKey extends Pick<KeyedClaim, 'min_life_ms'> {
  key: string
}

/** Both send the whole user along. */
const MAX_BODY_BYTES = 256 * 1024
/** Of a caller who is known only when the whole body is read: anybody can make the process hold this much. */
const MAX_UNSIGNED_BYTES = 32 * 1024
/** In place of an API key, in the record of refusals. */
const SUPABASE_KEY_ID = 'supabase'

export function createHookRouter(deps: HookDeps): Router {
  const { tenancy, clock, refusals, calls, authenticate, callOtp, respond, reportMissingKey } = deps
  const readJson = createReadJson(MAX_BODY_BYTES)
  const secrets = createCache(app_id => tenancy.hookSecrets(app_id), { ...TENANT_CACHE, clock })
  const recordRefusal = createRecordRefusal(refusals, 'message')

  /** The OTP actor records what it refuses itself. */
  async function recorded<Result>(ctx: Context, by: Identity, task: () => Promise<Result>): Promise<Result> {
    return task().catch(error => {
      recordRefusal(by, traceOf(ctx).request_id, error)
      throw error
    })
  }

  async function sendAll(ctx: Context, by: Identity, messages: readonly HookMessage[], { key, ...claim }: CallKey) {
    const trace = traceOf(ctx)
    for (const [nth, message] of messages.entries()) {
      const answered = await recorded(ctx, by, async () =>
        callOtp(ctx, calls.createMessage(message, by, ctx, key, { ...claim, nth })),
      )
      const { otp_id } = respond(answered, trace)
      describeRequest(ctx, { otp_id })
    }
  }

  const kratos: Middleware = async ctx => {
    const by = await authenticate(ctx)
    const messages = await recorded(ctx, by, async () => {
      if (by.app_id !== ctx.params.app_id) throw httpException(401, 'The API key is not of this app.')
      return parse(kratosBody, await readJson(ctx))
    })
    await sendAll(ctx, by, messages, { key: ctx.get('idempotency-key') })
    ctx.body = {}
  }

  async function identifySupabase(ctx: Context, body: Uint8Array): Promise<Identity> {
    const { app_id = '' } = ctx.params
    const app = isGivenId('app', app_id) ? await secrets.get(app_id) : null
    const request = { id: ctx.get('webhook-id'), timestamp: ctx.get('webhook-timestamp'), body }
    const signed = app?.secrets.find(({ secret }) =>
      isSignedBy(secret, request, ctx.get('webhook-signature'), clock.now()),
    )
    // Its secret may be the one that cannot be read now: a login that is told 401 takes its secret for wrong.
    const { missingKey } = app ?? {}
    if (!signed && missingKey)
      unsealed(reportMissingKey, traceOf(ctx), () => {
        throw missingKey
      })
    if (!app || !signed) throw httpException(401, 'The signature is missing, wrong or old.')
    return { key_id: SUPABASE_KEY_ID, kind: 'server', company_id: app.company_id, app_id, mode: signed.mode }
  }

  const supabase: Middleware = async ctx => {
    ctx.set('Cache-Control', 'no-store')
    try {
      const body = await readBytes(ctx, MAX_UNSIGNED_BYTES)
      const by = await identifySupabase(ctx, body)
      const messages = await recorded(ctx, by, async () => {
        const json = parseJson(body.toString())
        if (!json.ok) throw brokenJson(`The body is ${json.message}.`)
        return parse(supabaseBody, json.value)
      })
      // A stranger who has seen a signed call could repeat it once its id was forgotten.
      await sendAll(ctx, by, messages, { key: ctx.get('webhook-id'), min_life_ms: REPEATABLE_MS })
      ctx.body = {}
    } catch (error) {
      const { status, message, extras } = asProblem(error)
      if (status >= 500 && status !== 503) throw error
      ctx.set(extras.headers ?? {})
      ctx.status = status === 401 || status === 503 ? status : 200
      ctx.body = { error: { http_code: status, message } }
    }
  }

  return new Router({ sensitive: true }).post('/hooks/kratos/:app_id', kratos).post('/hooks/supabase/:app_id', supabase)
}

function parse<Schema extends z.ZodType<HookMessage[]>>(schema: Schema, body: unknown): HookMessage[] {
  const parsed = schema.safeParse(body, { error: inWords })
  if (parsed.success) return parsed.data
  throw validationProblem(parsed.error.issues.flatMap(problemsOf))
}
