// A new event as it is stored, and the times that all readers of events agree on. The types of events and their payloads are in
// machines/webhook-events.ts.
import { partitionOf } from '../../../infra/partitions.ts'
import { withTrace } from '../../../infra/trace.ts'
import type { EventDoc, EventStatus } from './documents.ts'

/** An event's message is taken for lost this long after the time of its attempt. */
export const MESSAGE_LOST_AFTER_MS = 15_000

export type NewEventFields = Pick<
  EventDoc,
  '_id' | 'app_id' | 'company_id' | 'mode' | 'type' | 'payload' | 'created_at' | 'purge_at' | 'trace'
>

/** An event without any attempt. */
export const newEvent = (fields: NewEventFields, status: EventStatus): EventDoc => ({
  _id: fields._id,
  app_id: fields.app_id,
  company_id: fields.company_id,
  mode: fields.mode,
  type: fields.type,
  payload: fields.payload,
  created_at: fields.created_at,
  purge_at: fields.purge_at,
  status,
  partition: partitionOf(fields._id),
  round: 1,
  tries: 0,
  attempts: [],
  rev: 0,
  ...withTrace(fields.trace),
})

/** The purge time of an event that must be kept until `time`. */
export const purgeNotBefore = ({ purge_at }: Pick<EventDoc, 'purge_at'>, time: number): Date =>
  purge_at.getTime() >= time ? purge_at : new Date(time)
