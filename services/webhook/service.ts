// The webhook role. In: what happened, from `webhook.deliver`. Out: every event is kept, and its app's endpoint is called until it has
// taken it. No message is held while an endpoint is called: the store says what is under way, so a slow one keeps nobody waiting.
import {
  type Broker,
  type Consumer,
  type Delivered,
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
import { groupedDocs } from '../../infra/store/grouped.ts'
import { Unavailable } from '../../infra/unavailable.ts'
import type { CountersignStore } from '../domain/collections.ts'
import { tenancy } from '../domain/tenancy/tenancy.ts'
import { ladder as ladderOf } from '../domain/webhooks/ladder.ts'
import type { NotifyBody } from '../domain/webhooks/work.ts'
import { reminding, type WebhookBody } from '../domain/webhooks/work.ts'
import { attempting } from './attempts.ts'
import { backlogs as backlogsOf } from './backlog.ts'
import { calling } from './call.ts'
import { endpoints as endpointsOf } from './endpoints.ts'
import { takingIn } from './intake.ts'
import { reminders as remindersOf } from './reminders.ts'
import { settling } from './settle.ts'
import { slots as slotsOf } from './slots.ts'

export interface WebhookParts {
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
const MOST_CALLS = { inAll: 1_000, ofOneCompany: 200 }
const MOST_CALLS_TO_FAILING = { inAll: 250, ofOneCompany: 50 }
/** For calls under way when the process stops: others have work to finish as well. */
const CALLS_GRACE_MS = 1_000

export function webhook(parts: WebhookParts): Service {
  const { config, broker, store, keyring, outbound, clock, log, metrics, random = Math.random } = parts
  const [events, webhooks] = [groupedDocs(store.docs('events')), store.docs('webhooks')]
  const tenants = tenancy({ store, keyring })
  const ladder = ladderOf(config.backoff.webhook)
  const slots = { healthy: slotsOf(MOST_CALLS), failing: slotsOf(MOST_CALLS_TO_FAILING) }
  const endpoints = endpointsOf({ webhooks, tenancy: tenants, clock, log, metrics })
  const remind = reminding({ broker, log })
  const settle = settling({ events, endpoints, ladder, remind, random, clock, log, metrics })
  const calls = calling({ outbound, clock })
  const attempts = attempting({
    ...{ events, endpoints, slots, call: calls.call, settle, ladder, clock, log },
    hasBacklog: app_id => backlogs.isDraining(app_id),
    park: claimed => backlogs.park(claimed),
  })
  const { room, released, attempt } = attempts
  const backlogs = backlogsOf({ events, webhooks, endpoints, room, released, attempt, clock, log })
  const takeIn = takingIn({ events, tenancy: tenants, endpoints, attempts, backlogs, ladder, clock, log })
  const reminders = remindersOf({ events, endpoints, attempts, backlogs, settle, ladder, clock, log })

  async function reminded(body: Exclude<WebhookBody, NotifyBody>): Promise<Outcome> {
    if (!('drain' in body)) return reminders.handle(body)
    backlogs.drain(body.drain, body.mark)
    return done()
  }

  async function handle(waiting: Delivered[]): Promise<Outcome[]> {
    const bodies = waiting.map(({ body }) => body as WebhookBody)
    const happened = bodies.filter(isEvent)
    const taken = takeIn(happened).values()
    const work = bodies.map(body => (isEvent(body) ? (taken.next().value as Promise<void>).then(done) : reminded(body)))
    const ended = await Promise.allSettled(work)
    tell(ended.flatMap(one => (one.status === 'rejected' ? [one.reason] : [])))
    return ended.map(one => (one.status === 'fulfilled' ? one.value : afterwards(one.reason)))
  }

  /** One message's trouble is not that of those it came with. */
  const afterwards = (error: unknown): Outcome => (error instanceof Unavailable ? retry(RETRY_MS) : dead(String(error)))

  /** What befell many together is one line. */
  function tell(errors: readonly unknown[]): void {
    for (const error of new Set(errors)) {
      const fields = { err: error, messages: errors.filter(one => one === error).length }
      if (error instanceof Unavailable) log.warn(fields, 'events.postponed')
      else log.error(fields, 'events.not_handled')
    }
  }

  /** What it began is waited for as well, for a moment. */
  const waitingFor = (consumer: Consumer): Consumer => ({
    ...consumer,
    async stop(graceMs = CALLS_GRACE_MS) {
      reminders.stop()
      backlogs.stop()
      await consumer.stop(graceMs)
      attempts.stop()
      let cancel = (): void => {}
      const over = new Promise<void>(resolve => {
        cancel = clock.after(Math.min(graceMs, CALLS_GRACE_MS), resolve)
      })
      await Promise.race([attempts.settled(), over])
      cancel()
    },
  })

  return {
    attach: async () => [waitingFor(await broker.consume('webhook.deliver', handle, FLOW))],
    async stop() {
      calls.stop()
      await attempts.settled()
    },
  }
}

const isEvent = (body: WebhookBody): body is NotifyBody => 'payload' in body
