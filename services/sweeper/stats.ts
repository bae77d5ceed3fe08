// Counts each hour again from its verifications when it is final, and then sums up the days. In: verifications. Out: statistics that are
// exact, also where a process was killed before it had stored its counts.
//
// Why the result is exact: the sweeper reads the revisions of an hour's documents first, then all verifications, then
// it waits longer than any process takes to store its counts, and then it replaces the counts of each document that has
// still the same revision. So no process has added to it a change that was made before the sweeper read the
// verification; what a process adds afterwards, the sweeper has not seen. A document that was changed meanwhile is
// counted once more from the beginning. Two sweepers at once do no harm: one loses the race.
import type { Clock } from '../../infra/clock.ts'
import { firstIdAt } from '../../infra/ids.ts'
import type { Logger } from '../../infra/log/log.ts'
import { changeOne, getOne } from '../../infra/store/one-doc.ts'
import { scanAll } from '../../infra/store/scan.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../infra/time.ts'
import { MODES, type Mode } from '../../machines/otp.ts'
import { toCurrentVersion } from '../../machines/otp.versions.ts'
import type { CountersignStore } from '../domain/collections.ts'
import { MIN_RETENTION_MS } from '../domain/retention.ts'
import { addRoute, routeEntries } from '../domain/routes/contribution.ts'
import {
  addContribution,
  dayOf,
  HOUR_IS_FINAL_AFTER_MS,
  hourOf,
  newTally,
  startOf,
  type Tally,
} from '../domain/stats/contribution.ts'
import { hourId, PROGRESS_ID, type StatsDoc, type StatsProgressDoc } from '../domain/stats/documents.ts'
import { newDay, newHour, type StatsOwner, storedHour } from '../domain/stats/hours-and-days.ts'
import { byOneProcess, MAX_BATCHES_PER_RUN, runBatches, SWEEP_BATCH, type Sweep } from './sweep.ts'

export interface StatsSweepDeps {
  store: CountersignStore
  clock: Pick<Clock, 'now'>
  log: Pick<Logger, 'warn' | 'info'>
}

/** After a stop of the whole system, the verifications that are due expire first. */
const WAIT_AFTER_START_MS = 2 * MINUTE_MS
/** A process stores its counts every five seconds. */
const COUNTS_ARE_STORED_AFTER_MS = 30_000
/** An older hour is not counted again: the retention of an app may have erased verifications of it. */
const MAX_AGE_MS = MIN_RETENTION_MS - HOUR_MS
const PENDING_RETRY_MS = MINUTE_MS
const MAX_TRIES = 5
/** A sweeper runs once a second. At more sends than this, hours would be counted again later and later. */
export const MAX_RECOUNTED_PER_RUN = MAX_BATCHES_PER_RUN * SWEEP_BATCH
const APPS_PER_BATCH = 20
/** Without them, an id is less than all ids of its time and more than all earlier ones. */
const ULID_RANDOM_CHARS = 16

/** An hour that is being counted again. */
interface Recount {
  hour: number
  /** The revision of each document of the hour as it was before; null for one that must stay as it is. */
  revs: Map<string, number | null>
  /** Verifications up to this id are counted. */
  after: string
  counted: Map<string, { owner: StatsOwner; tally: Tally }>
  scannedAt: number | null
}

export function createStatsSweeps({ store, clock, log }: StatsSweepDeps): Record<string, Sweep> {
  const [hours, days, progress] = [store.docs('stats_hours'), store.docs('stats_days'), store.docs('stats_progress')]
  let nextRunAt = clock.now() + WAIT_AFTER_START_MS
  let recount: Recount | null = null
  let tries = 0
  /** The last app whose day was summed up. */
  let lastAppId = ''

  async function loadProgress(): Promise<StatsProgressDoc | null> {
    const found = await getOne(progress, PROGRESS_ID)
    if (found) return found
    const next_hour = oldestHour()
    const fresh = { _id: PROGRESS_ID, next_hour, next_day: dayOf(next_hour), rev: 1 }
    return (await progress.insert([fresh]))[0] === 'inserted' ? fresh : null
  }

  const oldestHour = (): number => hourOf(clock.now() - MAX_AGE_MS) + HOUR_MS

  /** Answers false when another sweeper has changed the progress. */
  async function save(from: StatsProgressDoc, set: Partial<StatsProgressDoc>): Promise<boolean> {
    return changeOne(progress, { _id: PROGRESS_ID, rev: from.rev, update: { $set: set } })
  }

  /** Does one small piece of work. Answers whether there is more to do at once. */
  async function advance(): Promise<boolean> {
    const state = await loadProgress()
    if (!state) return false
    if (state.next_day + DAY_MS <= state.next_hour) return sumUpDay(state)
    // Hours that became too old while no sweeper ran keep what was counted.
    const hour = Math.max(state.next_hour, oldestHour())
    if (hour + HOUR_IS_FINAL_AFTER_MS > clock.now()) return false
    if (hour > state.next_hour) return save(state, { next_hour: Math.min(hour, state.next_day + DAY_MS) })
    if (recount?.hour !== hour) recount = await beginRecount(hour)
    if (recount.scannedAt === null) return scanBatch(recount)
    if (recount.counted.size > 0 && clock.now() < recount.scannedAt + COUNTS_ARE_STORED_AFTER_MS) return false
    const isDone = await writeCounts(recount)
    recount = null
    tries += 1
    if (!isDone && tries < MAX_TRIES) return true
    if (!isDone) log.warn({ hour }, 'stats.not_recounted')
    tries = 0
    return save(state, { next_hour: hour + HOUR_MS })
  }

  async function beginRecount(hour: number): Promise<Recount> {
    const revs = new Map<string, number | null>()
    for await (const { _id, rev, erased } of scanAll(hours, { start: hour })) revs.set(_id, erased ? null : rev)
    return {
      hour,
      revs,
      after: firstIdAt('otp', hour).slice(0, -ULID_RANDOM_CHARS),
      counted: new Map(),
      scannedAt: null,
    }
  }

  async function scanBatch(current: Recount): Promise<boolean> {
    const range = { $gt: current.after, $lt: firstIdAt('otp', current.hour + HOUR_MS) }
    const batch = await store.docs('otps').find({ _id: range }, { sort: { _id: 1 }, limit: SWEEP_BATCH })
    const isPending = batch.some(({ value }) => value === 'pending')
    if (isPending && current.hour > oldestHour()) {
      // The hour is not final. It is counted anew later.
      recount = null
      nextRunAt = clock.now() + PENDING_RETRY_MS
      return false
    }
    for (const doc of batch) {
      const owner = { app_id: doc.app_id, mode: doc.mode, start: current.hour }
      const id = hourId(owner.app_id, owner.mode, owner.start)
      const counted = current.counted.get(id) ?? { owner, tally: newTally() }
      current.counted.set(id, counted)
      addContribution(counted.tally, doc)
      for (const entry of routeEntries(toCurrentVersion(doc), startOf(doc))) addRoute(counted.tally.routes, entry, 1)
    }
    current.after = batch.at(-1)?._id ?? current.after
    if (batch.length < SWEEP_BATCH) current.scannedAt = clock.now()
    return true
  }

  /** Answers false when a document was changed meanwhile. */
  async function writeCounts({ revs, counted }: Recount): Promise<boolean> {
    const fresh: StatsDoc[] = []
    const changes: { _id: string; rev: number; update: { $set: Pick<StatsDoc, 'by' | 'routes'> } }[] = []
    for (const [_id, { owner, tally }] of counted) {
      const rev = revs.get(_id)
      if (rev === undefined) fresh.push(newHour(owner, tally, {}))
      else if (rev !== null) changes.push({ _id, rev, update: { $set: storedHour(tally) } })
    }
    // A document of an hour without a verification counts refusals only.
    for (const [_id, rev] of revs)
      if (rev !== null && !counted.has(_id)) changes.push({ _id, rev, update: { $set: storedHour(newTally()) } })
    const answers = [...(await hours.insert(fresh)), ...(await hours.change(changes))]
    return answers.every(answer => answer === 'inserted' || answer === 'won')
  }

  async function sumUpDay(state: StatsProgressDoc): Promise<boolean> {
    const apps = await store.docs('apps').find({ _id: { $gt: lastAppId } }, { sort: { _id: 1 }, limit: APPS_PER_BATCH })
    for (const { _id } of apps) for (const mode of MODES) await sumUpDayOf(_id, mode, state.next_day)
    lastAppId = apps.at(-1)?._id ?? ''
    if (apps.length === APPS_PER_BATCH) return true
    lastAppId = ''
    return save(state, { next_day: state.next_day + DAY_MS })
  }

  async function sumUpDayOf(app_id: string, mode: Mode, start: number): Promise<void> {
    const range = { $gte: hourId(app_id, mode, start), $lt: hourId(app_id, mode, start + DAY_MS) }
    const found = await hours.find({ _id: range }, { sort: { _id: 1 }, limit: 24 })
    if (found.length === 0) return
    const { _id, by, refused, ...rest } = newDay({ app_id, mode, start }, found)
    // A sweeper that was interrupted has summed up some apps already.
    const [answer] = await days.insert([{ _id, by, refused, ...rest }])
    if (answer === 'duplicate') await days.update([{ ids: [_id], update: { $set: { by, refused }, $inc: { rev: 1 } } }])
  }

  return {
    stats: byOneProcess(async () => {
      if (clock.now() >= nextRunAt) await runBatches(clock, advance)
      return 0
    }),
  }
}
