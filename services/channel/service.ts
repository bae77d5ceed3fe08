// One channel's role: consumes its queue and nobody else's, so that it is scaled, stopped or broken on its own.
import type { Broker } from '../../infra/broker/broker.ts'
import { channelQueue } from '../../infra/broker/topology.ts'
import { cached } from '../../infra/cache.ts'
import type { Clock } from '../../infra/clock.ts'
import type { Config } from '../../infra/config.ts'
import type { Keyring } from '../../infra/crypto/keyring.ts'
import type { Service } from '../../infra/host.ts'
import type { Logger } from '../../infra/log.ts'
import type { CountersignStore } from '../../infra/store/collections.ts'
import { groupedDocs } from '../../infra/store/grouped.ts'
import { tenancy } from '../../infra/tenancy/tenancy.ts'
import type { Channel } from '../../machines/channels.ts'
import { attempting } from './attempt.ts'
import { choosing } from './candidates.ts'
import { claiming } from './claims.ts'
import { delivering } from './deliver.ts'
import { sandbox } from './providers/sandbox.ts'
import { rendering } from './render.ts'
import { telling } from './reports.ts'

export interface ChannelParts {
  config: Pick<Config, 'provider'>
  broker: Broker
  store: CountersignStore
  keyring: Keyring
  clock: Clock
  log: Logger
}

/** Messages in hand mostly wait: for a provider, or in the sandbox for a receipt to fall due. */
const FLOW = { prefetch: 500 }
const APPS = { forMs: 5_000, most: 10_000 }

export const channel =
  (name: Channel) =>
  ({ config, broker, store, keyring, clock, log }: ChannelParts): Service => {
    const { timeoutMs, unknownWaitMs } = config.provider
    const tenants = tenancy({ store, keyring })
    const apps = cached(id => tenants.app(id), { ...APPS, clock })
    const claims = claiming({ attempts: groupedDocs(store.docs('attempts')), clock })
    const tell = telling({ broker, clock })
    const inbox = sandbox({ messages: store.docs('sandbox_messages'), keyring, clock, tell })
    const deliver = delivering({
      ...{ claims, tell, clock, log, unknownWaitMs },
      otps: groupedDocs(store.docs('otps')),
      candidates: choosing({
        ...{ channel: name, tenancy: tenants, sandbox: inbox, clock, log },
        makers: { sandbox: () => inbox },
      }),
      render: rendering({ apps, keyring }),
      attempt: attempting({ claims, clock, log, timeoutMs }),
    })
    return {
      attach: async () => [
        await broker.consume(channelQueue(name), waiting => Promise.all(waiting.map(deliver)), FLOW),
      ],
    }
  }
