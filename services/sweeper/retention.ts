// Retention as it is set now. Documents carry the day of their purge from their beginning, by the setting of that time; this finds what
// an app has since decided to keep for less. Where nothing was shortened, the engine was faster and there is nothing to find.

import type { Clock } from '../../infra/clock.ts'
import { newId } from '../../infra/ids.ts'
import type { Logger } from '../../infra/log/log.ts'
import { MINUTE_MS } from '../../infra/time.ts'
import { Unavailable } from '../../infra/unavailable.ts'
import type { CountersignStore } from '../domain/collections.ts'
import { eraseVerifications } from '../domain/privacy/erasure.ts'
import { eraseAnswersOfEvents, lastActivityAt } from '../domain/privacy/event-answers.ts'
import { EVENT_RETENTION_AFTER_LAST_ATTEMPT_MS, retentionMs } from '../domain/retention.ts'
import type { App } from '../domain/tenancy/documents.ts'
import { resolveSettings } from '../domain/tenancy/settings.ts'
import type { EventDoc } from '../domain/webhooks/documents.ts'
import { SWEEP_BATCH, type Sweep } from './sweeps.ts'

export interface RetentionDeps {
  store: CountersignStore
  clock: Pick<Clock, 'now'>
  log: Logger
}

const RUN_EVERY_MS = MINUTE_MS
/** Full ones, in one go: a lease must not run out over them. */
const MAX_BATCHES_PER_RUN = 10

export function createRetentionSweeps({ store, clock, log }: RetentionDeps): Record<string, Sweep> {
  let nextRunAt = 0
  /** The app it is at: it goes on there when there was too much for one go. */
  let lastAppId = ''
  let batchesLeft = 0

  /** Of each app, the last event whose answers were seen to: they are looked at once, though some are kept for longer. */
  const answersErasedTo = new Map<string, string>()

  async function appsAfter(id: string): Promise<App[]> {
    return store.docs('apps').find({ _id: { $gt: id } }, { sort: { _id: 1 }, limit: SWEEP_BATCH })
  }

  /** Whether all of it is gone that should be. */
  async function eraseExpired({ _id: app_id, settings }: App): Promise<boolean> {
    const before = clock.now() - retentionMs(resolveSettings(settings).retention_days)
    const decisions = { app_id, _id: { $lt: firstIdAt('frd', before) } }
    while ((await store.docs('fraud_decisions').remove(decisions, SWEEP_BATCH)) === SWEEP_BATCH)
      if (--batchesLeft <= 0) return false
    if (!(await removeEvents(app_id, before)) || !(await eraseEventAnswers(app_id, before))) return false
    for (let from = ''; ; batchesLeft -= 1) {
      if (batchesLeft <= 0) return false
      const range = { $gt: from, $lt: firstIdAt('otp', before) }
      // Ids begin with the time they were made at. One that was taken over is older than its verification, so that is looked at too.
      const found = await store.docs('otps').find({ app_id, _id: range }, { sort: { _id: 1 }, limit: SWEEP_BATCH })
      const { verifications } = await eraseVerifications(
        store,
        found.filter(({ created_at }) => created_at < before),
      )
      if (verifications > 0) log.info({ app_id, verifications }, 'retention.erased')
      if (found.length < SWEEP_BATCH) return true
      from = found.at(-1)?._id ?? ''
    }
  }

  /** What is still to be sent is kept, without what its endpoint says to it. */
  async function eraseEventAnswers(app_id: string, before: number): Promise<boolean> {
    return forEachPage(app_id, answersErasedTo.get(app_id) ?? '', before, async (events, last) => {
      await eraseAnswersOfEvents(store, events)
      answersErasedTo.set(app_id, last)
    })
  }

  async function removeEvents(app_id: string, before: number): Promise<boolean> {
    const settled = clock.now() - EVENT_RETENTION_AFTER_LAST_ATTEMPT_MS
    return forEachPage(app_id, '', Math.min(before, settled), async events => {
      const ids = events.filter(event => lastActivityAt(event) < settled).map(({ _id }) => _id)
      if (ids.length > 0) await store.docs('events').remove({ _id: { $in: ids } }, ids.length)
    })
  }

  /** Whether there was time for all of them. */
  async function forEachPage(
    app_id: string,
    from: string,
    before: number,
    visit: (events: EventDoc[], last: string) => Promise<void>,
  ): Promise<boolean> {
    for (let last = from; ; batchesLeft -= 1) {
      if (batchesLeft <= 0) return false
      const range = { $gt: last, $lt: firstIdAt('evt', before) }
      const found = await store.docs('events').find({ app_id, _id: range }, { sort: { _id: 1 }, limit: SWEEP_BATCH })
      last = found.at(-1)?._id ?? last
      await visit(found, last)
      if (found.length < SWEEP_BATCH) return true
    }
  }

  /** Settings this release cannot read are no reason to keep what others want erased. An engine that is away is. */
  function logAndSkip({ _id: app_id }: App, error: unknown): true {
    if (error instanceof Unavailable) throw error
    log.error({ err: error, app_id }, 'retention.not_kept')
    return true
  }

  return {
    /** Apps are few, and go with the first share. */
    async retention(partitions) {
      if (!partitions.includes(0) || clock.now() < nextRunAt) return 0
      batchesLeft = MAX_BATCHES_PER_RUN
      for (let apps = await appsAfter(lastAppId); apps.length > 0; apps = await appsAfter(lastAppId))
        for (const app of apps) {
          if (!(await eraseExpired(app).catch(error => logAndSkip(app, error)))) return 0
          lastAppId = app._id
        }
      lastAppId = ''
      nextRunAt = clock.now() + RUN_EVERY_MS
      return 0
    },
  }
}

/** Before every id that was made then or later. */
const firstIdAt = (prefix: 'otp' | 'frd' | 'evt', time: number): string =>
  newId(prefix, Math.max(0, time), size => new Uint8Array(size))
