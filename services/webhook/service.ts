// The webhook role. In: events and reminders from `webhook.deliver`. Out: every event stored, and each endpoint of its
// app that asks for it called until it has accepted the event. No message is held while an endpoint is called: the
// store says which calls are under way, so a slow endpoint does not delay the others.
import {
  type Broker,
  type Consumer,
  type DeliveredMessage,
  done,
  type Outcome,
  retry,
  threw,
  unreadable,
} from '../../infra/broker/broker.ts'
import type { Clock } from '../../infra/clock.ts'
import type { Config } from '../../infra/config/config.ts'
import type { Keyring } from '../../infra/crypto/keyring.ts'
import type { Service } from '../../infra/host.ts'
import type { Logger } from '../../infra/log/log.ts'
import type { Metrics } from '../../infra/metrics.ts'
import type { Outbound } from '../../infra/outbound/outbound.ts'
import { batchDocs } from '../../infra/store/batched-docs.ts'
import { withTimeout } from '../../infra/timeout.ts'
import type { Traced } from '../../infra/trace.ts'
import { Unavailable } from '../../infra/unavailable.ts'
import type { CountersignStore } from '../domain/collections.ts'
import { createTenancy } from '../domain/tenancy/tenancy.ts'
import { otpOfEvent } from '../domain/verifications/joined-ids.ts'
import { metadataToSend } from '../domain/verifications/metadata.ts'
import {
  createRemind,
  endpointToDrain,
  isWebhookMessage,
  type NotifyBody,
  type WebhookBody,
} from '../domain/webhooks/queue-messages.ts'
import { createRetrySchedule } from '../domain/webhooks/retry-waits.ts'
import { createBacklogs } from './backlogs.ts'
import { createEndpointCalls, ENDPOINT_TIMEOUT_MS } from './endpoint-call.ts'
import { createRecordResult } from './endpoint-results.ts'
import { createEndpoints } from './endpoints.ts'
import { createEventAttempts } from './event-attempts.ts'
import { createKeepAnswer } from './kept-answers.ts'
import { createAcceptEvents } from './new-events.ts'
import { createReminders, RETRY_MS } from './reminders.ts'
import { createSlots } from './slots.ts'

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

const FLOW = { prefetch: 256, batch: 64, parallel: 4 }
/** Calls under way in this process. */
const MAX_CALLS = { maxTotal: 1_000, maxPerCompany: 200 }
const MAX_CALLS_TO_FAILING = { maxTotal: 250, maxPerCompany: 50 }
/** How long calls under way when the process stops may take to end, and their results to be stored. */
const CALLS_GRACE_MS = ENDPOINT_TIMEOUT_MS + 1_000

export function createWebhookService(deps: WebhookDeps): Service {
  const { config, broker, store, keyring, outbound, clock, log, metrics, random = Math.random } = deps
  /** False while the clock of this process is wrong, and once it stops: no call is begun then, and no event judged by the clock. */
  let working = true
  const mayWork = (): boolean => working
  const [events, webhooks] = [batchDocs(store.docs('events')), store.docs('webhooks')]
  const [otps, joinedIds] = [batchDocs(store.docs('otps')), store.docs('joined_ids')]
  const tenancy = createTenancy({ store, keyring, clock })
  const retrySchedule = createRetrySchedule(config.backoff.webhook)
  const slots = { healthy: createSlots(MAX_CALLS), failing: createSlots(MAX_CALLS_TO_FAILING) }
  const endpoints = createEndpoints({ webhooks, tenancy, clock, log, metrics })
  const remind = createRemind({ broker, log })
  const recordResult = createRecordResult({ events, endpoints, retrySchedule, remind, random, clock, log, metrics })
  const keepAnswer = createKeepAnswer({ keyring, otps, joinedIds })
  const calls = createEndpointCalls({ outbound, keepAnswer, clock })
  const attempts = createEventAttempts({
    events,
    slots,
    call: calls.call,
    metadataOf: async event => {
      const otp = await otpOfEvent({ otps, joinedIds }, event)
      return otp && metadataToSend(keyring, otp)
    },
    recordResult,
    retrySchedule,
    clock,
    log,
    park: started => backlogs.park(started),
    mayWork,
  })
  const { freeSlots, whenSlotFree, attempt } = attempts
  const backlogs = createBacklogs({
    events,
    webhooks,
    endpoints,
    freeSlots,
    whenSlotFree,
    attempt,
    remind,
    mayWork,
    clock,
    log,
  })
  const acceptEvents = createAcceptEvents({
    events,
    tenancy,
    otps,
    joinedIds,
    endpoints,
    attempts,
    backlogs,
    retrySchedule,
    clock,
    log,
  })
  const reminders = createReminders({
    events,
    endpoints,
    attempts,
    backlogs,
    recordResult,
    retrySchedule,
    mayWork,
    clock,
    log,
  })

  async function handleReminder(body: Exclude<WebhookBody, NotifyBody>): Promise<Outcome> {
    if (!('drain' in body)) return reminders.handle(body)
    backlogs.drain(endpointToDrain(body), body.mark)
    return done()
  }

  async function handle(waiting: DeliveredMessage[]): Promise<Outcome[]> {
    if (!mayWork()) return waiting.map(() => retry(RETRY_MS))
    const bodies = waiting.map(({ body }) => (isWebhookMessage(body) ? body : null))
    const newEvents = bodies.flatMap((body, at) =>
      body !== null && isEvent(body) ? [{ body, trace: waiting[at]?.trace }] : [],
    )
    const accepted = acceptEvents(newEvents).values()
    const work = bodies.map(async body => {
      if (body === null) return unreadable('not an event or a reminder')
      return isEvent(body) ? (accepted.next().value as Promise<void>).then(done) : handleReminder(body)
    })
    const results = await Promise.allSettled(work)
    logErrors(waiting, results)
    return results.map(one => (one.status === 'fulfilled' ? one.value : outcomeOfError(one.reason)))
  }

  const outcomeOfError = (error: unknown): Outcome => (error instanceof Unavailable ? retry(RETRY_MS) : threw(error))

  /** One line per error, however many messages it concerns. */
  function logErrors(waiting: readonly DeliveredMessage[], results: readonly PromiseSettledResult<Outcome>[]): void {
    const errorOf = (one: PromiseSettledResult<Outcome> | undefined): unknown =>
      one?.status === 'rejected' ? one.reason : undefined
    for (const error of new Set(results.map(errorOf))) {
      if (error === undefined) continue
      const concerned = waiting.filter((_, at) => errorOf(results[at]) === error)
      const fields = { err: error, messages: concerned.length, ...requestsOf(concerned) }
      if (error instanceof Unavailable) log.warn(fields, 'events.postponed')
      else log.error(fields, 'events.not_handled')
    }
  }

  /** Leaves what waits in memory to other processes. Calls under way go on, and their results are recorded. */
  function pause(): void {
    working = false
    reminders.dropTimers()
    backlogs.handOver()
  }

  /** Stopping the consumer also waits for the calls it started. */
  const withGrace = (consumer: Consumer): Consumer => ({
    ...consumer,
    async stop(graceMs = CALLS_GRACE_MS) {
      const until = clock.now() + graceMs
      pause()
      await consumer.stop(graceMs)
      await withTimeout(clock, Math.max(0, until - clock.now()), attempts.settled())
    },
  })

  return {
    attach: async () => [withGrace(await broker.consume('webhook.deliver', handle, FLOW))],
    graceMs: CALLS_GRACE_MS,
    pause,
    /** What was left to other processes comes back as messages, if none of them has taken it. */
    resume() {
      working = true
    },
    async stop() {
      calls.stop()
      await attempts.settled()
    },
  }
}

const isEvent = (body: WebhookBody): body is NotifyBody => 'payload' in body

const MAX_LOGGED_REQUESTS = 20

/** The requests that caused these messages. */
function requestsOf(messages: readonly Traced[]): { request_ids?: string[] } {
  const ids = [...new Set(messages.flatMap(({ trace }) => trace?.request_id ?? []))]
  return ids.length === 0 ? {} : { request_ids: ids.slice(0, MAX_LOGGED_REQUESTS) }
}
