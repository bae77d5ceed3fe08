// The sweeper role. In: documents that are due by the clock, or that a crash left. Out: reminders for the actors, and tidied documents.
// Every second it runs all sweeps over the partitions whose leases this process holds. Correctness does not depend on it: every guard
// checks deadlines itself.
import type { Broker } from '../../infra/broker/broker.ts'
import { showQueues } from '../../infra/broker/metrics.ts'
import type { Clock } from '../../infra/clock.ts'
import type { Config } from '../../infra/config/config.ts'
import type { Keyring } from '../../infra/crypto/keyring.ts'
import type { Service } from '../../infra/host.ts'
import { createLeases } from '../../infra/leases.ts'
import type { Logger } from '../../infra/log/log.ts'
import type { Metrics } from '../../infra/metrics.ts'
import type { Outbound } from '../../infra/outbound/outbound.ts'
import { PARTITIONS } from '../../infra/partitions.ts'
import { createReading } from '../../infra/reading.ts'
import { Unavailable } from '../../infra/unavailable.ts'
import { readBacklog } from '../domain/backlog/backlog.ts'
import type { CountersignStore } from '../domain/collections.ts'
import { createAccounts } from '../domain/money/accounts.ts'
import { createConsoleMails } from '../domain/tenancy/console-mail.ts'
import { createTenancy } from '../domain/tenancy/tenancy.ts'
import { createRelay, messageIn } from '../domain/verifications/outbox.ts'
import { createRemind } from '../domain/webhooks/queue-messages.ts'
import { createAddressListSweeps } from './address-lists.ts'
import { createBacklogRouter, showBacklog } from './backlog.ts'
import { createDeletionSweeps } from './deletions.ts'
import { createHoldSweeps } from './holds.ts'
import { createIncidentSweeps } from './incidents.ts'
import { showOutbox } from './outbox-age.ts'
import { createOwedDeliverySweeps } from './owed-deliveries.ts'
import { createOwedEventSweeps } from './owed-events.ts'
import { createRetentionSweeps } from './retention.ts'
import { createRotationSweeps } from './rotation.ts'
import { createRouteSweeps } from './routes.ts'
import { createServiceOutages } from './service-outages.ts'
import { createSettleSweeps } from './settled-entries.ts'
import { createSpendSweeps } from './spend.ts'
import { createStatsSweeps } from './stats.ts'
import { SWEEP_BATCH, type Sweep } from './sweep.ts'
import { createTellNotices } from './tell-notices.ts'
import { createOtpSweeps } from './verifications.ts'
import { createWebhookSweeps } from './webhooks.ts'

const SWEEP_EVERY_MS = 1_000
/** A process looks at its leases every second and renews each one only every five. */
const LEASE = { forMs: 15_000, renewBelowMs: 10_000 }
/** It is counted in all of the store, and scalers ask for it as often as they like. */
const BACKLOG_FRESH_MS = 2_000
/** Per sweep and run: a lease must not end while a backlog is swept. */
const MAX_ROWS_PER_SWEEP = 25 * SWEEP_BATCH

export interface SweeperDeps {
  config: Pick<Config, 'engine' | 'provider' | 'backoff'> & { http: Pick<Config['http'], 'publicUrl'> }
  broker: Broker
  store: CountersignStore
  keyring: Keyring
  clock: Clock
  log: Logger
  metrics: Metrics
  /** Fetches address lists. */
  outbound: Pick<Outbound, 'request'>
}

export function createSweeperService({
  config,
  broker,
  store,
  keyring,
  clock,
  log,
  metrics,
  outbound,
}: SweeperDeps): Service {
  const soleProcess = config.engine.kind === 'embedded'
  const leases = createLeases({ leases: store.docs('leases'), clock }, LEASE)
  const relay = createRelay({
    publishEffect: effect => broker.publish(effect.queue, messageIn(effect, true)),
    otps: store.docs('otps'),
    clock,
    log,
  })
  const remind = createRemind({ broker, log })
  const accounts = createAccounts({ store, clock, log })
  const addressLists = createAddressListSweeps({ store, outbound, clock, log })
  const sendMail = createConsoleMails({ broker, keyring, vendorTimeoutMs: config.provider.timeoutMs })
  const { publicUrl } = config.http
  const tellNotices = createTellNotices({ store, broker, sendMail, keyring, clock, log, publicUrl })
  const outages = createServiceOutages({ store, broker, clock })
  const allSweeps = Object.entries({
    ...createOtpSweeps({ store, broker, relay, clock, soleProcess }),
    ...createOwedDeliverySweeps({ store, broker, config, clock, log }),
    ...createOwedEventSweeps({ store, broker, accounts, clock, log, soleProcess }),
    ...createWebhookSweeps({ store, remind, clock }),
    ...createHoldSweeps({ store, accounts, clock }),
    ...createSettleSweeps({ store, clock }),
    ...createSpendSweeps({ store, clock }),
    ...addressLists.sweeps,
    ...createRotationSweeps({ store, keyring, clock, log, metrics }),
    ...createRetentionSweeps({ store, clock, log }),
    ...createStatsSweeps({ store, clock, log }),
    ...createRouteSweeps({ store, outages, clock, log }),
    ...createIncidentSweeps({ store, tenancy: createTenancy({ store, keyring, clock }), clock, log, metrics }),
    ...tellNotices.sweeps,
    // The last, so that what is due of a deleted app was settled before.
    ...createDeletionSweeps({ store, accounts, clock, log }),
  })
  let stopping = false
  let paused = false
  /** The partitions that were swept last. */
  let held: readonly number[] = []
  showQueues(broker, metrics, clock, () => held.includes(0))
  // The sweep that counts them runs in one process at a time.
  metrics.beforeScrape(() => {
    if (!held.includes(0)) metrics.silentRoutes.reset()
  })
  showOutbox({ store, clock, metrics, partitions: () => held })
  const backlog = createReading({ read: () => readBacklog({ store, broker, clock }), clock, freshMs: BACKLOG_FRESH_MS })
  showBacklog({ backlog, metrics, isShown: () => held.includes(0) })
  let cancelNext = (): void => {}
  let sweeping = Promise.resolve()

  async function sweepAll(): Promise<void> {
    // Leases that were taken by a wrong clock may last for long, so a paused process gives them back.
    if (paused) {
      held = []
      return leases.releaseAll()
    }
    held = await takeLeases()
    if (held.length === 0) return
    // A sweep that fails does not stop the others.
    for (const [name, sweep] of allSweeps)
      await sweepOne(name, sweep, held).catch(error => failed(error, { sweep: name }))
  }

  function failed(error: unknown, about: { sweep?: string } = {}): void {
    if (error instanceof Unavailable) outages.engineFailed()
    log.warn({ err: error, ...about }, 'sweep.failed')
  }

  async function takeLeases(): Promise<number[]> {
    const taken: number[] = []
    try {
      for (let partition = 0; partition < PARTITIONS && !stopping; partition += 1)
        if (await leases.take(`sweep:${partition}`)) taken.push(partition)
    } catch (error) {
      // Another process may hold them by now, and would show the same queues.
      held = []
      throw error
    }
    return taken
  }

  async function sweepOne(name: string, sweep: Sweep, partitions: readonly number[]): Promise<void> {
    let rows = 0
    let last = SWEEP_BATCH
    while (last === SWEEP_BATCH && rows < MAX_ROWS_PER_SWEEP && !stopping && !paused) {
      last = await sweep(partitions)
      rows += last
    }
    if (rows > 0) log.debug({ sweep: name, rows }, 'sweep.done')
  }

  function scheduleSweep(afterMs: number): void {
    cancelNext = clock.after(afterMs, () => {
      sweeping = sweepAll()
        .catch(error => failed(error))
        .finally(() => {
          if (!stopping) scheduleSweep(SWEEP_EVERY_MS)
        })
    })
  }

  return {
    monitoringRouter: createBacklogRouter(backlog),
    async attach() {
      // The process before may have left messages that users wait for, and no other process sends them.
      scheduleSweep(soleProcess ? 0 : SWEEP_EVERY_MS)
      return []
    },
    pause() {
      paused = true
    },
    resume() {
      paused = false
    },
    async stop() {
      stopping = true
      cancelNext()
      const importsStopped = addressLists.stop()
      await sweeping
      held = []
      const noticesTold = tellNotices.stop()
      await relay.settled()
      await accounts.settled()
      await leases.releaseAll()
      await importsStopped
      await noticesTold
    },
  }
}
