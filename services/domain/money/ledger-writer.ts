// Entries on their way from the company's document, where they were entered, to the ledger, where they stay. Whoever entered them moves
// them in the background; the rest, left by a process that died, is moved by the sweeper. Of a busy company's document they are taken
// with whatever is entered next: every write of its own would be in the way of others'.
import type { Clock } from '../../../infra/clock.ts'
import type { Logger } from '../../../infra/log/log.ts'
import { partitionOf } from '../../../infra/partitions.ts'
import type { Docs, Pipeline } from '../../../infra/store/docs.ts'
import { itemsOf, waitingItems, withoutSeqs } from './batches.ts'
import { type AccountDoc, type EntryBatch, type LedgerDoc, type LedgerItem, ledgerId } from './documents.ts'

export interface LedgerWriterDeps {
  companies: Pick<Docs<AccountDoc>, 'change'>
  ledger: Pick<Docs<LedgerDoc>, 'insert'>
  clock: Pick<Clock, 'now'>
  log: Pick<Logger, 'warn'>
}

/** Past any call's patience: a hold without a delivery by then never gets one. */
export const CHECK_HOLD_AFTER_MS = 60_000

interface CompanyState {
  /** The first numbers of batches that are in the ledger, and still with the company. */
  movedSeqs: number[]
  /** How many are writing to the company. */
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

  /** In the ledger first: what a crash leaves in both is counted once. */
  async function insertItems(company_id: string, items: readonly LedgerItem[]): Promise<void> {
    if (items.length > 0) await ledger.insert(items.map(item => ledgerDoc(company_id, item)))
  }

  /** Nobody is there to take them along. */
  async function removeMoved(company_id: string): Promise<void> {
    const { movedSeqs, writers } = stateOf(company_id)
    if (writers > 0) return
    states.delete(company_id)
    if (movedSeqs.length > 0)
      await companies.change([{ _id: company_id, update: removeBatches(movedSeqs, '$behind_at') }])
  }

  function inBackground(company_id: string, work: () => Promise<void>): void {
    const moved = work()
      .catch(error => log.warn({ err: error, company_id }, 'ledger.behind'))
      .finally(() => running.delete(moved))
    running.add(moved)
  }

  return {
    /** Around a write to the company that takes `gone` from it; null when it was not written. */
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
    /** What was entered just now, in the background. */
    moveInBackground(company_id: string, batch: EntryBatch): void {
      inBackground(company_id, async () => {
        await insertItems(company_id, itemsOf(batch))
        stateOf(company_id).movedSeqs.push(batch.seq)
        await removeMoved(company_id)
      })
    },
    /** All that waits. What others are moving at this moment is seen to twice, and counts once. */
    async moveAll(company: AccountDoc): Promise<void> {
      const { _id, behind_at } = company
      const items = waitingItems(company)
      await insertItems(_id, items)
      const movedSeqs = items.map(({ seq }) => seq)
      if (movedSeqs.length > 0 || behind_at !== undefined)
        await companies.change([{ _id, update: removeBatches(movedSeqs, clock.now()) }])
    },
    settled: async (): Promise<void> => {
      while (running.size > 0) await Promise.all(running)
    },
  }
}

/** What is left once these are in the ledger, and since when. */
const removeBatches = (movedSeqs: readonly number[], since: unknown): Pipeline => [
  { $set: { batches: withoutSeqs('batches', movedSeqs), waiting: withoutSeqs('waiting', movedSeqs) } },
  {
    $set: {
      behind_at: { $cond: [{ $eq: [{ $size: { $concatArrays: ['$batches', '$waiting'] } }, 0] }, '$$REMOVE', since] },
    },
  },
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
