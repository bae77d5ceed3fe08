// What a trial of settings cannot know. In: the documents that are read, and the statistics of the time, which count also what is not kept.
// Out: reasons with their counts.
import { DAY_MS, HOUR_MS } from '../../../infra/time.ts'
import { groupNamesOf } from '../../../machines/fraud.groups.ts'
import { TALLY_DAYS } from '../../../machines/fraud.tally.ts'
import { isLapsed } from '../../../machines/otp.code-life.ts'
import { allWrongCodes } from '../../../machines/otp.ids.ts'
import { carriesCode } from '../../../machines/otp.queries.ts'
import type { PastSend } from '../../../machines/replay.calls.ts'
import type { AppSettings } from '../../../machines/settings.ts'
import type { CountersignStore } from '../../domain/collections.ts'
import type { RefusalDoc } from '../../domain/refusals/documents.ts'
import { hourOf, startOf } from '../../domain/stats/contribution.ts'
import { addStoredCells, countOf, newCell } from '../../domain/stats/counts.ts'
import { hourId } from '../../domain/stats/documents.ts'
import { type PastContext, type PastOtp, unrecordedSends } from './past-calls.ts'
import { NOT_JUDGED, type NotJudgedReason, type SettingsTrialAnswer } from './schemas.ts'
import type { TrialInput } from './trial-input.ts'

export interface Reasons {
  add(reason: NotJudgedReason, count?: number): void
  list(): SettingsTrialAnswer['not_judged']
}

export function createReasons(): Reasons {
  const counts = new Map<NotJudgedReason, number>()
  return {
    add(reason, count = 1) {
      if (count > 0) counts.set(reason, (counts.get(reason) ?? 0) + count)
    },
    list: () => [...counts].map(([reason, count]) => ({ reason, count, detail: NOT_JUDGED[reason] })),
  }
}

/** What a verification shows of rules that are not played. */
export function watchUnplayedRules({ saved, tried, now }: TrialInput, { add }: Reasons): (doc: PastOtp) => void {
  const differs = (of: (settings: AppSettings) => unknown): boolean =>
    JSON.stringify(of(saved)) !== JSON.stringify(of(tried))
  const guessesDiffer = differs(({ verify_attempts, limits }) => [verify_attempts, limits.recipient_verify])
  const ordersDiffer = differs(({ routing }) => [routing.providers, routing.worth_micros])
  // At a risk, the guard's evidence decides who is asked.
  const challengesDiffer = differs(({ publishable_challenge, challenge, fraud_guard, limits }) => [
    publishable_challenge === 'risk' ? [fraud_guard.mode, limits.app_publishable] : publishable_challenge,
    publishable_challenge === 'off' ? null : challenge.by,
  ])
  const keysDiffer = differs(({ idempotency_ttl_seconds }) => idempotency_ttl_seconds)
  const originsDiffer = differs(({ allowed_origins }) => allowed_origins)
  const fallsBackElsewhere =
    tried.auto_fallback &&
    differs(({ auto_fallback, routing, channels, send_attempts }) => [auto_fallback, routing, channels, send_attempts])
  const isLongerValid = tried.code.ttl_seconds > saved.code.ttl_seconds
  return doc => {
    const { machine, value, claims, context: otp } = doc
    const isVerification = machine !== 'message'
    const isByDevice = otp.started_by.kind === 'publishable'
    if (ordersDiffer) add('provider_order')
    if (keysDiffer && claims !== undefined) add('idempotency_keys')
    if (challengesDiffer && isByDevice) add('challenges')
    if (originsDiffer && isByDevice) add('origins')
    if (unrecordedSends(doc) > 0) add('link_resends')
    if (guessesDiffer && allWrongCodes(otp) > 0) add('guesses')
    if (isLongerValid && isVerification && (value === 'expired' || (value === 'pending' && isLapsed(otp, now))))
      add('code_life')
    // A fallback that was sent follows the message that failed, and is played.
    if (fallsBackElsewhere && mayHaveFallenBack(otp)) add('auto_fallback')
    if (saved.reuse_pending !== tried.reuse_pending && isVerification && !isByDevice) add('reuse_pending')
  }
}

/** Whether its last message failed while it was pending. */
function mayHaveFallenBack({ deliveries, approval, failed_at, ended_at, expires_at }: PastContext): boolean {
  const last = deliveries.filter(carriesCode).at(-1)
  if (last?.status !== 'failed' || last.reason === 'superseded' || last.reason === 'insufficient_funds') return false
  return last.updated_at < Math.min(expires_at, approval?.at ?? failed_at ?? ended_at ?? expires_at)
}

/** With more than this missing, the median day of the guard's week may be another one. */
const MAX_MISSING_DAYS = Math.floor(TALLY_DAYS / 2)

/** The guard compares a send with the week before it. Of that week it knows the days that its tallies still have, and
 *  those that are read; of a mail domain these alone. `readFrom`: where reading begins. */
export function watchGuardPast(
  { app_created_at, now }: TrialInput,
  { add }: Reasons,
  { readFrom, hasAllTallies }: { readFrom: number; hasAllTallies: boolean },
): (send: PastSend) => void {
  const dayOf = (at: number): number => Math.floor(at / DAY_MS)
  const firstReadDay = dayOf(readFrom)
  const firstKnownDay = Math.min(firstReadDay, dayOf(now) - TALLY_DAYS)
  // Before the app existed there is nothing to know.
  const missingDays = (at: number, firstDay: number): number =>
    firstDay - Math.max(dayOf(at) - TALLY_DAYS, dayOf(app_created_at))
  return ({ at, kind, recipient }) => {
    const isMail = recipient.kind === 'email'
    if (isMail && kind === 'server') return
    const hasDomain = isMail && groupNamesOf({ value: recipient.mailbox, country: null }).range !== null
    if (!hasAllTallies || missingDays(at, hasDomain ? firstReadDay : firstKnownDay) > MAX_MISSING_DAYS)
      add('guard_without_past')
  }
}

export interface RecordedCalls {
  onOtp(doc: Pick<PastOtp, '_id' | 'machine' | 'created_at'>): void
  onRefusal(doc: RefusalDoc): void
  /** Says how many calls the statistics count that are not on record. */
  compare(store: Pick<CountersignStore, 'docs'>, reasons: Reasons): Promise<void>
}

/** Counts what is on record of the whole hours of the time: statistics count by the hour, what is not kept too. */
export function watchRecorded({ app_id, since, until }: TrialInput): RecordedCalls {
  const [from, to] = [hourOf(since + HOUR_MS - 1), hourOf(until)]
  const recorded = { started: 0, refused: 0 }
  const isInWholeHour = (at: number): boolean => at >= from && at < to

  async function readStatistics({
    docs,
  }: Pick<CountersignStore, 'docs'>): Promise<{ started: number; refused: number }> {
    const hours = await docs('stats_hours').find(
      { _id: { $gte: hourId(app_id, 'live', from), $lt: hourId(app_id, 'live', to) } },
      { sort: { _id: 1 }, limit: (to - from) / HOUR_MS },
    )
    const all = newCell()
    for (const { by } of hours) addStoredCells(by.channel ?? '', () => all)
    const refused = hours.flatMap(hour => Object.values(hour.refused)).reduce((sum, count) => sum + count, 0)
    return { started: countOf(all, 'started'), refused }
  }

  return {
    onOtp(doc) {
      if (doc.machine !== 'message' && isInWholeHour(startOf(doc))) recorded.started += 1
    },
    onRefusal(doc) {
      if (isCountedRefusal(doc) && isInWholeHour(doc.at)) recorded.refused += 1
    },
    async compare(store, reasons) {
      if (from >= to) return
      const counted = await readStatistics(store)
      reasons.add('removed', counted.started - recorded.started)
      reasons.add('unrecorded_refusals', counted.refused - recorded.refused)
    },
  }
}

const isCountedRefusal = ({ type, recipient, judged }: RefusalDoc): boolean =>
  recipient !== undefined && type !== 'ChallengeRequiredError' && (judged === undefined || judged.call === 'send')
