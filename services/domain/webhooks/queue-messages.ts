// Messages on `webhook.deliver`: new events, and reminders of work that is recorded in the store. The sweeper sends a lost reminder again;
// a reminder that comes twice finds the work done.
import type { Broker, Message } from '../../../infra/broker/broker.ts'
import type { Logger } from '../../../infra/log/log.ts'
import { requestOf, type Trace, withTrace } from '../../../infra/trace.ts'
import type { Mode } from '../../../machines/otp.ts'
import type { WebhookEventType } from '../../../machines/webhook-events.ts'
import { type EndpointRef, storedEndpointId } from './endpoint-ids.ts'

/** A new event. */
export interface NotifyBody {
  event_id: string
  app_id: string
  company_id: string
  mode: Mode
  type: WebhookEventType
  payload: Record<string, string>
  at: number
}

/** A reminder of one attempt. It is ignored unless exactly this attempt of this round is due or under way. */
export interface AttemptReminder {
  /** The `_id` of the event's document for one endpoint. */
  event_id: string
  app_id: string
  round: number
  attempt: number
  /** When it is to be made. */
  at: number
}

/** A reminder of an endpoint's backlog. */
export interface DrainReminder {
  /** The endpoint's `_id`. */
  drain: string
  /** Absent for the first endpoint of an app, whose `_id` is the app's. */
  app_id?: string
  /** The endpoint's `drain_at` that led to this reminder. It is cleared when the backlog is empty, unless it has changed by then. */
  mark?: number
}

export type WebhookBody = NotifyBody | AttemptReminder | DrainReminder

/** False for a message that another program, or a newer version, has put into the queue. */
export function isWebhookMessage(body: unknown): body is WebhookBody {
  if (typeof body !== 'object' || body === null) return false
  if ('drain' in body) return typeof body.drain === 'string' && (!('app_id' in body) || typeof body.app_id === 'string')
  const names =
    'event_id' in body && typeof body.event_id === 'string' && 'app_id' in body && typeof body.app_id === 'string'
  if (!('payload' in body)) return names
  return (
    names && typeof body.payload === 'object' && body.payload !== null && 'at' in body && typeof body.at === 'number'
  )
}

export const attemptMessage = (body: AttemptReminder, trace?: Trace): Message => ({
  id: `${body.event_id}:${body.round}:${body.attempt}`,
  body,
  ...withTrace(trace),
})

export const drainMessage = (endpoint: EndpointRef, now: number, mark?: number): Message => {
  const drain = storedEndpointId(endpoint)
  const owner = endpoint.endpoint_id === undefined ? {} : { app_id: endpoint.app_id }
  const body: DrainReminder = { drain, ...owner, ...(mark === undefined ? {} : { mark }) }
  return { id: `${drain}:drain:${now}`, body }
}

export const endpointToDrain = ({ drain, app_id }: DrainReminder): EndpointRef =>
  app_id === undefined ? { app_id: drain } : { app_id, endpoint_id: drain }

/** Sends a reminder without waiting for it: on the embedded broker, publishing ends only when the work is done, perhaps hours later. A
 *  reminder that cannot be sent is only a debug line: the broker logs its own failures, and the sweeper sends another. */
export type Remind = (message: Message) => void

export const createRemind =
  ({ broker, log }: { broker: Pick<Broker, 'publish'>; log: Logger }): Remind =>
  message =>
    void broker
      .publish('webhook.deliver', message)
      .catch(error => log.debug({ err: error, message_id: message.id, ...requestOf(message) }, 'webhook.not_reminded'))
