// The webhook role. In: what happened, from `webhook.deliver`. Out: a record of every event.
import { type Broker, type Delivered, done, type Outcome, retry } from '../../infra/broker/broker.ts'
import type { Clock } from '../../infra/clock.ts'
import type { Keyring } from '../../infra/crypto/keyring.ts'
import type { Service } from '../../infra/host.ts'
import type { Logger } from '../../infra/log.ts'
import type { NotifyBody } from '../../infra/otps/documents.ts'
import type { CountersignStore } from '../../infra/store/collections.ts'
import { tenancy } from '../../infra/tenancy/tenancy.ts'
import { Unavailable } from '../../infra/unavailable.ts'
import { recording } from './events.ts'

export interface WebhookParts {
  broker: Broker
  store: CountersignStore
  keyring: Keyring
  clock: Clock
  log: Logger
}

/** What waits is recorded together. */
const FLOW = { prefetch: 256, batch: 64, parallel: 4 }
/** Until the store may be back. */
const RETRY_MS = 1_000

export function webhook({ broker, store, keyring, clock, log }: WebhookParts): Service {
  const record = recording({ events: store.docs('events'), tenancy: tenancy({ store, keyring }), clock })

  async function handle(waiting: Delivered[]): Promise<Outcome[]> {
    try {
      await record(waiting.map(({ body }) => body as NotifyBody))
      return waiting.map(done)
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error
      log.warn({ err: error, events: waiting.length }, 'events.postponed')
      return waiting.map(() => retry(RETRY_MS))
    }
  }

  return { attach: async () => [await broker.consume('webhook.deliver', handle, FLOW)] }
}
