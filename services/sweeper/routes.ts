// Makes the facts about learned routes. In: counts by hour and by slot, as the OTP actors store them. Out: one document
// of facts per app, which the channel processes and the admin API read, and a line in the log when a provider falls
// silent or recovers.
//
// Only what has changed is read: slots that were counted since the last look, and the hours that they belong to. Facts
// are a function of the counts and of the facts before, and are written on the condition that no other sweeper was
// first.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../../infra/clock.ts'
import type { Logger } from '../../infra/log/log.ts'
import { DAY_MS, HOUR_MS } from '../../infra/time.ts'
import { factsOf } from '../../machines/routes.estimate.ts'
import { judgesNextAt } from '../../machines/routes.silence.ts'
import type { Outage, RouteFact, RouteHistory } from '../../machines/routes.ts'
import { type RouteFactsDoc, type RouteStore, SLOTS_RETENTION_MS, slotsId } from '../domain/routes/documents.ts'
import { routeName } from '../domain/routes/route-names.ts'
import { SLOTS_DOC_MS, slotsDocOf } from '../domain/routes/slots.ts'
import { HOUR_IS_FINAL_AFTER_MS, hourOf } from '../domain/stats/contribution.ts'
import { hourId, type StatsStore } from '../domain/stats/documents.ts'
import { createRouteCounts, type RouteCountsOfApp } from './route-counts.ts'
import type { ServiceOutages } from './service-outages.ts'
import { byOneProcess, type Sweep } from './sweep.ts'

export interface RouteSweepDeps {
  store: RouteStore & StatsStore
  outages: Pick<ServiceOutages, 'find'>
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
/** Counts, one per route and hour, of some 60 bytes, and 25 for how long approvals took. Those of more apps are read
 *  again when they change. */
const MAX_COUNTS_IN_MEMORY = 1_000_000
/** Per run: other sweeps are due every second. */
const MAX_RUN_MS = 500
/** Apps whose facts are made together. */
const APPS_AT_ONCE = 25
/** An hour is counted again some time after it is final. Once that is over, it is read a last time. */
const HOUR_IS_RECOUNTED_AFTER_MS = HOUR_IS_FINAL_AFTER_MS + 2 * HOUR_MS

interface KnownApp {
  counts: RouteCountsOfApp
  /** How large the counts were when they were last used. */
  size: number
  /** Hours whose slots have changed. */
  changedHours: Set<number>
  /** All hours were read when this one was the current one. */
  readInHour: number
  /** As stored; null when there are none, undefined when they must be read. */
  facts: RouteFactsDoc | null | undefined
}

interface MadeFacts {
  app_id: string
  app: KnownApp
  histories: readonly RouteHistory[]
  stored: RouteFactsDoc | null
  doc: RouteFactsDoc
}

export function createRouteSweeps({
  store,
  outages: serviceOutages,
  clock,
  log,
}: RouteSweepDeps): Record<string, Sweep> {
  const [hours, slots, facts] = [store.docs('stats_hours'), store.docs('route_slots'), store.docs('route_facts')]
  /** Those that were used last are the last. */
  const apps = new Map<string, KnownApp>()
  let countsInMemory = 0
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
    const app: KnownApp = {
      size: 0,
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

  /** Forgets the apps that were used longest ago, where there is too much. */
  function keepInMemory(app_id: string, app: KnownApp): void {
    forgetApp(app_id)
    apps.set(app_id, app)
    app.size = app.counts.size()
    countsInMemory += app.size
    for (const oldest of apps.keys()) {
      if (countsInMemory <= MAX_COUNTS_IN_MEMORY || oldest === app_id) return
      forgetApp(oldest)
    }
  }

  function forgetApp(app_id: string): void {
    countsInMemory -= apps.get(app_id)?.size ?? 0
    apps.delete(app_id)
  }

  /** Reads the hours that have changed and, once an hour, those that were counted again since. */
  async function readHours(app_ids: readonly string[], known: readonly KnownApp[]): Promise<void> {
    const current = hourOf(clock.now())
    const appOfHour = new Map<string, KnownApp>()
    for (const [nth, app] of known.entries()) {
      const app_id = app_ids[nth] as string
      if (app.readInHour !== current) await readAllHours(app_id, app, current)
      else for (const start of app.changedHours) appOfHour.set(hourId(app_id, 'live', start), app)
      app.changedHours.clear()
    }
    if (appOfHour.size === 0) return
    for (const [_id, doc] of await hours.get([...appOfHour.keys()])) appOfHour.get(_id)?.counts.setHour(doc)
  }

  async function readAllHours(app_id: string, app: KnownApp, current: number): Promise<void> {
    const from = Math.max(app.readInHour - HOUR_IS_RECOUNTED_AFTER_MS, current - HISTORY_MS)
    const range = { $gte: hourId(app_id, 'live', from), $lt: hourId(app_id, 'live', current + HOUR_MS) }
    const found = await hours.find({ _id: range }, { sort: { _id: 1 }, limit: HISTORY_MS / HOUR_MS + 1 })
    for (const doc of found) app.counts.setHour(doc)
    app.readInHour = current
  }

  /** Makes the facts of some apps, with few reads and writes for all of them. */
  async function makeFacts(app_ids: readonly string[], outages: readonly Outage[]): Promise<void> {
    for (const app_id of app_ids) dueAt.delete(app_id)
    try {
      const known = await Promise.all(app_ids.map(knownApp))
      await readHours(app_ids, known)
      await readFacts(app_ids, known)
      const now = clock.now()
      const made: MadeFacts[] = []
      for (const [nth, app] of known.entries()) {
        const app_id = app_ids[nth] as string
        app.counts.forget({
          hours: hourOf(now) - HISTORY_MS,
          final: now - HOUR_IS_RECOUNTED_AFTER_MS - HOUR_MS,
          slots: now - SLOTS_RETENTION_MS,
        })
        keepInMemory(app_id, app)
        const histories = app.counts.histories()
        const stored = app.facts ?? null
        const doc = newFacts(app_id, stored, factsOf(histories, stored?.facts ?? [], now, outages), now)
        made.push({ app_id, app, histories, stored, doc })
        // Calls and messages have their turn before the next app.
        await nextTurn()
      }
      const isSaved = await save(made)
      for (const [nth, { app_id, app, histories, stored, doc }] of made.entries()) {
        // Where another sweeper was first, its facts are read.
        app.facts = isSaved[nth] ? doc : undefined
        if (!isSaved[nth]) dueAt.set(app_id, 0)
        else {
          logChanges(app_id, stored?.facts ?? [], doc.facts)
          const next = nextDueAt(histories, doc.facts, now)
          if (next !== null) dueAt.set(app_id, next)
        }
      }
    } catch (error) {
      for (const app_id of app_ids) {
        forgetApp(app_id)
        dueAt.set(app_id, 0)
      }
      throw error
    }
  }

  async function readFacts(app_ids: readonly string[], known: readonly KnownApp[]): Promise<void> {
    const missing = app_ids.filter((_, nth) => known[nth]?.facts === undefined)
    const found = missing.length === 0 ? new Map<string, RouteFactsDoc>() : await facts.get(missing)
    for (const [nth, app] of known.entries())
      if (app.facts === undefined) app.facts = found.get(app_ids[nth] as string) ?? null
  }

  /** Answers false where another sweeper was first. */
  async function save(made: readonly Pick<MadeFacts, 'stored' | 'doc'>[]): Promise<boolean[]> {
    const fresh = made.filter(({ stored }) => stored === null).map(({ doc }) => doc)
    const changes = made.flatMap(({ stored, doc: { _id, rev, silent, ...set } }) => {
      if (stored === null) return []
      const update =
        silent === undefined ? { $set: set, $unset: { silent: true as const } } : { $set: { ...set, silent } }
      return [{ _id, rev: stored.rev, update }]
    })
    const [inserted, changed] = await Promise.all([
      fresh.length === 0 ? [] : facts.insert(fresh),
      changes.length === 0 ? [] : facts.change(changes),
    ])
    const [ofInsert, ofChange] = [inserted.values(), changed.values()]
    return made.map(({ stored }) =>
      stored === null ? ofInsert.next().value === 'inserted' : ofChange.next().value === 'won',
    )
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
    routes: byOneProcess(async () => {
      if (clock.now() < lookAt) return 0
      const now = clock.now()
      lookAt = now + LOOK_EVERY_MS
      const outages = await serviceOutages.find()
      // What is unheard meanwhile is judged when it is known how long the outage was.
      if (outages === null) return 0
      await readChanges()
      const due = [...dueAt].filter(([, at]) => at <= now).map(([app_id]) => app_id)
      for (let nth = 0; nth < due.length; nth += APPS_AT_ONCE) {
        if (clock.now() >= now + MAX_RUN_MS) {
          // The others come first when the other sweeps have run.
          lookAt = now
          break
        }
        await makeFacts(due.slice(nth, nth + APPS_AT_ONCE), outages)
      }
      return 0
    }),
  }
}

function newFacts(app_id: string, before: RouteFactsDoc | null, facts: RouteFact[], now: number): RouteFactsDoc {
  const silent = facts.filter(({ silence }) => silence.since !== null).length
  return {
    _id: app_id,
    at: now,
    facts,
    ...(silent > 0 ? { silent } : {}),
    purge_at: new Date(now + FACTS_RETENTION_MS),
    rev: (before?.rev ?? 0) + 1,
  }
}

/** When the test for silence of one of the routes can say more; null when all messages are judged. */
function nextDueAt(histories: readonly RouteHistory[], facts: readonly RouteFact[], now: number): number | null {
  const silenceOf = new Map(facts.map(fact => [routeName(fact), fact.silence]))
  let next: number | null = null
  for (const history of histories) {
    const silence = silenceOf.get(routeName(history))
    const at = silence ? judgesNextAt(history, silence, now) : null
    if (at !== null) next = Math.min(next ?? at, at)
  }
  return next
}
