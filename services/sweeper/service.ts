// Tidies up what time and crashes leave: every second, each share of the work this process holds, batch by batch. Correctness never
// waits for it: deadlines count in every guard, whether or not the sweeper has been by.
import { randomUUID } from 'node:crypto'
import type { Broker } from '../../infra/broker/broker.ts'
import type { Clock } from '../../infra/clock.ts'
import type { Keyring } from '../../infra/crypto/keyring.ts'
import type { Service } from '../../infra/host.ts'
import type { Logger } from '../../infra/log/log.ts'
import type { Metrics } from '../../infra/metrics.ts'
import type { Outbound } from '../../infra/outbound/outbound.ts'
import { PARTITIONS } from '../../infra/partitions.ts'
import type { CountersignStore } from '../domain/collections.ts'
import { accounting } from '../domain/money/accounts.ts'
import { relaying } from '../domain/verifications/outbox.ts'
import { reminding } from '../domain/webhooks/work.ts'
import { holdSweeps } from './holds.ts'
import { ipListSweeps } from './ip-lists.ts'
import { leasing } from './leases.ts'
import { retentionSweeps } from './retention.ts'
import { rotationSweeps } from './rotation.ts'
import { BATCH, type Sweep, sweeps } from './sweeps.ts'
import { webhookSweeps } from './webhooks.ts'

const EVERY_MS = 1_000
/** Of one sweep in one go: a lease must not run out over a backlog. */
const MOST_ROWS = 25 * BATCH

export interface SweeperParts {
  broker: Broker
  store: CountersignStore
  keyring: Keyring
  clock: Clock
  log: Logger
  metrics: Metrics
  /** How the sources of address lists are asked. */
  outbound: Pick<Outbound, 'request'>
}

export function sweeper({ broker, store, keyring, clock, log, metrics, outbound }: SweeperParts): Service {
  const leases = leasing({ leases: store.docs('leases'), clock, holder: randomUUID() })
  const relay = relaying({ broker, otps: store.docs('otps'), clock, log })
  const remind = reminding({ broker, log })
  const accounts = accounting({ store, clock, log })
  const addresses = ipListSweeps({ store, outbound, clock, log })
  const all = Object.entries({
    ...sweeps({ store, broker, relay, clock }),
    ...webhookSweeps({ store, remind, clock }),
    ...holdSweeps({ store, accounts, clock }),
    ...addresses.sweeps,
    ...rotationSweeps({ store, keyring, clock, log, metrics }),
    ...retentionSweeps({ store, clock, log }),
  })
  let stopping = false
  let cancel = (): void => {}
  let sweeping = Promise.resolve()

  async function sweepAll(): Promise<void> {
    const held: number[] = []
    for (let partition = 0; partition < PARTITIONS && !stopping; partition += 1)
      if (await leases.hold(`sweep:${partition}`)) held.push(partition)
    if (held.length === 0) return
    // One that cannot do its work keeps none of the others from theirs.
    for (const [name, sweep] of all)
      await sweepOne(name, sweep, held).catch(error => log.warn({ err: error, sweep: name }, 'sweep.failed'))
  }

  async function sweepOne(name: string, sweep: Sweep, partitions: readonly number[]): Promise<void> {
    let rows = 0
    let last = BATCH
    while (last === BATCH && rows < MOST_ROWS && !stopping) {
      last = await sweep(partitions)
      rows += last
    }
    if (rows > 0) log.debug({ sweep: name, rows }, 'sweep.done')
  }

  function again(): void {
    cancel = clock.after(EVERY_MS, () => {
      sweeping = sweepAll()
        .catch(error => log.warn({ err: error }, 'sweep.failed'))
        .finally(() => {
          if (!stopping) again()
        })
    })
  }

  return {
    async attach() {
      again()
      return []
    },
    async stop() {
      stopping = true
      cancel()
      const fetched = addresses.stop()
      await sweeping
      await relay.settled()
      await accounts.settled()
      await leases.release()
      await fetched
    },
  }
}
