// The admin API, under /admin/v1. ROUTES lists every subject: a folder with a routes.ts, or a single file. To add an endpoint, add it to
// the routes of its subject, and say in access.ts who may call it; to add a subject, export an AddRoutes and list it here.
import { Router } from '@koa/router'
import type { Middleware } from 'koa'
import type { Broker } from '../../infra/broker/broker.ts'
import type { Clock } from '../../infra/clock.ts'
import type { Keyring } from '../../infra/crypto/keyring.ts'
import { createExclusiveChange } from '../../infra/exclusive-change.ts'
import type { Service } from '../../infra/host.ts'
import type { IdentifyOperator } from '../../infra/http/operators.ts'
import type { Logger } from '../../infra/log/log.ts'
import type { PrivateTargets } from '../../infra/outbound/address-check.ts'
import type { Lookup } from '../../infra/outbound/lookup.ts'
import { createTargetInspector } from '../../infra/outbound/target-inspector.ts'
import type { CountersignStore } from '../domain/collections.ts'
import { createAccounts } from '../domain/money/accounts.ts'
import { createTenancy } from '../domain/tenancy/tenancy.ts'
import { guardRoutes } from './access.ts'
import { addAddressListRoutes } from './address-lists/routes.ts'
import type { AddRoutes, AdminDeps } from './admin-deps.ts'
import { addKeyRoutes } from './api-keys.ts'
import { addAppRoutes } from './apps/routes.ts'
import { addAuditRoutes } from './audit.ts'
import { createBackgroundQueue } from './background-queue.ts'
import { addCompanyRoutes } from './companies.ts'
import { addFraudRoutes } from './fraud.ts'
import { addMoneyRoutes } from './money/routes.ts'
import { createReadPage } from './pages.ts'
import { addPriceRoutes } from './prices.ts'
import { addPrivacyRoutes } from './privacy/routes.ts'
import { addProviderRoutes } from './providers/routes.ts'
import { createReadBody } from './request-input.ts'
import { addRoutingPreviewRoutes } from './routing-preview.ts'
import { addSandboxRoutes } from './sandbox/routes.ts'
import { addVerificationRoutes } from './verifications/routes.ts'
import { addWebhookRoutes } from './webhook/routes.ts'
import { createWithAudit } from './with-audit.ts'

export interface DashboardDeps {
  config: { http: { maxBodyBytes: number }; privateTargets: PrivateTargets }
  identifyOperator: IdentifyOperator
  store: CountersignStore
  broker: Pick<Broker, 'publish'>
  keyring: Keyring
  clock: Clock
  log: Logger
  /** In place of DNS when the address of a webhook or provider is saved. */
  lookup?: Lookup
}

const PREFIX = '/admin/v1'

const ROUTES: readonly AddRoutes[] = [
  addCompanyRoutes,
  addMoneyRoutes,
  addPriceRoutes,
  addAppRoutes,
  addKeyRoutes,
  addProviderRoutes,
  addWebhookRoutes,
  addVerificationRoutes,
  addFraudRoutes,
  addRoutingPreviewRoutes,
  addAddressListRoutes,
  addSandboxRoutes,
  addPrivacyRoutes,
  addAuditRoutes,
]

export function createDashboardService(deps: DashboardDeps): Service {
  const { config, identifyOperator, store, broker, keyring, clock, log, lookup } = deps
  const accounts = createAccounts({ store, clock, log })
  const backgroundQueue = createBackgroundQueue(log)
  const adminDeps: AdminDeps = {
    store,
    broker,
    keyring,
    clock,
    log,
    runInBackground: backgroundQueue.run,
    tenancy: createTenancy({ store, keyring }),
    readBody: createReadBody(config.http.maxBodyBytes),
    readPage: createReadPage(keyring),
    inspect: createTargetInspector({ privateTargets: config.privateTargets, lookup }),
    accounts,
    withAudit: createWithAudit({ audit: store.docs('audit'), clock, log }),
    changeExclusively: createExclusiveChange({ leases: store.docs('leases'), clock }),
  }
  const router = new Router({ prefix: PREFIX, sensitive: true })
  for (const addRoutes of ROUTES) addRoutes(router, adminDeps)
  guardRoutes(router, PREFIX, ctx => ({ name: identifyOperator(ctx), role: 'operator', company_id: null }))
  for (const route of router.stack) route.stack.unshift(forbidCaching)
  const stop = async (): Promise<void> => void (await Promise.all([accounts.settled(), backgroundQueue.stop()]))
  return { router, stop }
}

/** Answers hold keys and personal data, which no cache may keep. */
const forbidCaching: Middleware = (ctx, next) => {
  ctx.set('Cache-Control', 'no-store')
  return next()
}
