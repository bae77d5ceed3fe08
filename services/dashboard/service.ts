// The admin API, under /admin/v1. Each resource is a file that adds its routes; here they get what they are made from, and whoever
// calls is asked for an operator's token first.
import { Router } from '@koa/router'
import type { Middleware } from 'koa'
import type { Broker } from '../../infra/broker/broker.ts'
import type { Clock } from '../../infra/clock.ts'
import type { Secrets } from '../../infra/config/config.ts'
import type { Keyring } from '../../infra/crypto/keyring.ts'
import type { Service } from '../../infra/host.ts'
import { createIdentifyOperator, type IdentifyOperator } from '../../infra/http/operators.ts'
import type { Logger } from '../../infra/log/log.ts'
import type { PrivateTargets } from '../../infra/outbound/address-check.ts'
import { createInspector } from '../../infra/outbound/inspector.ts'
import type { Lookup } from '../../infra/outbound/lookup.ts'
import { stepEndpoint } from '../../machines/endpoint.step.ts'
import type { CountersignStore } from '../domain/collections.ts'
import { createAccounts } from '../domain/money/accounts.ts'
import { createTenancy } from '../domain/tenancy/tenancy.ts'
import { addAddressListRoutes } from './address-lists/routes.ts'
import type { AddRoutes, AdminDeps } from './admin-deps.ts'
import { addKeyRoutes } from './api-keys.ts'
import { addAppRoutes } from './apps.ts'
import { addAuditRoutes } from './audit.ts'
import { addCompanyRoutes } from './companies.ts'
import { createExclusiveChange } from './exclusive-change.ts'
import { addFraudRoutes } from './fraud.ts'
import { addPriceRoutes } from './money/prices.ts'
import { addMoneyRoutes } from './money/routes.ts'
import { createReadPage } from './pages.ts'
import { addEraseRoutes } from './privacy/erase.ts'
import { addPrivacyRoutes } from './privacy/routes.ts'
import { addProviderRoutes } from './providers/routes.ts'
import { createReadBody } from './request-input.ts'
import { addSandboxRoutes } from './sandbox/routes.ts'
import { addVerificationRoutes } from './verifications/routes.ts'
import { addRoutingPreviewRoutes } from './verifications/routing-preview.ts'
import { addEventRoutes } from './webhook/events.ts'
import { addWebhookRotationRoutes } from './webhook/rotation.ts'
import { addWebhookRoutes } from './webhook/routes.ts'
import { createWebhookControl } from './webhook-control.ts'
import { createWithAudit } from './with-audit.ts'

export interface DashboardDeps {
  config: { http: { maxBodyBytes: number }; privateTargets: PrivateTargets }
  secrets: Pick<Secrets, 'adminTokens'>
  store: CountersignStore
  broker: Pick<Broker, 'publish'>
  keyring: Keyring
  clock: Clock
  log: Logger
  /** Instead of DNS, when an address is saved. */
  lookup?: Lookup
}

const RESOURCES: readonly AddRoutes[] = [
  addCompanyRoutes,
  addMoneyRoutes,
  addPriceRoutes,
  addAppRoutes,
  addKeyRoutes,
  addProviderRoutes,
  addWebhookRoutes,
  addWebhookRotationRoutes,
  addEventRoutes,
  addVerificationRoutes,
  addFraudRoutes,
  addRoutingPreviewRoutes,
  addAddressListRoutes,
  addSandboxRoutes,
  addEraseRoutes,
  addPrivacyRoutes,
  addAuditRoutes,
]

export function createDashboardService(deps: DashboardDeps): Service {
  const { config, secrets, store, broker, keyring, clock, log, lookup } = deps
  const accounts = createAccounts({ store, clock, log })
  const backgroundQueue = createBackgroundQueue(log)
  const adminDeps: AdminDeps = {
    store,
    broker,
    keyring,
    clock,
    log,
    runInBackground: backgroundQueue.begin,
    tenancy: createTenancy({ store, keyring }),
    readBody: createReadBody(config.http.maxBodyBytes),
    readPage: createReadPage(keyring),
    inspect: createInspector({ privateTargets: config.privateTargets, lookup }),
    webhooks: createWebhookControl({ store, broker, clock, log, step: stepEndpoint }),
    accounts,
    withAudit: createWithAudit({ audit: store.docs('audit'), clock, log }),
    changeExclusively: createExclusiveChange({ leases: store.docs('leases'), clock }),
  }
  const router = new Router({ prefix: '/admin/v1', sensitive: true })
  for (const addRoutes of RESOURCES) addRoutes(router, adminDeps)
  // Inside every route. `router.use` would match addresses by rules of its own: `/ADMIN/v1/companies` was a route, and unguarded.
  const guard = [createAuthenticate(createIdentifyOperator(secrets.adminTokens)), forbidCaching]
  for (const route of router.stack) route.stack.unshift(...guard)
  const stop = async (): Promise<void> => void (await Promise.all([accounts.settled(), backgroundQueue.stop()]))
  return { router, stop }
}

function createBackgroundQueue(log: Logger) {
  let last = Promise.resolve()
  let stopping = false
  return {
    begin(work: () => Promise<void>): void {
      last = last
        .then(() => (stopping ? undefined : work()))
        .catch(error => log.error({ err: error }, 'background.failed'))
    },
    stop(): Promise<void> {
      stopping = true
      return last
    },
  }
}

const createAuthenticate =
  (identifyOperator: IdentifyOperator): Middleware =>
  (ctx, next) => {
    ctx.state.who = identifyOperator(ctx.get('authorization'))
    return next()
  }

/** Answers hold keys and personal data: no cache on the way keeps them. */
const forbidCaching: Middleware = (ctx, next) => {
  ctx.set('Cache-Control', 'no-store')
  return next()
}
