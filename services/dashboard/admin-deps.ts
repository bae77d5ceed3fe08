// What every resource of the admin API is made from, and how it shows times.
import type { Router } from '@koa/router'
import type { Broker } from '../../infra/broker/broker.ts'
import type { Clock } from '../../infra/clock.ts'
import type { Keyring } from '../../infra/crypto/keyring.ts'
import type { Logger } from '../../infra/log/log.ts'
import type { Inspector } from '../../infra/outbound/inspector.ts'
import type { CountersignStore } from '../domain/collections.ts'
import type { Accounts } from '../domain/money/accounts.ts'
import type { Tenancy } from '../domain/tenancy/tenancy.ts'
import type { ExclusiveChange } from './exclusive-change.ts'
import type { ReadPage } from './pages.ts'
import type { ReadBody } from './request-input.ts'
import type { WebhookControl } from './webhook-control.ts'
import type { WithAudit } from './with-audit.ts'

export interface AdminDeps {
  store: CountersignStore
  broker: Pick<Broker, 'publish'>
  keyring: Keyring
  clock: Clock
  log: Logger
  tenancy: Tenancy
  readBody: ReadBody
  readPage: ReadPage
  /** What the guard would say of an address that is to be saved. */
  inspect: Inspector
  webhooks: WebhookControl
  accounts: Accounts
  /** Every route that changes something changes it through this. */
  withAudit: WithAudit
  /** For what is put as a whole: it must not mix with what another puts. */
  changeExclusively: ExclusiveChange
  /** Work that goes on after the answer, one after the other. What is not begun when the process stops never is. */
  runInBackground(work: () => Promise<void>): void
}

/** Adds its routes. */
export type AddRoutes = (router: Router, admin: AdminDeps) => void

/** Times are epoch milliseconds inside, ISO 8601 in UTC outside. */
export const isoTime = (at: number): string => new Date(at).toISOString()
export const isoTimeOrNull = (at: number | null): string | null => (at === null ? null : isoTime(at))
