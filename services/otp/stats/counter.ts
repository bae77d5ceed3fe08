// Counts for the statistics and for learned routes. In: every saved change of a verification, and every refused send.
// Out: in the store, counts by app, mode and hour, and those of routes by slots of some seconds too. They are summed up
// in memory and added every few seconds, so that many sends cost few writes, and no send waits for one.
//
// A process that is killed loses the counts of its last seconds, and a write whose answer is lost may be made twice.
// The sweeper counts each hour again when it is final (services/sweeper/stats.ts), which corrects both.
import type { Clock } from '../../../infra/clock.ts'
import type { Logger } from '../../../infra/log/log.ts'
import type { Metrics } from '../../../infra/metrics.ts'
import { LOST, retryAfterLostRace } from '../../../infra/store/lost-race.ts'
import { changeOne, getOne } from '../../../infra/store/one-doc.ts'
import { createWriteBehind } from '../../../infra/write-behind.ts'
import { toCurrentVersion } from '../../../machines/otp.versions.ts'
import { addRoute, changedEntries, changesTried, type RouteEntry } from '../../domain/routes/contribution.ts'
import { newSlotsDoc, type RouteStore, SLOTS_RETENTION_MS, slotsId } from '../../domain/routes/documents.ts'
import {
  addSlots,
  addToSlot,
  decodeSlots,
  encodeSlots,
  isZeroSlots,
  type Slots,
  slotsDocOf,
} from '../../domain/routes/slots.ts'
import { addToDocuments } from '../../domain/stats/add-to-documents.ts'
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
import { dayId, hourId, type StatsStore } from '../../domain/stats/documents.ts'
import {
  addRefused,
  addTally,
  hourWithAdded,
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
  store: StatsStore & RouteStore
  clock: Clock
  log: Pick<Logger, 'warn'>
  metrics?: Pick<Metrics, 'writtenBehind'>
}

/** What waits to be added to one hour. */
interface WaitingHour {
  of: 'hour'
  owner: StatsOwner
  tally: Tally
  refused: Refused
}

/** What waits to be added to one document of slots. */
interface WaitingSlots {
  of: 'slots'
  app_id: string
  start: number
  slots: Slots
}

type Waiting = WaitingHour | WaitingSlots

const WRITE_AFTER_MS = 5_000
/** Documents of both kinds. The sweeper counts the hours again of those that are lost. */
const MAX_WAITING = 10_000

export function createStatsCounter({ store, clock, log, metrics }: StatsCounterDeps): StatsCounter {
  const days = store.docs('stats_days')
  const counts = createWriteBehind<Waiting>({
    what: 'statistics',
    clock,
    log,
    metrics,
    waitMs: () => WRITE_AFTER_MS,
    maxEntries: MAX_WAITING,
    merge: mergeWaiting,
    write,
  })

  const hourWaiting = (owner: StatsOwner): WaitingHour =>
    counts.entry(hourId(owner.app_id, owner.mode, owner.start), () => ({
      of: 'hour',
      owner,
      tally: newTally(),
      refused: {},
    })) as WaitingHour

  const slotsWaiting = (app_id: string, start: number): WaitingSlots =>
    counts.entry(slotsId(app_id, start), () => ({ of: 'slots', app_id, start, slots: new Map() })) as WaitingSlots

  /** Hours first: the sweeper reads an hour when its slots have changed. Where the hours fail, the slots are written all
   *  the same. */
  async function write(entries: Map<string, Waiting>): Promise<void> {
    for (const [id, one] of entries) if (isEmpty(one)) entries.delete(id)
    const hours = new Map([...entries].filter((one): one is [string, WaitingHour] => one[1].of === 'hour'))
    const slots = new Map([...entries].filter((one): one is [string, WaitingSlots] => one[1].of === 'slots'))
    const all = [...hours]
    const errors: unknown[] = []
    for (const add of [() => addToHours(hours), () => addToSlots(slots)])
      await add().catch(error => void errors.push(error))
    for (const id of entries.keys()) if (!hours.has(id) && !slots.has(id)) entries.delete(id)
    const late = all.flatMap(([id, hour]) => (!hours.has(id) && mayHaveDay(hour.owner) ? hour : []))
    await addToDays(late).catch(error => log.warn({ err: error, hours: late.length }, 'stats.day_not_corrected'))
    if (errors.length > 0) throw errors[0]
  }

  /** What stays in `left` is not stored. */
  const addToHours = (left: Map<string, WaitingHour>): Promise<void> =>
    addToDocuments('an hour', left, {
      docs: store.docs('stats_hours'),
      fresh: ({ owner, tally, refused }) => newHour(owner, tally, refused),
      changed: (doc, { tally, refused }) => hourWithAdded(doc, tally, refused),
    })

  function addToSlots(left: Map<string, WaitingSlots>): Promise<void> {
    const changed_at = clock.now()
    return addToDocuments('slots of routes', left, {
      docs: store.docs('route_slots'),
      fresh: one => newSlotsDoc(one.app_id, one.start, one.slots, changed_at),
      changed: (doc, one) => {
        const sum = decodeSlots(doc.slots, doc.start)
        addSlots(sum, one.slots)
        return { slots: encodeSlots(sum, doc.start), changed_at }
      },
    })
  }

  const mayHaveDay = ({ start }: StatsOwner): boolean => dayOf(start) + DAY_IS_FINAL_AFTER_MS <= clock.now()

  /** A day that is summed up already gets what comes later, such as reports that waited during an outage. */
  async function addToDays(late: readonly WaitingHour[]): Promise<void> {
    for (const { owner, tally, refused } of late) {
      const _id = dayId(owner.app_id, owner.mode, owner.start)
      await retryAfterLostRace('a day', async () => {
        const day = await getOne(days, _id)
        if (!day) return
        return (await changeOne(days, { _id, rev: day.rev, update: { $set: withAdded(day, tally, refused) } }))
          ? undefined
          : LOST
      })
    }
  }

  /** A slot whose document is gone is not counted any more. */
  function countInSlot(app_id: string, entry: RouteEntry, by: 1 | -1): void {
    const start = slotsDocOf(entry.slot)
    if (start + SLOTS_RETENTION_MS > clock.now()) addToSlot(slotsWaiting(app_id, start).slots, entry, by)
  }

  return {
    onChange(before, after) {
      if (before !== null && !changesContribution(before, after) && !changesTried(before, after)) return
      const { app_id, mode } = after
      const startedAt = startOf(after)
      const { tally } = hourWaiting({ app_id, mode, start: hourOf(startedAt) })
      if (before === null) addContribution(tally, after)
      else addChange(tally, before, after)
      const [old, saved] = [before && toCurrentVersion(before), toCurrentVersion(after)]
      for (const { entry, by } of changedEntries(old, saved, startedAt)) {
        addRoute(tally.routes, entry, by)
        countInSlot(app_id, entry, by)
      }
    },
    countRefusal({ app_id, mode, country, at }) {
      addRefused(hourWaiting({ app_id, mode, start: hourOf(at) }).refused, { [country ?? NONE]: 1 })
    },
    settled: counts.settled,
  }
}

const isEmpty = (one: Waiting): boolean =>
  one.of === 'slots' ? isZeroSlots(one.slots) : isZero(one.tally) && Object.keys(one.refused).length === 0

/** Both are of one document, and so of one kind. */
function mergeWaiting(older: Waiting, newer: Waiting): Waiting {
  if (older.of === 'slots' && newer.of === 'slots') addSlots(newer.slots, older.slots)
  if (older.of === 'hour' && newer.of === 'hour') {
    addTally(newer.tally, older.tally)
    addRefused(newer.refused, older.refused)
  }
  return newer
}
