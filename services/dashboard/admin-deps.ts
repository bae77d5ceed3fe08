// What the handlers of the admin API work with.
import type { Broker } from '../../infra/broker/broker.ts'
import type { Clock } from '../../infra/clock.ts'
import type { Keyring } from '../../infra/crypto/keyring.ts'
import type { ExclusiveChange } from '../../infra/exclusive-change.ts'
import type { Logger } from '../../infra/log/log.ts'
import type { TargetInspector } from '../../infra/outbound/target-inspector.ts'
import type { CountersignStore } from '../domain/collections.ts'
import type { Accounts } from '../domain/money/accounts.ts'
import type { Tenancy } from '../domain/tenancy/tenancy.ts'
import type { BackgroundQueue } from './background-queue.ts'
import type { ReadFilteredPage, ReadPage, ReadPageOf } from './pages.ts'
import type { ReadBody } from './request-input.ts'
import type { StepUpDeps } from './step-up.ts'
import type { WithAudit } from './with-audit.ts'

export interface AdminDeps extends StepUpDeps {
  store: CountersignStore
  broker: Pick<Broker, 'publish' | 'request' | 'depth' | 'dead'>
  keyring: Keyring
  clock: Clock
  log: Logger
  tenancy: Tenancy
  readBody: ReadBody
  readPage: ReadPage
  /** For lists that are not in the store. */
  readPageOf: ReadPageOf
  readFilteredPage: ReadFilteredPage
  /** The outbound guard's opinion of an address that is to be saved. */
  inspect: TargetInspector
  accounts: Accounts
  /** Every change goes through this, so that the audit log has it. */
  withAudit: WithAudit
  /** For a PUT that replaces many documents: two such PUTs must not mix. */
  changeExclusively: ExclusiveChange
  /** How long a call to a vendor may take. */
  vendorTimeoutMs: number
  /** Work that goes on after the answer. Jobs run one after the other; those that have not begun when the process stops are dropped. */
  runInBackground: BackgroundQueue['run']
}
