// What people do to an app's webhook: enable it again, send events again, try it out. In: the wish. Out: changes in the store, and a
// reminder for the webhook actor, which does the sending. A crash in between leaves what the sweeper repairs.

import type { Broker } from '../../infra/broker/broker.ts'
import type { Clock } from '../../infra/clock.ts'
import { newId } from '../../infra/ids.ts'
import type { Logger } from '../../infra/log/log.ts'
import { batchDocs } from '../../infra/store/batched-docs.ts'
import type { StepEndpoint } from '../../machines/endpoint.step.ts'
import type { EndpointEvent } from '../../machines/endpoint.ts'
import type { CountersignStore } from '../domain/collections.ts'
import { MIN_EVENT_RETENTION_MS } from '../domain/retention.ts'
import type { EventDoc, WebhookEndpoint } from '../domain/webhooks/documents.ts'
import { eventState, MESSAGE_LOST_AFTER_MS, type NewEventFields, newEvent } from '../domain/webhooks/events.ts'
import { attemptMessage, createRemind, drainMessage } from '../domain/webhooks/messages.ts'
import { replayEvent, replayRange } from './event-replay.ts'

export interface ControlDeps {
  store: CountersignStore
  broker: Pick<Broker, 'publish'>
  clock: Clock
  log: Logger
  /** `stepEndpoint` of machines/endpoint.step.ts. */
  step: StepEndpoint
}

export interface WebhookControl {
  /** What was kept meanwhile is sent, oldest first. Answers the endpoint as it then is; null when the app has none. */
  enable(app_id: string): Promise<WebhookEndpoint | null>
  pause(app_id: string): Promise<WebhookEndpoint | null>
  /** Sends one event again, its attempts afresh; kept until it is enabled, when the endpoint is paused. False when it, or its
   *  endpoint, is not there. */
  replay(event_id: string): Promise<boolean>
  /** Sends again what happened from `since` to before `until`, epoch milliseconds, oldest first. Answers how many. */
  replayRange(app_id: string, range: { since: number; until: number }): Promise<number>
  /** Makes an event of type `webhook.test` and sends it like any other. Answers its id; null when the app has no endpoint. */
  test(app: { app_id: string; company_id: string }): Promise<string | null>
}

const MAX_RACES = 20
/** Past what any process remembers of an endpoint: what one that took it for paused has put aside by then is found. */
const LATE_EVENTS_MS = 10_000

export function createWebhookControl({ store, broker, clock, log, step }: ControlDeps): WebhookControl {
  const [webhooks, events] = [store.docs('webhooks'), batchDocs(store.docs('events'))]
  const remind = createRemind({ broker, log })
  const endpointOf = async (app_id: string) => (await webhooks.get([app_id])).get(app_id) ?? null

  async function applyEvent(app_id: string, event: EndpointEvent): Promise<WebhookEndpoint | null> {
    for (let race = 0; race < MAX_RACES; race += 1) {
      const endpoint = await endpointOf(app_id)
      if (!endpoint) return null
      const { status, life, changed } = step(endpoint, [event])
      if (!changed) return endpoint
      const drain = status === 'active' ? { drain_at: event.at + LATE_EVENTS_MS } : {}
      const [answer] = await webhooks.change([
        { _id: app_id, rev: endpoint.rev, update: { $set: { status, life, ...drain } } },
      ])
      if (answer === 'won') return { ...endpoint, status, life, ...drain, rev: endpoint.rev + 1 }
    }
    throw new Error(`the endpoint of ${app_id} keeps changing under our hands`)
  }

  /** A mark in the store first: should the reminder be lost, the sweeper sends another. */
  async function drain(app_id: string): Promise<void> {
    const now = clock.now()
    await webhooks.modify({ _id: app_id }, { $max: { drain_at: now + LATE_EVENTS_MS } })
    remind(drainMessage(app_id, now))
  }

  return {
    async enable(app_id) {
      const now = clock.now()
      const endpoint = await applyEvent(app_id, { type: 'endpoint.enable', at: now })
      if (endpoint) remind(drainMessage(app_id, now))
      return endpoint
    },

    pause: app_id => applyEvent(app_id, { type: 'endpoint.pause', at: clock.now() }),

    async replay(event_id) {
      const now = clock.now()
      const requested = (await events.get([event_id])).get(event_id)
      if (!requested || !(await endpointOf(requested.app_id))) return false
      const event = await replayEvent(events, event_id, found => ({
        $set: {
          status: 'pending',
          round: eventState(found).round + 1,
          tries: 0,
          ...replayFields(found, now),
          next_attempt_at: now,
          due_at: now + MESSAGE_LOST_AFTER_MS,
        },
        $unset: { claimed_at: true, backlog_at: true, backlog: true },
      }))
      if (!event) return false
      const { round } = eventState(event)
      remind(attemptMessage({ event_id, app_id: event.app_id, round, attempt: 1, at: now }))
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
      const happened: NewEventFields = {
        _id: event_id,
        app_id,
        company_id,
        mode: 'test',
        type: 'webhook.test',
        payload: { app_id },
        created_at: now,
        purge_at: new Date(now + MIN_EVENT_RETENTION_MS),
      }
      const due = { next_attempt_at: now, due_at: now + MESSAGE_LOST_AFTER_MS }
      await events.insert([{ ...newEvent(happened, 'pending'), ...due }])
      remind(attemptMessage({ event_id, app_id, round: 1, attempt: 1, at: now }))
      return event_id
    },
  }
}

/** What every event needs that is to be sent again: those from before events were delivered lack it. */
const replayFields = (event: EventDoc, now: number) => {
  const { partition, attempts } = newEvent(event, 'pending')
  const purge_at =
    event.purge_at.getTime() < now + MIN_EVENT_RETENTION_MS ? { purge_at: new Date(now + MIN_EVENT_RETENTION_MS) } : {}
  return { partition, ...(event.attempts ? {} : { attempts }), ...purge_at }
}
