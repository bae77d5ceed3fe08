// What a call came to. In: an event that was claimed, and how its call ended. Out: the event's document says so, its endpoint's machine
// knows, and the next attempt is on its way through the wait queues. The endpoint first, when a call failed: a crash in between
// leaves an attempt nobody saw end, never an event that gave up on an endpoint that was not paused. What is our own doing, or what
// nobody saw, is never held against an endpoint.
import type { Clock } from '../../infra/clock.ts'
import type { Logger } from '../../infra/log/log.ts'
import type { Metrics } from '../../infra/metrics.ts'
import type { Docs } from '../../infra/store/docs.ts'
import { Unavailable } from '../../infra/unavailable.ts'
import type { EventDoc } from '../domain/webhooks/documents.ts'
import { eventState, LATE_MS } from '../domain/webhooks/events.ts'
import type { Ladder } from '../domain/webhooks/ladder.ts'
import { attemptMessage, drainMessage, type Remind } from '../domain/webhooks/work.ts'
import { type Ending, isSuccess, type OurEnding, ourEnding } from './call.ts'
import * as change from './changes.ts'
import { type Endpoints, isPaused } from './endpoints.ts'

export interface SettleParts {
  events: Pick<Docs<EventDoc>, 'change'>
  endpoints: Pick<Endpoints, 'report' | 'fresh'>
  ladder: Ladder
  remind: Remind
  random(): number
  clock: Clock
  log: Logger
  metrics: Pick<Metrics, 'webhookAttempts' | 'webhookDuration'>
}

export type Settle = (event: EventDoc, ending: Ending) => Promise<void>

const GONE = 410
/** A store that is away for moments must not make a success look like a call nobody saw end. */
const WRITE_AGAIN_MS = [200, 1_000, 3_000]

export function settling(parts: SettleParts): Settle {
  const { events, endpoints, ladder, remind, random, clock, log, metrics } = parts

  async function write(event: EventDoc, update: ReturnType<typeof change.delivered>, ending: Ending): Promise<boolean> {
    const { _id, rev } = event
    const [answer] = await patiently(() => events.change([{ _id, rev, update }]))
    if (answer === 'won') return true
    await events.change([{ _id, update: change.onlyNoted(event, ending) }])
    return false
  }

  async function patiently<T>(work: () => Promise<T>): Promise<T> {
    for (const ms of WRITE_AGAIN_MS)
      try {
        return await work()
      } catch (error) {
        if (!(error instanceof Unavailable)) throw error
        await new Promise<void>(resolve => void clock.after(ms, resolve))
      }
    return work()
  }

  async function succeeded(event: EventDoc, ending: Ending): Promise<void> {
    const reported = endpoints.report(event.app_id, { type: 'attempt.succeeded', at: clock.now() })
    reported.catch(() => {})
    await write(event, change.delivered(event, ending), ending)
    await reported
  }

  async function failed(event: EventDoc, ending: Ending): Promise<void> {
    const { tries } = eventState(event)
    const now = clock.now()
    const waitMs = ladder.waitAfter(tries, random())
    const fact = { type: 'attempt.failed', at: now, gone: ending.status === GONE, exhausted: waitMs === null } as const
    const paused = await endpoints.report(event.app_id, fact)
    if (waitMs === null || paused) await keep(event, ending, waitMs === null ? 'failed' : 'held')
    else await again(event, ending, now + waitMs)
  }

  async function again(event: EventDoc, ending: Ending, at: number): Promise<void> {
    if (!(await write(event, change.failedFor(event, ending, at), ending))) return
    const { _id: event_id, app_id } = event
    const { round, tries } = eventState(event)
    remind(attemptMessage({ event_id, app_id, round, attempt: tries + 1, at }))
  }

  /** One that nobody saw end may have arrived, and counts; but it is never the last. The sweeper sees to what is not spent: whoever
   *  stops has no time to remind anybody. */
  async function cameToNothing(event: EventDoc, ending: Ending, why: OurEnding): Promise<void> {
    const { tries } = eventState(event)
    const now = clock.now()
    const waitMs = why === 'unknown' ? ladder.waitAfter(tries, random()) : null
    if (waitMs !== null) return again(event, ending, now + waitMs)
    const lastMs = why === 'unknown' ? ladder.waitAfter(tries - 1, random()) : null
    const pauseMs = why === 'stopped' ? 0 : (lastMs ?? LATE_MS)
    await write(event, change.notSpent(event, ending, now + pauseMs), ending)
  }

  async function keep(event: EventDoc, ending: Ending, status: 'failed' | 'held'): Promise<void> {
    await write(event, change.failedAndKept(event, ending, status), ending)
    // Enabled meanwhile, what was kept may have been sent before this was among it.
    const endpoint = await endpoints.fresh(event.app_id)
    if (endpoint && !isPaused(endpoint)) remind(drainMessage(event.app_id, clock.now()))
  }

  return async (event, ending) => {
    const { _id: event_id, app_id, type } = event
    const { round, tries } = eventState(event)
    const outcome = change.outcomeOf(ending)
    metrics.webhookAttempts.inc({ outcome })
    if (ending.ms !== null) metrics.webhookDuration.observe(ending.ms / 1000)
    const fields = { event_id, app_id, type, round, attempt: tries, outcome, status: ending.status, ms: ending.ms }
    log.info(fields, 'webhook.attempted')
    try {
      const ours = ourEnding(ending)
      if (ours) await cameToNothing(event, ending, ours)
      else await (isSuccess(ending) ? succeeded(event, ending) : failed(event, ending))
    } catch (error) {
      // The claim stands. Once it is past its time the sweeper has the event looked at again.
      log.warn({ err: error, event_id, app_id }, 'webhook.not_settled')
    }
  }
}
