// What operators do with endpoints: enable, pause, delete and test them, and send events again. In: the endpoint or
// event. Out: changes in the store, and a reminder for the webhook actor, which sends the events. If a crash prevents
// the reminder, the sweeper sends it.
import type { Broker } from '../../../infra/broker/broker.ts'
import type { Clock } from '../../../infra/clock.ts'
import { newId } from '../../../infra/ids.ts'
import type { Logger } from '../../../infra/log/log.ts'
import { batchDocs } from '../../../infra/store/batched-docs.ts'
import { LOST, retryAfterLostRace } from '../../../infra/store/lost-race.ts'
import { changeOne, getOne } from '../../../infra/store/one-doc.ts'
import { stepEndpoint } from '../../../machines/endpoint.step.ts'
import type { EndpointEvent } from '../../../machines/endpoint.ts'
import type { CountersignStore } from '../../domain/collections.ts'
import { MIN_EVENT_RETENTION_MS } from '../../domain/retention.ts'
import { type EventDoc, findEndpoints, type WebhookEndpoint } from '../../domain/webhooks/documents.ts'
import { type EndpointRef, refOf, storedEndpointId } from '../../domain/webhooks/endpoint-ids.ts'
import { eventId } from '../../domain/webhooks/event-ids.ts'
import {
  MESSAGE_LOST_AFTER_MS,
  type NewEventFields,
  newEvent,
  purgeNotBefore,
} from '../../domain/webhooks/new-event.ts'
import { attemptMessage, createRemind, drainMessage } from '../../domain/webhooks/queue-messages.ts'
import { endpointsToReplay, findEventDocs, replayRange, replayTo } from './event-replay.ts'

export interface WebhookControlDeps {
  store: CountersignStore
  broker: Pick<Broker, 'publish'>
  clock: Clock
  log: Logger
}

export interface WebhookControl {
  /** Everything that waits is sent, oldest first: events that were held, and those in retry. In: the endpoint's `_id`. Resolves with the
   *  endpoint as it is afterwards; null when there is none. */
  enable(_id: string): Promise<WebhookEndpoint | null>
  /** Everything that waits is held. Resolves as `enable` does. */
  pause(_id: string): Promise<WebhookEndpoint | null>
  /** What waits is not sent any more. Null after a lost race. */
  remove(endpoint: WebhookEndpoint): Promise<true | null>
  /** Sends one event again, in a new round of attempts; while its endpoint is paused the event is held. In: the event's id without `test_`,
   *  and one endpoint where only that is meant. False when there is no such event or no endpoint to send it to. */
  replay(event_id: string, only?: WebhookEndpoint): Promise<boolean>
  /** Sends again the events from `since` (inclusive) to `until` (exclusive), in epoch milliseconds, oldest first. Resolves with how many
   *  they are. */
  replayRange(app_id: string, range: { since: number; until: number }, only?: WebhookEndpoint): Promise<number>
  /** Sends a new event of type `webhook.test` like any other. Resolves with its id; null when there is no such endpoint. */
  test(tenant: EndpointRef & { company_id: string }): Promise<string | null>
}

/** Longer than any process caches an endpoint: until then a process may hold events because it takes the endpoint for paused, or plan
 *  their attempts because it takes it for active. */
const LATE_EVENTS_MS = 10_000

export function createWebhookControl({ store, broker, clock, log }: WebhookControlDeps): WebhookControl {
  const [webhooks, events] = [store.docs('webhooks'), batchDocs(store.docs('events'))]
  const replayDeps = { events, otps: store.docs('otps'), joinedIds: store.docs('joined_ids') }
  const remind = createRemind({ broker, log })

  async function endpointWith(_id: string): Promise<WebhookEndpoint | null> {
    const found = await getOne(webhooks, _id)
    return found && found.deleted_at === undefined ? found : null
  }

  const applyEvent = (_id: string, event: EndpointEvent): Promise<WebhookEndpoint | null> =>
    retryAfterLostRace<WebhookEndpoint | null>('an endpoint', async () => {
      const endpoint = await endpointWith(_id)
      if (!endpoint) return null
      const { status, life, changed } = stepEndpoint(endpoint, [event])
      if (!changed) return endpoint
      const drain = {
        drain_at: event.at + LATE_EVENTS_MS,
        ...(status === 'active' ? { retry_all_before: event.at } : {}),
      }
      return (await changeOne(webhooks, { _id, rev: endpoint.rev, update: { $set: { status, life, ...drain } } }))
        ? { ...endpoint, status, life, ...drain, rev: endpoint.rev + 1 }
        : LOST
    })

  /** The webhook actor then sends what waits, or holds it. */
  async function change(_id: string, type: 'endpoint.enable' | 'endpoint.pause'): Promise<WebhookEndpoint | null> {
    const at = clock.now()
    const endpoint = await applyEvent(_id, { type, at })
    if (endpoint) remind(drainMessage(refOf(endpoint), at))
    return endpoint
  }

  /** `drain_at` is saved first: if the reminder is lost, the sweeper sends another. */
  async function drain(endpoint: WebhookEndpoint): Promise<void> {
    const now = clock.now()
    await webhooks.modify({ _id: endpoint._id }, { $max: { drain_at: now + LATE_EVENTS_MS } })
    remind(drainMessage(refOf(endpoint), now))
  }

  /** Its next attempt is the first of a new round, and due now. */
  const replayNow = (now: number) => (found: EventDoc) => ({
    $set: {
      status: 'pending',
      round: found.round + 1,
      tries: 0,
      ...replayFields(found, now),
      next_attempt_at: now,
      due_at: now + MESSAGE_LOST_AFTER_MS,
    },
    $unset: { attempt_started_at: true, backlog_at: true, backlog: true } as const,
  })

  return {
    enable: _id => change(_id, 'endpoint.enable'),
    pause: _id => change(_id, 'endpoint.pause'),

    async remove(endpoint) {
      const { _id, rev } = endpoint
      const now = clock.now()
      const update = { $set: { deleted_at: now, drain_at: now }, $unset: { slot: true } } as const
      if (!(await changeOne(webhooks, { _id, rev, update }))) return null
      remind(drainMessage(refOf(endpoint), now))
      return true
    },

    async replay(event_id, only) {
      const now = clock.now()
      const docs = await findEventDocs(events, event_id)
      const [first] = docs
      if (!first) return false
      const endpoints = endpointsToReplay(docs, await findEndpoints(webhooks, first.app_id), only)
      const replayed = await Promise.all(endpoints.map(one => replayTo(replayDeps, docs, one, replayNow(now))))
      for (const event of replayed)
        if (event) {
          const { _id, app_id, round } = event
          remind(attemptMessage({ event_id: _id, app_id, round, attempt: 1, at: now }))
        }
      return replayed.some(event => event !== null)
    },

    async replayRange(app_id, range, only) {
      const all = await findEndpoints(webhooks, app_id)
      const { count, endpoints } = await replayRange(
        replayDeps,
        { app_id, ...range },
        docs => endpointsToReplay(docs, all, only),
        found => replayFields(found, clock.now()),
      )
      for (const endpoint of endpoints) await drain(endpoint)
      return count
    },

    async test({ company_id, ...ref }) {
      if (!(await endpointWith(storedEndpointId(ref)))) return null
      const { app_id } = ref
      const now = clock.now()
      const fields: NewEventFields = {
        _id: newId('evt', now),
        app_id,
        company_id,
        // It says nothing about a person, so receivers must not act on it as on a live event.
        mode: 'test',
        type: 'webhook.test',
        payload: { app_id },
        created_at: now,
        purge_at: new Date(now + MIN_EVENT_RETENTION_MS),
      }
      const event = newEvent(fields, 'pending', ref)
      await events.insert([{ ...event, next_attempt_at: now, due_at: now + MESSAGE_LOST_AFTER_MS }])
      remind(attemptMessage({ event_id: event._id, app_id, round: 1, attempt: 1, at: now }))
      return eventId(fields)
    },
  }
}

/** An event that is sent again is kept at least as long as a new event. */
const replayFields = (event: EventDoc, now: number) => ({
  purge_at: purgeNotBefore(event, now + MIN_EVENT_RETENTION_MS),
})
