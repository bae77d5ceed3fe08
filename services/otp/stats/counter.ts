// Counts for the statistics. In: every saved change of a verification, and every refused send. Out: counts by app, mode and hour in the
// store. They are summed up in memory and added every few seconds, so that many sends cost few writes, and no send waits for one.
//
// A process that is killed loses the counts of its last seconds, and a write whose answer is lost may be made twice. The sweeper counts each
// hour again when it is final (services/sweeper/stats.ts), which corrects both.
import type { Clock } from '../../../infra/clock.ts'
import type { Logger } from '../../../infra/log/log.ts'
import { LOST, retryAfterLostRace } from '../../../infra/store/lost-race.ts'
import {
  addChange,
  addContribution,
  changesContribution,
  DAY_IS_FINAL_AFTER_MS,
  dayOf,
  hourOf,
  isZero,
  newTally,
  startOf,
  type Tally,
} from '../../domain/stats/contribution.ts'
import { NONE } from '../../domain/stats/counts.ts'
import { dayId, hourId, type StatsDoc, type StatsStore } from '../../domain/stats/documents.ts'
import {
  addRefused,
  addTally,
  newHour,
  type Refused,
  type StatsOwner,
  withAdded,
} from '../../domain/stats/hours-and-days.ts'
import type { OtpDoc } from '../../domain/verifications/documents.ts'
import type { AppMode } from '../../domain/verifications/lookup-indexes.ts'

export interface RefusedSend extends AppMode {
  /** Null for an email address, and where the recipient was not valid. */
  country: string | null
  at: number
}

export interface StatsCounter {
  /** Called after every saved change; `before` is null for a new verification. */
  onChange(before: OtpDoc | null, after: OtpDoc): void
  countRefusal(refused: RefusedSend): void
  /** Resolves when all counts are stored, or the store has failed. */
  settled(): Promise<void>
}

export interface StatsCounterDeps {
  store: StatsStore
  clock: Clock
  log: Pick<Logger, 'warn'>
}

/** What waits to be added to one hour. */
interface Waiting {
  owner: StatsOwner
  tally: Tally
  refused: Refused
}

const FLUSH_MS = 5_000
/** Hours of apps. While the store is away, the oldest are dropped: the sweeper counts them again. */
const MAX_WAITING = 5_000

export function createStatsCounter({ store, clock, log }: StatsCounterDeps): StatsCounter {
  const [hours, days] = [store.docs('stats_hours'), store.docs('stats_days')]
  let waiting = new Map<string, Waiting>()
  let cancel: (() => void) | null = null
  let flushing = Promise.resolve()

  function waitingFor(owner: StatsOwner): Waiting {
    const key = `${owner.app_id}:${owner.mode}:${owner.start}`
    const found = waiting.get(key)
    if (found) return found
    const added = { owner, tally: newTally(), refused: {} }
    waiting.set(key, added)
    if (waiting.size > MAX_WAITING) waiting.delete(waiting.keys().next().value as string)
    cancel ??= clock.after(FLUSH_MS, () => {
      cancel = null
      flushing = flushing.then(flush)
    })
    return added
  }

  function cancelFlush(): void {
    cancel?.()
    cancel = null
  }

  async function flush(): Promise<void> {
    const batch = [...waiting.values()].filter(one => !isZero(one.tally) || Object.keys(one.refused).length > 0)
    waiting = new Map()
    const left = new Map(batch.map(one => [hourId(one.owner.app_id, one.owner.mode, one.owner.start), one]))
    await addToHours(left).catch(error => {
      log.warn({ err: error, hours: left.size }, 'stats.not_saved')
      for (const { owner, tally, refused } of left.values()) {
        const again = waitingFor(owner)
        addTally(again.tally, tally)
        addRefused(again.refused, refused)
      }
    })
    const notStored = new Set(left.values())
    const stored = batch.filter(one => !notStored.has(one) && mayHaveDay(one.owner))
    await addToDays(stored).catch(error => log.warn({ err: error, hours: stored.length }, 'stats.day_not_corrected'))
  }

  /** Removes from `left` what is stored. */
  const addToHours = (left: Map<string, Waiting>): Promise<void> =>
    retryAfterLostRace('an hour', async () => {
      await addOnce(left)
      return left.size > 0 ? LOST : undefined
    })

  /** What stays in `left` was changed by another process first. The writes are made one after the other: when the second one fails, what the
   *  first one stored must not be added again. */
  async function addOnce(left: Map<string, Waiting>): Promise<void> {
    const found = await hours.get([...left.keys()])
    const fresh: StatsDoc[] = []
    const changes: { _id: string; rev: number; update: { $set: Pick<StatsDoc, 'by' | 'refused'> } }[] = []
    for (const [_id, { owner, tally, refused }] of left) {
      const doc = found.get(_id)
      if (doc) changes.push({ _id, rev: doc.rev, update: { $set: withAdded(doc, tally, refused) } })
      else fresh.push(newHour(owner, tally, refused))
    }
    const inserted = await hours.insert(fresh)
    for (const [at, { _id }] of fresh.entries()) if (inserted[at] === 'inserted') left.delete(_id)
    const changed = await hours.change(changes)
    for (const [at, { _id }] of changes.entries()) if (changed[at] === 'won') left.delete(_id)
  }

  const mayHaveDay = ({ start }: StatsOwner): boolean => dayOf(start) + DAY_IS_FINAL_AFTER_MS <= clock.now()

  /** A day that is summed up already gets what comes later, such as reports that waited during an outage. */
  async function addToDays(late: readonly Waiting[]): Promise<void> {
    for (const { owner, tally, refused } of late) {
      const _id = dayId(owner.app_id, owner.mode, owner.start)
      await retryAfterLostRace('a day', async () => {
        const day = (await days.get([_id])).get(_id)
        if (!day) return
        const [answer] = await days.change([{ _id, rev: day.rev, update: { $set: withAdded(day, tally, refused) } }])
        return answer === 'won' ? undefined : LOST
      })
    }
  }

  return {
    onChange(before, after) {
      if (before !== null && !changesContribution(before, after)) return
      const { app_id, mode } = after
      const { tally } = waitingFor({ app_id, mode, start: hourOf(startOf(after)) })
      if (before === null) addContribution(tally, after)
      else addChange(tally, before, after)
    },
    countRefusal({ app_id, mode, country, at }) {
      addRefused(waitingFor({ app_id, mode, start: hourOf(at) }).refused, { [country ?? NONE]: 1 })
    },
    async settled() {
      cancelFlush()
      flushing = flushing.then(flush)
      await flushing
      cancelFlush()
    },
  }
}
