// One channel's role: consumes its queue and nobody else's, so that it is scaled, stopped or broken on its own. And where the vendors of
// all channels call us.
import type { Router } from '@koa/router'
import type { Broker } from '../../infra/broker/broker.ts'
import { createCache } from '../../infra/cache.ts'
import type { Clock } from '../../infra/clock.ts'
import type { Config } from '../../infra/config/config.ts'
import type { Keyring } from '../../infra/crypto/keyring.ts'
import type { Service } from '../../infra/host.ts'
import type { Logger } from '../../infra/log/log.ts'
import type { Metrics } from '../../infra/metrics.ts'
import type { Outbound } from '../../infra/outbound/outbound.ts'
import { batchDocs } from '../../infra/store/batched-docs.ts'
import type { Channel } from '../../machines/channels.ts'
import type { CountersignStore } from '../domain/collections.ts'
import { createTenancy } from '../domain/tenancy/tenancy.ts'
import { channelQueue } from '../domain/verifications/effect-messages.ts'
import { createAdmission } from './admission/admission.ts'
import { createSendApprovalReply } from './approval-reply.ts'
import { createAttempts } from './attempts.ts'
import { createBuildProvider } from './build-provider.ts'
import { createCallProvider } from './call-provider.ts'
import { createHandleCallback } from './callbacks/receipts.ts'
import { createCallbackRouter } from './callbacks/router.ts'
import { createCandidates } from './candidates.ts'
import { createDeliver } from './deliver.ts'
import { createFailover } from './failover.ts'
import { PROVIDER_FACTORIES } from './providers/factories.ts'
import { createSandboxProvider } from './providers/sandbox.ts'
import { createRender } from './render.ts'
import { createPublishReport } from './report-publisher.ts'

export interface ChannelDeps {
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
const CONSUMER = { prefetch: 500 }
const APP_CACHE = { ttlMs: 5_000, maxSize: 10_000 }

/** After a call's timeout, until what came of it is written down. */
const SAVE_RESULT_MS = 2_000

export const createChannelService =
  (name: Channel) =>
  ({ config, broker, store, keyring, clock, log, metrics, outbound }: ChannelDeps): Service => {
    const { timeoutMs, unknownWaitMs } = config.provider
    const { publicUrl } = config.http
    const tenantStore = createTenancy({ store, keyring })
    const apps = createCache(id => tenantStore.app(id), { ...APP_CACHE, clock })
    const attempts = createAttempts({ attempts: batchDocs(store.docs('attempts')), clock })
    const publishReport = createPublishReport({ broker, clock })
    const inbox = createSandboxProvider({ messages: store.docs('sandbox_messages'), keyring, clock, publishReport })
    const factories = { ...PROVIDER_FACTORIES, sandbox: () => inbox }
    const buildProvider = createBuildProvider({ factories, providerDeps: { outbound, clock }, publicUrl, log })
    const candidates = createCandidates({ channel: name, tenancy: tenantStore, sandbox: inbox, buildProvider, clock })
    const admission = createAdmission({ channel: name, clock, log, metrics })
    const callProvider = createCallProvider({ attempts, clock, log, metrics, timeoutMs })
    const failover = createFailover({
      attempts,
      candidates,
      admission: admission,
      callProvider,
      publishReport,
      clock,
      log,
      render: createRender({ apps, keyring }),
      policy: { unknownWaitMs, underWayMs: timeoutMs + SAVE_RESULT_MS, backoff: config.backoff.channel },
    })
    const otps = batchDocs(store.docs('otps'))
    const sendApprovalReply = createSendApprovalReply({
      otps,
      apps,
      candidates,
      admission: admission,
      callProvider,
      keyring,
    })
    const deliver = createDeliver({ otps, failover, sendApprovalReply, clock, log })
    return {
      attach: async () => [
        await broker.consume(channelQueue(name), waiting => Promise.all(waiting.map(deliver)), CONSUMER),
      ],
      stop: async () => {
        candidates.close()
        admission.close()
      },
    }
  }

export function createCallbackRoutes({
  config,
  broker,
  store,
  keyring,
  clock,
  log,
  metrics,
  outbound,
}: ChannelDeps): Router {
  const { http, backoff } = config
  const providerDeps = { outbound, clock }
  return createCallbackRouter({
    http,
    clock,
    log,
    metrics,
    tenancy: createTenancy({ store, keyring }),
    buildProvider: createBuildProvider({ factories: PROVIDER_FACTORIES, providerDeps, publicUrl: http.publicUrl, log }),
    handleCallback: createHandleCallback({
      broker,
      keyring,
      clock,
      log,
      metrics,
      rounds: backoff.channel.length + 1,
      attempts: batchDocs(store.docs('attempts')),
    }),
  })
}
