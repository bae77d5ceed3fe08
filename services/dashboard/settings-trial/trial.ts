// Tries settings on the traffic of a past time. In: an app, settings, a time. Out: the answer. Nothing is saved.
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { httpException } from '../../../infra/http/problem.ts'
import { isoTime } from '../../../infra/iso-time.ts'
import { scanAll } from '../../../infra/store/scan.ts'
import { DAY_MS, HOUR_MS } from '../../../infra/time.ts'
import { CHANNELS } from '../../../machines/channels.ts'
import type { Period } from '../../../machines/fraud.tally.ts'
import type { KeyKind, Otp, Prices } from '../../../machines/otp.ts'
import type { PastDays } from '../../../machines/replay.guard.ts'
import { createReplay } from '../../../machines/replay.ts'
import type { AppSettings } from '../../../machines/settings.ts'
import { lengthOf } from '../../../machines/windows.ts'
import type { CountersignStore } from '../../domain/collections.ts'
import { tallyId } from '../../domain/fraud/documents.ts'
import type { Price } from '../../domain/money/documents.ts'
import { priceList } from '../../domain/money/price-list.ts'
import type { RefusalDoc } from '../../domain/refusals/documents.ts'
import { hourOf } from '../../domain/stats/contribution.ts'
import { hourId } from '../../domain/stats/documents.ts'
import { findProviders, scopeOf } from '../../domain/tenancy/documents.ts'
import type { OtpDoc } from '../../domain/verifications/documents.ts'
import { validationProblem } from '../request-input.ts'
import { countPast, type PastRange, readPast } from './read-past.ts'
import { NOT_JUDGED, type NotJudgedReason, type SettingsTrialAnswer } from './schemas.ts'

export interface TrialInput {
  app_id: string
  saved: AppSettings
  tried: AppSettings
  since: number
  until: number
}

export interface TrialDeps {
  store: CountersignStore
  keyring: Pick<Keyring, 'unseal'>
  /** Whether its caller has gone: then the rest is not played. */
  isAbandoned?(): boolean
}

/** What is read, the time before `since` included. */
export const MAX_PAST_CALLS = 200_000
/** A verification gets its last message within three times the longest life of a code. */
const LONGEST_VERIFICATION_MS = 3 * HOUR_MS
/** Ranges of numbers that have a tally. More are taken for new. */
const MAX_TALLIES = 20_000

export async function trySettings(deps: TrialDeps, input: TrialInput): Promise<SettingsTrialAnswer> {
  const { app_id, saved, tried, since, until } = input
  const { store, isAbandoned = () => false } = deps
  // The caller may have left while this waited for its turn.
  if (isAbandoned()) throw httpException(400, 'The caller has left.')
  const range = { app_id, from: readingStart(input), until }
  await refuseTooMany(store, range)
  const [providers, prices, pastDays] = await Promise.all([
    findProviders(store, app_id),
    readPrices(store),
    readPastDays(store, input, range.from),
  ])
  const replay = createReplay({ saved, tried, since, providers: providers.map(scopeOf), prices, pastDays })
  const notJudged = createReasons()
  const unseen = watchUnseen(input, notJudged)
  let recorded = 0
  const past = readPast(deps, range, ({ unplayed }, doc) => {
    const at = 'at' in doc ? (doc as RefusalDoc).at : (doc as unknown as OtpDoc).created_at
    if (at < since || at >= until) return
    if (unplayed !== undefined) notJudged.add(unplayed)
    if ('context' in doc) unseen((doc as unknown as OtpDoc).context)
    else if (isCountedRefusal(doc as RefusalDoc) && isInWholeHour(at, input)) recorded += 1
  })
  for await (const events of past) {
    if (isAbandoned()) break
    for (const event of events) replay.play(event)
  }
  const { not_judged, examples, ...result } = replay.result()
  for (const [reason, count] of not_judged) notJudged.add(reason, count)
  const changed = [...result.refused, ...result.no_longer_refused].reduce((sum, { count }) => sum + count, 0)
  notJudged.add('may_come_back', changed)
  notJudged.add('unrecorded_refusals', (await countRefusals(store, input)) - recorded)
  return {
    ...result,
    examples: examples.map(example => ({ ...example, at: isoTime(example.at) })),
    not_judged: notJudged.list(),
  }
}

/** Where the longest window begins whose previous bucket counts at `since`; and at least a verification's life before, and for the guard and
 *  spend caps the day before. */
function readingStart({ saved, tried, since }: TrialInput): number {
  const ruleStarts = [saved, tried].flatMap(({ limits }) =>
    Object.values(limits)
      .flatMap(rules => (typeof rules === 'number' ? [] : rules))
      .map(rule => (Math.floor(since / lengthOf(rule)) - 1) * lengthOf(rule)),
  )
  const usesGuard = [saved, tried].some(({ fraud_guard }) => fraud_guard.mode !== 'off')
  const dayStart = Math.floor((usesGuard ? since - DAY_MS : since) / DAY_MS) * DAY_MS
  return Math.min(since - LONGEST_VERIFICATION_MS, dayStart, ...ruleStarts)
}

async function refuseTooMany(store: CountersignStore, range: PastRange): Promise<void> {
  const count = await countPast(store, range)
  if (count <= MAX_PAST_CALLS) return
  const message = `has ${count} sends and refusals since ${isoTime(range.from)}, where the longest window begins; at most ${MAX_PAST_CALLS} are tried at a time`
  throw validationProblem([{ path: 'since', message }])
}

async function readPrices(store: CountersignStore): Promise<(country: string | null) => Prices> {
  const all: Price[] = []
  for await (const price of scanAll(store.docs('prices'))) all.push(price)
  const priceOf = priceList(all)
  return country => Object.fromEntries(CHANNELS.map(channel => [channel, priceOf(channel, country)]))
}

/** What the guard has counted on the days before reading begins, which it compares with. */
async function readPastDays(
  store: CountersignStore,
  { app_id, saved, tried }: TrialInput,
  from: number,
): Promise<PastDays> {
  const days = new Map<string, Period[]>()
  if (saved.fraud_guard.mode !== 'off' || tried.fraud_guard.mode !== 'off')
    for await (const { _id, state } of scanAll(store.docs('fraud_tallies'), { app_id })) {
      if (days.size >= MAX_TALLIES) break
      days.set(
        _id,
        state.days.filter(({ at }) => at < Math.floor(from / DAY_MS)),
      )
    }
  return (kind: KeyKind, name: string) => days.get(tallyId({ app_id, mode: 'live', kind }, name)) ?? []
}

/** What a verification shows of rules that are not played. */
function watchUnseen({ saved, tried }: TrialInput, { add }: Reasons): (otp: Otp) => void {
  const guessesDiffer =
    saved.verify_attempts !== tried.verify_attempts ||
    JSON.stringify(saved.limits.recipient_verify) !== JSON.stringify(tried.limits.recipient_verify)
  const differs = (of: (settings: AppSettings) => unknown): boolean =>
    JSON.stringify(of(saved)) !== JSON.stringify(of(tried))
  const ordersDiffer = differs(({ routing }) => [routing.providers, routing.worth_micros])
  const challengesDiffer = differs(({ publishable_challenge }) => publishable_challenge)
  const originsDiffer = differs(({ allowed_origins }) => allowed_origins)
  return otp => {
    if (ordersDiffer) add('provider_order')
    if (challengesDiffer && otp.started_by.kind === 'publishable') add('challenges')
    if (originsDiffer && otp.started_by.kind === 'publishable') add('origins')
    if (otp.link !== null && otp.sends > 1) add('link_resends')
    if (guessesDiffer && otp.wrong_codes > 0) add('guesses')
    if (saved.auto_fallback !== tried.auto_fallback && otp.deliveries.some(({ status }) => status === 'failed'))
      add('auto_fallback')
    if (saved.reuse_pending !== tried.reuse_pending && otp.started_by.kind === 'server') add('reuse_pending')
  }
}

interface Reasons {
  add(reason: NotJudgedReason, count?: number): void
  list(): SettingsTrialAnswer['not_judged']
}

function createReasons(): Reasons {
  const counts = new Map<NotJudgedReason, number>()
  return {
    add(reason, count = 1) {
      if (count > 0) counts.set(reason, (counts.get(reason) ?? 0) + count)
    },
    list: () => [...counts].map(([reason, count]) => ({ reason, count, detail: NOT_JUDGED[reason] })),
  }
}

/** Statistics count refused sends by the hour, those that are not recorded too. */
const isCountedRefusal = ({ type, recipient, judged }: RefusalDoc): boolean =>
  recipient !== undefined && type !== 'ChallengeRequiredError' && (judged === undefined || judged.call === 'send')

const wholeHours = ({ since, until }: TrialInput) => ({ from: hourOf(since + HOUR_MS - 1), to: hourOf(until) })

const isInWholeHour = (at: number, input: TrialInput): boolean => {
  const { from, to } = wholeHours(input)
  return at >= from && at < to
}

async function countRefusals(store: CountersignStore, input: TrialInput): Promise<number> {
  const { from, to } = wholeHours(input)
  if (from >= to) return 0
  const { app_id } = input
  const hours = await store
    .docs('stats_hours')
    .find(
      { _id: { $gte: hourId(app_id, 'live', from), $lt: hourId(app_id, 'live', to) } },
      { sort: { _id: 1 }, limit: (to - from) / HOUR_MS },
    )
  return hours.reduce((sum, { refused }) => sum + Object.values(refused).reduce((all, count) => all + count, 0), 0)
}
