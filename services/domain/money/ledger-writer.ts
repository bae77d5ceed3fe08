// Moves entries from the company's document, where they were entered, to the ledger. In: batches that were entered. Out: items in the
// ledger, and the batches removed from the company. The process that entered a batch moves it in the background; the sweeper moves the
// batches of a process that died. In a busy company's document the next write of entries removes moved batches as well, because a write
// of its own would delay the other processes.
import type { Clock } from '../../../infra/clock.ts'
import type { Logger } from '../../../infra/log/log.ts'
import { partitionOf } from '../../../infra/partitions.ts'
import type { Docs, Pipeline } from '../../../infra/store/docs.ts'
import { batchesWithout, itemsOf, waitingItems } from './batches.ts'
import { type AccountDoc, type EntryBatch, type LedgerDoc, type LedgerItem, ledgerId } from './documents.ts'

export interface LedgerWriterDeps {
  companies: Pick<Docs<AccountDoc>, 'update'>
  ledger: Pick<Docs<LedgerDoc>, 'insert'>
  clock: Pick<Clock, 'now'>
  log: Pick<Logger, 'warn'>
}

/** Longer than any call may take: a hold that has no delivery by then never gets one. */
export const CHECK_HOLD_AFTER_MS = 60_000

interface CompanyState {
  /** The first numbers of batches that are in the ledger and still in the company's document. */
  movedSeqs: number[]
  /** Writes of entries that are under way. */
  writers: number
}

export function createLedgerWriter({ companies, ledger, clock, log }: LedgerWriterDeps) {
  const running = new Set<Promise<void>>()
  const states = new Map<string, CompanyState>()
  const stateOf = (company_id: string): CompanyState => {
    const state = states.get(company_id) ?? { movedSeqs: [], writers: 0 }
    states.set(company_id, state)
    return state
  }

  /** Comes before the batches are removed: an item that a crash leaves in both places is counted once. */
  async function insertItems(company_id: string, items: readonly LedgerItem[]): Promise<void> {
    if (items.length > 0) await ledger.insert(items.map(item => ledgerDoc(company_id, item)))
  }

  /** Only when no write of entries is under way, which would remove them as well. */
  async function removeMoved(company_id: string): Promise<void> {
    const { movedSeqs, writers } = stateOf(company_id)
    if (writers > 0) return
    states.delete(company_id)
    if (movedSeqs.length > 0)
      await companies.update([{ ids: [company_id], update: removeBatches(movedSeqs, '$behind_at') }])
  }

  function inBackground(company_id: string, work: () => Promise<void>): void {
    const moved = work()
      .catch(error => log.warn({ err: error, company_id }, 'ledger.behind'))
      .finally(() => running.delete(moved))
    running.add(moved)
  }

  return {
    /** Makes a write of entries, which also removes the batches of `movedSeqs`. `write` answers null when its filter did not match. */
    async writeCompany(
      company_id: string,
      write: (movedSeqs: readonly number[]) => Promise<AccountDoc | null>,
    ): Promise<AccountDoc | null> {
      const state = stateOf(company_id)
      const movedSeqs = state.movedSeqs.splice(0)
      state.writers += 1
      let after: AccountDoc | null = null
      try {
        after = await write(movedSeqs)
        return after
      } finally {
        state.writers -= 1
        if (after === null) {
          state.movedSeqs.push(...movedSeqs)
          inBackground(company_id, () => removeMoved(company_id))
        }
      }
    },
    moveInBackground(company_id: string, batch: EntryBatch): void {
      inBackground(company_id, async () => {
        await insertItems(company_id, itemsOf(batch))
        stateOf(company_id).movedSeqs.push(batch.seq)
        await removeMoved(company_id)
      })
    },
    /** Moves all batches of a company. A batch that another process moves at the same time is inserted once. */
    async moveAll(company: AccountDoc): Promise<void> {
      const { _id, batches } = company
      await insertItems(_id, waitingItems(company))
      const movedSeqs = batches.map(({ seq }) => seq)
      if (movedSeqs.length > 0) await companies.update([{ ids: [_id], update: removeBatches(movedSeqs, clock.now()) }])
    },
    settled: async (): Promise<void> => {
      while (running.size > 0) await Promise.all(running)
    },
  }
}

/** `behindAt`: the `behind_at` of the batches that are left. */
const removeBatches = (movedSeqs: readonly number[], behindAt: number | '$behind_at'): Pipeline => [
  { $set: { batches: batchesWithout(movedSeqs) } },
  { $set: { behind_at: { $cond: [{ $eq: [{ $size: '$batches' }, 0] }, '$$REMOVE', behindAt] } } },
]

function ledgerDoc(company_id: string, item: LedgerItem): LedgerDoc {
  const { otp_id, kind, seq, at } = item
  const needsCheck = kind === 'hold' && otp_id !== null
  return {
    _id: ledgerId(company_id, seq),
    company_id,
    rev: 1,
    ...item,
    ...(needsCheck ? { check_at: at + CHECK_HOLD_AFTER_MS, partition: partitionOf(otp_id) } : {}),
  }
}
