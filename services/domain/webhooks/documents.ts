// Webhooks as they are stored: the endpoints of each app with their signing secrets, and every event with the state of its delivery to one
// endpoint. docs/decisions/webhook-endpoints.md says why an event is stored once per endpoint.
import { SWEPT } from '../../../infra/partitions.ts'
import type { Docs, RevisedDoc } from '../../../infra/store/docs.ts'
import { collection, type Scatter, type StoreOf } from '../../../infra/store/store.ts'
import type { Trace } from '../../../infra/trace.ts'
import type { SavedEndpoint } from '../../../machines/endpoint.ts'
import type { Mode } from '../../../machines/otp.ts'
import { DEFAULT_EVENTS, type WebhookEventType } from '../../../machines/webhook-events.ts'

/** `current` signs both headers. `next` was created and awaits promotion, `old` was replaced: they sign only the header that lists
 *  several signatures. */
export type WebhookSecretState = 'current' | 'next' | 'old'

export interface WebhookSecret {
  id: string
  state: WebhookSecretState
  sealed: string
  created_at: number
  /** When an old secret stops signing; null for the others. */
  expires_at: number | null
}

/** The encryption context of a sealed secret. */
export const webhookSecretContext = (endpointId: string, secretId: string): string =>
  `webhook:${endpointId}:${secretId}`

export const MAX_ENDPOINTS_PER_APP = 10

/** The first endpoint of an app is stored under the app's id, and operators know it as `whk_…` too (endpoint-ids.ts): its events need no
 *  other id. Exactly one of its secrets is current, at most one is next. */
export interface WebhookEndpoint extends RevisedDoc {
  /** Absent in the first endpoint, whose `_id` it is. */
  app_id?: string
  /** From 1 to MAX_ENDPOINTS_PER_APP, unique in the app, so that concurrent requests do not add too many. Absent in the first endpoint, and
   *  once it is deleted. */
  slot?: number
  name?: string
  /** The types of events it is sent; absent: DEFAULT_EVENTS. */
  events?: WebhookEventType[]
  /** Absent: `minimal`. */
  payload?: PayloadKind
  /** Nothing is sent to it any more. The document stays until its waiting events are `unsent`. */
  deleted_at?: number
  url: string
  /** As the admin API shows it: a failing endpoint is active. */
  status: 'active' | 'paused'
  secrets: WebhookSecret[]
  /** The state of its machine; absent until it is first called (see `endpointLife` in machines/endpoint.step.ts). */
  life?: SavedEndpoint
  /** When the sweeper asks for its backlog to be drained; absent while there is no backlog. */
  drain_at?: number
  /** Retries of events that were last called before this time are due at once: the endpoint was enabled then. Absent once all are sent. */
  retry_all_before?: number
}

/** `minimal`: what the contract says. `full` has more members: full-payload.ts. */
export type PayloadKind = 'minimal' | 'full'

/** `unsent`: no endpoint of its app asked for it, or its endpoint was deleted. `pending`: it waits for its next
 *  attempt, or an attempt is under way. `held`: it waits while its endpoint is paused. `failed`: its attempts are
 *  used up; enabling the endpoint starts a new round. */
export type EventStatus = 'unsent' | 'pending' | 'held' | 'delivered' | 'failed'

/** One call of the endpoint for one event. */
export interface EventAttempt {
  round: number
  /** 1 is the first of its round. */
  attempt: number
  at: number
  /** Null when the process that made the call died before it ended. */
  ms: number | null
  /** The HTTP status; null without an answer. */
  status: number | null
  /** Why there is no answer: `timeout`, `unreachable`, `forbidden`, `lost`, `stopped`, `unsigned`, `unknown`. */
  error: string | null
  /** What is kept of the answer's body, scrubbed and sealed: services/webhook/kept-answers.ts. Null without any. */
  sealed_response: string | null
}

/** The encryption context of the answers to an event. */
export const eventAnswerContext = (eventDocId: string): string => `event:${eventDocId}:answer`

/** `overflow`: its endpoint had as many calls under way as it may have. `recovery`: its endpoint was paused, or it is to be sent again. */
export type Backlog = 'overflow' | 'recovery'

/** A webhook event as it happened, and the state of its delivery to one endpoint. An event that goes to several endpoints has a document
 *  for each (`eventDocId` in event-ids.ts). */
export interface EventDoc extends RevisedDoc {
  app_id: string
  /** The `_id` of its endpoint; absent for the first endpoint of the app, and where there was none. */
  endpoint_id?: string
  company_id: string
  mode: Mode
  type: WebhookEventType | 'webhook.test'
  /** As this endpoint receives it, in every attempt. */
  payload: Record<string, string>
  /** Its endpoint receives the metadata of the verification too. They are read for each attempt: they stand sealed in
   *  the verification alone, where an erasure finds them. */
  with_metadata?: true
  /** When their data key was first found missing. */
  unread_since?: number
  created_at: number
  purge_at: Date
  /** The trace of the request that caused it; absent where no request did, and once the person it was about is erased. */
  trace?: Trace
  status: EventStatus
  /** Sweepers share the work by it. */
  partition: number
  /** Each replay of the event, and each enabling of its endpoint, starts a new round of attempts. The first is 1. */
  round: number
  /** Attempts started in this round. */
  tries: number
  /** The latest attempts, oldest first. */
  attempts: EventAttempt[]
  /** The person it was about is erased: what its endpoint answers from now on is not kept. */
  discard_answers?: true
  /** Present while an attempt is under way. If it stays for too long, the process that made the call has died. */
  attempt_started_at?: number
  /** When the next attempt is due; absent when none is planned. */
  next_attempt_at?: number
  /** When the sweeper sends a reminder, because the event's message may have been lost. */
  due_at?: number
  /** Its `created_at`, present while it waits in its endpoint's backlog, which is sent oldest first. */
  backlog_at?: number
  backlog?: Backlog
}

const LISTS: Scatter = { asker: 'people', why: 'lists; the sweep of retention, once a minute per app' }
const BACKLOGS: Scatter = { asker: 'calls', why: 'endpoints that fail, are slow or are enabled again, by pages' }

export const WEBHOOK_COLLECTIONS = {
  webhooks: collection<WebhookEndpoint>({
    belongsTo: [{ to: 'apps', ofOwner: app_id => ({ $or: [{ _id: app_id }, { app_id }] }) }],
    indexes: [
      // Those that are deleted too, which have no slot.
      { fields: { app_id: 1, _id: 1 }, partial: { app_id: { $gt: '' } } },
      { fields: { drain_at: 1 }, partial: { drain_at: { $gt: 0 } } },
      // Those that are paused.
      { fields: { 'life.context.paused.at': 1 }, partial: { 'life.context.paused.at': { $gt: 0 } } },
      { fields: { app_id: 1, slot: 1 }, unique: true, partial: { slot: { $gt: 0 } } },
    ],
  }),
  events: collection<EventDoc>({
    belongsTo: [{ to: 'apps', ofOwner: app_id => ({ app_id }) }],
    indexes: [
      { fields: { app_id: 1, _id: -1 }, scatter: LISTS },
      { fields: { partition: 1, due_at: 1 }, partial: { due_at: { $gt: 0 } }, scatter: SWEPT },
      // By endpoint, so that a long backlog of one is not read for another.
      { fields: { app_id: 1, endpoint_id: 1, backlog_at: 1 }, partial: { backlog_at: { $gt: 0 } }, scatter: BACKLOGS },
      // Events that wait for a retry: few of all, and none while an endpoint answers.
      { fields: { app_id: 1, endpoint_id: 1, _id: 1 }, partial: { next_attempt_at: { $gt: 0 } }, scatter: BACKLOGS },
      // A list of one endpoint. Events of the first endpoint do not name it: most apps have no other, and no entry here.
      { fields: { app_id: 1, endpoint_id: 1, _id: -1 }, partial: { endpoint_id: { $gt: '' } }, scatter: LISTS },
      {
        fields: { 'payload.otp_id': 1, _id: -1 },
        scatter: { asker: 'people', why: 'timelines; erasures; the sweeper, for events that it misses' },
      },
      // Test events are kept for a shorter time than live ones.
      { fields: { app_id: 1, mode: 1, _id: -1 }, partial: { mode: 'test' }, scatter: LISTS },
      // The rare states `failed` and `held`, which the alphabet puts between `delivered` and `pending`.
      {
        fields: { app_id: 1, status: 1, _id: -1 },
        partial: { status: { $gt: 'delivered', $lt: 'pending' } },
        scatter: LISTS,
      },
    ],
    purged: true,
    sharding: {
      key: { _id: 'hashed' },
      byId: {
        asker: 'people',
        why: 'an event with its endpoints; the sweeper, when it looks for lost messages; data keys rotate',
      },
    },
  }),
}

export type WebhookStore = StoreOf<typeof WEBHOOK_COLLECTIONS>

/** Whether an endpoint is sent events of this type. Test events are made for one endpoint, which need not ask for them. */
export const asksFor = ({ events = DEFAULT_EVENTS }: AskedEvents, type: EventDoc['type']): boolean =>
  (events as readonly string[]).includes(type)

type AskedEvents = { events?: readonly WebhookEventType[] | undefined }

/** The endpoints of an app that are not deleted, the oldest first. */
export async function findEndpoints(
  webhooks: Pick<Docs<WebhookEndpoint>, 'get' | 'find'>,
  app_id: string,
): Promise<WebhookEndpoint[]> {
  const page = { sort: { slot: 1 }, limit: MAX_ENDPOINTS_PER_APP } as const
  const [first, later] = await Promise.all([webhooks.get([app_id]), webhooks.find({ app_id, slot: { $gt: 0 } }, page)])
  const inOrder = later.sort((a, b) => (a._id < b._id ? -1 : 1))
  return [...first.values(), ...inOrder].filter(({ deleted_at }) => deleted_at === undefined)
}
