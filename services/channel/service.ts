// The channel role, and the callbacks that vendors call. In: the queue of one channel. Out: messages at providers, and reports to the OTP
// actor. A channel consumes no queue but its own, so that it can be scaled, stopped or broken without an effect on other channels.
//
// The path of a message, file by file:
//   deliver.ts            reads the verification and takes steps until the delivery is sent, has failed or must wait; next-step.ts
//                         decides which step is next
//   candidates.ts         lists the app's providers; providers/factories.ts creates them
//   route-order.ts        puts them into the order in which this message tries them
//   admission/            permits the call: circuit breaker, pause, concurrency
//   ../domain/texts/      has the words
//   call-provider.ts      saves the attempt (provider-attempts.ts) and calls the provider
//   report-publisher.ts   reports the result to the OTP actor
//   callbacks/            takes the vendor's receipts, later
// Beside it: test-provider.ts sends one message for the dashboard, and admission/breaker-reports.ts tells operators the
// state of the breakers.
import type { Router } from '@koa/router'
import type { Broker, Consumer, ReceivedCall } from '../../infra/broker/broker.ts'
import { createCache } from '../../infra/cache.ts'
import type { Clock } from '../../infra/clock.ts'
import type { Config } from '../../infra/config/config.ts'
import type { Keyring } from '../../infra/crypto/keyring.ts'
import type { Service } from '../../infra/host.ts'
import type { FindCaller } from '../../infra/http/caller-address.ts'
import type { Logger } from '../../infra/log/log.ts'
import type { Metrics } from '../../infra/metrics.ts'
import type { Outbound } from '../../infra/outbound/outbound.ts'
import { batchDocs } from '../../infra/store/batched-docs.ts'
import type { Tracing } from '../../infra/tracing/tracing.ts'
import type { Channel } from '../../machines/channels.ts'
import type { CountersignStore } from '../domain/collections.ts'
import { isConsoleMailCall } from '../domain/tenancy/console-mail.ts'
import { channelCallQueue } from '../domain/tenancy/provider-test.ts'
import { createTenancy, TENANT_CACHE } from '../domain/tenancy/tenancy.ts'
import { channelQueue } from '../domain/verifications/queue-messages.ts'
import { createBreakerReports } from './admission/breaker-reports.ts'
import { createExcess } from './admission/excess.ts'
import { createProviderGates, prefetchFor } from './admission/provider-gates.ts'
import { createSendApprovalReply } from './approval-reply.ts'
import { createCallProvider } from './call-provider.ts'
import { createHandleCallback } from './callbacks/receipts.ts'
import { createCallbackRouter } from './callbacks/router.ts'
import { createCandidates } from './candidates.ts'
import { createDeliver } from './deliver.ts'
import { createLoadReports } from './load-reports.ts'
import { createProviderAttempts } from './provider-attempts.ts'
import { createBuildProvider, PROVIDER_FACTORIES } from './providers/factories.ts'
import { createSandboxProvider } from './providers/sandbox.ts'
import { createPublishReport } from './report-publisher.ts'
import { createRouteOrder } from './route-order.ts'
import { createSendConsoleMail } from './send-console-mail.ts'
import { createTestProvider } from './test-provider.ts'

export interface ChannelDeps {
  config: Pick<Config, 'provider' | 'backoff' | 'http' | 'engine'>
  broker: Broker
  store: CountersignStore
  keyring: Keyring
  clock: Clock
  log: Logger
  metrics: Metrics
  outbound: Outbound
  tracing?: Tracing | null
}

/** Tests of providers come one by one, from people. */
const CALLS = { prefetch: 10 }

/** How long after a call's timeout its result may still be written. */
const SAVE_RESULT_MS = 2_000
/** The same in a process that stops. */
const SAVE_AFTER_STOP_MS = 1_000
/** How long a call of another process is waited for once its message was redelivered. If that process lives, and its call takes longer,
 *  the recipient gets the code twice. */
const REDELIVERED_UNDER_WAY_MS = 2_500

export const createChannelService =
  (channel: Channel) =>
  ({ config, broker, store, keyring, clock, log, metrics, outbound, tracing = null }: ChannelDeps): Service => {
    const { timeoutMs, maxCalls, unknownWaitMs } = config.provider
    const { publicUrl } = config.http
    const otps = batchDocs(store.docs('otps'))
    const tenancy = createTenancy({ store, keyring, clock, log })
    const apps = createCache(id => tenancy.app(id), { ...TENANT_CACHE, clock })

    const attempts = createProviderAttempts({
      attempts: batchDocs(store.docs('attempts')),
      clock,
      soleProcess: config.engine.kind === 'embedded',
    })
    const publishReport = createPublishReport({ broker, clock })
    const sandbox = createSandboxProvider({ messages: store.docs('sandbox_messages'), keyring, clock, publishReport })
    const buildProvider = createBuildProvider({
      factories: PROVIDER_FACTORIES,
      providerDeps: { outbound, clock },
      publicUrl,
    })
    const breakerReports = createBreakerReports({ breakers: store.docs('breakers'), clock, log })
    const loads = createLoadReports({ channel, loads: store.docs('channel_loads'), clock, log })
    const excess = createExcess({ channel, otps: store.docs('otps'), clock, log, onHeld: loads.markBusy })
    const gates = createProviderGates({ channel, maxCalls, clock, log, metrics, breakerReports, excess })
    const candidates = createCandidates({
      channel,
      tenancy,
      sandbox,
      buildProvider,
      onReplaced: gates.forget,
      clock,
    })
    const callProvider = createCallProvider({ attempts, clock, log, metrics, tracing, timeoutMs })
    const sendApprovalReply = createSendApprovalReply({ otps, apps, candidates, gates, callProvider, keyring })
    const orderCandidates = createRouteOrder({ facts: store.docs('route_facts'), apps, clock, log })
    const deliver = createDeliver({
      otps,
      attempts,
      candidates,
      orderCandidates,
      gates,
      loads,
      metrics,
      apps,
      keyring,
      callProvider,
      publishReport,
      sendApprovalReply,
      clock,
      log,
      policy: {
        unknownWaitMs,
        underWayMs: timeoutMs + SAVE_RESULT_MS,
        redeliveredUnderWayMs: REDELIVERED_UNDER_WAY_MS,
        backoff: config.backoff.channel,
      },
    })

    const testProvider = createTestProvider({ channel, tenancy, buildProvider, keyring, clock, log, timeoutMs })
    const sendConsoleMail = createSendConsoleMail({ tenancy, buildProvider, keyring, clock, log, timeoutMs })
    const answerCall = (call: ReceivedCall) =>
      isConsoleMailCall(call.body) ? sendConsoleMail(call, call.body) : testProvider(call)

    /** Messages whose provider was not called yet are given back at once. */
    const withoutCalls = (consumer: Consumer): Consumer => ({
      ...consumer,
      stop(graceMs) {
        gates.pause()
        return consumer.stop(graceMs)
      },
    })

    // A message is held while it waits for a slot and while its provider is called; in the sandbox, also until its receipt is due.
    const flow = { prefetch: prefetchFor(maxCalls) }
    return {
      attach: async () => [
        withoutCalls(await broker.consume(channelQueue(channel), waiting => Promise.all(waiting.map(deliver)), flow)),
        await broker.serve(channelCallQueue(channel), calls => Promise.all(calls.map(answerCall)), CALLS),
      ],
      // What a call has begun ends within its timeout. Then its result is stored and reported.
      graceMs: timeoutMs + SAVE_AFTER_STOP_MS,
      pause: gates.pause,
      resume: gates.resume,
      stop: async () => {
        candidates.close()
        gates.close()
        await Promise.all([breakerReports.stop(), loads.stop()])
      },
    }
  }

/** Serves the vendors of all channels; mounted on the `edge` role. */
export function createCallbacks({
  config,
  broker,
  store,
  keyring,
  clock,
  log,
  metrics,
  outbound,
  tracing = null,
  findCaller,
}: ChannelDeps & { findCaller: FindCaller }): Router {
  const { http, backoff } = config
  const providerDeps = { outbound, clock }
  return createCallbackRouter({
    http,
    findCaller,
    clock,
    log,
    metrics,
    tenancy: createTenancy({ store, keyring, clock }),
    buildProvider: createBuildProvider({ factories: PROVIDER_FACTORIES, providerDeps, publicUrl: http.publicUrl }),
    handleCallback: createHandleCallback({
      broker,
      keyring,
      clock,
      log,
      metrics,
      tracing,
      rounds: backoff.channel.length + 1,
      attempts: batchDocs(store.docs('attempts')),
      otps: store.docs('otps'),
    }),
  })
}
