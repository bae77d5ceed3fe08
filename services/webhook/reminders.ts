// Reminders of events whose next attempt falls due. In: an attempt and its time. Out: the attempt is made at that time, if the store says
// that it is still the next one. A reminder that comes early waits on in the broker, as far as the broker has a delay for it, and then by
// a timer of this process, where it takes up no prefetch.
import { done, type Outcome, retry } from '../../infra/broker/broker.ts'
import type { Clock } from '../../infra/clock.ts'
import type { Logger } from '../../infra/log/log.ts'
import type { Docs } from '../../infra/store/docs.ts'
import { getOne } from '../../infra/store/one-doc.ts'
import type { EventDoc } from '../domain/webhooks/documents.ts'
import type { AttemptReminder } from '../domain/webhooks/queue-messages.ts'
import type { RetrySchedule } from '../domain/webhooks/retry-waits.ts'
import type { Backlogs } from './backlogs.ts'
import type { RecordResult } from './endpoint-results.ts'
import { type Endpoint, type Endpoints, isCallable, isPaused } from './endpoints.ts'
import type { EventAttempts } from './event-attempts.ts'
import * as change from './event-changes.ts'

export interface Reminders {
  handle(body: AttemptReminder): Promise<Outcome>
  /** Forgets the reminders that wait by a timer: the sweeper sends them again, to another process. */
  dropTimers(): void
}

export interface ReminderDeps {
  events: Pick<Docs<EventDoc>, 'get' | 'change'>
  endpoints: Pick<Endpoints, 'get' | 'reload'>
  attempts: Pick<EventAttempts, 'attempt'>
  backlogs: Pick<Backlogs, 'mark' | 'drain'>
  recordResult: RecordResult
  retrySchedule: RetrySchedule
  /** While false, no event is judged by the clock. */
  mayWork(): boolean
  clock: Clock
  log: Logger
}

/** Until the store may be back, or another process takes the message. */
export const RETRY_MS = 1_000
/** Reminders beyond this number are dropped: the sweeper sends them again. */
const MAX_TIMERS = 50_000

export function createReminders(deps: ReminderDeps): Reminders {
  const { events, endpoints, attempts, backlogs, recordResult, retrySchedule, mayWork, clock, log } = deps
  const timers = new Map<string, () => void>()

  function handleLater(body: AttemptReminder, ms: number): void {
    const { event_id, app_id } = body
    if (timers.size >= MAX_TIMERS && !timers.has(event_id)) return
    timers.get(event_id)?.()
    const wake = (): void => {
      timers.delete(event_id)
      handleNow(body).catch(error => log.warn({ err: error, event_id, app_id }, 'webhook.postponed'))
    }
    timers.set(event_id, clock.after(ms, wake))
  }

  async function handleNow(body: AttemptReminder): Promise<Outcome> {
    const event = await getOne(events, body.event_id)
    if (!event || !isCurrentAttempt(event, body)) return done()
    if (!mayWork()) return retry(RETRY_MS)
    const at = event.next_attempt_at ?? 0
    if (event.attempt_started_at !== undefined) await endLostCall(event, event.attempt_started_at)
    else if (at > clock.now()) handleLater({ ...body, at }, at - clock.now())
    else await startAttempt(event)
    return done()
  }

  async function startAttempt(event: EventDoc): Promise<void> {
    const { _id, rev } = event
    const endpoint = await endpointOf(event)
    if (!endpoint) return void (await events.change([{ _id, rev, update: change.markUnsent() }]))
    if (isPaused(endpoint)) return void (await events.change([{ _id, rev, update: change.keepWhilePaused(event) }]))
    if ((await attempts.attempt([event], endpoint)) > 0) return
    // There is no slot, or nothing can be sent to the endpoint. If another process has started the attempt, the change below is lost.
    await backlogs.mark(event)
    await events.change([{ _id, rev, update: change.moveToBacklog(event) }])
    backlogs.drain(event)
  }

  /** Reads the endpoint again if the cached one cannot be called: it may have been set or enabled since, and the event would stay aside.
   *  And for a test event: an operator sends it right after changing the URL, to see whether the new one answers. */
  async function endpointOf(event: EventDoc): Promise<Endpoint | null> {
    if (event.type === 'webhook.test') return endpoints.reload(event)
    const known = await endpoints.get(event)
    return known && isCallable(known) ? known : endpoints.reload(event)
  }

  /** The process that made the call has died. The call may have arrived. */
  async function endLostCall(event: EventDoc, attempt_started_at: number): Promise<void> {
    if (clock.now() < change.assumedLostAt(attempt_started_at)) return
    await recordResult(event, {
      at: attempt_started_at,
      ms: null,
      status: null,
      error: 'unknown',
      sealed_response: null,
    })
  }

  return {
    async handle(body) {
      const left = body.at - clock.now()
      if (left <= 0) return handleNow(body)
      const delayMs = retrySchedule.brokerDelay(left)
      if (delayMs !== null) return retry(delayMs)
      handleLater(body, left)
      return done()
    },
    dropTimers() {
      for (const cancel of timers.values()) cancel()
      timers.clear()
    },
  }
}

/** Whether this attempt is the next one, or the one under way. */
function isCurrentAttempt(event: EventDoc, { round, attempt }: AttemptReminder): boolean {
  if (event.status !== 'pending' || event.backlog !== undefined || event.round !== round) return false
  return attempt === (event.attempt_started_at === undefined ? event.tries + 1 : event.tries)
}
