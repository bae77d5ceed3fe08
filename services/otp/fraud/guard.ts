// The guard against SMS pumping. In: a text message that is about to be sent, and every change of a verification. Out: by the app's
// setting, the message passes, is refused or moves to a free channel. Each refusal or move is recorded with its reasons, also in the
// mode that only records.

import { createBoundedMap } from '../../../infra/bounded-map.ts'
import type { Cache } from '../../../infra/cache.ts'
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { isMissingKeyError } from '../../../infra/crypto/missing-key-reporter.ts'
import type { Logger } from '../../../infra/log/log.ts'
import type { Metrics } from '../../../infra/metrics.ts'
import type { Identity } from '../../../machines/calls.ts'
import type { Channel } from '../../../machines/channels.ts'
import { type Judgement, judge } from '../../../machines/fraud.ts'
import { magicOf } from '../../../machines/magic-recipients.ts'
import type { Otp } from '../../../machines/otp.ts'
import { retentionMs } from '../../domain/retention.ts'
import { counterKey } from '../../domain/verifications/counter-names.ts'
import type { OtpDoc } from '../../domain/verifications/documents.ts'
import { atRest } from '../../domain/verifications/encryption-context.ts'
import type { CachedApp } from '../apps.ts'
import type { Limits } from '../limits/limits.ts'
import type { JudgedAddress, Quota } from '../limits/quotas.ts'
import { limitRefusal } from '../refusals.ts'
import { NO_RESERVATION, type Reservation, reserve } from '../reservation.ts'
import type { FraudCounts } from './counts.ts'
import type { DecisionLog, NewDecision } from './decisions.ts'
import { type NumberGroups, numberGroupsOf } from './number-groups.ts'
import { createFraudWatch, type SmsOutcome, smsOutcomeOf } from './watch.ts'

/** A verification whose latest delivery is about to be sent. */
export interface FraudCheckInput {
  command_id: string
  otp: Otp
  /** Unsealed. */
  recipient: string
  app: Pick<CachedApp, 'settings'>
  /** The channel that costs nothing, if there is one. */
  free: Channel | null
  /** Whether the call brought a challenge solved at the highest difficulty. */
  solvedHardest: boolean
}

/** A call by a live publishable key, before anything is decided about it. */
export interface ChallengeNeedInput {
  by: Identity
  app: Pick<CachedApp, 'settings'>
  /** Unsealed. */
  recipient: string
  /** The address of the caller; null when it has none that is usable. */
  address: JudgedAddress | null
}

/** Whether a call looks risky enough to ask for a solved challenge, and how hard that challenge should be. */
export interface ChallengeNeed {
  asked: boolean
  /** 0 for the easiest challenge, 1 for the hardest. */
  pressure: number
}

export interface FraudCheckResult extends Reservation {
  /** The channel to use instead of sms. */
  moved?: Channel
}

export interface FraudGuard {
  check(input: FraudCheckInput): Promise<FraudCheckResult>
  challengeNeed(input: ChallengeNeedInput): Promise<ChallengeNeed>
  /** Called after every saved change; `before` is null for a new verification. */
  onChange(before: OtpDoc | null, after: OtpDoc): void
}

export interface FraudGuardDeps {
  keyring: Pick<Keyring, 'index' | 'unseal'>
  clock: { now(): number }
  log: Pick<Logger, 'warn'>
  limits: Limits
  apps: Pick<Cache<CachedApp | null>, 'get'>
  counts: Pick<FraudCounts, 'tallies' | 'blocks'>
  decisions: Pick<DecisionLog, 'record'>
  metrics: Pick<Metrics, 'fraudDecisions'>
}

const PASSED: FraudCheckResult = NO_RESERVATION
/** Those of the sends that are under way: see `recentGroups`. */
const MAX_RECENT_NUMBERS = 1_000
const REFUSAL_RETRY_AFTER_MS = 600_000
const PACE_SECONDS = 600

export function createFraudGuard({
  keyring,
  clock,
  log,
  limits,
  apps,
  counts,
  decisions,
  metrics,
}: FraudGuardDeps): FraudGuard {
  const watch = createFraudWatch(counts)

  // A number is needed when it is about to be sent to and again a moment later, when that is counted. Its groups are computed once.
  const recentGroups = createBoundedMap<NumberGroups>(MAX_RECENT_NUMBERS)
  const cacheKey = ({ app_id, mode, started_by, recipient }: Otp): string =>
    `${app_id}:${mode}:${started_by.kind}:${recipient.index}`
  function groupsFor(otp: Otp, number: string): NumberGroups {
    const { app_id, mode, started_by, recipient } = otp
    const groups = numberGroupsOf(
      keyring,
      { app_id, mode, kind: started_by.kind },
      { number, country: recipient.country, index: recipient.index },
    )
    recentGroups.set(cacheKey(otp), groups)
    return groups
  }

  /** A slowed message may still pass, within the pace of every reason. */
  const applyVerdict = (
    otp: Otp,
    groups: NumberGroups,
    { verdict, reasons }: Judgement,
  ): Promise<Reservation> | Reservation =>
    verdict === 'refuse'
      ? { ...PASSED, refusal: limitRefusal('fraud_guard', REFUSAL_RETRY_AFTER_MS) }
      : reserve(
          limits,
          reasons.map(reason => paceQuota(otp, groups, reason)),
        )

  async function check(input: FraudCheckInput): Promise<FraudCheckResult> {
    const { otp, recipient: number, app, free } = input
    const { mode, action } = app.settings.fraud_guard
    if (mode === 'off' || !isGuarded(otp, number)) return PASSED
    const groups = recentGroups.get(cacheKey(otp)) ?? groupsFor(otp, number)
    const judgement = judge(await watch.evidence(groups), clock.now())
    const { verdict, score, reasons } = judgement
    if (verdict === 'pass') return PASSED
    const slowed = await applyVerdict(otp, groups, judgement)
    if (!slowed.refusal) return slowed
    const moved = action === 'free_channel' ? free : null
    recordDecision(input, { verdict, score, reasons }, moved)
    if (mode === 'record') return PASSED
    return moved === null ? slowed : { ...PASSED, moved }
  }

  function recordDecision(
    { command_id, otp, app }: FraudCheckInput,
    judgement: Pick<NewDecision, 'verdict' | 'score' | 'reasons'>,
    moved: Channel | null,
  ): void {
    const { otp_id, app_id, company_id, recipient } = otp
    const enforced = app.settings.fraud_guard.mode === 'on'
    const outcome = moved === null ? 'refused' : 'moved'
    metrics.fraudDecisions.inc({ mode: otp.mode, outcome, enforced: String(enforced) })
    decisions.record(`${otp_id}:${command_id}`, {
      app_id,
      company_id,
      mode: otp.mode,
      otp_id,
      ...judgement,
      channel: moved,
      enforced,
      outcome,
      recipient: recipient.index,
      masked: recipient.masked,
      country: recipient.country,
      purge_at: new Date(clock.now() + retentionMs(app.settings, otp.mode)),
    })
  }

  /** Null for a magic recipient. */
  function groupsOfDoc({ _id, mode, context }: OtpDoc): NumberGroups | null {
    const number = keyring.unseal(context.recipient.sealed, atRest.recipient(_id))
    return magicOf(mode, number) === null ? groupsFor(context, number) : null
  }

  async function countOutcome({ at, sent, verified }: SmsOutcome, after: OtpDoc): Promise<void> {
    const app = await apps.get(after.app_id)
    if (!app || app.settings.fraud_guard.mode === 'off') return
    const groups = recentGroups.get(cacheKey(after.context)) ?? groupsOfDoc(after)
    if (!groups) return
    if (sent) watch.sent(groups, after.app_id, at)
    if (verified) watch.verified(groups, after.app_id, at)
  }

  return {
    check,
    challengeNeed: async () => ({ asked: false, pressure: 0 }),
    onChange(before, after) {
      const outcome = smsOutcomeOf(before, after)
      if (outcome === null) return
      countOutcome(outcome, after).catch(error => {
        // A missing key is reported where it is needed. Here it only means that the change is not counted.
        if (!isMissingKeyError(error)) log.warn({ err: error, otp_id: after._id }, 'fraud.not_counted')
      })
    },
  }
}

/** Only text messages are guarded; magic recipients belong to no user. */
const isGuarded = ({ mode, deliveries }: Otp, number: string): boolean =>
  deliveries.at(-1)?.channel === 'sms' && magicOf(mode, number) === null

function paceQuota(otp: Otp, groups: NumberGroups, { scope, pace }: Judgement['reasons'][number]): Quota {
  const { country, range, block, tags } = groups
  const name =
    scope === 'hundred' ? `${block}:${tags().hundred}` : { country: country.name, range: range.name, block }[scope]
  return {
    scope: 'fraud_guard',
    key: counterKey(otp, 'pace', otp.started_by.kind, scope, name),
    rules: pace === null ? [] : [{ max: pace, seconds: PACE_SECONDS }],
  }
}
