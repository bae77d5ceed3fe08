// One channel's role: consumes its queue and nobody else's, so that it is scaled, stopped or broken on its own. And where the vendors of
// all channels call us.
import type { Router } from '@koa/router'
import type { Broker } from '../../infra/broker/broker.ts'
import { cached } from '../../infra/cache.ts'
import type { Clock } from '../../infra/clock.ts'
import type { Config } from '../../infra/config/config.ts'
import type { Keyring } from '../../infra/crypto/keyring.ts'
import type { Service } from '../../infra/host.ts'
import type { Logger } from '../../infra/log/log.ts'
import type { Metrics } from '../../infra/metrics.ts'
import type { Outbound } from '../../infra/outbound/outbound.ts'
import { groupedDocs } from '../../infra/store/grouped.ts'
import type { Channel } from '../../machines/channels.ts'
import type { CountersignStore } from '../domain/collections.ts'
import { tenancy } from '../domain/tenancy/tenancy.ts'
import { channelQueue } from '../domain/verifications/effect-messages.ts'
import { gates } from './admission/gates.ts'
import { attempting } from './attempt.ts'
import { building } from './build.ts'
import { callbackRouter } from './callbacks/callbacks.ts'
import { hearing } from './callbacks/heard.ts'
import { choosing } from './candidates.ts'
import { carrying } from './carry.ts'
import { claiming } from './claims.ts'
import { delivering } from './deliver.ts'
import { MAKERS } from './providers/makers.ts'
import { sandbox } from './providers/sandbox.ts'
import { rendering } from './render.ts'
import { telling } from './reports.ts'
import { thanking } from './thanks.ts'

export interface ChannelParts {
  config: Pick<Config, 'provider' | 'backoff' | 'http'>
  broker: Broker
  store: CountersignStore
  keyring: Keyring
  clock: Clock
  log: Logger
  metrics: Metrics
  outbound: Outbound
}

/** Messages in hand mostly wait: for a provider, or in the sandbox for a receipt to fall due. */
const FLOW = { prefetch: 500 }
const APPS = { forMs: 5_000, most: 10_000 }

/** After a call's timeout, until what came of it is written down. */
const SETTLING_MS = 2_000

export const channel =
  (name: Channel) =>
  ({ config, broker, store, keyring, clock, log, metrics, outbound }: ChannelParts): Service => {
    const { timeoutMs, unknownWaitMs } = config.provider
    const { publicUrl } = config.http
    const tenants = tenancy({ store, keyring })
    const apps = cached(id => tenants.app(id), { ...APPS, clock })
    const claims = claiming({ attempts: groupedDocs(store.docs('attempts')), clock })
    const tell = telling({ broker, clock })
    const inbox = sandbox({ messages: store.docs('sandbox_messages'), keyring, clock, tell })
    const makers = { ...MAKERS, sandbox: () => inbox }
    const build = building({ makers, tools: { outbound, clock }, publicUrl, log })
    const candidates = choosing({ channel: name, tenancy: tenants, sandbox: inbox, build, clock })
    const guards = gates({ channel: name, clock, log, metrics })
    const attempt = attempting({ claims, clock, log, metrics, timeoutMs })
    const carry = carrying({
      ...{ claims, candidates, gates: guards, attempt, tell, clock, log },
      render: rendering({ apps, keyring }),
      policy: { unknownWaitMs, underWayMs: timeoutMs + SETTLING_MS, backoff: config.backoff.channel },
    })
    const otps = groupedDocs(store.docs('otps'))
    const thank = thanking({ otps, apps, candidates, gates: guards, attempt, keyring })
    const deliver = delivering({ otps, carry, thank, clock, log })
    return {
      attach: async () => [
        await broker.consume(channelQueue(name), waiting => Promise.all(waiting.map(deliver)), FLOW),
      ],
      stop: async () => {
        candidates.close()
        guards.close()
      },
    }
  }

export function callbacks({ config, broker, store, keyring, clock, log, metrics, outbound }: ChannelParts): Router {
  const { http, backoff } = config
  const tools = { outbound, clock }
  return callbackRouter({
    ...{ http, clock, log, metrics, tenancy: tenancy({ store, keyring }) },
    build: building({ makers: MAKERS, tools, publicUrl: http.publicUrl, log }),
    pass: hearing({
      ...{ broker, keyring, clock, log, metrics, rounds: backoff.channel.length + 1 },
      attempts: groupedDocs(store.docs('attempts')),
    }),
  })
}
