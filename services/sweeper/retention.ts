// Retention as it is set now. Documents carry the day of their purge from their beginning, by the setting of that time; this finds what
// an app has since decided to keep for less. Where nothing was shortened, the engine was faster and there is nothing to find.
import type { Clock } from '../../infra/clock.ts'
import { newId } from '../../infra/ids.ts'
import type { Logger } from '../../infra/log/log.ts'
import { Unavailable } from '../../infra/unavailable.ts'
import type { CountersignStore } from '../domain/collections.ts'
import { eraseVerifications } from '../domain/privacy/erasing.ts'
import { eraseAnswersOf, lastTouched } from '../domain/privacy/events.ts'
import type { App } from '../domain/tenancy/documents.ts'
import { resolveSettings } from '../domain/tenancy/settings.ts'
import type { EventDoc } from '../domain/webhooks/documents.ts'
import { BATCH, type Sweep } from './sweeps.ts'

export interface RetentionParts {
  store: CountersignStore
  clock: Pick<Clock, 'now'>
  log: Logger
}

const EVERY_MS = 60_000
const DAY_MS = 86_400_000
/** Past the last attempt, whatever the app's retention: an endpoint that was paused may be enabled again. */
const EVENTS_KEPT_MS = 8 * DAY_MS
/** Full ones, in one go: a lease must not run out over them. */
const MOST_BATCHES = 10

export function retentionSweeps({ store, clock, log }: RetentionParts): Record<string, Sweep> {
  let next = 0
  /** The app it is at: it goes on there when there was too much for one go. */
  let after = ''
  let left = 0

  /** Of each app, the last event whose answers were seen to: they are looked at once, though some are kept for longer. */
  const hushed = new Map<string, string>()

  async function appsAfter(id: string): Promise<App[]> {
    return store.docs('apps').find({ _id: { $gt: id } }, { sort: { _id: 1 }, limit: BATCH })
  }

  /** Whether all of it is gone that should be. */
  async function eraseOld({ _id: app_id, settings }: App): Promise<boolean> {
    const before = clock.now() - resolveSettings(settings).retention_days * DAY_MS
    const decisions = { app_id, _id: { $lt: idAt('frd', before) } }
    while ((await store.docs('fraud_decisions').remove(decisions, BATCH)) === BATCH) if (--left <= 0) return false
    if (!(await removeEvents(app_id, before)) || !(await hushEvents(app_id, before))) return false
    for (let from = ''; ; left -= 1) {
      if (left <= 0) return false
      const range = { $gt: from, $lt: idAt('otp', before) }
      // Ids begin with the time they were made at. One that was taken over is older than its verification, so that is looked at too.
      const found = await store.docs('otps').find({ app_id, _id: range }, { sort: { _id: 1 }, limit: BATCH })
      const { verifications } = await eraseVerifications(
        store,
        found.filter(({ created_at }) => created_at < before),
      )
      if (verifications > 0) log.info({ app_id, verifications }, 'retention.erased')
      if (found.length < BATCH) return true
      from = found.at(-1)?._id ?? ''
    }
  }

  /** What is still to be sent is kept, without what its endpoint says to it. */
  async function hushEvents(app_id: string, before: number): Promise<boolean> {
    return pages(app_id, hushed.get(app_id) ?? '', before, async (events, last) => {
      await eraseAnswersOf(store, events)
      hushed.set(app_id, last)
    })
  }

  async function removeEvents(app_id: string, before: number): Promise<boolean> {
    const settled = clock.now() - EVENTS_KEPT_MS
    return pages(app_id, '', Math.min(before, settled), async events => {
      const ids = events.filter(event => lastTouched(event) < settled).map(({ _id }) => _id)
      if (ids.length > 0) await store.docs('events').remove({ _id: { $in: ids } }, ids.length)
    })
  }

  /** Whether there was time for all of them. */
  async function pages(
    app_id: string,
    from: string,
    before: number,
    see: (events: EventDoc[], last: string) => Promise<void>,
  ): Promise<boolean> {
    for (let last = from; ; left -= 1) {
      if (left <= 0) return false
      const range = { $gt: last, $lt: idAt('evt', before) }
      const found = await store.docs('events').find({ app_id, _id: range }, { sort: { _id: 1 }, limit: BATCH })
      last = found.at(-1)?._id ?? last
      await see(found, last)
      if (found.length < BATCH) return true
    }
  }

  /** Settings this release cannot read are no reason to keep what others want erased. An engine that is away is. */
  function passOver({ _id: app_id }: App, error: unknown): true {
    if (error instanceof Unavailable) throw error
    log.error({ err: error, app_id }, 'retention.not_kept')
    return true
  }

  return {
    /** Apps are few, and go with the first share. */
    async retention(partitions) {
      if (!partitions.includes(0) || clock.now() < next) return 0
      left = MOST_BATCHES
      for (let apps = await appsAfter(after); apps.length > 0; apps = await appsAfter(after))
        for (const app of apps) {
          if (!(await eraseOld(app).catch(error => passOver(app, error)))) return 0
          after = app._id
        }
      after = ''
      next = clock.now() + EVERY_MS
      return 0
    },
  }
}

/** Before every id that was made then or later. */
const idAt = (prefix: 'otp' | 'frd' | 'evt', time: number): string =>
  newId(prefix, Math.max(0, time), size => new Uint8Array(size))
