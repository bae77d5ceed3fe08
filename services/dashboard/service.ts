// The admin API (admin-api.ts lists its operations) and the pages that use it.
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
import { httpException } from '../../infra/http/problem.ts'
import type { Logger } from '../../infra/log/log.ts'
import type { LoopShares } from '../../infra/loop-shares.ts'
import type { PrivateTargets } from '../../infra/outbound/address-check.ts'
import type { Lookup } from '../../infra/outbound/lookup.ts'
import { createTargetInspector } from '../../infra/outbound/target-inspector.ts'
import type { CountersignStore } from '../domain/collections.ts'
import { createAccounts } from '../domain/money/accounts.ts'
import { createConsoleMails } from '../domain/tenancy/console-mail.ts'
import { createTenancy } from '../domain/tenancy/tenancy.ts'
import { createGrants } from '../domain/users/grants.ts'
import { createPeople } from '../domain/users/people.ts'
import { createSignInTickets } from '../domain/users/sign-in-tickets.ts'
import { type AllDeps, OPERATIONS } from './admin-api.ts'
import type { AdminDeps } from './admin-deps.ts'
import { createAdmit } from './admit.ts'
import { createBackgroundQueue } from './background-queue.ts'
import { mountOperations } from './operation.ts'
import { createReadFilteredPage, createReadPage, createReadPageOf } from './pages.ts'
import { createReadBody } from './request-input.ts'
import { createAfterAnswer } from './sign-in/after-answer.ts'
import { createBrowsers } from './sign-in/browsers.ts'
import { createSignInCodes } from './sign-in/codes.ts'
import { createCookies } from './sign-in/cookie.ts'
import { createEntry } from './sign-in/entry.ts'
import { createIdentifyPrincipal } from './sign-in/identify.ts'
import { createMailLimit } from './sign-in/mail-limit.ts'
import { createNewBrowserMail } from './sign-in/new-browser-mail.ts'
import { createChallenges } from './sign-in/passkeys/challenges.ts'
import { createPasskeys } from './sign-in/passkeys/passkeys.ts'
import { relyingPartyOf } from './sign-in/passkeys/relying-party.ts'
import { createSameOrigin } from './sign-in/same-origin.ts'
import { createSessions } from './sign-in/sessions.ts'
import { createStepUpWays } from './sign-in/step-up.ts'
import { createInvitationLimit } from './users/invitation-limit.ts'
import { createWebPages } from './web-pages.ts'
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
  /** In place of those that are measured. */
  loopShares?: LoopShares
  /** In place of DNS when the address of a webhook or provider is saved. */
  lookup?: Lookup
}

const CLIENT_API_PATH = '/api/'

export interface Dashboard extends Service {
  /** In front of what serves the client API to the pages of this dashboard alone: without a session there is no such path. */
  requireSession: Middleware
}

export function createDashboardService(deps: DashboardDeps): Dashboard {
  const { config, secrets, identifyOperator, findCaller, store, broker, keyring, clock, log, lookup } = deps
  const { publicUrl } = config.http
  const accounts = createAccounts({ store, clock, log })
  const backgroundQueue = createBackgroundQueue(log)
  const sameOrigin = createSameOrigin(publicUrl)
  const grants = createGrants({ keyring, log })
  const sessions = createSessions({ store, keyring, grants, clock, operators: secrets.adminTokens })
  const afterAnswer = createAfterAnswer(log)
  const cookies = createCookies({ secure: publicUrl?.startsWith('https:') === true })
  const browsers = createBrowsers({ store, grants, clock })
  const mailLimit = createMailLimit({ store, keyring, clock })
  const people = createPeople({ store, keyring, grants, clock })
  const passkeys = createPasskeys({
    store,
    grants,
    challenges: createChallenges({ store, keyring, clock }),
    clock,
    log,
    relyingParty: relyingPartyOf(publicUrl),
  })
  const withAudit = createWithAudit({ audit: store.docs('audit'), companies: store.docs('companies'), clock, log })
  const entry = createEntry({ store, keyring, clock, withAudit, sessions, people, cookies })
  const adminDeps: AdminDeps = {
    store,
    broker,
    keyring,
    clock,
    log,
    vendorTimeoutMs: config.provider.timeoutMs,
    runInBackground: backgroundQueue.run,
    tenancy: createTenancy({ store, keyring, clock }),
    readBody: createReadBody(config.http.maxBodyBytes),
    readPage: createReadPage(keyring),
    readPageOf: createReadPageOf(keyring),
    readFilteredPage: createReadFilteredPage({ keyring, clock }),
    inspect: createTargetInspector({ privateTargets: config.privateTargets, lookup }),
    accounts,
    withAudit,
    stepUpWays: createStepUpWays({ entry, passkeys }),
    changeExclusively: createExclusiveChange({ leases: store.docs('leases'), clock }),
  }
  const codes = createSignInCodes({ ...adminDeps, browsers, mailLimit, people, production: config.production })
  const sendMail = createConsoleMails(adminDeps)
  const handlerDeps: AllDeps = {
    ...adminDeps,
    codes,
    newBrowserMail: createNewBrowserMail({ ...adminDeps, codes, sendMail }),
    sendMail,
    publicUrl,
    browsers,
    passkeys,
    tickets: createSignInTickets({ store, keyring, grants, clock, operators: secrets.adminTokens }),
    entry,
    sessions,
    people,
    grants,
    invitationLimit: createInvitationLimit({ store, keyring, clock }),
    sameOrigin,
    identifyOperator,
    operators: secrets.adminTokens,
    findCaller,
    cookies,
    runAfterAnswer: afterAnswer.run,
  }
  const router = new Router({ sensitive: true })
  const identify = createIdentifyPrincipal({ identifyOperator, sessionCookie: cookies.session, sessions, sameOrigin })
  const admit = createAdmit({ findCaller, sessionCookie: cookies.session, loopShares: deps.loopShares })
  mountOperations(router, OPERATIONS, handlerDeps, identify, admit)
  const stop = async (): Promise<void> =>
    void (await Promise.all([accounts.settled(), backgroundQueue.stop(), afterAnswer.stop()]))
  const requireSession: Middleware = async (ctx, next) => {
    // In any case: routers match paths so.
    if (!ctx.path.toLowerCase().startsWith(CLIENT_API_PATH)) return next()
    const token = cookies.session.tokenIn(ctx)
    if (token === null || (await sessions.find(token)) === null) throw httpException(404)
    return next()
  }
  return { router: router.use(createWebPages().routes()), refuseEarly: admit.refuseEarly, stop, requireSession }
}
