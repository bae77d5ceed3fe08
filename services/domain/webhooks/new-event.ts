// A new event as it is stored, and the times that all readers of events agree on. In: the body of its message, or what an operator's call
// makes of it. Out: its document for one endpoint. The types of events and their payloads are in machines/webhook-events.ts.
import { partitionOf } from '../../../infra/partitions.ts'
import { type Trace, withTrace } from '../../../infra/trace.ts'
import type { AppSettings } from '../../../machines/settings.ts'
import { retentionMs } from '../retention.ts'
import type { EventDoc, EventStatus } from './documents.ts'
import type { EndpointRef } from './endpoint-ids.ts'
import { eventDocId } from './event-ids.ts'
import type { NotifyBody } from './queue-messages.ts'

/** An event's message is taken for lost this long after the time of its attempt. */
export const MESSAGE_LOST_AFTER_MS = 15_000

export type NewEventFields = Pick<
  EventDoc,
  '_id' | 'app_id' | 'company_id' | 'mode' | 'type' | 'payload' | 'with_metadata' | 'created_at' | 'purge_at' | 'trace'
>

/** What is stored of a new event. `settings`: of its app, null if it was deleted or cannot be read. */
export const newEventFields = (
  body: NotifyBody,
  settings: Pick<AppSettings, 'retention_days'> | null,
  trace: Trace | undefined,
): NewEventFields => ({
  _id: body.event_id,
  app_id: body.app_id,
  company_id: body.company_id,
  mode: body.mode,
  type: body.type,
  payload: body.payload,
  created_at: body.at,
  purge_at: new Date(body.at + retentionMs(settings, body.mode)),
  ...withTrace(trace),
})

/** An event without any attempt, as it is stored for one endpoint. `_id` of the fields is the event's; without an
 *  endpoint it is stored under that. */
export const newEvent = (
  fields: NewEventFields,
  status: EventStatus,
  endpoint: EndpointRef = { app_id: fields.app_id },
): EventDoc => ({
  _id: eventDocId(fields._id, endpoint),
  app_id: fields.app_id,
  ...(endpoint.endpoint_id === undefined ? {} : { endpoint_id: endpoint.endpoint_id }),
  company_id: fields.company_id,
  mode: fields.mode,
  type: fields.type,
  payload: fields.payload,
  ...(fields.with_metadata ? { with_metadata: true } : {}),
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
