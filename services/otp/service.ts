// The OTP actor. In: the edge's calls (calls/) and reports from outside (reports/). Out: answers, saved verifications, and effects on their
// way to the other actors. Both change a verification through one commit (commit.ts), which asks the machine. next-message/ has what a call
// and a report need alike to send one more message; limits/, fraud/ and funds.ts decide whether it may be sent, each by a reservation
// (reservation.ts).
import { createBoundedMap } from '../../infra/bounded-map.ts'
import type { Broker } from '../../infra/broker/broker.ts'
import { createIsBusy } from '../../infra/busy-process.ts'
import type { Clock } from '../../infra/clock.ts'
import type { Keyring } from '../../infra/crypto/keyring.ts'
import type { EngineWatches } from '../../infra/engine-watch.ts'
import type { Service } from '../../infra/host.ts'
import type { Logger } from '../../infra/log/log.ts'
import type { Metrics } from '../../infra/metrics.ts'
import { batchDocs } from '../../infra/store/batched-docs.ts'
import type { Trace } from '../../infra/trace.ts'
import { isMessage } from '../../machines/otp.queries.ts'
import type { CountersignStore } from '../domain/collections.ts'
import { createAccounts } from '../domain/money/accounts.ts'
import { createOptOuts } from '../domain/recipients/opt-outs.ts'
import { createRefusalLog } from '../domain/refusals/refusal-log.ts'
import { createTenancy } from '../domain/tenancy/tenancy.ts'
import type { OtpDoc } from '../domain/verifications/documents.ts'
import { createRelay, messageIn } from '../domain/verifications/outbox.ts'
import { createAppCache, createIsAskedFor } from './apps.ts'
import { createCallHandler } from './calls/call-handler.ts'
import { createChallenges } from './calls/challenges.ts'
import { createClaims } from './calls/idempotency-claims.ts'
import { createCommit } from './commit.ts'
import { createFraudCounts } from './fraud/counts.ts'
import { createDecisionLog } from './fraud/decisions.ts'
import { createFraudGuard } from './fraud/guard.ts'
import { createFunds } from './funds.ts'
import { createLimits } from './limits/limits.ts'
import { createReputationLookup } from './limits/reputation.ts'
import { createReportHandler } from './reports/report-handler.ts'
import { createStatsCounter } from './stats/counter.ts'
import { createLogFailedDeliveries } from './stats/failed-deliveries.ts'
import { createVerificationMetrics } from './stats/metrics.ts'
import { storeUnsent } from './unsent-events.ts'

export interface OtpDeps {
  broker: Broker
  store: CountersignStore
  keyring: Keyring
  clock: Clock
  log: Logger
  metrics: Metrics
  watches?: Pick<EngineWatches, 'store'>
}

/** Calls are taken one by one and many at once, because a call that waits for its idempotency key must not delay others. The handler
 *  limits how many are executed at once, and lets them begin in groups; their store operations are batched, tick by tick. */
const CALLS = { prefetch: 256, batch: 1, parallel: 10_000 }
/** One by one, because a report that waits for the store must not keep others unsettled. */
const REPORTS = { prefetch: 256 }
/** A send is delivered within a second or two, and a busy process has some hundred a second. A document takes 3 KiB. */
const MAX_RECENT_OTPS = 2_000

export function createOtpService({ broker, store, keyring, clock, log, metrics, watches }: OtpDeps): Service {
  const tenancy = createTenancy({ store, keyring, clock })
  const apps = createAppCache({ tenancy, clock })
  const otps = batchDocs(store.docs('otps'))
  const joinedIds = batchDocs(store.docs('joined_ids'))
  const recentOtps = createBoundedMap<OtpDoc>(MAX_RECENT_OTPS)
  const claims = createClaims({ claims: batchDocs(store.docs('claims')), otps, clock })
  const isAskedFor = createIsAskedFor(store.docs('webhooks'), clock)
  const eventDeps = { events: batchDocs(store.docs('events')), isAskedFor, apps }
  const relay = createRelay({
    async publishEffect(effect, publishedAgain) {
      if (effect.queue === 'webhook.deliver' && (await storeUnsent(eventDeps, effect))) return
      await broker.publish(effect.queue, messageIn(effect, publishedAgain))
    },
    otps,
    clock,
    log,
  })

  const limits = createLimits({ counters: batchDocs(store.docs('counters')), clock })
  const reputation = createReputationLookup({ store, clock, log })
  const accounts = createAccounts({ store, clock, log })
  const funds = createFunds({ accounts, prices: store.docs('prices'), clock })

  const fraudCounts = createFraudCounts({ store, clock, log, metrics })
  const decisions = createDecisionLog({ decisions: batchDocs(store.docs('fraud_decisions')), clock, log })
  const guard = createFraudGuard({
    keyring,
    clock,
    log,
    limits,
    apps,
    reputation,
    counts: fraudCounts,
    decisions,
    metrics,
  })
  const challenges = createChallenges({
    keyring,
    clock,
    spent: batchDocs(store.docs('spent_challenges')),
    guard,
    metrics,
  })

  const stats = createStatsCounter({ store, clock, log, metrics })
  const refusals = createRefusalLog({
    refusals: store.docs('refusals'),
    clock,
    log,
    metrics,
    onRefusal(refusal) {
      // A device that is asked for a challenge solves it and sends: it was delayed, and not refused.
      if (refusal.call === 'send' && refusal.type !== 'ChallengeRequiredError') stats.countRefusal(refusal)
    },
  })
  const verificationMetrics = createVerificationMetrics({ metrics, apps })
  const logFailedDeliveries = createLogFailedDeliveries(log)
  const onChange = (before: OtpDoc | null, after: OtpDoc, trace?: Trace): void => {
    funds.onChange(before, after)
    guard.onChange(before, after)
    // The statistics are about verifications: whether the code of a message was entered is not known.
    if (!isMessage(after.context)) stats.onChange(before, after)
    verificationMetrics.onChange(before, after)
    if (before !== null) logFailedDeliveries(before, after, trace)
  }
  const commit = createCommit({ otps, joinedIds, relay, recentOtps, clock, onChange })

  const deps = {
    broker,
    keyring,
    clock,
    log,
    metrics,
    apps,
    isAskedFor,
    otps,
    joinedIds,
    metadataIndexes: batchDocs(store.docs('metadata_indexes')),
    recentOtps,
    claims,
    relay,
    limits,
    reputation,
    accounts,
    funds,
    guard,
    challenges,
    refusals,
    commit,
    onChange,
    isBusy: createIsBusy(),
    optOuts: createOptOuts({ rules: batchDocs(store.docs('recipient_rules')), keyring }),
    tenancy,
    companyApps: store.docs('apps'),
    audit: store.docs('audit'),
    storeWatch: watches?.store,
  }
  const answerCall = createCallHandler(deps)
  const handleReports = createReportHandler(deps)

  return {
    async attach() {
      const calls = await broker.serve('otp.calls', messages => Promise.all(messages.map(answerCall)), CALLS)
      const reports = await broker.consume('otp.reports', handleReports, REPORTS)
      return [calls, reports]
    },
    async stop() {
      await relay.settled()
      await Promise.all([
        accounts.settled(),
        fraudCounts.settled(),
        decisions.settled(),
        refusals.settled(),
        stats.settled(),
      ])
    },
  }
}
