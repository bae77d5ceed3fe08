// What travels on `webhook.deliver`: events as they happen, and reminders of work whose truth is in the store. A reminder that is lost
// is sent again by the sweeper, one that comes twice finds the work done.
import type { Broker, Message } from '../../../infra/broker/broker.ts'
import type { Logger } from '../../../infra/log/log.ts'
import type { Mode } from '../../../machines/otp.ts'
import type { WebhookEventType } from '../../../machines/webhook-events.ts'

/** An event as it happened. */
export interface NotifyBody {
  event_id: string
  app_id: string
  company_id: string
  mode: Mode
  type: WebhookEventType
  payload: Record<string, string>
  at: number
}

/** The next attempt of one event. Anything but this very attempt of this very round is out of date. */
export interface AttemptReminder {
  event_id: string
  app_id: string
  round: number
  attempt: number
  /** When it is to be made. */
  at: number
}

/** Whatever waits for an app's endpoint. */
export interface DrainReminder {
  drain: string
  /** The endpoint's `drain_at` that asked for it: forgotten when nothing waits any more, unless it has changed by then. */
  mark?: number
}

export type WebhookBody = NotifyBody | AttemptReminder | DrainReminder

export const attemptMessage = (body: AttemptReminder): Message => ({
  id: `${body.event_id}:${body.round}:${body.attempt}`,
  body,
})

export const drainMessage = (app_id: string, now: number, mark?: number): Message => {
  const body: DrainReminder = { drain: app_id, ...(mark === undefined ? {} : { mark }) }
  return { id: `${app_id}:drain:${now}`, body }
}

/** Sends a reminder and waits for nobody: in process it would be answered when the work is done, perhaps hours from now. One that
 *  cannot be sent is no news: the broker says so itself, and the sweeper sends another. */
export type Remind = (message: Message) => void

export const createRemind =
  ({ broker, log }: { broker: Pick<Broker, 'publish'>; log: Logger }): Remind =>
  message =>
    void broker
      .publish('webhook.deliver', message)
      .catch(error => log.debug({ err: error, message_id: message.id }, 'webhook.not_reminded'))
