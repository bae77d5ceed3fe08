// The guard against pumping. In: a message that is about to be sent and can cost money, or is a mail that a device asked for, and every
// change of a verification. Out: by the
// app's setting, the message passes, is refused or moves to a free channel. Each refusal or move is recorded with its reasons, also in the
// mode that only records. It also says whether a device should solve a challenge.

import { createBoundedMap } from '../../../infra/bounded-map.ts'
import type { Cache } from '../../../infra/cache.ts'
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { isMissingKeyError } from '../../../infra/crypto/missing-key-reporter.ts'
import type { Logger } from '../../../infra/log/log.ts'
import type { Metrics } from '../../../infra/metrics.ts'
import { HOUR_MS } from '../../../infra/time.ts'
import type { Identity } from '../../../machines/calls.ts'
import type { Channel } from '../../../machines/channels.ts'
import { devicesPerMinute } from '../../../machines/fraud.allowance.ts'
import { type ChallengeNeed, challengeNeed } from '../../../machines/fraud.challenge.ts'
import { paceRules, VERIFIED_RULES } from '../../../machines/fraud.groups.ts'
import { countedMessages, isWatched } from '../../../machines/fraud.messages.ts'
import { EMPTY_TALLY, type TallyEntry } from '../../../machines/fraud.tally.ts'
import { type Judgement, judge } from '../../../machines/fraud.ts'
import { magicOf } from '../../../machines/magic-recipients.ts'
import type { Otp } from '../../../machines/otp.ts'
import type { Quota } from '../../../machines/quotas.ts'
import type { GuardScope } from '../../domain/fraud/documents.ts'
import { retentionMs } from '../../domain/retention.ts'
import { counterKey, recipientCounter } from '../../domain/verifications/counter-names.ts'
import type { OtpDoc } from '../../domain/verifications/documents.ts'
import { atRest } from '../../domain/verifications/encryption-context.ts'
import { mailboxIndexes, recipientKey, recipientScope } from '../../domain/verifications/lookup-indexes.ts'
import { parseRecipient } from '../../domain/verifications/valid-recipient.ts'
import type { CachedApp } from '../apps.ts'
import type { Limits } from '../limits/limits.ts'
import type { JudgedAddress, Reputation } from '../limits/reputation.ts'
import { limitRefusal } from '../refusals.ts'
import { NO_RESERVATION, type Reservation, reserve } from '../reservation.ts'
import type { FraudCounts } from './counts.ts'
import type { DecisionLog, NewDecision } from './decisions.ts'
import { type GroupedRecipient, networkId, type RecipientGroups, recipientGroupsOf } from './groups.ts'
import { type CountedEvidence, createFraudWatch, messageOutcome, type Outcome } from './watch.ts'

/** A verification whose latest delivery is about to be sent. */
export interface FraudEvidenceInput {
  otp: Otp
  /** Unsealed. */
  recipient: string
  app: Pick<CachedApp, 'settings'>
  challenge: ChallengeOutcome
}

export interface FraudCheckInput extends FraudEvidenceInput {
  command_id: string
  /** The channel that costs nothing, if there is one. */
  free: Channel | null
}

/** What the check of a call's challenge found out for the guard. */
export interface ChallengeOutcome {
  /** Whether the call brought a challenge solved at the highest difficulty. */
  solvedHardest: boolean
  /** About the number, where it was needed to see that no challenge is: a message is judged by the same. */
  evidence: CountedEvidence | null
}

export const NO_CHALLENGE: ChallengeOutcome = { solvedHardest: false, evidence: null }

/** A call by a live publishable key, before anything is decided about it. */
export interface ChallengeNeedInput {
  by: Identity
  app: Pick<CachedApp, 'settings'>
  /** Unsealed. */
  recipient: string
  /** The address of the caller; null when it has none that is usable. */
  address: JudgedAddress | null
}

export type FraudCheckResult = Reservation & {
  /** The channel to use instead. */
  moved?: Channel
}

export interface FraudGuard {
  /** Reads what `check` will need, so that `check` need not wait for the store. Never rejects: `check` reads again what is missing. */
  prepare(input: FraudEvidenceInput): Promise<void>
  check(input: FraudCheckInput): Promise<FraudCheckResult>
  challengeNeed(input: ChallengeNeedInput): Promise<ChallengeNeed & Pick<ChallengeOutcome, 'evidence'>>
  /** Called after every saved change; `before` is null for a new verification. */
  onChange(before: OtpDoc | null, after: OtpDoc): void
}

export interface FraudGuardDeps {
  keyring: Pick<Keyring, 'index' | 'indexes' | 'unseal'>
  clock: { now(): number }
  log: Pick<Logger, 'warn'>
  limits: Limits
  apps: Pick<Cache<CachedApp | null>, 'get'>
  reputation(address: string): Promise<Reputation>
  counts: Pick<FraudCounts, 'tallies' | 'mailDomains' | 'blocks' | 'histories' | 'networks'>
  decisions: Pick<DecisionLog, 'record'>
  metrics: Pick<Metrics, 'fraudDecisions'>
}

const PASSED: FraudCheckResult = NO_RESERVATION
/** Those of the sends that are under way: see `recentGroups`. */
const MAX_RECENT_NUMBERS = 1_000
const MAX_VERIFIED_NUMBERS = 20_000

export function createFraudGuard({
  keyring,
  clock,
  log,
  limits,
  apps,
  reputation,
  counts,
  decisions,
  metrics,
}: FraudGuardDeps): FraudGuard {
  const watch = createFraudWatch(counts)

  // A recipient is needed when it is about to be sent to and again a moment later, when that is counted. Its groups are computed once.
  const recentGroups = createBoundedMap<RecipientGroups>(MAX_RECENT_NUMBERS)
  const scopeOf = ({ app_id, mode, started_by }: Otp): GuardScope => ({ app_id, mode, kind: started_by.kind })
  function groupsFor(
    { app_id, mode, kind }: GuardScope,
    recipient: Omit<GroupedRecipient, 'value'>,
    value: () => string,
  ): RecipientGroups {
    const cacheKey = `${app_id}:${mode}:${kind}:${recipient.index}`
    const known = recentGroups.get(cacheKey)
    if (known) return known
    const groups = recipientGroupsOf(keyring, { app_id, mode, kind }, { ...recipient, value: value() })
    recentGroups.set(cacheKey, groups)
    return groups
  }

  /** A slowed message may still pass, within the pace of every reason. */
  const applyVerdict = (
    otp: Otp,
    groups: RecipientGroups,
    { verdict, reasons, retryAfterMs }: Judgement,
  ): Promise<Reservation> | Reservation =>
    verdict === 'refuse'
      ? { ...PASSED, refusal: limitRefusal('fraud_guard', retryAfterMs) }
      : reserve(
          limits,
          reasons.map(reason => paceQuota(otp, groups, reason)),
        )

  /** Null for a message that is not judged. */
  function judgedGroups({ otp, recipient, app }: FraudEvidenceInput): RecipientGroups | null {
    if (app.settings.fraud_guard.mode === 'off' || !isGuarded(otp, recipient)) return null
    return groupsFor(scopeOf(otp), otp.recipient, () => recipient)
  }

  /** A device may resend what a server has started, which is counted with the server's. */
  const evidenceFor = (groups: RecipientGroups, { evidence }: ChallengeOutcome): Promise<CountedEvidence> =>
    evidence?.kind === groups.kind ? Promise.resolve(evidence) : watch.evidence(groups)

  async function check(input: FraudCheckInput): Promise<FraudCheckResult> {
    const { otp, app, free, challenge } = input
    const { mode, action } = app.settings.fraud_guard
    const groups = judgedGroups(input)
    if (groups === null) return PASSED
    const perMinute = devicesPerMinute(app.settings.limits.app_publishable)
    const backsOff = mode === 'on' && countedMessages(otp).length === 1
    const counted = await evidenceFor(groups, challenge)
    // Otherwise a stranger who sends to a number would shut out its owner. What the app and its ranges are allowed holds all the same.
    const history = challenge.solvedHardest ? null : counted.history
    const judgement = judge({ ...counted, history, perMinute, backsOff }, clock.now())
    const { verdict, score, reasons } = judgement
    if (verdict === 'pass') return PASSED
    const slowed = await applyVerdict(otp, groups, judgement)
    if (!slowed.refusal) return { ...slowed, suspected: true }
    const moved = action === 'free_channel' && free !== otp.channel ? free : null
    recordDecision(input, { verdict, score, reasons }, moved)
    if (mode === 'record') return { ...PASSED, suspected: true }
    return moved === null ? slowed : { ...PASSED, moved, suspected: true }
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

  async function countOutcome(outcome: Outcome, after: OtpDoc): Promise<void> {
    const { _id, app_id, mode, context: otp } = after
    const isDevice = otp.started_by.kind === 'publishable'
    const app = await apps.get(app_id)
    if (!app || app.settings.fraud_guard.mode === 'off') return
    const unsealed = () => keyring.unseal(otp.recipient.sealed, atRest.recipient(_id))
    if (mode === 'test' && magicOf(mode, unsealed()) !== null) return
    await countRecipient(outcome, after, unsealed)
    if (isDevice && mode === 'live') await countNetwork(outcome, after)
  }

  async function countRecipient(outcome: Outcome, after: OtpDoc, unsealed: () => string): Promise<void> {
    const { app_id, context: otp } = after
    const { sentAt, approval } = outcome
    const groups = groupsFor(scopeOf(otp), otp.recipient, unsealed)
    if (sentAt.length > 0) watch.sent(groups, app_id, outcome)
    if (approval === null) return
    const isFirst =
      groups.kind === 'publishable' ? await isFirstInStore(after, unsealed()) : isFirstHere(groups, approval.sentAt)
    watch.verified(groups, app_id, approval, isFirst)
  }

  /** The verification counts as one send of its network, and as one that was verified. */
  async function countNetwork(outcome: Outcome, { _id, app_id, mode, context: otp }: OtpDoc): Promise<void> {
    if (otp.client_ip === null || !(outcome.isStart || outcome.approval)) return
    const address = keyring.unseal(otp.client_ip, atRest.clientIp(_id))
    if ((await reputation(address)) !== 'suspect') return
    const id = networkId(keyring, { app_id, mode }, address)
    const { isStart, sentAt, approval } = outcome
    for (const entry of entriesOf({ sentAt: isStart ? sentAt.slice(0, 1) : [], approval }))
      counts.networks.add(id, app_id, entry)
  }

  /** Exact over all processes: an attacker with a few numbers of their own would verify them everywhere at once. */
  async function isFirstInStore(appMode: OtpDoc, recipient: string): Promise<boolean> {
    const name = recipientCounter(appMode, 'verified:publishable', mailboxIndexes(keyring, appMode, recipient))
    return (await limits.take({ ...name, rules: VERIFIED_RULES })).granted
  }

  // A server's backend decides who may verify, so its numbers are remembered by each process alone.
  const verifiedHere = createBoundedMap<number>(MAX_VERIFIED_NUMBERS)
  function isFirstHere({ recipient }: RecipientGroups, at: number): boolean {
    const isFirst = at - (verifiedHere.get(recipient) ?? Number.NEGATIVE_INFINITY) >= HOUR_MS
    if (isFirst) verifiedHere.set(recipient, at)
    return isFirst
  }

  const askedChallenge: FraudGuard['challengeNeed'] = async ({ by, app, recipient, address }) => {
    const { fraud_guard, limits: rules } = app.settings
    const scope = { app_id: by.app_id, mode: by.mode, kind: by.kind }
    const perMinute = devicesPerMinute(rules.app_publishable)
    const isCounted = fraud_guard.mode !== 'off' && magicOf(by.mode, recipient) === null
    const suspect = address?.reputation === 'suspect'
    const [evidence, network] = await Promise.all([
      isCounted ? evidenceOf(scope, recipient) : null,
      isCounted && suspect ? counts.networks.state(networkId(keyring, scope, address.value)) : EMPTY_TALLY,
    ])
    const need = challengeNeed(
      {
        traffic: evidence?.app?.tally ?? EMPTY_TALLY,
        perMinute,
        recipient: evidence && { ...evidence, perMinute, backsOff: fraud_guard.mode === 'on' },
        address: address && { suspect, network },
      },
      clock.now(),
    )
    return { ...need, evidence }
  }

  async function evidenceOf(scope: GuardScope, recipient: string) {
    const index = keyring.index(recipientScope(scope.app_id, scope.mode), recipientKey(recipient))
    const parsed = parseRecipient(recipient)
    const country = parsed?.kind === 'phone' ? parsed.country : null
    return watch.evidence(groupsFor(scope, { country, index }, () => recipient))
  }

  return {
    async prepare(input) {
      try {
        const groups = judgedGroups(input)
        if (groups !== null) await evidenceFor(groups, input.challenge)
      } catch {}
    },
    check,
    challengeNeed: askedChallenge,
    onChange(before, after) {
      const outcome = messageOutcome(before, after)
      if (outcome === null) return
      countOutcome(outcome, after).catch(error => {
        // A missing key is reported where it is needed. Here it only means that the change is not counted.
        if (!isMissingKeyError(error)) log.warn({ err: error, otp_id: after._id }, 'fraud.not_counted')
      })
    },
  }
}

/** Magic recipients belong to no user. */
function isGuarded(otp: Otp, recipient: string): boolean {
  const message = otp.deliveries.at(-1)
  return message !== undefined && isWatched(message, otp) && magicOf(otp.mode, recipient) === null
}

const entriesOf = ({ sentAt, approval }: Pick<Outcome, 'sentAt' | 'approval'>): TallyEntry[] => [
  ...sentAt.map(at => ({ at, sent: 1, verified: 0 })),
  ...(approval ? [{ at: approval.sentAt, sent: 0, verified: 1 }] : []),
]

function paceQuota(otp: Otp, groups: RecipientGroups, reason: Judgement['reasons'][number]): Quota {
  const { scope } = reason
  const { app, country, range, block, tags } = groups
  const names = { app: app?.name, country: country.name, range: range?.key, block, number: undefined }
  const name = scope === 'hundred' ? `${block}:${tags().hundred}` : (names[scope] ?? '')
  return {
    scope: 'fraud_guard',
    key: counterKey(otp, 'pace', otp.started_by.kind, scope, name),
    rules: paceRules(reason),
  }
}
