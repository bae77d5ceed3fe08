// Events about the deployment (`ops.*`). In: a notice, and the apps whose endpoints may be told. Out: an event for each endpoint of these
// apps that asks for it, sent like any other. Where none asks, nothing is stored.
import { createHash } from 'node:crypto'
import type { Broker } from '../../../infra/broker/broker.ts'
import { newId } from '../../../infra/ids.ts'
import { isoTime } from '../../../infra/iso-time.ts'
import type { OpsEventType } from '../../../machines/webhook-events.ts'
import { asksFor, findEndpoints, type WebhookStore } from './documents.ts'
import type { NotifyBody } from './queue-messages.ts'

export interface OpsEvent {
  /** The id of the notice. */
  _id: string
  type: OpsEventType
  company_id: string
  /** Absent where it is about the company. */
  app_id?: string
  /** What it is about, such as the name of a provider. */
  subject: string
  at: number
}

/** What endpoints receive. */
export interface OpsPayload {
  company_id: string
  app_id?: string
  subject: string
  at: string
}

/** Resolves when the events are safe with the broker. Of a notice that comes again, because a process died, the events
 *  have the same ids, and are stored once. */
export async function notifyOps(
  { store, broker }: { store: WebhookStore; broker: Pick<Broker, 'publish'> },
  { _id, type, company_id, app_id: about, subject, at }: OpsEvent,
  appIds: AsyncIterable<string> | Iterable<string>,
): Promise<void> {
  const payload: OpsPayload = {
    company_id,
    ...(about === undefined ? {} : { app_id: about }),
    subject,
    at: isoTime(at),
  }
  for await (const app_id of appIds) {
    const endpoints = await findEndpoints(store.docs('webhooks'), app_id)
    if (!endpoints.some(endpoint => asksFor(endpoint, type))) continue
    const event_id = opsEventId(_id, app_id, at)
    const body: NotifyBody = { event_id, app_id, company_id, mode: 'live', type, payload: { ...payload }, at }
    await broker.publish('webhook.deliver', { id: event_id, body })
  }
}

const opsEventId = (notice_id: string, app_id: string, at: number): string =>
  newId('evt', at, size => createHash('sha256').update(`${notice_id}:${app_id}`).digest().subarray(0, size))
