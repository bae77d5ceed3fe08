// What is written about an event at each turn of its life. In: the event as it is, and the time. Out: members to set and to unset.
// Pure; each is applied only if the event is still as it was read.

import type { Operators } from '../../infra/store/docs.ts'
import type { Backlog, EventAttempt, EventDoc } from '../domain/webhooks/documents.ts'
import { eventState, KEPT_MS, keptUntil, LATE_MS } from '../domain/webhooks/events.ts'
import type { Ladder } from '../domain/webhooks/ladder.ts'
import { CALL_MS, type Ending, isSuccess } from './call.ts'

type Change = Operators<EventDoc>

/** Of all rounds together. */
const MOST_ATTEMPTS = 20

/** Past it, whoever made the call is taken for dead: nobody knows how it ended. */
export const givenUpAt = (claimed_at: number): number => claimed_at + CALL_MS + LATE_MS

const NOT_UNDER_WAY = { claimed_at: true } as const
const NOTHING_TO_COME = { next_attempt_at: true, due_at: true } as const
const NOT_WAITING = { backlog: true, backlog_at: true } as const

/** The next attempt is somebody's: the one who wins this change makes it. What was kept starts afresh. */
export function claimed(
  event: EventDoc,
  now: number,
  { longestMs }: Ladder,
): Required<Pick<Change, '$set' | '$unset'>> {
  const { round, tries } = eventState(event)
  const afresh = event.backlog === 'kept' && tries > 0
  const attempt = afresh ? { round: round + 1, tries: 1 } : { round: Math.max(round, 1), tries: tries + 1 }
  const purge_at = keptUntil(event, now + KEPT_MS + longestMs)
  return {
    $set: {
      ...{ status: 'pending', ...attempt, claimed_at: now, due_at: givenUpAt(now) },
      ...(purge_at === event.purge_at ? {} : { purge_at }),
    },
    $unset: { next_attempt_at: true, ...NOT_WAITING },
  }
}

/** The document after `claimed` was won. */
export function afterClaim(event: EventDoc, now: number, ladder: Ladder): EventDoc {
  const { next_attempt_at, backlog, backlog_at, ...rest } = event
  return { ...rest, ...(claimed(event, now, ladder).$set as Partial<EventDoc>), rev: event.rev + 1 }
}

const noted = (event: EventDoc, ending: Ending): NonNullable<Change['$push']> => {
  const { round, tries } = eventState(event)
  const { at, ms, status, error } = ending
  const response = event.hushed ? null : ending.response
  const attempt: EventAttempt = { round, attempt: tries, at, ms, status, error, response }
  return { attempts: { $each: [attempt], $slice: -MOST_ATTEMPTS } }
}

export const delivered = (event: EventDoc, ending: Ending): Change => ({
  $set: { status: 'delivered' },
  $unset: { ...NOT_UNDER_WAY, ...NOTHING_TO_COME },
  $push: noted(event, ending),
})

export const failedFor = (event: EventDoc, ending: Ending, next_attempt_at: number): Change => ({
  $set: { next_attempt_at, due_at: next_attempt_at + LATE_MS },
  $unset: NOT_UNDER_WAY,
  $push: noted(event, ending),
})

/** The call says nothing about its endpoint: the attempt is not spent, and to be made at that time. */
export const notSpent = (event: EventDoc, ending: Ending, next_attempt_at: number): Change => ({
  $set: { tries: eventState(event).tries - 1, next_attempt_at, due_at: next_attempt_at },
  $unset: NOT_UNDER_WAY,
  $push: noted(event, ending),
})

/** `failed` when its attempts are used up, `held` when only its endpoint is paused. Enabling the endpoint sends both. */
export const failedAndKept = (event: EventDoc, ending: Ending, status: 'failed' | 'held'): Change => ({
  $set: { status, backlog: 'kept', backlog_at: event.created_at },
  $unset: { ...NOT_UNDER_WAY, ...NOTHING_TO_COME },
  $push: noted(event, ending),
})

/** Its turn came while its endpoint is paused. No attempt is spent. */
export const held = (event: EventDoc): Change => ({
  $set: { status: 'held', backlog: 'kept', backlog_at: event.created_at },
  $unset: NOTHING_TO_COME,
})

/** Its turn came while its endpoint had its hands full. No attempt is spent. */
export const parked = (event: EventDoc): Change => ({
  $set: { backlog: 'overflow', backlog_at: event.created_at },
  $unset: NOTHING_TO_COME,
})

/** It was claimed, and not called for: the attempt is not spent. */
export const unclaimed = (event: EventDoc, backlog: Backlog): Change => ({
  $set: {
    ...{ status: backlog === 'kept' ? 'held' : 'pending', tries: eventState(event).tries - 1 },
    ...{ backlog, backlog_at: event.created_at },
  },
  $unset: { ...NOT_UNDER_WAY, ...NOTHING_TO_COME },
})

/** Its endpoint is gone. */
export const unsent = (): Change => ({
  $set: { status: 'unsent' },
  $unset: { ...NOTHING_TO_COME, ...NOT_WAITING },
})

/** An attempt whose event went on without it: it was sent again, or its caller was taken for dead. */
export const onlyNoted = (event: EventDoc, ending: Ending): Change => ({ $push: noted(event, ending) })

export const outcomeOf = (ending: Ending): string => (isSuccess(ending) ? 'delivered' : (ending.error ?? 'refused'))
