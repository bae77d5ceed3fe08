// The paths /hooks/…: a login that makes its own codes calls them when a code is to be delivered. In: its request. Out: a message for each
// code, and the answer that this login expects. What the logins differ in is declared in receivers.ts.
import { Router } from '@koa/router'
import type { Context, Middleware } from 'koa'
import { createCache } from '../../../infra/cache.ts'
import type { Clock } from '../../../infra/clock.ts'
import type { ReportMissingKey } from '../../../infra/crypto/missing-key-reporter.ts'
import { createReadJson, readBytes } from '../../../infra/http/body.ts'
import { asProblem, brokenJson, httpException, Problem } from '../../../infra/http/problem.ts'
import { describeRequest } from '../../../infra/http/request-log.ts'
import { traceOf } from '../../../infra/http/request-trace.ts'
import { isGivenId } from '../../../infra/ids.ts'
import { parseJson } from '../../../infra/json.ts'
import type { Trace } from '../../../infra/trace.ts'
import type { Identity, OtpAnswer, OtpCall } from '../../../machines/calls.ts'
import { chooseLocale } from '../../../machines/locale.ts'
import { notExecuted, problem, validationProblem } from '../../domain/errors.ts'
import type { RefusalLog } from '../../domain/refusals/refusal-log.ts'
import type { SignedLogin } from '../../domain/tenancy/documents.ts'
import { inWords } from '../../domain/tenancy/problem-words.ts'
import { TENANT_CACHE, type Tenancy } from '../../domain/tenancy/tenancy.ts'
import { LANGUAGES } from '../../domain/texts/message-text.ts'
import { isRecent, isSignedBy, REPEATABLE_MS, type SignedRequest } from '../../domain/webhooks/standard-signature.ts'
import { type Answer, unsealed } from '../answers.ts'
import type { Calls } from '../calls.ts'
import { createRecordRefusal } from '../record-refusal.ts'
import { problemsOf } from '../validation.ts'
import type { LoginCall, Receiver } from './receiver.ts'
import { RECEIVERS } from './receivers.ts'
import { refusalWords } from './refusal-words.ts'

export interface HookDeps {
  tenancy: Pick<Tenancy, 'hookSecrets' | 'app'>
  clock: Pick<Clock, 'now'>
  refusals: Pick<RefusalLog, 'record'>
  calls: Pick<Calls, 'createMessage'>
  /** By the API key of the request. */
  authenticate(ctx: Context): Promise<Identity>
  /** `waitMs`: how long the caller waits for the answer, where that is less than a call may take. */
  callOtp(ctx: Context, call: OtpCall, waitMs?: number): Promise<OtpAnswer>
  respond(answer: OtpAnswer, trace: Trace): Answer
  reportMissingKey: ReportMissingKey
}

/** Logins send the whole user along, with all that the app keeps of it. Of one that signs, the caller is known only when the whole body is
 *  read: who knows an app that has such a login can make the process hold this much. */
const MAX_BODY_BYTES = 256 * 1024
const MAX_BODY_VALUES = 10_000

export function createHookRouter(deps: HookDeps): Router {
  const { tenancy, clock, refusals, calls, authenticate, callOtp, respond, reportMissingKey } = deps
  const readJson = createReadJson(MAX_BODY_BYTES, MAX_BODY_VALUES)
  const apps = createCache(app_id => tenancy.app(app_id), { ...TENANT_CACHE, clock })
  const recordRefusal = createRecordRefusal(refusals, 'message')

  /** The OTP actor records what it refuses itself. */
  async function recorded<Result>(ctx: Context, by: Identity, task: () => Promise<Result>): Promise<Result> {
    return task().catch(error => {
      recordRefusal(by, traceOf(ctx).request_id, error)
      throw error
    })
  }

  interface ReadCall extends LoginCall {
    by: Identity
  }

  async function readOfKey(ctx: Context, { body }: Receiver): Promise<ReadCall> {
    const by = await authenticate(ctx)
    const call = await recorded(ctx, by, async () => {
      if (by.app_id !== ctx.params.app_id) throw httpException(401, 'The API key is not of this app.')
      return parse(body, await readJson(ctx))
    })
    return { id: ctx.get('idempotency-key'), ...call, by }
  }

  const createReadSigned = (name: SignedLogin) => {
    const secrets = createCache(app_id => tenancy.hookSecrets(app_id, name), { ...TENANT_CACHE, clock })

    async function identify(ctx: Context): Promise<{ by: Identity; bytes: Buffer }> {
      const { app_id = '' } = ctx.params
      const app = isGivenId('app', app_id) ? await secrets.get(app_id) : null
      const signed: Omit<SignedRequest, 'body'> = { id: ctx.get('webhook-id'), timestamp: ctx.get('webhook-timestamp') }
      const signature = ctx.get('webhook-signature')
      // What needs no body is checked before one is read.
      if (!app || signature === '' || !isRecent(signed, clock.now())) {
        ctx.req.resume()
        throw notSigned()
      }
      const bytes = await readBytes(ctx, MAX_BODY_BYTES)
      const { secrets: known, missingKey, company_id } = app
      const signer = known.find(({ secret }) => isSignedBy(secret, { ...signed, body: bytes }, signature, clock.now()))
      // Its secret may be the one that cannot be read now: a login that is told 401 takes its secret for wrong.
      if (!signer && missingKey)
        unsealed(reportMissingKey, traceOf(ctx), () => {
          throw missingKey
        })
      if (!signer) throw notSigned()
      return { by: { key_id: name, kind: 'server', company_id, app_id, mode: signer.mode }, bytes }
    }

    return async (ctx: Context, { body }: Receiver): Promise<ReadCall> => {
      const { by, bytes } = await identify(ctx)
      const call = await recorded(ctx, by, async () => {
        const json = parseJson(bytes.toString())
        if (!json.ok) throw brokenJson(`The body is ${json.message}.`)
        return parse(body, json.value)
      })
      return { id: ctx.get('webhook-id'), ...call, by }
    }
  }

  async function sendAll(ctx: Context, { by, id = '', notice, messages }: ReadCall, until: number | null) {
    const trace = traceOf(ctx)
    if (notice !== undefined) await recorded(ctx, by, () => Promise.reject(noticeProblem(notice)))
    for (const [nth, message] of messages.entries()) {
      const answered = await recorded(ctx, by, async () => {
        const waitMs = until === null ? undefined : until - clock.now()
        if (waitMs !== undefined && waitMs <= 0) throw notExecuted('The login does not wait any longer.')
        // Long enough that a stranger who has seen a signed call cannot repeat it once it is forgotten.
        const fromLogin = { nth, min_life_ms: REPEATABLE_MS }
        return callOtp(ctx, calls.createMessage(message, by, ctx, { idempotencyKey: id, fromLogin }), waitMs)
      })
      const { otp_id } = respond(answered, trace)
      describeRequest(ctx, { otp_id })
    }
  }

  /** In the language of the app: logins do not tell that of their user. */
  async function wordsOf(ctx: Context, refused: Problem): Promise<string> {
    const app = await apps.get(ctx.params.app_id ?? '').catch(() => null)
    return refusalWords(refused, chooseLocale(null, app?.settings.locale ?? 'en', LANGUAGES))
  }

  function serve(receiver: Receiver): Middleware {
    const { authentication, waitsMs } = receiver
    const read = authentication === 'server_key' ? readOfKey : createReadSigned(authentication.signedBy)
    return async ctx => {
      ctx.set('Cache-Control', 'no-store')
      const until = waitsMs === undefined ? null : clock.now() + waitsMs
      try {
        await sendAll(ctx, await read(ctx, receiver), until)
        ctx.body = {}
      } catch (error) {
        const refused = asProblem(error)
        if (refused.status >= 500 && refused.status !== 503) throw error
        describeRequest(ctx, { refused: refused.type, ...(isOfSetup(refused) && { reason: refused.message }) })
        const answer = receiver.refuse(refused, noticeOf(refused) ?? (await wordsOf(ctx, refused)))
        if (answer instanceof Problem) throw answer
        ctx.status = answer.status
        ctx.body = answer.body
      }
    }
  }

  const router = new Router({ sensitive: true })
  for (const [name, receiver] of Object.entries(RECEIVERS)) router.post(`/hooks/${name}/:app_id`, serve(receiver))
  return router
}

const notSigned = () => httpException(401, 'The signature is missing, wrong or old.')

/** Such a refusal says what is wrong with a call or its key, and nothing of a person. */
const isOfSetup = ({ type }: Problem): boolean => type === 'ValidationError' || type === 'HTTPException'

/** A login calls for one because it was told to hand all its mail over. The answer is in its log only. */
const noticeProblem = (notice: string): Problem =>
  problem('ValidationError', {
    detail: `The notice ${notice} has no code, and is not sent: turn it off, or send it by other means.`,
    members: { notice },
  })
const noticeOf = ({ message, extras }: Problem): string | null =>
  extras.members?.notice === undefined ? null : message

function parse(schema: Receiver['body'], body: unknown): LoginCall {
  const parsed = schema.safeParse(body, { error: inWords })
  if (parsed.success) return parsed.data
  throw validationProblem(parsed.error.issues.flatMap(problemsOf))
}
