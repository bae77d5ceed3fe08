// Entries on their way from the company's document, where they were entered, to the ledger, where they stay. Whoever entered them moves
// them in the background; the rest, left by a process that died, is moved by the sweeper.
import type { Clock } from '../clock.ts'
import type { Logger } from '../log.ts'
import { partitionOf } from '../otps/partition.ts'
import type { Docs, Pipeline } from '../store/docs.ts'
import type { Company } from '../tenancy/documents.ts'
import { type LedgerDoc, type LedgerItem, ledgerId } from './documents.ts'

export interface MovingParts {
  companies: Pick<Docs<Company>, 'change'>
  ledger: Pick<Docs<LedgerDoc>, 'insert'>
  clock: Pick<Clock, 'now'>
  log: Pick<Logger, 'warn'>
}

/** Past any call's patience: a hold without a delivery by then never gets one. */
export const CHECK_AFTER_MS = 60_000

export function movingOn({ companies, ledger, clock, log }: MovingParts) {
  const moving = new Set<Promise<void>>()

  /** In the ledger first: what a crash leaves in both is counted once. Numbers are given in order, so that of those between two of
   *  them that were waiting none was entered since. */
  async function move(_id: string, items: readonly LedgerItem[], since: unknown): Promise<void> {
    const [first, last] = [items[0], items.at(-1)]
    if (!first || !last) return
    await ledger.insert(items.map(item => written(_id, item)))
    await companies.change([{ _id, update: without(first.seq, last.seq, since) }])
  }

  return {
    /** What was entered just now, in the background. */
    soon(company_id: string, items: readonly LedgerItem[]): void {
      const moved = move(company_id, items, '$behind_at')
        .catch(error => log.warn({ err: error, company_id }, 'ledger.behind'))
        .finally(() => moving.delete(moved))
      moving.add(moved)
    },
    /** All that waits. What others are moving at this moment is seen to twice, and counts once. */
    async rest({ _id, waiting = [] }: Company): Promise<void> {
      await move(_id, waiting, clock.now())
    },
    settled: async (): Promise<void> => void (await Promise.all(moving)),
  }
}

const without = (first: number, last: number, since: unknown): Pipeline => [
  {
    $set: {
      waiting: {
        $filter: {
          input: { $ifNull: ['$waiting', []] },
          cond: { $or: [{ $lt: ['$$this.seq', first] }, { $gt: ['$$this.seq', last] }] },
        },
      },
    },
  },
  { $set: { behind_at: { $cond: [{ $eq: [{ $size: '$waiting' }, 0] }, '$$REMOVE', since] } } },
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
