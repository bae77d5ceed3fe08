// Reports the circuit breakers of this process to the store, where operators see them. In: a breaker that was made, has changed or is gone.
// Out: one document per provider, which expires unless it is renewed. Nothing is written per call, and no call waits for a write: a change
// is written at once in the background, everything else in batches. A write that fails is repeated with the next renewal.
import { randomUUID } from 'node:crypto'
import type { Clock } from '../../../infra/clock.ts'
import type { Logger } from '../../../infra/log/log.ts'
import type { Docs } from '../../../infra/store/docs.ts'
import { MINUTE_MS } from '../../../infra/time.ts'
import { createTimer } from '../../../infra/timeout.ts'
import { type BreakerDoc, type BreakerState, breakerId } from '../../domain/breakers/documents.ts'

export interface BreakerReports {
  /** The breaker of an app's provider was made, or has changed. */
  report(app_id: string, provider: string, state: BreakerState): void
  /** The breaker is gone: the provider was changed or removed, or was not used for long. */
  forget(app_id: string, provider: string): void
  /** Takes back what this process has reported. */
  stop(): Promise<void>
}

export interface BreakerReportDeps {
  breakers: Pick<Docs<BreakerDoc>, 'insert' | 'update' | 'remove'>
  clock: Clock
  log: Pick<Logger, 'warn'>
}

/** Reports are renewed so often while the process lives. */
const RENEW_MS = MINUTE_MS
/** Longer than two renewals, so that one may fail. */
const VALID_MS = 2.5 * MINUTE_MS
/** New breakers are reported together: where they come and go, because a process has more providers than it keeps breakers for, this bounds
 *  the writes to one batch a second. */
const FIRST_REPORT_DELAY_MS = 1_000

type Report = Pick<BreakerDoc, '_id' | 'app_id' | 'provider' | 'process' | 'state' | 'since'>

export function createBreakerReports({ breakers, clock, log }: BreakerReportDeps): BreakerReports {
  const process = randomUUID()
  const reports = new Map<string, Report>()
  /** Ids whose report the store does not have yet. One without a report is to be removed. */
  let unwritten = new Set<string>()
  let writing: Promise<void> | null = null
  let writeAgain = false
  let stopped = false
  const timers = { soon: createTimer(clock), renewal: createTimer(clock) }

  /** One write at a time, so that a later state is never overwritten by an earlier one. */
  function write(): void {
    if (writing) {
      writeAgain = true
      return
    }
    writing = writeBatch().finally(() => {
      writing = null
      if (!writeAgain) return
      writeAgain = false
      write()
    })
  }

  async function writeBatch(): Promise<void> {
    const ids = [...unwritten]
    unwritten = new Set()
    try {
      const gone = ids.filter(id => !reports.has(id))
      if (gone.length > 0) await breakers.remove({ _id: { $in: gone } }, gone.length)
      await upsert(ids.flatMap(id => reports.get(id) ?? []))
    } catch (error) {
      for (const id of ids) unwritten.add(id)
      log.warn({ err: error, count: ids.length }, 'breaker.not_reported')
    }
  }

  async function upsert(changed: readonly Report[]): Promise<void> {
    if (changed.length === 0) return
    const validity = validityAt(clock.now())
    const answers = await breakers.update(
      changed.map(({ _id, state, since }) => ({ ids: [_id], update: { $set: { state, since, ...validity } } })),
    )
    const missing = changed.filter((_, at) => answers[at] === 'missing')
    if (missing.length > 0) await breakers.insert(missing.map(report => ({ ...report, ...validity })))
  }

  /** A report that the store has lost is written again. */
  async function renew(): Promise<void> {
    const written = [...reports.keys()].filter(id => !unwritten.has(id))
    if (written.length > 0) {
      try {
        const answers = await breakers.update([{ ids: written, update: { $set: validityAt(clock.now()) } }])
        for (const [at, answer] of answers.entries()) if (answer === 'missing') unwritten.add(written[at] as string)
      } catch (error) {
        log.warn({ err: error, count: written.length }, 'breaker.not_reported')
      }
    }
    if (unwritten.size > 0) write()
  }

  function scheduleRenewal(): void {
    timers.renewal.set(RENEW_MS, () => {
      if (stopped || (reports.size === 0 && unwritten.size === 0)) return
      scheduleRenewal()
      void renew()
    })
  }

  return {
    report(app_id, provider, state) {
      if (stopped) return
      const _id = breakerId({ app_id, provider, process })
      const before = reports.get(_id)
      // An open breaker that tests its provider in vain was never closed in between.
      const since = before && (before.state === 'closed') === (state === 'closed') ? before.since : clock.now()
      reports.set(_id, { _id, app_id, provider, process, state, since })
      unwritten.add(_id)
      if (before) write()
      else timers.soon.set(FIRST_REPORT_DELAY_MS, write)
      scheduleRenewal()
    },
    forget(app_id, provider) {
      const _id = breakerId({ app_id, provider, process })
      if (stopped || !reports.delete(_id)) return
      unwritten.add(_id)
      timers.soon.set(FIRST_REPORT_DELAY_MS, write)
    },
    async stop() {
      stopped = true
      timers.soon.cancel()
      timers.renewal.cancel()
      while (writing !== null) await writing
      for (const id of reports.keys()) unwritten.add(id)
      reports.clear()
      if (unwritten.size > 0) await writeBatch()
    },
  }
}

const validityAt = (now: number): Pick<BreakerDoc, 'valid_until' | 'purge_at'> => ({
  valid_until: now + VALID_MS,
  purge_at: new Date(now + VALID_MS),
})
