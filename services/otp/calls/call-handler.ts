// Handles the edge's calls. In: a message from `otp.calls`. Out: exactly one answer: the call's own, a refusal when an engine or a key
// is missing, or `broken` for a bug; and one log line. A failed call does not affect the calls beside it. A call whose caller has given up
// while it waited for its turn is not executed.
import type { ReceivedCall } from '../../../infra/broker/broker.ts'
import type { Cache } from '../../../infra/cache.ts'
import {
  createMissingKeyReporter,
  isMissingKeyError,
  MISSING_KEY_RETRY_MS,
} from '../../../infra/crypto/missing-key-reporter.ts'
import type { Waited } from '../../../infra/engine-watch.ts'
import type { Logger } from '../../../infra/log/log.ts'
import { createSerialRunner } from '../../../infra/serial-runner.ts'
import { createTaskGroups } from '../../../infra/task-groups.ts'
import { requestOf, type Trace } from '../../../infra/trace.ts'
import { MAYBE_EXECUTED, NotBegun, Unavailable } from '../../../infra/unavailable.ts'
import type { OtpAnswer, OtpCall } from '../../../machines/calls.ts'
import type { AppSettings } from '../../../machines/settings.ts'
import type { CachedApp, IsAskedFor } from '../apps.ts'
import { awayRefusal, expiredRefusal, refusal } from '../refusals.ts'
import { createCancel } from './cancel.ts'
import { createExchange } from './exchange.ts'
import { claimIds } from './idempotency-claims.ts'
import { type CallResult, type RefusalDeps, recordRefusal } from './record-refusal.ts'
import { createResend, type ResendDeps } from './resend.ts'
import { createSendOrResend, type ReuseDeps, reuseKeyOf } from './reuse-pending.ts'
import { createSend, type SendCall, type SendDeps } from './send.ts'
import { unlistedText, withDomainOfPage } from './send-text.ts'
import { createVerify } from './verify.ts'

export type CallDeps = SendDeps &
  ResendDeps &
  Pick<ReuseDeps, 'otps'> &
  RefusalDeps & {
    apps: Pick<Cache<CachedApp | null>, 'get'>
    isAskedFor: IsAskedFor
    /** Whether the process is short of processor time. */
    isBusy(): boolean
    /** Knows whether the store is away. Absent where it is in this process. */
    storeWatch?: Waited | undefined
    log: Logger
  }

const MISSING_KEY_DETAIL = 'A key that this needs is not configured now. Nothing was changed.'

/** Enough for large groups in the store, and few enough that a call takes a fraction of a second once it is begun. */
export const MAX_CALLS_IN_PROGRESS = 128
/** Longer than a group takes on a tenth of a core, and short enough for the callers. */
const MAX_WAIT_FOR_GROUP_MS = 1_000

export function createCallHandler(deps: CallDeps): (received: ReceivedCall) => Promise<OtpAnswer> {
  const { apps, clock, keyring, log, storeWatch } = deps
  const send = createSend(deps)
  const resend = createResend(deps)
  const sendOrResend = createSendOrResend({ ...deps, send, resend })
  const verify = createVerify(deps)
  const cancel = createCancel(deps)
  const exchange = createExchange(deps)
  const runPerClaim = createSerialRunner()
  const runPerRecipient = createSerialRunner()
  const takeTurn = createTaskGroups({
    max: MAX_CALLS_IN_PROGRESS,
    maxWaitMs: MAX_WAIT_FOR_GROUP_MS,
    isBusy: deps.isBusy,
    clock,
  })
  const reportMissingKey = createMissingKeyReporter(deps)

  return async received => {
    if (!storeWatch) return takeCall(received)
    try {
      return await storeWatch.unlessAway(() => takeCall(received))
    } catch (error) {
      return answerAway(received, error)
    }
  }

  async function takeCall(received: ReceivedCall): Promise<OtpAnswer> {
    const call = received.body as OtpCall
    const executeInTurn = () => takeTurn(() => execute(received, call))
    if (call.type !== 'otp.send') return executeInTurn()
    // Repeated calls with one idempotency key, or of one message, wait here for the first one, so that they do not poll
    // the store or take the turns of others.
    const { claim } = call
    const executeOfClaim = claim === null ? executeInTurn : () => runPerClaim(claimIds(claim).join(), executeInTurn)
    // So do calls that may resend what an earlier one for the same recipient has started. Where the app cannot be read, the call itself
    // finds out.
    const app = isServerVerification(call) ? await apps.get(call.by.app_id).catch(() => null) : null
    const recipient = reusesPending(call, app?.settings) ? reuseKeyOf(keyring, call) : null
    return recipient === null ? executeOfClaim() : runPerRecipient(recipient, executeOfClaim)
  }

  /** A call that was begun goes on, and writes its own line when it ends. */
  function answerAway(received: ReceivedCall, error: unknown): OtpAnswer {
    const call = received.body as OtpCall
    if (!(error instanceof NotBegun)) return answerError(received.id, call, error, received.trace)
    const { type, by } = call
    const answer = awayRefusal()
    recordRefusal(deps, call, { answer }, received.trace)
    log.info(
      { ...requestOf(received), app_id: by.app_id, type, outcome: answerName(answer), why: error.message, ms: 0 },
      'call.answered',
    )
    return answer
  }

  async function execute(received: ReceivedCall, call: OtpCall): Promise<OtpAnswer> {
    const startedAt = clock.now()
    const answer = await answerOrRefuse(received, call)
    if (log.writes('info')) {
      const { type, by } = call
      const otp_id = otpIdOf(answer) ?? ('otp_id' in call ? call.otp_id : undefined)
      const known = { ...requestOf(received), ...(otp_id === undefined ? {} : { otp_id }), app_id: by.app_id }
      log.info({ ...known, type, outcome: answerName(answer), ms: clock.now() - startedAt }, 'call.answered')
    }
    return answer
  }

  async function answerOrRefuse(received: ReceivedCall, call: OtpCall): Promise<OtpAnswer> {
    const { id, expired, trace } = received
    const result: CallResult = expired()
      ? { answer: expiredRefusal() }
      : await handle(received, call).catch(error => ({ answer: answerError(id, call, error, trace) }))
    recordRefusal(deps, call, result, trace)
    return result.answer
  }

  async function handle({ id, trace, expired }: ReceivedCall, call: OtpCall): Promise<CallResult> {
    switch (call.type) {
      case 'otp.send': {
        const app = await loadApp(call)
        const { settings } = app
        const unlisted = unlistedText(call, settings)
        if (unlisted) return { answer: unlisted, settings }
        const sendCall = reusesPending(call, settings) ? sendOrResend : send
        return { ...(await sendCall(id, withDomainOfPage(call, settings), app, trace, expired)), settings }
      }
      case 'otp.resend': {
        const app = await loadApp(call)
        return { ...(await resend(id, call, app, trace)), settings: app.settings }
      }
      case 'otp.verify':
        return { answer: await verify(id, call, await loadApp(call), trace) }
      case 'otp.cancel':
        return { answer: await cancel(id, call, trace) }
      case 'token.exchange':
        return { answer: await exchange(id, call, trace) }
    }
  }

  async function loadApp({ by }: OtpCall): Promise<CachedApp> {
    const app = await apps.get(by.app_id)
    if (!app) throw new Error(`the app of a valid key is gone: ${by.app_id}`)
    return app
  }

  function answerError(id: string, call: OtpCall, error: unknown, trace: Trace | undefined): OtpAnswer {
    const fields = { command_id: id, ...requestOf({ trace }), ...('otp_id' in call ? { otp_id: call.otp_id } : {}) }
    if (error instanceof Unavailable) {
      log.warn({ ...fields, app_id: call.by.app_id, why: error.message }, 'call.unavailable')
      return refusal('ServiceUnavailableError', MAYBE_EXECUTED)
    }
    if (isMissingKeyError(error)) {
      reportMissingKey(error, fields)
      return refusal('ServiceUnavailableError', MISSING_KEY_DETAIL, { retry_after_ms: MISSING_KEY_RETRY_MS })
    }
    log.error({ ...fields, app_id: call.by.app_id, err: error }, 'call.failed')
    return { kind: 'broken' }
  }
}

/** The verification that a call made or changed. A send with a bound idempotency key is answered with another than it asked for. */
const otpIdOf = (answer: OtpAnswer): string | undefined => {
  if (answer.kind === 'verification') return answer.verification.otp_id
  return 'otp_id' in answer ? answer.otp_id : undefined
}

const answerName = (answer: OtpAnswer): string => (answer.kind === 'refused' ? answer.error : answer.kind)

const isServerVerification = ({ by, sealed_code }: SendCall): boolean =>
  by.kind === 'server' && sealed_code === undefined

/** The setting holds for servers: a device could join, and spend, what a stranger has started. */
const reusesPending = (call: SendCall, settings: Pick<AppSettings, 'reuse_pending'> | undefined): boolean =>
  call.reuse_pending === true || (settings?.reuse_pending === true && isServerVerification(call))
