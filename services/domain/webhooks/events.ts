// Events in the store, as everyone who sends or shows them reads and makes them.

import { partitionOf } from '../../../infra/partitions.ts'
import type { EventAttempt, EventDoc, EventStatus } from './documents.ts'

/** Past the time of its attempt by as much, an event's message is taken for lost. */
export const MESSAGE_LOST_AFTER_MS = 15_000

export interface EventState {
  status: EventStatus
  round: number
  tries: number
  attempts: readonly EventAttempt[]
  next_attempt_at: number | null
}

/** What became of an event. One from before events were delivered was recorded, and nothing else. */
export const eventState = (event: EventDoc): EventState => ({
  status: event.status ?? 'unsent',
  round: event.round ?? 0,
  tries: event.tries ?? 0,
  attempts: event.attempts ?? [],
  next_attempt_at: event.next_attempt_at ?? null,
})

export type NewEventFields = Pick<
  EventDoc,
  '_id' | 'app_id' | 'company_id' | 'mode' | 'type' | 'payload' | 'created_at' | 'purge_at'
>

/** An event that nobody was called for yet. */
export const newEvent = (
  eventFields: NewEventFields,
  status: EventStatus,
): EventDoc & Required<Pick<EventDoc, 'status'>> => ({
  ...eventFields,
  status,
  partition: partitionOf(eventFields._id),
  round: 1,
  tries: 0,
  attempts: [],
  rev: 0,
})

/** The later of the two: what is to be sent is not erased before. */
export const purgeNotBefore = ({ purge_at }: Pick<EventDoc, 'purge_at'>, time: number): Date =>
  purge_at.getTime() >= time ? purge_at : new Date(time)
