// Erases documents that are older than their app's retention as it is set now. Every document has a purge time from its creation, computed
// from the setting of that time, and the engine removes it then. This sweep finds the documents of apps whose retention was shortened
// since. It also erases what endpoints answered to events that are kept longer than that, which in test mode are most of those sent.
import type { Clock } from '../../infra/clock.ts'
import { firstIdAt } from '../../infra/ids.ts'
import type { Logger } from '../../infra/log/log.ts'
import type { Docs, Filter, Sort } from '../../infra/store/docs.ts'
import { MINUTE_MS } from '../../infra/time.ts'
import { Unavailable } from '../../infra/unavailable.ts'
import type { CountersignStore } from '../domain/collections.ts'
import { eraseVerifications } from '../domain/privacy/erasure.ts'
import { eraseAnswersOfEvents, lastActivityAt } from '../domain/privacy/event-answers.ts'
import { EVENT_RETENTION_AFTER_LAST_ATTEMPT_MS, retentionMs } from '../domain/retention.ts'
import type { App } from '../domain/tenancy/documents.ts'
import { settingsAt } from '../domain/tenancy/pending-retention.ts'
import { resolveSettings } from '../domain/tenancy/settings.ts'
import type { OtpDoc } from '../domain/verifications/documents.ts'
import type { EventDoc } from '../domain/webhooks/documents.ts'
import { byOneProcess, SWEEP_BATCH, type Sweep } from './sweep.ts'

export interface RetentionDeps {
  store: CountersignStore
  clock: Pick<Clock, 'now'>
  log: Logger
}

/** An app, or its test mode only. */
interface Owner {
  app_id: string
  mode?: 'test'
}

const RUN_EVERY_MS = MINUTE_MS
/** Full batches in one run: the lease must not end during it. */
const MAX_BATCHES_PER_RUN = 10

export function createRetentionSweeps({ store, clock, log }: RetentionDeps): Record<string, Sweep> {
  let nextRunAt = 0
  /** The last app that was finished. A run that had too much to do is continued after it. */
  let lastAppId = ''
  let batchesLeft = 0

  /** The last event of the next app that was looked at: many may be kept, and a run that ends among them is continued behind it. */
  let lastEventId = ''
  /** By app, or app and test mode, the last event whose answers were erased, so that events that are kept longer are looked at once. */
  const answersErasedTo = new Map<string, string>()

  async function appsAfter(id: string): Promise<App[]> {
    return store.docs('apps').find({ _id: { $gt: id } }, { sort: { _id: 1 }, limit: SWEEP_BATCH })
  }

  /** Answers false when the run ended before everything was erased. */
  async function eraseExpired(app: App): Promise<boolean> {
    const app_id = app._id
    const now = clock.now()
    const resolved = resolveSettings(settingsAt(app, now))
    const before = now - retentionMs(resolved, 'live')
    for (const [collection, prefix] of [
      ['fraud_decisions', 'frd'],
      ['refusals', 'rfs'],
    ] as const) {
      const expired = { app_id, _id: { $lt: firstIdAt(prefix, before) } }
      while ((await store.docs(collection).remove(expired, SWEEP_BATCH)) === SWEEP_BATCH)
        if (--batchesLeft <= 0) return false
    }
    if (!(await removeEvents(app_id, before))) return false
    if (!(await eraseEventAnswers({ app_id }, before))) return false
    if (!(await eraseEventAnswers({ app_id, mode: 'test' }, now - retentionMs(resolved, 'test')))) return false
    return (await eraseOtps(app_id, 'otp', before)) && eraseOtps(app_id, 'msg', before)
  }

  async function eraseOtps(app_id: string, prefix: 'otp' | 'msg', before: number): Promise<boolean> {
    const range = { $gt: firstIdAt(prefix, 0), $lt: firstIdAt(prefix, before) }
    return forEachPage(store.docs('otps'), { app_id }, range, async found => {
      // An id begins with the time it was made at. A verification may be newer than its id, so its `created_at` decides.
      const expired = found.filter(({ created_at }) => created_at < before)
      const { verifications } = await eraseVerifications(store, expired)
      if (verifications > 0) log.info({ app_id, verifications }, 'retention.erased')
    })
  }

  /** Events that may still be sent are kept, but not the answers to them. */
  async function eraseEventAnswers(owner: Owner, before: number): Promise<boolean> {
    const name = Object.values(owner).join(':')
    const range = { $gt: answersErasedTo.get(name) ?? '', $lt: firstIdAt('evt', before) }
    return forEachPage(store.docs('events'), owner, range, async (events, last) => {
      await eraseAnswersOfEvents(store, events)
      answersErasedTo.set(name, last)
    })
  }

  async function removeEvents(app_id: string, before: number): Promise<boolean> {
    const settled = clock.now() - EVENT_RETENTION_AFTER_LAST_ATTEMPT_MS
    const range = { $gt: lastEventId, $lt: firstIdAt('evt', Math.min(before, settled)) }
    return forEachPage(store.docs('events'), { app_id }, range, async (events, last) => {
      const ids = events.filter(event => lastActivityAt(event) < settled).map(({ _id }) => _id)
      if (ids.length > 0) await store.docs('events').remove({ _id: { $in: ids } }, ids.length)
      lastEventId = last
    })
  }

  /** Answers false when the run ended before all pages were visited. */
  async function forEachPage<T extends OtpDoc | EventDoc>(
    docs: Pick<Docs<T>, 'find'>,
    owner: Owner,
    { $gt, $lt }: { $gt: string; $lt: string },
    visit: (found: T[], last: string) => Promise<void>,
  ): Promise<boolean> {
    for (let last = $gt; ; batchesLeft -= 1) {
      if (batchesLeft <= 0) return false
      const filter = { ...owner, _id: { $gt: last, $lt } } as Filter<T>
      const found = await docs.find(filter, { sort: { _id: 1 } as Sort<T>, limit: SWEEP_BATCH })
      last = found.at(-1)?._id ?? last
      await visit(found, last)
      if (found.length < SWEEP_BATCH) return true
    }
  }

  /** Unreadable settings of one app must not keep the documents of the others. A store that is away stops the run. */
  function logAndSkip({ _id: app_id }: App, error: unknown): true {
    if (error instanceof Unavailable) throw error
    log.error({ err: error, app_id }, 'retention.not_kept')
    return true
  }

  return {
    retention: byOneProcess(async () => {
      if (clock.now() < nextRunAt) return 0
      batchesLeft = MAX_BATCHES_PER_RUN
      for (let apps = await appsAfter(lastAppId); apps.length > 0; apps = await appsAfter(lastAppId))
        for (const app of apps) {
          if (!(await eraseExpired(app).catch(error => logAndSkip(app, error)))) return 0
          lastAppId = app._id
          lastEventId = ''
        }
      lastAppId = ''
      nextRunAt = clock.now() + RUN_EVERY_MS
      return 0
    }),
  }
}
