// The webhook role. In: what happened, from `webhook.deliver`. Out: every event is kept, and its app's endpoint is called until it has
// taken it. No message is held while an endpoint is called: the store says what is under way, so a slow one keeps nobody waiting.
import {
  type Broker,
  type Consumer,
  type DeliveredMessage,
  dead,
  done,
  type Outcome,
  retry,
} from '../../infra/broker/broker.ts'
import type { Clock } from '../../infra/clock.ts'
import type { Config } from '../../infra/config/config.ts'
import type { Keyring } from '../../infra/crypto/keyring.ts'
import type { Service } from '../../infra/host.ts'
import type { Logger } from '../../infra/log/log.ts'
import type { Metrics } from '../../infra/metrics.ts'
import type { Outbound } from '../../infra/outbound/outbound.ts'
import { batchDocs } from '../../infra/store/batched-docs.ts'
import { Unavailable } from '../../infra/unavailable.ts'
import type { CountersignStore } from '../domain/collections.ts'
import { createTenancy } from '../domain/tenancy/tenancy.ts'
import type { NotifyBody } from '../domain/webhooks/messages.ts'
import { createRemind, type WebhookBody } from '../domain/webhooks/messages.ts'
import { createRetrySchedule as ladderOf } from '../domain/webhooks/retry-schedule.ts'
import { createAttempts } from './attempts.ts'
import { createBacklogs as backlogsOf } from './backlogs.ts'
import { createCalls } from './call.ts'
import { createRecordResult } from './call-results.ts'
import { createEndpoints as endpointsOf } from './endpoints.ts'
import { createAcceptEvents } from './new-events.ts'
import { createReminders as remindersOf } from './reminders.ts'
import { createSlots as slotsOf } from './slots.ts'

export interface WebhookDeps {
  config: Pick<Config, 'backoff'>
  broker: Broker
  store: CountersignStore
  keyring: Keyring
  outbound: Outbound
  clock: Clock
  log: Logger
  metrics: Metrics
  /** From 0 to below 1. */
  random?(): number
}

/** What waits is recorded together. */
const FLOW = { prefetch: 256, batch: 64, parallel: 4 }
/** Until the store may be back. */
const RETRY_MS = 1_000
/** Calls under way in this process, whoever's they are. */
const MAX_CALLS = { maxTotal: 1_000, maxPerCompany: 200 }
const MAX_CALLS_TO_FAILING = { maxTotal: 250, maxPerCompany: 50 }
/** For calls under way when the process stops: others have work to finish as well. */
const CALLS_GRACE_MS = 1_000

export function createWebhookService(deps: WebhookDeps): Service {
  const { config, broker, store, keyring, outbound, clock, log, metrics, random = Math.random } = deps
  const [events, webhooks] = [batchDocs(store.docs('events')), store.docs('webhooks')]
  const tenants = createTenancy({ store, keyring })
  const retrySchedule = ladderOf(config.backoff.webhook)
  const slots = { healthy: slotsOf(MAX_CALLS), failing: slotsOf(MAX_CALLS_TO_FAILING) }
  const endpoints = endpointsOf({ webhooks, tenancy: tenants, clock, log, metrics })
  const remind = createRemind({ broker, log })
  const recordResult = createRecordResult({ events, endpoints, retrySchedule, remind, random, clock, log, metrics })
  const calls = createCalls({ outbound, clock })
  const attempts = createAttempts({
    events,
    endpoints,
    slots,
    call: calls.call,
    recordResult,
    retrySchedule,
    clock,
    log,
    hasBacklog: app_id => backlogs.isDraining(app_id),
    park: started => backlogs.park(started),
  })
  const { freeSlots, whenSlotFree, attempt } = attempts
  const backlogs = backlogsOf({ events, webhooks, endpoints, freeSlots, whenSlotFree, attempt, clock, log })
  const acceptEvents = createAcceptEvents({
    events,
    tenancy: tenants,
    endpoints,
    attempts,
    backlogs,
    retrySchedule,
    clock,
    log,
  })
  const reminders = remindersOf({ events, endpoints, attempts, backlogs, recordResult, retrySchedule, clock, log })

  async function handleReminder(body: Exclude<WebhookBody, NotifyBody>): Promise<Outcome> {
    if (!('drain' in body)) return reminders.handle(body)
    backlogs.drain(body.drain, body.mark)
    return done()
  }

  async function handle(waiting: DeliveredMessage[]): Promise<Outcome[]> {
    const bodies = waiting.map(({ body }) => body as WebhookBody)
    const newEvents = bodies.filter(isEvent)
    const accepted = acceptEvents(newEvents).values()
    const work = bodies.map(body =>
      isEvent(body) ? (accepted.next().value as Promise<void>).then(done) : handleReminder(body),
    )
    const results = await Promise.allSettled(work)
    logErrors(results.flatMap(one => (one.status === 'rejected' ? [one.reason] : [])))
    return results.map(one => (one.status === 'fulfilled' ? one.value : outcomeOfError(one.reason)))
  }

  /** One message's trouble is not that of those it came with. */
  const outcomeOfError = (error: unknown): Outcome =>
    error instanceof Unavailable ? retry(RETRY_MS) : dead(String(error))

  /** What befell many together is one line. */
  function logErrors(errors: readonly unknown[]): void {
    for (const error of new Set(errors)) {
      const fields = { err: error, messages: errors.filter(one => one === error).length }
      if (error instanceof Unavailable) log.warn(fields, 'events.postponed')
      else log.error(fields, 'events.not_handled')
    }
  }

  /** What it began is waited for as well, for a moment. */
  const withGrace = (consumer: Consumer): Consumer => ({
    ...consumer,
    async stop(graceMs = CALLS_GRACE_MS) {
      reminders.stop()
      backlogs.stop()
      await consumer.stop(graceMs)
      attempts.stop()
      let cancel = (): void => {}
      const graceOver = new Promise<void>(resolve => {
        cancel = clock.after(Math.min(graceMs, CALLS_GRACE_MS), resolve)
      })
      await Promise.race([attempts.settled(), graceOver])
      cancel()
    },
  })

  return {
    attach: async () => [withGrace(await broker.consume('webhook.deliver', handle, FLOW))],
    async stop() {
      calls.stop()
      await attempts.settled()
    },
  }
}

const isEvent = (body: WebhookBody): body is NotifyBody => 'payload' in body
