// Events about the deployment (`ops.*`). In: what happened, and the app whose endpoints may be told. Out: an event for each endpoint of the
// app that asks for it, sent like any other. Where none asks, nothing is stored. That an incident is told once is up to the caller.
import type { Broker } from '../../../infra/broker/broker.ts'
import { newId } from '../../../infra/ids.ts'
import { isoTime } from '../../../infra/iso-time.ts'
import type { OpsEventType } from '../../../machines/webhook-events.ts'
import { asksFor, findEndpoints, type WebhookStore } from './documents.ts'
import type { NotifyBody } from './messages.ts'

export interface OpsEvent {
  type: OpsEventType
  company_id: string
  app_id: string
  /** What it is about, such as the name of a provider. */
  subject: string
  at: number
}

/** Resolves when the event is safe with the broker, or no endpoint asks for it. */
export async function notifyOps(
  { store, broker }: { store: WebhookStore; broker: Pick<Broker, 'publish'> },
  { type, company_id, app_id, subject, at }: OpsEvent,
): Promise<void> {
  const endpoints = await findEndpoints(store.docs('webhooks'), app_id)
  if (!endpoints.some(endpoint => asksFor(endpoint, type))) return
  const event_id = newId('evt', at)
  const payload = { company_id, app_id, subject, at: isoTime(at) }
  const body: NotifyBody = { event_id, app_id, company_id, mode: 'live', type, payload, at }
  await broker.publish('webhook.deliver', { id: event_id, body })
}
