// The OTP actor: the edge's calls and the world's reports, all through one commit and one machine. Every call is handled on its own;
// what they ask of the store goes together.
import type { Broker, Message } from '../../infra/broker/broker.ts'
import type { Clock } from '../../infra/clock.ts'
import type { Keyring } from '../../infra/crypto/keyring.ts'
import { isKeyProblem, KEY_AWAITED_MS, tellingUnopened } from '../../infra/crypto/unopened.ts'
import type { Service } from '../../infra/host.ts'
import type { Logger } from '../../infra/log/log.ts'
import type { Metrics } from '../../infra/metrics.ts'
import { serially } from '../../infra/serially.ts'
import { groupedDocs } from '../../infra/store/grouped.ts'
import { Unavailable } from '../../infra/unavailable.ts'
import type { OtpAnswer, OtpCall } from '../../machines/calls.ts'
import type { CountersignStore } from '../domain/collections.ts'
import { accounting } from '../domain/money/accounts.ts'
import { tenancy } from '../domain/tenancy/tenancy.ts'
import type { OtpDoc } from '../domain/verifications/documents.ts'
import { relaying } from '../domain/verifications/outbox.ts'
import { knownApps } from './apps.ts'
import { bounded } from './bounded.ts'
import { canceling } from './cancel.ts'
import { claiming } from './claims.ts'
import { type Commit, committing } from './commit.ts'
import { exchanging } from './exchange.ts'
import { fraudCounts } from './fraud/counts.ts'
import { keepingDecisions } from './fraud/decisions.ts'
import { fraudGuard } from './fraud/guard.ts'
import { limits } from './limits/limits.ts'
import { reputations } from './limits/reputation.ts'
import { funding } from './money/funds.ts'
import { pricing } from './money/prices.ts'
import { refused } from './refusals.ts'
import { reporting } from './reports.ts'
import { resending } from './resend.ts'
import { sending } from './send.ts'
import { verifying } from './verify.ts'

export interface OtpParts {
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
const MOST_LATELY = 5_000

export function otp({ broker, store, keyring, clock, log, metrics }: OtpParts): Service {
  const otps = groupedDocs(store.docs('otps'))
  const claims = claiming({ claims: groupedDocs(store.docs('claims')), otps, clock })
  const apps = knownApps({ tenancy: tenancy({ store, keyring }), clock })
  const relay = relaying({ broker, otps, clock, log })
  const inTurn = serially()
  const lately = bounded<OtpDoc>(MOST_LATELY)
  const counters = limits({ counters: groupedDocs(store.docs('counters')), clock })
  const counts = fraudCounts({ store, clock, log })
  const decisions = keepingDecisions({ decisions: groupedDocs(store.docs('fraud_decisions')), clock, log })
  const guard = fraudGuard({ keyring, clock, log, limits: counters, apps, counts, decisions, metrics })
  const racing = committing({ otps, relay, lately, changed: guard.changed })
  const commit: Commit = (otp_id, owner, intent) => inTurn(otp_id, () => racing(otp_id, owner, intent))
  const accounts = accounting({ store, clock, log })
  const funds = funding({ accounts, prices: pricing({ prices: store.docs('prices'), clock }) })
  const parts = {
    ...{ broker, keyring, clock, log, metrics, otps, apps, claims, relay, commit, accounts, funds, lately },
    ...{ limits: counters, guard },
    reputation: reputations({ store, clock, log }),
  }
  const [send, resend, verify] = [sending(parts), resending(parts), verifying(parts)]
  const [cancel, exchange] = [canceling(parts), exchanging(parts)]

  async function handle(id: string, call: OtpCall): Promise<OtpAnswer> {
    if (call.type === 'otp.cancel') return cancel(id, call)
    if (call.type === 'token.exchange') return exchange(id, call)
    const app = await apps.get(call.by.app_id)
    if (!app) throw new Error(`the app of a valid key is gone: ${call.by.app_id}`)
    // Those who repeat a call while the first is under way wait here, not by asking the store again and again.
    if (call.type === 'otp.send')
      return call.claim === null ? send(id, call, app) : inTurn(call.claim, () => send(id, call, app))
    return call.type === 'otp.resend' ? resend(id, call, app) : verify(id, call, app)
  }

  const unopened = tellingUnopened({ log, clock })
  /** One call's trouble is its own. */
  const answer = async ({ id, body }: Message): Promise<OtpAnswer> => {
    try {
      return await handle(id, body as OtpCall)
    } catch (error) {
      if (error instanceof Unavailable) {
        log.warn({ why: error.message, command_id: id }, 'call.unavailable')
        return refused('ServiceUnavailableError', UNKNOWN)
      }
      if (isKeyProblem(error)) {
        unopened(error, { command_id: id, ...idOf(body as OtpCall) })
        return refused('ServiceUnavailableError', UNOPENED, { retry_after_ms: KEY_AWAITED_MS })
      }
      log.error({ err: error, command_id: id }, 'call.failed')
      return { kind: 'broken' }
    }
  }

  return {
    attach: async () => [
      await broker.serve('otp.calls', calls => Promise.all(calls.map(answer)), CALLS),
      await broker.consume('otp.reports', reporting(parts), REPORTS),
    ],
    async stop() {
      await relay.settled()
      await Promise.all([accounts.settled(), counts.settled(), decisions.settled()])
    },
  }
}

const idOf = (call: OtpCall) => ('otp_id' in call ? { otp_id: call.otp_id } : {})

const UNOPENED = 'A key that this needs is not configured now. Nothing was changed.'
const UNKNOWN = 'It may or may not have been executed. Retry with the same idempotency key.'
