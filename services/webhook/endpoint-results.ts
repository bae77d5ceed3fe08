// Records the result of a call. In: a started event, and how its call ended. Out: the result in the event's document, a step of its
// endpoint's machine, and a reminder of the next attempt. After a failure the endpoint is written first: a crash in between then leaves
// an attempt without a result, and never an exhausted event whose endpoint is not paused. A call that this process ended itself, or
// whose end is unknown, does not count as a failure of the endpoint.
import type { Clock } from '../../infra/clock.ts'
import type { Logger } from '../../infra/log/log.ts'
import type { Metrics } from '../../infra/metrics.ts'
import type { Docs } from '../../infra/store/docs.ts'
import { sleep } from '../../infra/timeout.ts'
import { requestOf } from '../../infra/trace.ts'
import { Unavailable } from '../../infra/unavailable.ts'
import { isSuccess } from '../../machines/endpoint.ts'
import type { EventDoc } from '../domain/webhooks/documents.ts'
import { eventId } from '../domain/webhooks/event-ids.ts'
import { MESSAGE_LOST_AFTER_MS } from '../domain/webhooks/new-event.ts'
import { attemptMessage, drainMessage, type Remind } from '../domain/webhooks/queue-messages.ts'
import type { RetrySchedule } from '../domain/webhooks/retry-waits.ts'
import { type EndpointResult, type InconclusiveError, inconclusiveError } from './endpoint-call.ts'
import { type Endpoints, endpointFields, isPaused } from './endpoints.ts'
import * as change from './event-changes.ts'

export interface RecordResultDeps {
  events: Pick<Docs<EventDoc>, 'change' | 'update'>
  endpoints: Pick<Endpoints, 'recordOutcome' | 'reload'>
  retrySchedule: RetrySchedule
  remind: Remind
  random(): number
  clock: Clock
  log: Logger
  metrics: Pick<Metrics, 'webhookAttempts' | 'webhookDuration'>
}

export type RecordResult = (event: EventDoc, result: EndpointResult) => Promise<void>

const GONE = 410
/** A store that is away for a moment must not turn a success into a call whose end is unknown. */
const WRITE_RETRY_MS = [200, 1_000, 3_000]

export function createRecordResult(deps: RecordResultDeps): RecordResult {
  const { events, endpoints, retrySchedule, remind, random, clock, log, metrics } = deps

  async function writeEvent(
    event: EventDoc,
    update: ReturnType<typeof change.markDelivered>,
    result: EndpointResult,
  ): Promise<boolean> {
    const { _id, rev } = event
    const [answer] = await withRetries(() => events.change([{ _id, rev, update }]))
    if (answer === 'won') return true
    await events.update([{ ids: [_id], update: change.recordLateAttempt(event, result) }])
    return false
  }

  async function withRetries<T>(operation: () => Promise<T>): Promise<T> {
    for (const ms of WRITE_RETRY_MS)
      try {
        return await operation()
      } catch (error) {
        if (!(error instanceof Unavailable)) throw error
        await sleep(clock, ms)
      }
    return operation()
  }

  async function handleSuccess(event: EventDoc, result: EndpointResult): Promise<void> {
    const reported = endpoints.recordOutcome(event, { type: 'attempt.succeeded', at: clock.now() })
    reported.catch(() => {})
    await writeEvent(event, change.markDelivered(event, result), result)
    await reported
  }

  async function handleFailure(event: EventDoc, result: EndpointResult): Promise<void> {
    const { tries } = event
    const now = clock.now()
    const waitMs = retrySchedule.waitAfter(tries, random())
    const fact = { type: 'attempt.failed', at: now, gone: result.status === GONE, exhausted: waitMs === null } as const
    const paused = await endpoints.recordOutcome(event, fact)
    if (waitMs === null || paused) await keepInBacklog(event, result, waitMs === null ? 'failed' : 'held')
    else await scheduleRetry(event, result, now + waitMs)
  }

  async function scheduleRetry(event: EventDoc, result: EndpointResult, at: number): Promise<void> {
    if (!(await writeEvent(event, change.scheduleRetry(event, result, at), result))) return
    const { _id: event_id, app_id, round, tries } = event
    remind(attemptMessage({ event_id, app_id, round, attempt: tries + 1, at }, event.trace))
  }

  /** A call whose end is unknown may have arrived, so it counts as an attempt, but never as the last one. Attempts that do not count are
   *  left to the sweeper, because a process that stops has no time to send reminders. */
  async function handleInconclusive(event: EventDoc, result: EndpointResult, why: InconclusiveError): Promise<void> {
    const { tries } = event
    const now = clock.now()
    const waitMs = why === 'unknown' ? retrySchedule.waitAfter(tries, random()) : null
    if (waitMs !== null) return scheduleRetry(event, result, now + waitMs)
    const lastMs = why === 'unknown' ? retrySchedule.waitAfter(tries - 1, random()) : null
    const pauseMs = why === 'stopped' ? 0 : (lastMs ?? MESSAGE_LOST_AFTER_MS)
    await writeEvent(event, change.returnAttempt(event, result, now + pauseMs), result)
  }

  async function keepInBacklog(event: EventDoc, result: EndpointResult, status: 'failed' | 'held'): Promise<void> {
    await writeEvent(event, change.keepAfterFailure(event, result, status), result)
    // If the endpoint was enabled meanwhile, its backlog may have been drained before this event was in it.
    const endpoint = await endpoints.reload(event)
    if (endpoint && !isPaused(endpoint)) remind(drainMessage(event, clock.now()))
  }

  return async (event, result) => {
    const { type, round, tries } = event
    const outcome = change.attemptOutcome(result)
    metrics.webhookAttempts.inc({ outcome })
    if (result.ms !== null) metrics.webhookDuration.observe(result.ms / 1000)
    const subject = subjectOf(event)
    const fields = { type, round, attempt: tries, outcome, status: result.status, ms: result.ms }
    log.info({ ...subject, ...fields }, 'webhook.attempted')
    try {
      const inconclusive = inconclusiveError(result)
      if (inconclusive) await handleInconclusive(event, result, inconclusive)
      else await (isSuccess(result) ? handleSuccess(event, result) : handleFailure(event, result))
    } catch (error) {
      // The event stays started. When its `due_at` has passed, the sweeper reminds of it.
      log.warn({ ...subject, err: error }, 'webhook.not_settled')
    }
  }
}

/** What a log line says of an event. A test event is about no verification. */
export const subjectOf = (
  event: Pick<EventDoc, '_id' | 'app_id' | 'endpoint_id' | 'mode' | 'payload' | 'trace'>,
): object => {
  const { otp_id } = event.payload
  const known = otp_id === undefined ? {} : { otp_id }
  return { ...requestOf(event), ...known, event_id: eventId(event), ...endpointFields(event) }
}
