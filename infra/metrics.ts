// Every metric in one table. Each call makes a registry of its own, so that two systems in one process do not mix their numbers.
// A label takes few values and never an id, a recipient or a path that holds one: Prometheus keeps a series for each value.
import {
  Counter,
  type CounterConfiguration,
  collectDefaultMetrics,
  Gauge,
  type GaugeConfiguration,
  Histogram,
  type HistogramConfiguration,
  Registry,
} from 'prom-client'
import type { Reading } from './reading.ts'

// Every bucket is a series for each set of labels, so there are few. What is worth knowing apart has a counter of its own.
/** In seconds: from a read of the store to a call that runs into its timeout. */
const CALL_BUCKETS = [0.005, 0.025, 0.1, 0.5, 2.5, 10]
/** In seconds: a message may wait while its consumer is being deployed. */
const WAIT_BUCKETS = [0.025, 0.1, 0.5, 5, 60, 600]
/** In seconds: a code that waits for longer than a minute is of little use, and how much longer says how much is missing. */
const DELIVERY_WAIT_BUCKETS = [0.1, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160, 320]
/** In seconds: how long a person waits for a message, and takes to enter its code. */
const USER_BUCKETS = [2.5, 5, 10, 20, 30, 60, 120, 300, 900]

/** How often the lag of the event loop is sampled. With Node's default of 10 ms this wakes an idle process a hundred times a second, which
 *  is most of what the process costs then. The interval is part of the values (`nodejs_eventloop_lag_min_seconds` to `_p99_seconds`). */
const EVENT_LOOP_SAMPLE_MS = 40

/** Gauges of prom-client that end like counters. The gauges by type have the same numbers. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total']

const createInstruments = (registry: Registry) => {
  const registers = [registry]
  const counter = <Label extends string>(options: CounterConfiguration<Label>) => new Counter({ ...options, registers })
  const gauge = <Label extends string>(options: GaugeConfiguration<Label>) => new Gauge({ ...options, registers })
  const histogram = <Label extends string>(options: HistogramConfiguration<Label>) =>
    new Histogram({ ...options, registers })
  return {
    httpRequestDuration: histogram({
      name: 'countersign_http_request_duration_seconds',
      help: 'Time from a request to its answer.',
      labelNames: ['method', 'route'],
      buckets: CALL_BUCKETS,
    }),
    httpRequests: counter({
      name: 'countersign_http_requests_total',
      help: 'Requests by the status of their answers.',
      labelNames: ['method', 'route', 'status'],
    }),
    brokerMessages: counter({
      name: 'countersign_broker_messages_total',
      help: 'Messages by what became of them: published, unroutable, unavailable or failed at the sender; done, retry, dead, answered or threw at the handler.',
      labelNames: ['queue', 'outcome'],
    }),
    brokerWait: histogram({
      name: 'countersign_broker_wait_seconds',
      help: 'Time from publishing a message to its first delivery.',
      labelNames: ['queue'],
      buckets: WAIT_BUCKETS,
    }),
    brokerHandle: histogram({
      name: 'countersign_broker_handle_seconds',
      help: 'Time a handler took for the messages it was given together.',
      labelNames: ['queue'],
      buckets: CALL_BUCKETS,
    }),
    brokerState: gauge({
      name: 'countersign_broker_state',
      help: '1 for the state the broker is in, 0 for the others.',
      labelNames: ['state'],
    }),
    callDuration: histogram({
      name: 'countersign_call_duration_seconds',
      help: 'Time from a call to its answer, as the caller sees it.',
      labelNames: ['queue'],
      buckets: CALL_BUCKETS,
    }),
    calls: counter({
      name: 'countersign_calls_total',
      help: 'Calls by outcome, as the caller sees it: answered, timeout, failed or unavailable.',
      labelNames: ['queue', 'outcome'],
    }),
    queueReady: gauge({
      name: 'countersign_queue_ready',
      help: 'Messages waiting for a consumer. Missing while the broker cannot say.',
      labelNames: ['queue'],
    }),
    queueOldest: gauge({
      name: 'countersign_queue_oldest_seconds',
      help: 'How long the message that a consumer of this process takes next has waited at most; 0 while none waits.',
      labelNames: ['queue'],
    }),
    outboxOldest: gauge({
      name: 'countersign_outbox_oldest_seconds',
      help: 'How long the oldest effect has waited to be published to the broker; 0 while none waits.',
    }),
    queueConsumers: gauge({
      name: 'countersign_queue_consumers',
      help: 'Attached consumers of a queue, over all processes. Missing while the broker cannot say.',
      labelNames: ['queue'],
    }),
    queueDeadLetters: gauge({
      name: 'countersign_queue_dead_letters',
      help: 'Dead letters of a queue, as the broker counts them. Missing while the broker cannot say.',
      labelNames: ['queue'],
    }),
    messagesDied: counter({
      name: 'countersign_messages_died_total',
      help: 'Messages that died in this process, by cause: gave_up or threw (the handler), unreadable, delivery_limit (returned too often).',
      labelNames: ['queue', 'cause'],
    }),
    attemptDuration: histogram({
      name: 'countersign_delivery_attempt_seconds',
      help: 'Time a provider took for a message, whatever came of it.',
      labelNames: ['channel', 'provider'],
      buckets: CALL_BUCKETS,
    }),
    deliveryAttempts: counter({
      name: 'countersign_delivery_attempts_total',
      help: "Calls of providers by what came of them: accepted, refused (the recipient's fault), failed or unknown.",
      labelNames: ['channel', 'provider', 'outcome'],
    }),
    breakers: gauge({
      name: 'countersign_breakers',
      help: 'Circuit breakers of this process, one per app and provider, by type of provider and state.',
      labelNames: ['channel', 'provider', 'state'],
    }),
    deliveriesOwed: gauge({
      name: 'countersign_deliveries_owed',
      help: 'Deliveries that could be sent now and whose provider is not being called, wherever their messages are. Shown by one sweeper, counted to 100 000.',
      labelNames: ['channel'],
    }),
    deliveriesOwedOldest: gauge({
      name: 'countersign_deliveries_owed_oldest_seconds',
      help: 'How long the one of them that waits longest has waited; 0 while none waits.',
      labelNames: ['channel'],
    }),
    eventsOwed: gauge({
      name: 'countersign_events_owed',
      help: 'Webhook events that could be sent now. Shown by one sweeper, counted to 100 000.',
    }),
    eventsOwedOldest: gauge({
      name: 'countersign_events_owed_oldest_seconds',
      help: 'How long the one of them that waits longest for its endpoint has waited; 0 while none waits.',
    }),
    readingAge: gauge({
      name: 'countersign_reading_age_seconds',
      help: 'How long ago figures that an engine is asked for were read last. Those older than 5 s are not shown.',
      labelNames: ['reading'],
    }),
    deliveryWait: histogram({
      name: 'countersign_delivery_wait_seconds',
      help: 'Time from accepting a message to the first call of a provider.',
      labelNames: ['channel'],
      buckets: DELIVERY_WAIT_BUCKETS,
    }),
    writtenBehind: counter({
      name: 'countersign_written_behind_total',
      help: 'Counts and the like that are written behind what happens, by outcome: written, failed and tried again, or lost because too many waited.',
      labelNames: ['what', 'outcome'],
    }),
    silentRoutes: gauge({
      name: 'countersign_provider_silent',
      help: 'Providers that accept messages whose codes hardly anyone enters, one per app, country and kind of key. Set by one sweeper.',
      labelNames: ['channel'],
    }),
    verificationsStarted: counter({
      name: 'countersign_verifications_started_total',
      help: 'Verifications that were started, by their first channel.',
      labelNames: ['mode', 'channel'],
    }),
    verificationsApproved: counter({
      name: 'countersign_verifications_approved_total',
      help: 'Verifications that were approved, by the channel that the user was reached on.',
      labelNames: ['mode', 'channel'],
    }),
    verificationsFailed: counter({
      name: 'countersign_verifications_failed_total',
      help: 'Verifications whose attempts were used up, by their last channel.',
      labelNames: ['mode', 'channel'],
    }),
    verificationsExpired: counter({
      name: 'countersign_verifications_expired_total',
      help: 'Verifications that expired, by their last channel.',
      labelNames: ['mode', 'channel'],
    }),
    verificationsCanceled: counter({
      name: 'countersign_verifications_canceled_total',
      help: 'Verifications that were canceled, by their last channel.',
      labelNames: ['mode', 'channel'],
    }),
    approvalDuration: histogram({
      name: 'countersign_send_to_approved_seconds',
      help: 'Time from the send of a verification to its approval, by the channel that the user was reached on.',
      labelNames: ['mode', 'channel'],
      buckets: USER_BUCKETS,
    }),
    deliveries: counter({
      name: 'countersign_deliveries_total',
      help: 'Messages that were delivered or have failed, by type of provider: none where no provider took it.',
      labelNames: ['mode', 'channel', 'provider', 'status'],
    }),
    deliveryDuration: histogram({
      name: 'countersign_send_to_delivered_seconds',
      help: 'Time from accepting a message to the receipt that it was delivered, by type of provider.',
      labelNames: ['mode', 'channel', 'provider'],
      buckets: USER_BUCKETS,
    }),
    messagesReceived: counter({
      name: 'countersign_messages_received_total',
      help: 'What users wrote on WhatsApp, by what came of it: acted upon, or why nothing changed.',
      labelNames: ['mode', 'outcome'],
    }),
    fraudDecisions: counter({
      name: 'countersign_fraud_decisions_total',
      help: 'Messages that the fraud guard refused or moved to another channel, or, with enforced="false", would have.',
      labelNames: ['mode', 'outcome', 'enforced'],
    }),
    challenges: counter({
      name: 'countersign_challenges_total',
      help: 'Sends and resends by publishable keys: asked for a challenge, rejected because they brought a bad solution, unchecked because the vendor of the widget was silent, or solved.',
      labelNames: ['mode', 'outcome'],
    }),
    refusals: counter({
      name: 'countersign_refusals_total',
      help: 'Sends and resends that were refused, by type of error and, where a limit was hit, by its scope.',
      labelNames: ['mode', 'type', 'scope'],
    }),
    callbacks: counter({
      name: 'countersign_callbacks_total',
      help: 'What providers told us: receipts and messages that were passed on, and those that were of no use.',
      labelNames: ['provider', 'kind', 'outcome'],
    }),
    webhookAttempts: counter({
      name: 'countersign_webhook_attempts_total',
      help: 'Calls of webhook endpoints by how they ended: delivered, refused (any other status), or what kept an answer from coming.',
      labelNames: ['outcome'],
    }),
    webhookDuration: histogram({
      name: 'countersign_webhook_duration_seconds',
      help: 'Time a call of a webhook endpoint took, whatever came of it.',
      buckets: CALL_BUCKETS,
    }),
    webhookPauses: counter({
      name: 'countersign_webhook_endpoints_paused_total',
      help: 'Webhook endpoints that were paused, by why.',
      labelNames: ['reason'],
    }),
    keyRotation: gauge({
      name: 'countersign_key_rotation',
      help: 'Rotation of DATA_KEYS: documents looked at, renewed and unsealable in this pass; done is 1 once older keys can go.',
      labelNames: ['what'],
    }),
    role: gauge({
      name: 'countersign_role',
      help: '1 for each role of the process.',
      labelNames: ['role'],
    }),
    buildInfo: gauge({
      name: 'countersign_build_info',
      help: 'Always 1. The labels say what runs: version of Countersign, version of Node.js, engine (embedded or real).',
      labelNames: ['version', 'node', 'engine'],
    }),
    clockOffset: gauge({
      name: 'countersign_clock_offset_seconds',
      help: "How far the clock of this process is ahead of the store's; negative: behind. More than 2 is worth a look, with more than 10 the process does not work.",
    }),
    storeDuration: histogram({
      name: 'countersign_store_duration_seconds',
      help: 'Time an operation on the store took.',
      labelNames: ['operation'],
      buckets: CALL_BUCKETS,
    }),
    // Without buckets, and no summary, which would keep a digest for percentiles that are not shown.
    collectionDuration: histogram({
      name: 'countersign_store_collection_seconds',
      help: 'Time that operations on a collection took: their sum and their number.',
      labelNames: ['collection'],
      buckets: [],
    }),
  }
}

export type Metrics = ReturnType<typeof createInstruments> & {
  /** Runs `task` before each scrape, for values that are looked up instead of counted. A task that fails does not fail the scrape. */
  beforeScrape(task: () => void): void
  /** The same for values that an engine is asked for. A scrape waits for no engine: it shows what was read last. */
  showReading<T>(shown: ShownReading<T>): void
  render(): Promise<{ contentType: string; body: string }>
}

export interface ShownReading<T> {
  name: string
  reading: Reading<T>
  /** `null` where nothing recent is known: the last figure would look like a measured one. */
  show(value: T | null): void
  /** Where it is false, nothing is read. Without it, it is shown always. */
  isShown?(): boolean
}

/** `processMetrics` adds memory, garbage collection and event loop lag. Its observers cannot be removed, so use it once per process. */
export function createMetrics({ processMetrics = false }: { processMetrics?: boolean } = {}): Metrics {
  const registry = new Registry()
  const tasks: (() => void | Promise<void>)[] = []
  if (processMetrics) collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: EVENT_LOOP_SAMPLE_MS })
  for (const name of MISNAMED) registry.removeSingleMetric(name)
  const instruments = createInstruments(registry)
  return {
    ...instruments,
    beforeScrape: task => void tasks.push(task),
    showReading: ({ name, reading, show, isShown = () => true }) =>
      void tasks.push(async () => {
        const labels = { reading: name }
        if (!isShown()) {
          instruments.readingAge.remove(labels)
          return show(null)
        }
        const value = await reading.latest().catch(() => null)
        instruments.readingAge.set(labels, reading.ageMs() / 1000)
        show(value)
      }),
    async render() {
      await Promise.allSettled(tasks.map(async task => task()))
      return { contentType: registry.contentType, body: await registry.metrics() }
    },
  }
}
