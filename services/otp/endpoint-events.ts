// Which events the endpoints of an app ask for, cached for a few seconds. In: an app and a type of event. Out: whether any endpoint does.
import { createCache } from '../../infra/cache.ts'
import type { Clock } from '../../infra/clock.ts'
import type { Docs } from '../../infra/store/docs.ts'
import type { WebhookEventType } from '../../machines/webhook-events.ts'
import { TENANT_CACHE } from '../domain/tenancy/tenancy.ts'
import { asksFor, findEndpoints, type WebhookEndpoint } from '../domain/webhooks/documents.ts'

export type IsAskedFor = (app_id: string, type: WebhookEventType) => Promise<boolean>

export function createIsAskedFor(webhooks: Pick<Docs<WebhookEndpoint>, 'get' | 'find'>, clock: Clock): IsAskedFor {
  const endpoints = createCache((app_id: string) => findEndpoints(webhooks, app_id), { ...TENANT_CACHE, clock })
  return async (app_id, type) => (await endpoints.get(app_id)).some(endpoint => asksFor(endpoint, type))
}
