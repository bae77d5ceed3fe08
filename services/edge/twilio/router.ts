// Twilio Verify's API, so that an app that speaks it can be pointed at Countersign. In: a form, with an API key as the password of basic
// authentication. Out: Twilio's resources and errors. Every call becomes one that /api/v1 makes too: the OTP actor decides as for those.
import { Router } from '@koa/router'
import type { Context, Middleware } from 'koa'
import { z } from 'zod'
import type { Clock } from '../../../infra/clock.ts'
import type { Config } from '../../../infra/config/config.ts'
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import type { ReportMissingKey } from '../../../infra/crypto/missing-key-reporter.ts'
import { readForm } from '../../../infra/http/body.ts'
import type { FindCaller } from '../../../infra/http/caller-address.ts'
import { httpException } from '../../../infra/http/problem.ts'
import { describeRequest } from '../../../infra/http/request-log.ts'
import { traceOf } from '../../../infra/http/request-trace.ts'
import { routerPath } from '../../../infra/openapi/operation.ts'
import type { Docs } from '../../../infra/store/docs.ts'
import type { CallOf, Identity, OtpAnswer, OtpCall } from '../../../machines/calls.ts'
import { groupBy } from '../../../machines/group-by.ts'
import { idsOf, statusOf } from '../../../machines/otp.ids.ts'
import { toCurrentVersion } from '../../../machines/otp.versions.ts'
import type { Admission } from '../../domain/admission.ts'
import { problem, validationProblem } from '../../domain/errors.ts'
import type { RefusalLog } from '../../domain/refusals/refusal-log.ts'
import { inWords } from '../../domain/tenancy/problem-words.ts'
import { otpIdOfSid, twilioSid } from '../../domain/tenancy/twilio-sids.ts'
import type { JoinedIdDoc, OtpDoc } from '../../domain/verifications/documents.ts'
import { latestOfRecipient } from '../../domain/verifications/latest-of-recipient.ts'
import { recipientIndexes } from '../../domain/verifications/lookup-indexes.ts'
import { acceptRecipient } from '../../domain/verifications/valid-recipient.ts'
import { type createRespond, otpNotFound, unsealed } from '../answers.ts'
import { basicCredentialsOf, type Identify } from '../api-keys.ts'
import type { Calls } from '../calls.ts'
import { createRecordRefusal } from '../record-refusal.ts'
import type { Verified } from '../schemas.answers.ts'
import { findOwn } from '../status.ts'
import { problemsOf } from '../validation.ts'
import { answerProblem } from './errors.ts'
import { TWILIO_OPERATIONS, TWILIO_ROOT } from './operations.ts'
import { checkOf, verificationOf } from './resources.ts'
import * as schemas from './schemas.ts'

export interface TwilioDeps {
  identify: Identify
  admission: Pick<Admission, 'check' | 'read'>
  calls: Calls
  callOtp(ctx: Context, call: OtpCall): Promise<OtpAnswer>
  /** Throws the refusal that an answer is. */
  respond: ReturnType<typeof createRespond>
  reportMissingKey: ReportMissingKey
  otps: Pick<Docs<OtpDoc>, 'get' | 'find'>
  joinedIds: Pick<Docs<JoinedIdDoc>, 'get'>
  refusals: Pick<RefusalLog, 'record'>
  keyring: Pick<Keyring, 'unseal' | 'indexes'>
  clock: Pick<Clock, 'now'>
  findCaller: FindCaller
  http: Pick<Config['http'], 'maxBodyBytes' | 'publicUrl'>
}

/** A verification, and which of its ids is meant. */
interface Found {
  doc: OtpDoc
  otp_id: string
}

type Handle = (ctx: Context, by: Identity) => Promise<void>

export function createTwilioRouter(deps: TwilioDeps): Router {
  const {
    identify,
    findCaller,
    admission,
    calls,
    callOtp,
    respond,
    reportMissingKey,
    otps,
    joinedIds,
    keyring,
    clock,
    http,
  } = deps
  const recordRefusal = createRecordRefusal(deps.refusals, 'send')
  const inTwiliosShape: Middleware = (ctx, next) => {
    ctx.state.answerProblem = answerProblem
    ctx.set('Cache-Control', 'no-store')
    return next()
  }

  /** The user's name is the company's SID, or that of an API key, whose value Twilio's users choose and Countersign does not need. */
  async function authenticate(ctx: Context): Promise<Identity> {
    const { user = '', apiKey } = basicCredentialsOf(ctx.get('authorization')) ?? {}
    const by = await identify(apiKey, ['server'], () => findCaller(ctx))
    if (user !== twilioSid('cmp', by.company_id) && !user.startsWith('SK')) throw httpException(401)
    describeRequest(ctx, { app_id: by.app_id, key_id: by.key_id })
    return by
  }

  const withKey =
    (handle: Handle): Middleware =>
    async ctx => {
      const by = await authenticate(ctx)
      // An API key belongs to one app, so no other service exists for it.
      if (ctx.params.service_sid !== twilioSid('app', by.app_id)) throw httpException(404)
      await handle(ctx, by)
    }

  const parse = async <Schema extends z.ZodType>(ctx: Context, schema: Schema): Promise<z.output<Schema>> =>
    parseForm(schema, await readForm(ctx, http.maxBodyBytes))

  const canonical = (to: string, by: Identity): string | undefined => acceptRecipient(to, by.mode)?.parsed.value

  /** A recipient means the latest id of their latest verification: that of the latest create. */
  async function findLatest(to: string, by: Identity): Promise<Found | null> {
    const recipient = canonical(to, by)
    const doc = recipient === undefined ? null : await latestOfRecipient({ otps, keyring }, by, recipient)
    return doc && { doc, otp_id: idsOf(doc.context).at(-1) ?? doc._id }
  }

  async function findById(otp_id: string | null, by: Identity): Promise<Found | null> {
    const doc = await findOwn({ otps, joinedIds }, otp_id, by)
    return doc && { doc, otp_id: otp_id ?? doc._id }
  }

  async function readOr404(by: Identity, read: () => Promise<Found | null>): Promise<Found> {
    const found = await admission.read(by, read)
    if (found === null) throw otpNotFound()
    return found
  }

  /** `name`: a SID, or the recipient. */
  function find(name: string, by: Identity): Promise<Found> {
    const otp_id = otpIdOfSid(name)
    return readOr404(by, () => (otp_id === null ? findLatest(name, by) : findById(otp_id, by)))
  }

  function show(ctx: Context, { doc, otp_id }: Found, status: number): void {
    describeRequest(ctx, { otp_id })
    ctx.status = status
    // Koa's `origin` is the header of that name.
    const base = http.publicUrl ?? `${ctx.protocol}://${ctx.host}`
    ctx.body = unsealed(reportMissingKey, traceOf(ctx), () => verificationOf(keyring, doc, otp_id, clock.now(), base))
  }

  async function showAnswered(ctx: Context, by: Identity, answer: OtpAnswer, status: number): Promise<void> {
    const { otp_id } = respond(answer, traceOf(ctx))
    show(ctx, await readOr404(by, () => findById(otp_id, by)), status)
  }

  const create: Handle = async (ctx, by) => {
    const ask = async (): Promise<OtpAnswer> => {
      admission.check(by)
      const form = await parse(ctx, schemas.newVerification)
      const { To, Channel, Locale, DeviceIp, AppHash, Tags, CustomFriendlyName } = form
      // Twilio's API knows no idempotency keys.
      const body = { recipient: To, locale: Locale, client_ip: DeviceIp, app_hash: AppHash, metadata: Tags }
      const send = calls.send(body, by, ctx, '') as CallOf<'otp.send'>
      if (CustomFriendlyName !== undefined) send.text = { ...send.text, app_name: CustomFriendlyName }
      ctx.state.askedChannel = Channel
      const chosen = Channel === 'auto' ? {} : { channel: Channel }
      return callOtp(ctx, { ...send, ...chosen, without_link: true, reuse_pending: true } as OtpCall)
    }
    const answer = await ask().catch(error => {
      recordRefusal(by, traceOf(ctx).request_id, error)
      throw error
    })
    await showAnswered(ctx, by, answer, 201)
  }

  const fetch: Handle = async (ctx, by) => show(ctx, await find(ctx.params.name ?? '', by), 200)

  const update: Handle = async (ctx, by) => {
    admission.check(by)
    await parse(ctx, schemas.verificationChange)
    const { otp_id } = await find(ctx.params.name ?? '', by)
    await showAnswered(ctx, by, await callOtp(ctx, calls.cancel({ otp_id }, by)), 200)
  }

  const check: Handle = async (ctx, by) => {
    admission.check(by)
    const { To, VerificationSid, Code } = await parse(ctx, schemas.newCheck)
    const { doc, otp_id } = await findChecked(To, VerificationSid, by)
    const answer = await callOtp(ctx, calls.verify({ otp_id, code: Code }, by))
    const { status } = respond(answer, traceOf(ctx)) as Verified
    // Twilio deletes an approved verification, so of two checks with the right code one finds none.
    if (answer.kind === 'verified' && answer.repeated) throw otpNotFound()
    describeRequest(ctx, { otp_id })
    ctx.status = 201
    ctx.body = unsealed(reportMissingKey, traceOf(ctx), () => checkOf(keyring, doc, otp_id, status, clock.now()))
  }

  /** A verification that is over is not found, except that one whose codes were all wrong says so until it would have expired. */
  async function findChecked(to: string | undefined, sid: string | undefined, by: Identity): Promise<Found> {
    const recipient = to === undefined ? undefined : canonical(to, by)
    if (to !== undefined && recipient === undefined) throw problem('InvalidRecipientError')
    const found = await readOr404(by, () =>
      sid === undefined ? findLatest(to ?? '', by) : findById(otpIdOfSid(sid), by),
    )
    const { doc, otp_id } = found
    // A caller that names both checks the code of that recipient, and of no other.
    if (recipient !== undefined && !recipientIndexes(keyring, by, recipient).includes(doc.recipient))
      throw otpNotFound()
    const now = clock.now()
    const { value, context: otp } = toCurrentVersion(doc)
    const otp_status = statusOf(value, otp, now, otp_id)
    if (otp_status === 'failed' && now < otp.expires_at)
      throw problem('OtpNotPendingError', { members: { otp_status } })
    if (otp_status !== 'pending') throw otpNotFound()
    return found
  }

  const router = new Router({ sensitive: true })
  const handlers = { create, fetch, update, check }
  for (const [name, { method, path }] of Object.entries(TWILIO_OPERATIONS))
    router.register(routerPath(path), [method], [inTwiliosShape, withKey(handlers[name as keyof typeof handlers])])
  for (const [path, operations] of groupBy(Object.values(TWILIO_OPERATIONS), ({ path }): string => path))
    router.all(routerPath(path), inTwiliosShape, () => {
      const methods = operations.map(({ method }) => method.toUpperCase())
      throw httpException(405, undefined, { Allow: methods.join(', ') })
    })
  router.all(`${TWILIO_ROOT}/*path`, inTwiliosShape, () => {
    throw httpException(404)
  })
  return router
}

/** An empty parameter is the same as none. One that is given twice is refused: which of the two counts would depend on who reads it. */
function parseForm<Schema extends z.ZodType>(schema: Schema, form: URLSearchParams): z.output<Schema> {
  const given = Object.fromEntries([...form].filter(([, value]) => value !== ''))
  const result = schema.safeParse(given, { error: inWords })
  const issues = result.error?.issues ?? []
  const known = schema instanceof z.ZodObject ? Object.keys(schema.shape) : []
  const problems = [
    ...issues.flatMap(problemsOf),
    ...known.filter(name => form.getAll(name).length > 1).map(path => ({ path, message: 'must be given once' })),
  ]
  if (problems.length > 0 || !result.success) throw validationProblem(problems)
  return result.data
}
