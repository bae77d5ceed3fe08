// Makes the facts about learned routes. In: counts by hour and by slot, as the OTP actors store them. Out: one document of facts per app, which
// the channel processes and the admin API read, and a line in the log when a provider falls silent or recovers.
//
// Only what has changed is read: slots that were counted since the last look, and the hours that they belong to. Facts are a function of the
// counts and of the facts before, and are written on the condition that no other sweeper was first.
import { createBoundedMap } from '../../infra/bounded-map.ts'
import type { Clock } from '../../infra/clock.ts'
import type { Logger } from '../../infra/log/log.ts'
import { DAY_MS, HOUR_MS } from '../../infra/time.ts'
import { factsOf } from '../../machines/routes.estimate.ts'
import { ROUTE_SLOT_MS, type RouteFact, type RouteHistory } from '../../machines/routes.ts'
import { type RouteFactsDoc, type RouteStore, SLOTS_RETENTION_MS, slotsId } from '../domain/routes/documents.ts'
import { routeName } from '../domain/routes/route-names.ts'
import { SLOTS_DOC_MS, slotsDocOf } from '../domain/routes/slots.ts'
import { HOUR_IS_FINAL_AFTER_MS, hourOf } from '../domain/stats/contribution.ts'
import { hourId, type StatsStore } from '../domain/stats/documents.ts'
import { createRouteCounts, type RouteCountsOfApp } from './route-counts.ts'
import type { Sweep } from './sweep.ts'

export interface RouteSweepDeps {
  store: RouteStore & StatsStore
  clock: Pick<Clock, 'now'>
  log: Pick<Logger, 'info' | 'warn'>
}

const LOOK_EVERY_MS = 2_000
const HISTORY_MS = 30 * DAY_MS
/** Facts that no message renews any more. */
const FACTS_RETENTION_MS = 31 * DAY_MS
/** Counts are found by the clock of the process that stored them, which may be behind, and some time after it began to. */
const CHANGED_OVERLAP_MS = 10_000
const CHANGED_PAGE = 200
/** The counts of more apps are read again when they change. */
const MAX_APPS_IN_MEMORY = 1_000
/** Per run: other sweeps are due every second. */
const MAX_RUN_MS = 500
/** An hour is counted again some time after it is final. Once that is over, it is read a last time. */
const HOUR_IS_RECOUNTED_AFTER_MS = HOUR_IS_FINAL_AFTER_MS + 2 * HOUR_MS

interface KnownApp {
  counts: RouteCountsOfApp
  /** Hours whose slots have changed. */
  changedHours: Set<number>
  /** All hours were read when this one was the current one. */
  readInHour: number
  /** As stored; null when there are none, undefined when they must be read. */
  facts: RouteFactsDoc | null | undefined
}

export function createRouteSweeps({ store, clock, log }: RouteSweepDeps): Record<string, Sweep> {
  const [hours, slots, facts] = [store.docs('stats_hours'), store.docs('route_slots'), store.docs('route_facts')]
  const apps = createBoundedMap<KnownApp>(MAX_APPS_IN_MEMORY)
  /** When the facts of an app are made next: at once when its counts have changed, later while messages wait to be judged. */
  const dueAt = new Map<string, number>()
  let lookAt = 0
  let changedSince = clock.now() - SLOTS_RETENTION_MS

  async function readChanges(): Promise<void> {
    let from = changedSince - CHANGED_OVERLAP_MS
    for (let limit = CHANGED_PAGE; ; ) {
      const page = await slots.find({ changed_at: { $gte: from } }, { sort: { changed_at: 1 }, limit })
      for (const doc of page) {
        const app = apps.get(doc.app_id)
        if (app && !app.counts.setSlots(doc)) continue
        app?.changedHours.add(hourOf(doc.start))
        dueAt.set(doc.app_id, 0)
      }
      const newest = page.at(-1)?.changed_at ?? from
      // A clock that is ahead must not hide what other processes store.
      changedSince = Math.max(changedSince, Math.min(newest, clock.now()))
      if (page.length < limit) return
      // A process stores many documents with one time.
      if (newest === from) limit *= 2
      else from = newest
    }
  }

  async function knownApp(app_id: string): Promise<KnownApp> {
    const found = apps.get(app_id)
    if (found) return found
    const app = {
      counts: createRouteCounts(),
      changedHours: new Set<number>(),
      readInHour: clock.now() - HISTORY_MS,
      facts: undefined,
    }
    const now = clock.now()
    const ids: string[] = []
    for (let start = slotsDocOf(now); start > now - SLOTS_RETENTION_MS; start -= SLOTS_DOC_MS)
      ids.push(slotsId(app_id, start))
    for (const doc of (await slots.get(ids)).values()) app.counts.setSlots(doc)
    apps.set(app_id, app)
    return app
  }

  /** Reads the hours that have changed and, once an hour, those that were counted again since. */
  async function readHours(app_id: string, app: KnownApp): Promise<void> {
    const current = hourOf(clock.now())
    const changed = [...app.changedHours]
    app.changedHours.clear()
    if (app.readInHour === current) {
      const found = await hours.get(changed.map(start => hourId(app_id, 'live', start)))
      for (const doc of found.values()) app.counts.setHour(doc)
      return
    }
    const from = Math.max(app.readInHour - HOUR_IS_RECOUNTED_AFTER_MS, current - HISTORY_MS)
    const range = { $gte: hourId(app_id, 'live', from), $lt: hourId(app_id, 'live', current + HOUR_MS) }
    const found = await hours.find({ _id: range }, { sort: { _id: 1 }, limit: HISTORY_MS / HOUR_MS + 1 })
    for (const doc of found) app.counts.setHour(doc)
    app.readInHour = current
  }

  async function makeFacts(app_id: string): Promise<void> {
    const app = await knownApp(app_id)
    const now = clock.now()
    dueAt.delete(app_id)
    try {
      await readHours(app_id, app)
      app.counts.forget({ hours: hourOf(now) - HISTORY_MS, slots: now - SLOTS_RETENTION_MS })
      app.facts = app.facts === undefined ? ((await facts.get([app_id])).get(app_id) ?? null) : app.facts
      const histories = app.counts.histories()
      const before = app.facts?.facts ?? []
      const after = factsOf(histories, before, now)
      app.facts = await save(app_id, app.facts, after, now)
      if (app.facts === undefined) return void dueAt.set(app_id, 0)
      logChanges(app_id, before, after)
      if (hasUnjudged(histories, after)) dueAt.set(app_id, now + ROUTE_SLOT_MS)
    } catch (error) {
      apps.delete(app_id)
      dueAt.set(app_id, 0)
      throw error
    }
  }

  /** Undefined when another sweeper was first. */
  async function save(
    app_id: string,
    before: RouteFactsDoc | null,
    after: RouteFact[],
    now: number,
  ): Promise<RouteFactsDoc | undefined> {
    const silent = after.filter(({ silence }) => silence.since !== null).length
    const set = { at: now, facts: after, purge_at: new Date(now + FACTS_RETENTION_MS) }
    const doc = { _id: app_id, ...set, ...(silent > 0 ? { silent } : {}), rev: (before?.rev ?? 0) + 1 }
    if (before === null) return (await facts.insert([doc]))[0] === 'inserted' ? doc : undefined
    const update = silent > 0 ? { $set: { ...set, silent } } : { $set: set, $unset: { silent: true as const } }
    const [answer] = await facts.change([{ _id: app_id, rev: before.rev, update }])
    return answer === 'won' ? doc : undefined
  }

  function logChanges(app_id: string, before: readonly RouteFact[], after: readonly RouteFact[]): void {
    const sinceByRoute = new Map(before.map(fact => [routeName(fact), fact.silence.since]))
    for (const fact of after) {
      const { kind, channel, country, provider, silence } = fact
      const was = sinceByRoute.get(routeName(fact)) ?? null
      const about = { app_id, provider, channel, country, kind }
      if (was === null && silence.since !== null) log.warn({ ...about, since: silence.since }, 'provider.silent')
      if (was !== null && silence.since === null) log.info({ ...about, since: was }, 'provider.recovered')
    }
  }

  return {
    /** Not divided into partitions: the process that holds partition 0 makes them. */
    async routes(partitions) {
      if (!partitions.includes(0) || clock.now() < lookAt) return 0
      const now = clock.now()
      lookAt = now + LOOK_EVERY_MS
      await readChanges()
      for (const [app_id, at] of [...dueAt]) {
        if (at > now) continue
        await makeFacts(app_id)
        if (clock.now() >= now + MAX_RUN_MS) break
      }
      return 0
    },
  }
}

/** Whether a message is counted that is too young to be judged. */
function hasUnjudged(histories: readonly RouteHistory[], facts: readonly RouteFact[]): boolean {
  const judgedUntil = new Map(facts.map(fact => [routeName(fact), fact.silence.judged_until]))
  return histories.some(history => (history.slots.at(-1)?.start ?? 0) >= (judgedUntil.get(routeName(history)) ?? 0))
}
