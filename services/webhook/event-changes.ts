// The changes of an event's document, one for each step of its delivery. In: the event as it was read, and the time. Out: members to set
// and unset, and the attempt to add. Pure. A change is applied only if the event still has the revision that was read.
import type { Operators, Pipeline } from '../../infra/store/docs.ts'
import { isSuccess } from '../../machines/endpoint.ts'
import { MIN_EVENT_RETENTION_MS } from '../domain/retention.ts'
import type { Backlog, EventAttempt, EventDoc } from '../domain/webhooks/documents.ts'
import { MESSAGE_LOST_AFTER_MS, purgeNotBefore } from '../domain/webhooks/new-event.ts'
import type { RetrySchedule } from '../domain/webhooks/retry-waits.ts'
import { ENDPOINT_TIMEOUT_MS, type EndpointResult } from './endpoint-call.ts'

type Change = Operators<EventDoc>
type Members = Pick<Change, '$set' | '$unset'>

/** How many attempts of all rounds together are kept. */
const MAX_ATTEMPTS_KEPT = 20

/** After this time the process that made the call is taken for dead, and the end of the call for unknown. */
export const assumedLostAt = (attempt_started_at: number): number =>
  attempt_started_at + ENDPOINT_TIMEOUT_MS + MESSAGE_LOST_AFTER_MS

/** The times of an attempt that is started now. */
export const attemptTimes = (now: number): Required<Pick<EventDoc, 'attempt_started_at' | 'due_at'>> => ({
  attempt_started_at: now,
  due_at: assumedLostAt(now),
})

const NOT_UNDER_WAY = { attempt_started_at: true } as const
const NOT_SCHEDULED = { next_attempt_at: true, due_at: true } as const
const NOT_IN_BACKLOG = { backlog: true, backlog_at: true } as const

/** A backlog is in the order in which its events happened. */
export const inBacklog = (
  { created_at }: Pick<EventDoc, 'created_at'>,
  backlog: Backlog,
): Required<Pick<EventDoc, 'backlog' | 'backlog_at'>> => ({ backlog, backlog_at: created_at })

/** The process that wins this change makes the attempt. An event of a recovery starts a new round. */
export function startAttempt(
  event: EventDoc,
  now: number,
  { longestMs }: RetrySchedule,
): Required<Pick<Change, '$set' | '$unset'>> {
  const { round, tries } = event
  const startsNewRound = event.backlog === 'recovery' && tries > 0
  const attempt = startsNewRound ? { round: round + 1, tries: 1 } : { round, tries: tries + 1 }
  const purge_at = purgeNotBefore(event, now + MIN_EVENT_RETENTION_MS + longestMs)
  return {
    $set: {
      status: 'pending',
      ...attempt,
      ...attemptTimes(now),
      ...(purge_at === event.purge_at ? {} : { purge_at }),
    },
    $unset: { next_attempt_at: true, ...NOT_IN_BACKLOG },
  }
}

/** The document after the change of `startAttempt` was won. */
export function withAttemptStarted(event: EventDoc, { $set }: ReturnType<typeof startAttempt>): EventDoc {
  const { next_attempt_at, backlog, backlog_at, ...rest } = event
  return { ...rest, ...($set as Partial<EventDoc>), rev: event.rev + 1 }
}

/** Changes the event and adds the result of its call. The engine decides whether the answer is kept: the person may have been erased while
 *  the endpoint was called, which leaves the revision as it is. */
function withResult(event: EventDoc, result: EndpointResult, { $set = {}, $unset = {} }: Members = {}): Pipeline {
  const { round, tries } = event
  const { at, ms, status, error, sealed_response } = result
  const attempt: { [M in keyof EventAttempt]: unknown } = {
    round,
    attempt: tries,
    at,
    ms,
    status,
    error,
    sealed_response: { $cond: ['$discard_answers', null, sealed_response] },
  }
  const attempts = { $slice: [{ $concatArrays: ['$attempts', [attempt]] }, -MAX_ATTEMPTS_KEPT] }
  const unset = Object.keys($unset)
  return [{ $set: { ...$set, attempts } }, ...(unset.length === 0 ? [] : [{ $unset: unset }])]
}

export const markDelivered = (event: EventDoc, result: EndpointResult): Pipeline =>
  withResult(event, result, {
    $set: { status: 'delivered' },
    $unset: { ...NOT_UNDER_WAY, ...NOT_SCHEDULED },
  })

export const scheduleRetry = (event: EventDoc, result: EndpointResult, next_attempt_at: number): Pipeline =>
  withResult(event, result, {
    $set: { next_attempt_at, due_at: next_attempt_at + MESSAGE_LOST_AFTER_MS },
    $unset: NOT_UNDER_WAY,
  })

/** Its attempt was started and no call made. Does not count as an attempt, which is due again at the given time. */
export const postponeAttempt = (event: EventDoc, next_attempt_at: number): Members => ({
  $set: { tries: event.tries - 1, next_attempt_at, due_at: next_attempt_at },
  $unset: NOT_UNDER_WAY,
})

/** The same where its metadata cannot be read. */
export function postponeUnread(event: EventDoc, now: number, next_attempt_at: number): Change {
  const postponed = postponeAttempt(event, next_attempt_at)
  return { ...postponed, $set: { ...postponed.$set, unread_since: event.unread_since ?? now } }
}

/** The same after a call that says nothing about its endpoint. */
export const returnAttempt = (event: EventDoc, result: EndpointResult, next_attempt_at: number): Pipeline =>
  withResult(event, result, postponeAttempt(event, next_attempt_at))

/** `failed` when its attempts are used up, `held` when its endpoint is paused. Enabling the endpoint sends both. */
export const keepAfterFailure = (event: EventDoc, result: EndpointResult, status: 'failed' | 'held'): Pipeline =>
  withResult(event, result, {
    $set: { status, ...inBacklog(event, 'recovery') },
    $unset: { ...NOT_UNDER_WAY, ...NOT_SCHEDULED },
  })

/** Its attempt is due while its endpoint is paused. Does not count as an attempt. */
export const keepWhilePaused = (event: EventDoc): Change => ({
  $set: { status: 'held', ...inBacklog(event, 'recovery') },
  $unset: NOT_SCHEDULED,
})

/** Its attempt is due while all slots of its endpoint are taken. Does not count as an attempt. */
export const moveToBacklog = (event: EventDoc): Change => ({
  $set: inBacklog(event, 'overflow'),
  $unset: NOT_SCHEDULED,
})

/** Its endpoint was enabled: the planned retry is given up for a new round of attempts, which begins as soon as the backlog is sent. */
export const releaseRetry = (event: EventDoc): Change => ({
  $set: inBacklog(event, 'recovery'),
  $unset: NOT_SCHEDULED,
})

/** Its attempt was started and no call made. Does not count as an attempt. */
export const cancelAttempt = (event: EventDoc, backlog: Backlog): Change => ({
  $set: { status: backlog === 'recovery' ? 'held' : 'pending', tries: event.tries - 1, ...inBacklog(event, backlog) },
  $unset: { ...NOT_UNDER_WAY, ...NOT_SCHEDULED },
})

/** Its endpoint is gone. */
export const markUnsent = (): Change => ({
  $set: { status: 'unsent' },
  $unset: { ...NOT_SCHEDULED, ...NOT_IN_BACKLOG },
})

/** A result that comes after the event was replayed, or after the process that made the call was taken for dead. */
export const recordLateAttempt = (event: EventDoc, result: EndpointResult): Pipeline => withResult(event, result)

export const attemptOutcome = (result: EndpointResult): string =>
  isSuccess(result) ? 'delivered' : (result.error ?? 'refused')
