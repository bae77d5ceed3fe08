// The OTP actor: the edge's calls and the world's reports, all through one commit and one machine. Every call is handled on its own;
// what they ask of the store goes together.
import type { Broker, Message } from '../../infra/broker/broker.ts'
import type { Clock } from '../../infra/clock.ts'
import type { Keyring } from '../../infra/crypto/keyring.ts'
import {
  createMissingKeyReporter,
  isMissingKeyError,
  MISSING_KEY_RETRY_MS,
} from '../../infra/crypto/missing-key-reporter.ts'
import type { Service } from '../../infra/host.ts'
import type { Logger } from '../../infra/log/log.ts'
import type { Metrics } from '../../infra/metrics.ts'
import { createSerialRunner } from '../../infra/serial-runner.ts'
import { batchDocs } from '../../infra/store/batched-docs.ts'
import { Unavailable } from '../../infra/unavailable.ts'
import type { OtpAnswer, OtpCall } from '../../machines/calls.ts'
import type { CountersignStore } from '../domain/collections.ts'
import { createAccounts } from '../domain/money/accounts.ts'
import { createTenancy } from '../domain/tenancy/tenancy.ts'
import type { OtpDoc } from '../domain/verifications/documents.ts'
import { createRelay } from '../domain/verifications/outbox.ts'
import { createAppCache } from './apps.ts'
import { createBoundedMap } from './bounded-map.ts'
import { createCancel } from './cancel.ts'
import { type Commit, createCommit } from './commit.ts'
import { createExchange } from './exchange.ts'
import { createFraudCounts } from './fraud/counts.ts'
import { createDecisionLog } from './fraud/decisions.ts'
import { createFraudGuard } from './fraud/guard.ts'
import { createClaims } from './idempotency-claims.ts'
import { createLimits } from './limits/limits.ts'
import { createReputationLookup } from './limits/reputation.ts'
import { createFunds } from './money/funds.ts'
import { createPrices } from './money/prices.ts'
import { refusal } from './refusals.ts'
import { createReportHandler } from './report-handler.ts'
import { createResend } from './resend.ts'
import { createSend } from './send.ts'
import { createVerify } from './verify.ts'

export interface OtpDeps {
  broker: Broker
  store: CountersignStore
  keyring: Keyring
  clock: Clock
  log: Logger
  metrics: Metrics
}

/** One by one, and many at once: a call that waits (for whoever holds its idempotency key) must keep nobody else waiting. What they
 *  ask of the store still goes together, tick by tick. */
const CALLS = { prefetch: 256, batch: 1, parallel: 10_000 }
const REPORTS = { prefetch: 256, batch: 64, parallel: 8 }
const MAX_RECENT_OTPS = 5_000

export function createOtpService({ broker, store, keyring, clock, log, metrics }: OtpDeps): Service {
  const otps = batchDocs(store.docs('otps'))
  const claims = createClaims({ claims: batchDocs(store.docs('claims')), otps, clock })
  const apps = createAppCache({ tenancy: createTenancy({ store, keyring }), clock })
  const relay = createRelay({ broker, otps, clock, log })
  const runInTurn = createSerialRunner()
  const recentOtps = createBoundedMap<OtpDoc>(MAX_RECENT_OTPS)
  const counters = createLimits({ counters: batchDocs(store.docs('counters')), clock })
  const counts = createFraudCounts({ store, clock, log })
  const decisions = createDecisionLog({ decisions: batchDocs(store.docs('fraud_decisions')), clock, log })
  const guard = createFraudGuard({ keyring, clock, log, limits: counters, apps, counts, decisions, metrics })
  const commitUnqueued = createCommit({ otps, relay, recentOtps, onChange: guard.onChange })
  const commit: Commit = (otp_id, owner, intent) => runInTurn(otp_id, () => commitUnqueued(otp_id, owner, intent))
  const accounts = createAccounts({ store, clock, log })
  const funds = createFunds({ accounts, prices: createPrices({ prices: store.docs('prices'), clock }) })
  const deps = {
    broker,
    keyring,
    clock,
    log,
    metrics,
    otps,
    apps,
    claims,
    relay,
    commit,
    accounts,
    funds,
    recentOtps,
    limits: counters,
    guard,
    reputation: createReputationLookup({ store, clock, log }),
  }
  const [send, resend, verify] = [createSend(deps), createResend(deps), createVerify(deps)]
  const [cancel, exchange] = [createCancel(deps), createExchange(deps)]

  async function handle(id: string, call: OtpCall): Promise<OtpAnswer> {
    if (call.type === 'otp.cancel') return cancel(id, call)
    if (call.type === 'token.exchange') return exchange(id, call)
    const app = await apps.get(call.by.app_id)
    if (!app) throw new Error(`the app of a valid key is gone: ${call.by.app_id}`)
    // Those who repeat a call while the first is under way wait here, not by asking the store again and again.
    if (call.type === 'otp.send')
      return call.claim === null ? send(id, call, app) : runInTurn(call.claim, () => send(id, call, app))
    return call.type === 'otp.resend' ? resend(id, call, app) : verify(id, call, app)
  }

  const reportMissingKey = createMissingKeyReporter({ log, clock })
  /** One call's trouble is its own. */
  const answer = async ({ id, body }: Message): Promise<OtpAnswer> => {
    try {
      return await handle(id, body as OtpCall)
    } catch (error) {
      if (error instanceof Unavailable) {
        log.warn({ why: error.message, command_id: id }, 'call.unavailable')
        return refusal('ServiceUnavailableError', UNAVAILABLE_DETAIL)
      }
      if (isMissingKeyError(error)) {
        reportMissingKey(error, { command_id: id, ...idOf(body as OtpCall) })
        return refusal('ServiceUnavailableError', MISSING_KEY_DETAIL, { retry_after_ms: MISSING_KEY_RETRY_MS })
      }
      log.error({ err: error, command_id: id }, 'call.failed')
      return { kind: 'broken' }
    }
  }

  return {
    attach: async () => [
      await broker.serve('otp.calls', calls => Promise.all(calls.map(answer)), CALLS),
      await broker.consume('otp.reports', createReportHandler(deps), REPORTS),
    ],
    async stop() {
      await relay.settled()
      await Promise.all([accounts.settled(), counts.settled(), decisions.settled()])
    },
  }
}

const idOf = (call: OtpCall) => ('otp_id' in call ? { otp_id: call.otp_id } : {})

const MISSING_KEY_DETAIL = 'A key that this needs is not configured now. Nothing was changed.'
const UNAVAILABLE_DETAIL = 'It may or may not have been executed. Retry with the same idempotency key.'
