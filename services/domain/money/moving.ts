// Entries on their way from the company's document, where they were entered, to the ledger, where they stay. Whoever entered them moves
// them in the background; the rest, left by a process that died, is moved by the sweeper. Of a busy company's document they are taken
// with whatever is entered next: every write of its own would be in the way of others'.
import type { Clock } from '../../../infra/clock.ts'
import type { Logger } from '../../../infra/log/log.ts'
import { partitionOf } from '../../../infra/partitions.ts'
import type { Docs, Pipeline } from '../../../infra/store/docs.ts'
import { itemsOf, waitingItems, without } from './batches.ts'
import { type AccountDoc, type Batch, type LedgerDoc, type LedgerItem, ledgerId } from './documents.ts'

export interface MovingParts {
  companies: Pick<Docs<AccountDoc>, 'change'>
  ledger: Pick<Docs<LedgerDoc>, 'insert'>
  clock: Pick<Clock, 'now'>
  log: Pick<Logger, 'warn'>
}

/** Past any call's patience: a hold without a delivery by then never gets one. */
export const CHECK_AFTER_MS = 60_000

interface Desk {
  /** The first numbers of batches that are in the ledger, and still with the company. */
  gone: number[]
  /** How many are writing to the company. */
  writers: number
}

export function movingOn({ companies, ledger, clock, log }: MovingParts) {
  const moving = new Set<Promise<void>>()
  const desks = new Map<string, Desk>()
  const deskOf = (company_id: string): Desk => {
    const desk = desks.get(company_id) ?? { gone: [], writers: 0 }
    desks.set(company_id, desk)
    return desk
  }

  /** In the ledger first: what a crash leaves in both is counted once. */
  async function toLedger(company_id: string, items: readonly LedgerItem[]): Promise<void> {
    if (items.length > 0) await ledger.insert(items.map(item => written(company_id, item)))
  }

  /** Nobody is there to take them along. */
  async function tidy(company_id: string): Promise<void> {
    const { gone, writers } = deskOf(company_id)
    if (writers > 0) return
    desks.delete(company_id)
    if (gone.length > 0) await companies.change([{ _id: company_id, update: left(gone, '$behind_at') }])
  }

  function inBackground(company_id: string, work: () => Promise<void>): void {
    const moved = work()
      .catch(error => log.warn({ err: error, company_id }, 'ledger.behind'))
      .finally(() => moving.delete(moved))
    moving.add(moved)
  }

  return {
    /** Around a write to the company that takes `gone` from it; null when it was not written. */
    async along(
      company_id: string,
      write: (gone: readonly number[]) => Promise<AccountDoc | null>,
    ): Promise<AccountDoc | null> {
      const desk = deskOf(company_id)
      const gone = desk.gone.splice(0)
      desk.writers += 1
      let after: AccountDoc | null = null
      try {
        after = await write(gone)
        return after
      } finally {
        desk.writers -= 1
        if (after === null) {
          desk.gone.push(...gone)
          inBackground(company_id, () => tidy(company_id))
        }
      }
    },
    /** What was entered just now, in the background. */
    soon(company_id: string, batch: Batch): void {
      inBackground(company_id, async () => {
        await toLedger(company_id, itemsOf(batch))
        deskOf(company_id).gone.push(batch.seq)
        await tidy(company_id)
      })
    },
    /** All that waits. What others are moving at this moment is seen to twice, and counts once. */
    async rest(company: AccountDoc): Promise<void> {
      const { _id, behind_at } = company
      const items = waitingItems(company)
      await toLedger(_id, items)
      const gone = items.map(({ seq }) => seq)
      if (gone.length > 0 || behind_at !== undefined) await companies.change([{ _id, update: left(gone, clock.now()) }])
    },
    settled: async (): Promise<void> => {
      while (moving.size > 0) await Promise.all(moving)
    },
  }
}

/** What is left once these are in the ledger, and since when. */
const left = (gone: readonly number[], since: unknown): Pipeline => [
  { $set: { batches: without('batches', gone), waiting: without('waiting', gone) } },
  {
    $set: {
      behind_at: { $cond: [{ $eq: [{ $size: { $concatArrays: ['$batches', '$waiting'] } }, 0] }, '$$REMOVE', since] },
    },
  },
]

function written(company_id: string, item: LedgerItem): LedgerDoc {
  const { otp_id, kind, seq, at } = item
  const checked = kind === 'hold' && otp_id !== null
  return {
    _id: ledgerId(company_id, seq),
    company_id,
    rev: 1,
    ...item,
    ...(checked ? { check_at: at + CHECK_AFTER_MS, partition: partitionOf(otp_id) } : {}),
  }
}
