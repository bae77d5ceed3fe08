// The admin API, under /admin/v1, and the pages that use it. ROUTES lists every subject: a folder with a routes.ts, or a single file. To add an endpoint, add it to
// the routes of its subject, and say in access.ts who may call it; to add a subject, export an AddRoutes and list it here.
import { Router } from '@koa/router'
import type { Middleware } from 'koa'
import type { Broker } from '../../infra/broker/broker.ts'
import type { Clock } from '../../infra/clock.ts'
import type { Secrets } from '../../infra/config/config.ts'
import type { Keyring } from '../../infra/crypto/keyring.ts'
import { createExclusiveChange } from '../../infra/exclusive-change.ts'
import type { Service } from '../../infra/host.ts'
import type { FindCaller } from '../../infra/http/caller-address.ts'
import type { IdentifyOperator } from '../../infra/http/operators.ts'
import type { Logger } from '../../infra/log/log.ts'
import type { PrivateTargets } from '../../infra/outbound/address-check.ts'
import type { Lookup } from '../../infra/outbound/lookup.ts'
import { createTargetInspector } from '../../infra/outbound/target-inspector.ts'
import type { CountersignStore } from '../domain/collections.ts'
import { createAccounts } from '../domain/money/accounts.ts'
import { createTenancy } from '../domain/tenancy/tenancy.ts'
import { createGrants } from '../domain/users/grants.ts'
import { createPeople } from '../domain/users/people.ts'
import { createSignInTickets } from '../domain/users/sign-in-tickets.ts'
import { guardRoutes } from './access.ts'
import { addAddressListRoutes } from './address-lists/routes.ts'
import type { AddRoutes, AdminDeps } from './admin-deps.ts'
import { addKeyRoutes } from './api-keys.ts'
import { addAppRoutes } from './apps/routes.ts'
import { addAuditRoutes } from './audit.ts'
import { createBackgroundQueue } from './background-queue.ts'
import { addCompanyRoutes } from './companies.ts'
import { addFraudRoutes } from './fraud.ts'
import { addHealthRoutes } from './health/routes.ts'
import { addMoneyRoutes } from './money/routes.ts'
import { createReadFilteredPage, createReadPage, createReadPageOf } from './pages.ts'
import { addPriceRoutes } from './prices.ts'
import { addPrivacyRoutes } from './privacy/routes.ts'
import { addProviderRoutes } from './providers/routes.ts'
import { createProviderTestRoutes } from './providers/test-route.ts'
import { addQueueRoutes } from './queues/routes.ts'
import { addRefusalRoutes } from './refusals.ts'
import { createReadBody } from './request-input.ts'
import { addRoutingPreviewRoutes } from './routing-preview.ts'
import { addSandboxRoutes } from './sandbox/routes.ts'
import { createAfterAnswer } from './sign-in/after-answer.ts'
import { createBrowsers } from './sign-in/browsers.ts'
import { createSignInCodes } from './sign-in/codes.ts'
import { ADMIN_PATH, createCookies } from './sign-in/cookie.ts'
import { createIdentifyPrincipal } from './sign-in/identify.ts'
import { createInvitationRoutes } from './sign-in/invitations.ts'
import { createMailLimit } from './sign-in/mail-limit.ts'
import { createSignInRoutes } from './sign-in/routes.ts'
import { createSameOrigin } from './sign-in/same-origin.ts'
import { createSessions } from './sign-in/sessions.ts'
import { addStatsRoutes } from './stats/routes.ts'
import { createInvitationLimit } from './users/invitation-limit.ts'
import { createUserRoutes } from './users/routes.ts'
import { addVerificationRoutes } from './verifications/routes.ts'
import { createWebPages } from './web-pages.ts'
import { addWebhookRoutes } from './webhook/routes.ts'
import { createWithAudit } from './with-audit.ts'

export interface DashboardDeps {
  config: {
    http: { maxBodyBytes: number; publicUrl: string | null }
    provider: { timeoutMs: number }
    privateTargets: PrivateTargets
    production: boolean
  }
  secrets: Pick<Secrets, 'adminTokens'>
  identifyOperator: IdentifyOperator
  findCaller: FindCaller
  store: CountersignStore
  broker: Pick<Broker, 'publish' | 'request' | 'depth' | 'dead'>
  keyring: Keyring
  clock: Clock
  log: Logger
  /** In place of DNS when the address of a webhook or provider is saved. */
  lookup?: Lookup
}

const ROUTES: readonly AddRoutes[] = [
  addCompanyRoutes,
  addMoneyRoutes,
  addPriceRoutes,
  addAppRoutes,
  addKeyRoutes,
  addProviderRoutes,
  addWebhookRoutes,
  addVerificationRoutes,
  addRefusalRoutes,
  addStatsRoutes,
  addHealthRoutes,
  addFraudRoutes,
  addRoutingPreviewRoutes,
  addAddressListRoutes,
  addSandboxRoutes,
  addPrivacyRoutes,
  addQueueRoutes,
  addAuditRoutes,
]

export function createDashboardService(deps: DashboardDeps): Service {
  const { config, secrets, identifyOperator, findCaller, store, broker, keyring, clock, log, lookup } = deps
  const { publicUrl } = config.http
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
    readPageOf: createReadPageOf(keyring),
    readFilteredPage: createReadFilteredPage({ keyring, clock }),
    inspect: createTargetInspector({ privateTargets: config.privateTargets, lookup }),
    accounts,
    withAudit: createWithAudit({ audit: store.docs('audit'), companies: store.docs('companies'), clock, log }),
    changeExclusively: createExclusiveChange({ leases: store.docs('leases'), clock }),
  }
  const sameOrigin = createSameOrigin(publicUrl)
  const grants = createGrants({ keyring, log })
  const sessions = createSessions({ store, keyring, grants, clock, operators: secrets.adminTokens })
  const afterAnswer = createAfterAnswer(log)
  const cookies = createCookies({ secure: publicUrl?.startsWith('https:') === true })
  const browsers = createBrowsers({ store, grants, clock })
  const mailLimit = createMailLimit({ store, keyring, clock })
  const people = createPeople({ store, keyring, grants, clock })
  const invitationLimit = createInvitationLimit({ store, keyring, clock })
  const addSignInRoutes = createSignInRoutes({
    codes: createSignInCodes({ ...adminDeps, broker, browsers, mailLimit, people, production: config.production }),
    browsers,
    tickets: createSignInTickets({ store, keyring, grants, clock, operators: secrets.adminTokens }),
    sessions,
    people,
    sameOrigin,
    identifyOperator,
    operators: secrets.adminTokens,
    findCaller,
    cookies,
    runAfterAnswer: afterAnswer.run,
  })
  const router = new Router({ prefix: ADMIN_PATH, sensitive: true })
  const addProviderTestRoutes = createProviderTestRoutes({ broker, timeoutMs: config.provider.timeoutMs })
  const withSessions = [
    addSignInRoutes,
    createInvitationRoutes({ sessions, people, grants, cookies }),
    createUserRoutes({ sessions, grants, invitationLimit }),
  ]
  for (const addRoutes of [...withSessions, addProviderTestRoutes, ...ROUTES]) addRoutes(router, adminDeps)
  const identify = createIdentifyPrincipal({ identifyOperator, sessionCookie: cookies.session, sessions, sameOrigin })
  guardRoutes(router, ADMIN_PATH, identify)
  for (const route of router.stack) route.stack.unshift(forbidCaching)
  const stop = async (): Promise<void> =>
    void (await Promise.all([accounts.settled(), backgroundQueue.stop(), afterAnswer.stop()]))
  const pages = createWebPages()
  return { router: new Router({ sensitive: true }).use(router.routes()).use(pages.routes()), stop }
}

/** Answers hold keys and personal data, which no cache may keep. */
const forbidCaching: Middleware = (ctx, next) => {
  ctx.set('Cache-Control', 'no-store')
  return next()
}
