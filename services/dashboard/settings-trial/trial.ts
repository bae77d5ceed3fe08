// Tries settings on the traffic of a past time. In: an app, settings, a time. Out: the answer. Nothing is saved.
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { httpException } from '../../../infra/http/problem.ts'
import { isoTime } from '../../../infra/iso-time.ts'
import { scanAll } from '../../../infra/store/scan.ts'
import { DAY_MS } from '../../../infra/time.ts'
import { PRICED } from '../../../machines/channels.ts'
import type { Period } from '../../../machines/fraud.tally.ts'
import { MAX_CODE_LIFE_MS } from '../../../machines/otp.code-life.ts'
import type { KeyKind, Prices } from '../../../machines/otp.ts'
import type { PastDays } from '../../../machines/replay.guard.ts'
import { createReplay } from '../../../machines/replay.ts'
import { lengthOf } from '../../../machines/windows.ts'
import type { CountersignStore } from '../../domain/collections.ts'
import { tallyId } from '../../domain/fraud/documents.ts'
import { priceList, readPrices } from '../../domain/money/prices.ts'
import { findKnownProviders, scopeOf } from '../../domain/tenancy/documents.ts'
import { validationProblem } from '../request-input.ts'
import { createReasons, watchGuardPast, watchRecorded, watchUnplayedRules } from './not-judged.ts'
import type { PastCalls } from './past-calls.ts'
import { hasMorePast, PAGE_SIZE, type PastRange, readPast } from './read-past.ts'
import type { SettingsTrialAnswer } from './schemas.ts'
import { type TrialInput, usesGuard } from './trial-input.ts'

export interface TrialDeps {
  store: CountersignStore
  keyring: Pick<Keyring, 'unseal' | 'keyIds'>
  /** Whether its caller has gone: then the rest is not played. */
  isAbandoned?(): boolean
  /** `MAX_PAST_CALLS`, unless it is given. */
  maxCalls?: number
  /** `PAGE_SIZE`, unless it is given. */
  pageSize?: number
}

/** What is read, the time before `since` included. */
export const MAX_PAST_CALLS = 200_000
/** Ranges of numbers that have a tally. */
const MAX_TALLIES = 20_000

export async function trySettings(deps: TrialDeps, input: TrialInput): Promise<SettingsTrialAnswer> {
  const { app_id, saved, tried, since, until } = input
  const { store, keyring, isAbandoned = () => false, maxCalls = MAX_PAST_CALLS, pageSize = PAGE_SIZE } = deps
  const requireCaller = (): void => {
    if (isAbandoned()) throw httpException(400, 'The caller has left.')
  }
  // The caller may have left while this waited for its turn, and the next trial of the company waits for this one.
  requireCaller()
  const range = { app_id, from: readingStart(input), until }
  await refuseTooMany(store, range, since, maxCalls)
  requireCaller()
  const [providers, prices, tallies] = await Promise.all([
    findKnownProviders(store, app_id),
    pricesAtEnd(store, until),
    readTallies(store, input, range.from),
  ])
  const { pastDays, hasAllTallies } = tallies
  const replay = createReplay({ saved, tried, since, providers: providers.map(scopeOf), prices, pastDays })
  const notJudged = createReasons()
  const watchRules = watchUnplayedRules(input, notJudged)
  const watchGuard = usesGuard(input)
    ? watchGuardPast(input, notJudged, { readFrom: range.from, hasAllTallies })
    : () => {}
  const recorded = watchRecorded(input)
  const isTried = (at: number): boolean => at >= since && at < until

  function watchCalls({ events, unplayed = [] }: PastCalls): void {
    for (const reason of unplayed) notJudged.add(reason)
    for (const event of events) if (event.what === 'send') watchGuard(event)
  }

  const readsNumbers = usesGuard(input) || keyring.keyIds.length > 1
  const past = readPast({ store, keyring, readsNumbers, pageSize }, range, {
    onOtp(doc, calls) {
      recorded.onOtp(doc)
      if (!isTried(doc.created_at)) return
      watchCalls(calls)
      watchRules(doc)
    },
    onRefusal(doc, calls) {
      recorded.onRefusal(doc)
      if (isTried(doc.at)) watchCalls(calls)
    },
  })
  for await (const events of past) {
    requireCaller()
    for (const event of events) replay.play(event)
  }
  const { not_judged, examples, ...result } = replay.result()
  for (const [reason, count] of not_judged) notJudged.add(reason, count)
  const { refused, no_longer_refused, moved } = result
  notJudged.add('may_come_back', sumOf(refused) + sumOf(no_longer_refused))
  notJudged.add('arrival', sumOf(moved) + sumOf(no_longer_refused))
  await recorded.compare(store, notJudged)
  return {
    ...result,
    examples: examples.map(example => ({ ...example, at: isoTime(example.at) })),
    not_judged: notJudged.list(),
  }
}

/** Where the longest window begins whose previous bucket counts at `since`; and at least the life of a code before, because messages of a
 *  verification are played again from its first one on; and for spend caps the day of `since` from its start, for the guard the day before
 *  too. */
function readingStart(input: TrialInput): number {
  const { saved, tried, since } = input
  const ruleStarts = [saved, tried].flatMap(({ limits }) =>
    Object.values(limits)
      .flatMap(rules => (typeof rules === 'number' ? [] : rules))
      .map(rule => (Math.floor(since / lengthOf(rule)) - 1) * lengthOf(rule)),
  )
  const dayStart = Math.floor((usesGuard(input) ? since - DAY_MS : since) / DAY_MS) * DAY_MS
  return Math.min(since - MAX_CODE_LIFE_MS, dayStart, ...ruleStarts)
}

async function refuseTooMany(
  store: CountersignStore,
  range: PastRange,
  since: number,
  maxCalls: number,
): Promise<void> {
  if (!(await hasMorePast(store, range, maxCalls))) return
  const counted = `more than ${maxCalls} sends and refusals from ${isoTime(range.from)} on, where the longest window begins that counts then`
  const message = (await hasMorePast(store, { ...range, until: since }, maxCalls))
    ? `has too much traffic before it: ${counted}. A shorter time needs them too: try one with less traffic`
    : `begins a time with too much traffic: ${counted}. Try a shorter time`
  throw validationProblem([{ path: 'since', message }])
}

async function pricesAtEnd(store: CountersignStore, until: number): Promise<(country: string | null) => Prices> {
  const priceOf = priceList((await readPrices(store.docs('prices')))?.prices ?? [])
  return country => Object.fromEntries(PRICED.map(priced => [priced, priceOf(priced, country, until)]))
}

/** What the guard has counted on the days before reading begins, which it compares with. */
async function readTallies(
  store: CountersignStore,
  input: TrialInput,
  from: number,
): Promise<{ pastDays: PastDays; hasAllTallies: boolean }> {
  const { app_id } = input
  const days = new Map<string, Period[]>()
  let hasAllTallies = true
  if (usesGuard(input))
    for await (const { _id, state } of scanAll(store.docs('fraud_tallies'), { app_id })) {
      if (days.size >= MAX_TALLIES) {
        hasAllTallies = false
        break
      }
      days.set(
        _id,
        state.days.filter(({ at }) => at < Math.floor(from / DAY_MS)),
      )
    }
  const pastDays = (kind: KeyKind, name: string) => days.get(tallyId({ app_id, mode: 'live', kind }, name)) ?? []
  return { pastDays, hasAllTallies }
}

const sumOf = (rows: readonly { count: number }[]): number => rows.reduce((sum, { count }) => sum + count, 0)
