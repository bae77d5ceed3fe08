// What is written about an event at each turn of its life. In: the event as it is, and the time. Out: members to set and to unset.
// Pure; each is applied only if the event is still as it was read.

import type { Operators } from '../../infra/store/docs.ts'
import { MIN_EVENT_RETENTION_MS } from '../domain/retention.ts'
import type { Backlog, EventAttempt, EventDoc } from '../domain/webhooks/documents.ts'
import { MESSAGE_LOST_AFTER_MS, purgeNotBefore } from '../domain/webhooks/events.ts'
import type { RetrySchedule } from '../domain/webhooks/retry-schedule.ts'
import { CALL_TIMEOUT_MS, type CallResult, isSuccess } from './call.ts'

type Change = Operators<EventDoc>

/** Of all rounds together. */
const MAX_ATTEMPTS_KEPT = 20

/** Past it, whoever made the call is taken for dead: nobody knows how it ended. */
export const assumedLostAt = (attempt_started_at: number): number =>
  attempt_started_at + CALL_TIMEOUT_MS + MESSAGE_LOST_AFTER_MS

const NOT_UNDER_WAY = { attempt_started_at: true } as const
const NOT_SCHEDULED = { next_attempt_at: true, due_at: true } as const
const NOT_IN_BACKLOG = { backlog: true, backlog_at: true } as const

/** The next attempt is somebody's: the one who wins this change makes it. What was kept starts afresh. */
export function startAttempt(
  event: EventDoc,
  now: number,
  { longestMs }: RetrySchedule,
): Required<Pick<Change, '$set' | '$unset'>> {
  const { round, tries } = event
  const startsNewRound = event.backlog === 'kept' && tries > 0
  const attempt = startsNewRound ? { round: round + 1, tries: 1 } : { round, tries: tries + 1 }
  const purge_at = purgeNotBefore(event, now + MIN_EVENT_RETENTION_MS + longestMs)
  return {
    $set: {
      status: 'pending',
      ...attempt,
      attempt_started_at: now,
      due_at: assumedLostAt(now),
      ...(purge_at === event.purge_at ? {} : { purge_at }),
    },
    $unset: { next_attempt_at: true, ...NOT_IN_BACKLOG },
  }
}

/** The document after `claimed` was won. */
export function withAttemptStarted(event: EventDoc, now: number, retrySchedule: RetrySchedule): EventDoc {
  const { next_attempt_at, backlog, backlog_at, ...rest } = event
  return { ...rest, ...(startAttempt(event, now, retrySchedule).$set as Partial<EventDoc>), rev: event.rev + 1 }
}

const pushAttempt = (event: EventDoc, result: CallResult): NonNullable<Change['$push']> => {
  const { round, tries } = event
  const { at, ms, status, error } = result
  const response = event.discard_answers ? null : result.response
  const attempt: EventAttempt = { round, attempt: tries, at, ms, status, error, response }
  return { attempts: { $each: [attempt], $slice: -MAX_ATTEMPTS_KEPT } }
}

export const markDelivered = (event: EventDoc, result: CallResult): Change => ({
  $set: { status: 'delivered' },
  $unset: { ...NOT_UNDER_WAY, ...NOT_SCHEDULED },
  $push: pushAttempt(event, result),
})

export const scheduleRetry = (event: EventDoc, result: CallResult, next_attempt_at: number): Change => ({
  $set: { next_attempt_at, due_at: next_attempt_at + MESSAGE_LOST_AFTER_MS },
  $unset: NOT_UNDER_WAY,
  $push: pushAttempt(event, result),
})

/** The call says nothing about its endpoint: the attempt is not spent, and to be made at that time. */
export const returnAttempt = (event: EventDoc, result: CallResult, next_attempt_at: number): Change => ({
  $set: { tries: event.tries - 1, next_attempt_at, due_at: next_attempt_at },
  $unset: NOT_UNDER_WAY,
  $push: pushAttempt(event, result),
})

/** `failed` when its attempts are used up, `held` when only its endpoint is paused. Enabling the endpoint sends both. */
export const keepAfterFailure = (event: EventDoc, result: CallResult, status: 'failed' | 'held'): Change => ({
  $set: { status, backlog: 'kept', backlog_at: event.created_at },
  $unset: { ...NOT_UNDER_WAY, ...NOT_SCHEDULED },
  $push: pushAttempt(event, result),
})

/** Its turn came while its endpoint is paused. No attempt is spent. */
export const keepWhilePaused = (event: EventDoc): Change => ({
  $set: { status: 'held', backlog: 'kept', backlog_at: event.created_at },
  $unset: NOT_SCHEDULED,
})

/** Its turn came while its endpoint had its hands full. No attempt is spent. */
export const moveToBacklog = (event: EventDoc): Change => ({
  $set: { backlog: 'overflow', backlog_at: event.created_at },
  $unset: NOT_SCHEDULED,
})

/** It was claimed, and not called for: the attempt is not spent. */
export const cancelAttempt = (event: EventDoc, backlog: Backlog): Change => ({
  $set: {
    status: backlog === 'kept' ? 'held' : 'pending',
    tries: event.tries - 1,
    backlog,
    backlog_at: event.created_at,
  },
  $unset: { ...NOT_UNDER_WAY, ...NOT_SCHEDULED },
})

/** Its endpoint is gone. */
export const markUnsent = (): Change => ({
  $set: { status: 'unsent' },
  $unset: { ...NOT_SCHEDULED, ...NOT_IN_BACKLOG },
})

/** An attempt whose event went on without it: it was sent again, or its caller was taken for dead. */
export const recordLateAttempt = (event: EventDoc, result: CallResult): Change => ({
  $push: pushAttempt(event, result),
})

export const outcomeOf = (result: CallResult): string => (isSuccess(result) ? 'delivered' : (result.error ?? 'refused'))
