// The edge. In: the broker, the store and the keys. Out: the public API over HTTP, its OpenAPI document and the pages of its reference.
import { Router } from '@koa/router'
import type { Broker } from '../../infra/broker/broker.ts'
import type { Clock } from '../../infra/clock.ts'
import type { Config } from '../../infra/config/config.ts'
import type { Keyring } from '../../infra/crypto/keyring.ts'
import type { Service } from '../../infra/host.ts'
import type { FindCaller } from '../../infra/http/caller-address.ts'
import type { Logger } from '../../infra/log/log.ts'
import type { Metrics } from '../../infra/metrics.ts'
import type { ApiPart } from '../../infra/openapi/operation.ts'
import type { Outbound } from '../../infra/outbound/outbound.ts'
import type { CountersignStore } from '../domain/collections.ts'
import { createRefusalLog } from '../domain/refusals/refusal-log.ts'
import { createTenancy } from '../domain/tenancy/tenancy.ts'
import type { ScreenLink } from './docs/reference.ts'
import { createReferenceRouter } from './docs/router.ts'
import { createElementRouter } from './element.ts'
import { createKeyUsage } from './key-usage.ts'
import { CLIENT_API } from './operations.ts'
import { createApiRouter } from './router.ts'

export interface EdgeDeps {
  config: Pick<Config, 'http'>
  broker: Pick<Broker, 'request'>
  store: CountersignStore
  keyring: Keyring
  findCaller: FindCaller
  /** Asks the vendors of widgets. */
  outbound: Outbound
  clock: Clock
  log: Logger
  metrics: Pick<Metrics, 'refusals' | 'writtenBehind'>
  /** What other services serve over HTTP. The document has it beside the client API. */
  otherApis?: readonly ApiPart[]
  /** The screens of the dashboard that this process serves. The reference links to them. */
  screens?: readonly ScreenLink[]
  /** What other programs call is left to the process that plays the edge: logins, backends written for Twilio, and
   *  pages with the element. */
  forOwnPages?: boolean
}

export function createEdgeService(deps: EdgeDeps): Service {
  const {
    broker,
    store,
    keyring,
    findCaller,
    clock,
    log,
    metrics,
    outbound,
    otherApis = [],
    screens = [],
    forOwnPages = false,
  } = deps
  const { http } = deps.config
  const router = new Router()
  const usage = createKeyUsage({ keys: store.docs('keys'), clock, log, metrics })
  const refusals = createRefusalLog({ refusals: store.docs('refusals'), clock, log, metrics })
  const api = createApiRouter({
    broker,
    keyring,
    findCaller,
    clock,
    log,
    outbound,
    http,
    tenancy: createTenancy({ store, keyring, clock }),
    otps: store.docs('otps'),
    joinedIds: store.docs('joined_ids'),
    usage,
    refusals,
  })
  router.use(api.router.routes())
  if (!forOwnPages) {
    router.use(createElementRouter().routes())
    router.use(api.twilio.routes())
    router.use(api.hooks.routes())
  }
  router.use(createReferenceRouter({ http, parts: [CLIENT_API, ...otherApis], screens }).routes())
  const stop = async (): Promise<void> => void (await Promise.all([usage.stop(), refusals.settled()]))
  return { router, refuseEarly: api.refuseEarly, trustsCaller: api.trustsCaller, stop }
}
