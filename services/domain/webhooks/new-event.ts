// A new event as it is stored, and the times that all readers of events agree on. The types of events and their payloads are in
// machines/webhook-events.ts.
import { partitionOf } from '../../../infra/partitions.ts'
import type { EventDoc, EventStatus } from './documents.ts'

/** An event's message is taken for lost this long after the time of its attempt. */
export const MESSAGE_LOST_AFTER_MS = 15_000

export type NewEventFields = Pick<
  EventDoc,
  '_id' | 'app_id' | 'company_id' | 'mode' | 'type' | 'payload' | 'created_at' | 'purge_at' | 'trace'
>

/** An event without any attempt. */
export const newEvent = (eventFields: NewEventFields, status: EventStatus): EventDoc => ({
  ...eventFields,
  status,
  partition: partitionOf(eventFields._id),
  round: 1,
  tries: 0,
  attempts: [],
  rev: 0,
})

/** The purge time of an event that must be kept until `time`. */
export const purgeNotBefore = ({ purge_at }: Pick<EventDoc, 'purge_at'>, time: number): Date =>
  purge_at.getTime() >= time ? purge_at : new Date(time)
