// The admin API, under /admin/v1. Each resource is a file that adds its routes; here they get what they are made from, and whoever
// calls is asked for an operator's token first.
import { Router } from '@koa/router'
import type { Middleware } from 'koa'
import type { Broker } from '../../infra/broker/broker.ts'
import type { Clock } from '../../infra/clock.ts'
import type { Secrets } from '../../infra/config/config.ts'
import type { Keyring } from '../../infra/crypto/keyring.ts'
import type { Service } from '../../infra/host.ts'
import { type Operators, operators } from '../../infra/http/operator.ts'
import type { Logger } from '../../infra/log/log.ts'
import type { PrivateTargets } from '../../infra/outbound/addresses.ts'
import { inspecting } from '../../infra/outbound/inspect.ts'
import type { Lookup } from '../../infra/outbound/lookup.ts'
import { stepEndpoint } from '../../machines/endpoint.step.ts'
import type { CountersignStore } from '../domain/collections.ts'
import { accounting } from '../domain/money/accounts.ts'
import { tenancy } from '../domain/tenancy/tenancy.ts'
import { ipLists } from './address-lists/ip-lists.ts'
import type { Admin, Resource } from './admin.ts'
import { apps } from './apps.ts'
import { audit } from './audit.ts'
import { auditing } from './audited.ts'
import { companies } from './companies.ts'
import { fraud } from './fraud.ts'
import { keys } from './keys.ts'
import { money } from './money/money.ts'
import { prices } from './money/prices.ts'
import { paging } from './paging.ts'
import { erase } from './privacy/erase.ts'
import { privacy } from './privacy/privacy.ts'
import { providers } from './providers/providers.ts'
import { bodies } from './requests.ts'
import { sandbox } from './sandbox/sandbox.ts'
import { turns } from './turns.ts'
import { route } from './verifications/route.ts'
import { verifications } from './verifications/verifications.ts'
import { events } from './webhook/events.ts'
import { webhookRotation } from './webhook/rotation.ts'
import { webhook } from './webhook/webhook.ts'
import { webhookControl } from './webhook-control.ts'

export interface DashboardParts {
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

const RESOURCES: readonly Resource[] = [
  ...[companies, money, prices, apps, keys, providers, webhook, webhookRotation, events],
  ...[verifications, fraud, route, ipLists, sandbox, erase, privacy, audit],
]

export function dashboard(parts: DashboardParts): Service {
  const { config, secrets, store, broker, keyring, clock, log, lookup } = parts
  const accounts = accounting({ store, clock, log })
  const later = inTheBackground(log)
  const admin: Admin = {
    ...{ store, broker, keyring, clock, log, background: later.begin },
    tenancy: tenancy({ store, keyring }),
    body: bodies(config.http.maxBodyBytes),
    page: paging(keyring),
    inspect: inspecting({ privateTargets: config.privateTargets, lookup }),
    webhooks: webhookControl({ store, broker, clock, log, step: stepEndpoint }),
    accounts,
    audited: auditing({ audit: store.docs('audit'), clock, log }),
    inTurn: turns({ leases: store.docs('leases'), clock }),
  }
  const router = new Router({ prefix: '/admin/v1', sensitive: true })
  for (const resource of RESOURCES) resource(router, admin)
  // Inside every route. `router.use` would match addresses by rules of its own: `/ADMIN/v1/companies` was a route, and unguarded.
  const guard = [authenticated(operators(secrets.adminTokens)), uncached]
  for (const route of router.stack) route.stack.unshift(...guard)
  const stop = async (): Promise<void> => void (await Promise.all([accounts.settled(), later.stop()]))
  return { router, stop }
}

function inTheBackground(log: Logger) {
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

const authenticated =
  (operatorOf: Operators): Middleware =>
  (ctx, next) => {
    ctx.state.who = operatorOf(ctx.get('authorization'))
    return next()
  }

/** Answers hold keys and personal data: no cache on the way keeps them. */
const uncached: Middleware = (ctx, next) => {
  ctx.set('Cache-Control', 'no-store')
  return next()
}
