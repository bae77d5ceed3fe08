// Deletes apps and companies whose deletion was asked for, with all that belongs to them but the ledger and the audit log. In: documents
// that say so (`deleted_at`). Out: nothing but a name (`deletions`). A run deletes a few batches and the next goes on, so that other sweeps
// have their turn. The document itself goes last, when a run has found that nothing else is left: a crash leaves it to be found again.
import type { Clock } from '../../infra/clock.ts'
import type { Logger } from '../../infra/log/log.ts'
import { MINUTE_MS } from '../../infra/time.ts'
import { Unavailable } from '../../infra/unavailable.ts'
import type { CountersignStore } from '../domain/collections.ts'
import { type BatchesLeft, deleteOwned, markAppsDeleted } from '../domain/deletion/delete-owned.ts'
import type { Accounts } from '../domain/money/accounts.ts'
import type { App, Closable, Company, DeletionDoc } from '../domain/tenancy/documents.ts'
import { byOneProcess, MAX_BATCHES_PER_RUN, SWEEP_BATCH, type Sweep } from './sweep.ts'

/** A call that found the app before its deletion was asked for has ended by then, so nothing is added behind the sweep. */
export const DELETE_AFTER_MS = MINUTE_MS

export interface DeletionDeps {
  store: CountersignStore
  accounts: Pick<Accounts, 'flush'>
  clock: Pick<Clock, 'now'>
  log: Pick<Logger, 'info' | 'error'>
}

export function createDeletionSweeps({ store, accounts, clock, log }: DeletionDeps): Record<string, Sweep> {
  const [apps, companies, deletions] = [store.docs('apps'), store.docs('companies'), store.docs('deletions')]

  const due = () => ({ deleted_at: { $gt: 0, $lte: clock.now() - DELETE_AFTER_MS } })
  const page = { sort: { deleted_at: 1 }, limit: SWEEP_BATCH } as const

  async function deleteApp(app: App, batches: BatchesLeft): Promise<void> {
    if (!(await deleteOwned(store, 'apps', app._id, batches))) return
    await remember({ ...nameOf(app), company_id: app.company_id })
    await apps.remove({ _id: app._id }, 1)
    await store.forgetRemoved()
    log.info({ app_id: app._id, company_id: app.company_id }, 'app.deleted')
  }

  /** Its apps are deleted like any other, each in its turn. */
  async function deleteCompany(company: Company, batches: BatchesLeft): Promise<void> {
    const { _id } = company
    await markAppsDeleted(store, _id, clock.now())
    const left = await apps.find({ company_id: _id }, { sort: { _id: 1 }, limit: 1 })
    if (left.length > 0 || !(await deleteOwned(store, 'companies', _id, batches))) return
    // What was entered is in the ledger before the account goes. One that is entered meanwhile keeps the account for the next run.
    const { balance, seq, settled_seq = 0 } = await accounts.flush(_id)
    const zone = company.timezone === undefined ? {} : { timezone: company.timezone }
    await remember({ ...nameOf(company), company_id: _id, account: { balance, seq, settled_seq, ...zone } })
    if ((await companies.remove({ _id, seq }, 1)) === 0) return
    await store.forgetRemoved()
    log.info({ company_id: _id }, 'company.deleted')
  }

  /** A run that was cut off may have written it. */
  async function remember({ _id, ...members }: DeletionDoc): Promise<void> {
    await deletions.modify({ _id }, { $set: members }, { upsert: true })
  }

  const nameOf = (doc: Closable & { _id: string; name: string }): Omit<DeletionDoc, 'company_id'> => ({
    _id: doc._id,
    name: doc.name,
    closed_at: doc.closed_at ?? 0,
    asked_at: doc.deleted_at ?? 0,
    done_at: clock.now(),
  })

  /** What cannot be deleted must not keep the others. A store that is away stops the run. */
  function logAndSkip(about: { app_id?: string; company_id?: string }, error: unknown): void {
    if (error instanceof Unavailable) throw error
    log.error({ err: error, ...about }, 'deletion.failed')
  }

  return {
    deletions: byOneProcess(async () => {
      const batches = { left: MAX_BATCHES_PER_RUN }
      for (const app of await apps.find(due(), page))
        await deleteApp(app, batches).catch(error => logAndSkip({ app_id: app._id }, error))
      for (const company of await companies.find(due(), page))
        await deleteCompany(company, batches).catch(error => logAndSkip({ company_id: company._id }, error))
      return 0
    }),
  }
}
