// What operators do with an app's webhook: enable, pause and test it, and send events again. In: the app or event. Out: changes in the
// store, and a reminder for the webhook actor, which sends the events. If a crash prevents the reminder, the sweeper sends it.
import type { Broker } from '../../../infra/broker/broker.ts'
import type { Clock } from '../../../infra/clock.ts'
import { newId } from '../../../infra/ids.ts'
import type { Logger } from '../../../infra/log/log.ts'
import { batchDocs } from '../../../infra/store/batched-docs.ts'
import { type StepEndpoint, stepEndpoint } from '../../../machines/endpoint.step.ts'
import type { EndpointEvent } from '../../../machines/endpoint.ts'
import type { CountersignStore } from '../../domain/collections.ts'
import { MIN_EVENT_RETENTION_MS } from '../../domain/retention.ts'
import type { EventDoc, WebhookEndpoint } from '../../domain/webhooks/documents.ts'
import { eventId } from '../../domain/webhooks/event-ids.ts'
import { attemptMessage, createRemind, drainMessage } from '../../domain/webhooks/messages.ts'
import {
  MESSAGE_LOST_AFTER_MS,
  type NewEventFields,
  newEvent,
  purgeNotBefore,
} from '../../domain/webhooks/new-event.ts'
import { replayEvent, replayRange } from './event-replay.ts'

export interface WebhookControlDeps {
  store: CountersignStore
  broker: Pick<Broker, 'publish'>
  clock: Clock
  log: Logger
  step?: StepEndpoint
}

export interface WebhookControl {
  /** Everything that waits is sent, oldest first: events that were held, and those in retry. Resolves with the endpoint as it is afterwards; null when the app has none. */
  enable(app_id: string): Promise<WebhookEndpoint | null>
  /** Everything that waits is held. Resolves as `enable` does. */
  pause(app_id: string): Promise<WebhookEndpoint | null>
  /** Sends one event again, in a new round of attempts; while its endpoint is paused the event is held. In: the id it is stored under.
   *  False when there is no such event or no endpoint. */
  replay(stored_id: string): Promise<boolean>
  /** Sends again the events from `since` (inclusive) to `until` (exclusive), in epoch milliseconds, oldest first. Resolves with how many
   *  they are. */
  replayRange(app_id: string, range: { since: number; until: number }): Promise<number>
  /** Sends a new event of type `webhook.test` like any other. Resolves with its id; null when the app has no endpoint. */
  test(app: { app_id: string; company_id: string }): Promise<string | null>
}

const MAX_TRIES_AFTER_LOST_RACE = 20
/** Longer than any process caches an endpoint: until then a process may hold events because it takes the endpoint for paused, or plan
 *  their attempts because it takes it for active. */
const LATE_EVENTS_MS = 10_000

export function createWebhookControl({
  store,
  broker,
  clock,
  log,
  step = stepEndpoint,
}: WebhookControlDeps): WebhookControl {
  const [webhooks, events] = [store.docs('webhooks'), batchDocs(store.docs('events'))]
  const remind = createRemind({ broker, log })
  const endpointOf = async (app_id: string) => (await webhooks.get([app_id])).get(app_id) ?? null

  async function applyEvent(app_id: string, event: EndpointEvent): Promise<WebhookEndpoint | null> {
    for (let race = 0; race < MAX_TRIES_AFTER_LOST_RACE; race += 1) {
      const endpoint = await endpointOf(app_id)
      if (!endpoint) return null
      const { status, life, changed } = step(endpoint, [event])
      if (!changed) return endpoint
      const drain = {
        drain_at: event.at + LATE_EVENTS_MS,
        ...(status === 'active' ? { retry_all_before: event.at } : {}),
      }
      const [answer] = await webhooks.change([
        { _id: app_id, rev: endpoint.rev, update: { $set: { status, life, ...drain } } },
      ])
      if (answer === 'won') return { ...endpoint, status, life, ...drain, rev: endpoint.rev + 1 }
    }
    throw new Error(
      `the endpoint of ${app_id} was changed by another process ${MAX_TRIES_AFTER_LOST_RACE} times in a row`,
    )
  }

  /** The webhook actor then sends what waits, or holds it. */
  async function change(app_id: string, type: 'endpoint.enable' | 'endpoint.pause'): Promise<WebhookEndpoint | null> {
    const at = clock.now()
    const endpoint = await applyEvent(app_id, { type, at })
    if (endpoint) remind(drainMessage(app_id, at))
    return endpoint
  }

  /** `drain_at` is saved first: if the reminder is lost, the sweeper sends another. */
  async function drain(app_id: string): Promise<void> {
    const now = clock.now()
    await webhooks.modify({ _id: app_id }, { $max: { drain_at: now + LATE_EVENTS_MS } })
    remind(drainMessage(app_id, now))
  }

  return {
    enable: app_id => change(app_id, 'endpoint.enable'),
    pause: app_id => change(app_id, 'endpoint.pause'),

    async replay(event_id) {
      const now = clock.now()
      const requested = (await events.get([event_id])).get(event_id)
      if (!requested || !(await endpointOf(requested.app_id))) return false
      const event = await replayEvent(events, event_id, found => ({
        $set: {
          status: 'pending',
          round: found.round + 1,
          tries: 0,
          ...replayFields(found, now),
          next_attempt_at: now,
          due_at: now + MESSAGE_LOST_AFTER_MS,
        },
        $unset: { attempt_started_at: true, backlog_at: true, backlog: true },
      }))
      if (!event) return false
      const { app_id, round } = event
      remind(attemptMessage({ event_id, app_id, round, attempt: 1, at: now }))
      return true
    },

    async replayRange(app_id, range) {
      if (!(await endpointOf(app_id))) return 0
      const count = await replayRange(events, app_id, range, found => replayFields(found, clock.now()))
      if (count > 0) await drain(app_id)
      return count
    },

    async test({ app_id, company_id }) {
      if (!(await endpointOf(app_id))) return null
      const now = clock.now()
      const event_id = newId('evt', now)
      const fields: NewEventFields = {
        _id: event_id,
        app_id,
        company_id,
        // It says nothing about a person, so receivers must not act on it as on a live event.
        mode: 'test',
        type: 'webhook.test',
        payload: { app_id },
        created_at: now,
        purge_at: new Date(now + MIN_EVENT_RETENTION_MS),
      }
      const due = { next_attempt_at: now, due_at: now + MESSAGE_LOST_AFTER_MS }
      await events.insert([{ ...newEvent(fields, 'pending'), ...due }])
      remind(attemptMessage({ event_id, app_id, round: 1, attempt: 1, at: now }))
      return eventId(fields)
    },
  }
}

/** An event that is sent again is kept at least as long as a new event. */
const replayFields = (event: EventDoc, now: number) => ({
  purge_at: purgeNotBefore(event, now + MIN_EVENT_RETENTION_MS),
})
