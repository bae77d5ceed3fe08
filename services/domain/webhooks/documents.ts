// What is stored of webhooks: the endpoint of each app with its signing secrets, and every event with what became of it.
import type { RevisedDoc } from '../../../infra/store/docs.ts'
import { collection, type StoreOf } from '../../../infra/store/store.ts'
import type { SavedEndpoint } from '../../../machines/endpoint.ts'
import type { Mode, WebhookEvent } from '../../../machines/otp.ts'

/** `current` signs both headers. `next` was created and awaits promotion, `old` was replaced: they sign the list header only. */
export type WebhookSecretState = 'current' | 'next' | 'old'

export interface WebhookSecret {
  id: string
  state: WebhookSecretState
  sealed: string
  created_at: number
  /** When an old one stops signing; null for the others. */
  expires_at: number | null
}

/** What a sealed secret is bound to. */
export const webhookSecretContext = (appId: string, secretId: string): string => `webhook:${appId}:${secretId}`

/** Its `_id` is the app's. Exactly one of its secrets is current, at most one is next. */
export interface WebhookEndpoint extends RevisedDoc {
  url: string
  /** As the admin API shows it: a failing one is active. */
  status: 'active' | 'paused'
  secrets: WebhookSecret[]
  /** Its machine; absent until it is first called: `endpointLife` of machines/endpoint.step.ts. */
  life?: SavedEndpoint
  /** When the sweeper should have its backlog looked at; absent while there is none. */
  drain_at?: number
}

/** `unsent`: its app had no endpoint. `pending`: waits for its next attempt, or is under way. `held`: kept while its endpoint is
 *  paused. `failed`: used up its attempts; enabling the endpoint starts them afresh. */
export type EventStatus = 'unsent' | 'pending' | 'held' | 'delivered' | 'failed'

/** One call of the endpoint for one event. */
export interface EventAttempt {
  round: number
  /** 1 is the first of its round. */
  attempt: number
  at: number
  /** Null when nobody saw it end. */
  ms: number | null
  /** The HTTP status; null without an answer. */
  status: number | null
  /** What went wrong where there was no answer: `timeout`, `unreachable`, `forbidden`, `lost`, `unknown`. */
  error: string | null
  /** The beginning of the answer's body, 2 KB at most. */
  response: string | null
}

/** `overflow`: its endpoint had as many calls under way as it may. `kept`: its endpoint was paused, or it is to be sent again. */
export type Backlog = 'overflow' | 'kept'

/** A webhook event as it happened, and what became of it. Events recorded before they were delivered lack what is optional here:
 *  read them through `eventState` of services/domain/webhooks/events.ts. */
export interface EventDoc extends RevisedDoc {
  app_id: string
  company_id: string
  mode: Mode
  type: WebhookEvent | 'webhook.test'
  payload: Record<string, string>
  created_at: number
  purge_at: Date
  status?: EventStatus
  /** Sweepers share the work by it. */
  partition?: number
  /** Replaying and enabling start attempts afresh: a round each. */
  round?: number
  /** Attempts begun in this round. */
  tries?: number
  /** The latest, oldest first. */
  attempts?: EventAttempt[]
  /** Whom it was about is erased: what its endpoint answers is not kept. */
  hushed?: true
  /** Since when a call is under way. Found past its time, nobody knows how it ended. */
  claimed_at?: number
  /** When it is to be tried again; absent when nothing is to come. */
  next_attempt_at?: number
  /** When the sweeper should look after it: its message may have been lost. */
  due_at?: number
  /** Present while it waits for its endpoint, oldest first: its `created_at`. */
  backlog_at?: number
  backlog?: Backlog
}

export const WEBHOOK_COLLECTIONS = {
  webhooks: collection<WebhookEndpoint>({
    indexes: [{ fields: { drain_at: 1 }, partial: { drain_at: { $gt: 0 } } }],
  }),
  events: collection<EventDoc>({
    indexes: [
      { fields: { app_id: 1, _id: -1 } },
      { fields: { partition: 1, due_at: 1 }, partial: { due_at: { $gt: 0 } } },
      { fields: { app_id: 1, backlog_at: 1 }, partial: { backlog_at: { $gt: 0 } } },
      { fields: { 'payload.otp_id': 1, _id: -1 } },
      // Of all states the two that are between in the alphabet, and rare: `failed` and `held`.
      { fields: { app_id: 1, status: 1, _id: -1 }, partial: { status: { $gt: 'delivered', $lt: 'pending' } } },
    ],
    purged: true,
  }),
}

export type WebhookStore = StoreOf<typeof WEBHOOK_COLLECTIONS>
