// Handles the edge's calls. In: a message from `otp.calls`. Out: exactly one answer: the call's own, a refusal when an engine or a key
// is missing, or `broken` for a bug. A failed call does not affect the calls beside it. A call whose caller has given up while it waited
// for its turn is not executed.
import type { ReceivedCall } from '../../infra/broker/broker.ts'
import type { Cache } from '../../infra/cache.ts'
import { createConcurrencyLimit } from '../../infra/concurrency-limit.ts'
import {
  createMissingKeyReporter,
  isMissingKeyError,
  MISSING_KEY_RETRY_MS,
} from '../../infra/crypto/missing-key-reporter.ts'
import type { Logger } from '../../infra/log/log.ts'
import { createSerialRunner } from '../../infra/serial-runner.ts'
import { Unavailable } from '../../infra/unavailable.ts'
import type { OtpAnswer, OtpCall } from '../../machines/calls.ts'
import type { CachedApp } from './apps.ts'
import { createCancel } from './cancel.ts'
import { createExchange } from './exchange.ts'
import { refusal } from './refusals.ts'
import { createResend, type ResendDeps } from './resend.ts'
import { createSend, type SendDeps } from './send.ts'
import { createVerify } from './verify.ts'

export type CallDeps = SendDeps &
  ResendDeps & {
    apps: Pick<Cache<CachedApp | null>, 'get'>
    log: Logger
  }

const UNAVAILABLE_DETAIL = 'It may or may not have been executed. Retry with the same idempotency key.'
const MISSING_KEY_DETAIL = 'A key that this needs is not configured now. Nothing was changed.'

const EXPIRED_DETAIL = 'Its caller does not wait any longer. Nothing was executed.'

/** Enough for large groups in the store, and few enough that a call takes a fraction of a second once it is begun. */
export const MAX_CALLS_IN_PROGRESS = 128

export function createCallHandler(deps: CallDeps): (received: ReceivedCall) => Promise<OtpAnswer> {
  const { apps, log } = deps
  const send = createSend(deps)
  const resend = createResend(deps)
  const verify = createVerify(deps)
  const cancel = createCancel(deps)
  const exchange = createExchange(deps)
  const runPerClaim = createSerialRunner()
  const takeTurn = createConcurrencyLimit(MAX_CALLS_IN_PROGRESS)
  const reportMissingKey = createMissingKeyReporter(deps)

  return async received => {
    const call = received.body as OtpCall
    const executeInTurn = () => takeTurn(() => execute(received, call))
    // Repeated calls with one idempotency key wait here for the first one, so that they do not poll the store or take the turns of others.
    if (call.type === 'otp.send' && call.claim !== null) return runPerClaim(call.claim.ids.join(), executeInTurn)
    return executeInTurn()
  }

  async function execute({ id, expired }: ReceivedCall, call: OtpCall): Promise<OtpAnswer> {
    if (expired()) return refusal('ServiceUnavailableError', EXPIRED_DETAIL)
    try {
      return await handle(id, call)
    } catch (error) {
      return answerError(id, call, error)
    }
  }

  async function handle(id: string, call: OtpCall): Promise<OtpAnswer> {
    switch (call.type) {
      case 'otp.send':
        return send(id, call, await loadApp(call))
      case 'otp.resend':
        return resend(id, call, await loadApp(call))
      case 'otp.verify':
        return verify(id, call, await loadApp(call))
      case 'otp.cancel':
        return cancel(id, call)
      case 'token.exchange':
        return exchange(id, call)
    }
  }

  async function loadApp({ by }: OtpCall): Promise<CachedApp> {
    const app = await apps.get(by.app_id)
    if (!app) throw new Error(`the app of a valid key is gone: ${by.app_id}`)
    return app
  }

  function answerError(id: string, call: OtpCall, error: unknown): OtpAnswer {
    if (error instanceof Unavailable) {
      log.warn({ why: error.message, command_id: id }, 'call.unavailable')
      return refusal('ServiceUnavailableError', UNAVAILABLE_DETAIL)
    }
    if (isMissingKeyError(error)) {
      reportMissingKey(error, { command_id: id, ...('otp_id' in call ? { otp_id: call.otp_id } : {}) })
      return refusal('ServiceUnavailableError', MISSING_KEY_DETAIL, { retry_after_ms: MISSING_KEY_RETRY_MS })
    }
    log.error({ err: error, command_id: id }, 'call.failed')
    return { kind: 'broken' }
  }
}
