// Passes over the ledger: each reads every entry once, in the order of their numbers, and a company remembers how far it has come. In: how
// old entries have to be, and what is done with them. Out: a sweep. What a crash cuts off is done again with the same entries.
import type { Clock } from '../../infra/clock.ts'
import { scanAll } from '../../infra/store/scan.ts'
import { MINUTE_MS } from '../../infra/time.ts'
import type { CountersignStore } from '../domain/collections.ts'
import { type LedgerDoc, ledgerId } from '../domain/money/documents.ts'
import type { Company } from '../domain/tenancy/documents.ts'
import { byOneProcess, SWEEP_BATCH, type Sweep } from './sweep.ts'

/** How far the passes of a company have come. They only grow. */
type Progress = Pick<Company, 'settled_seq' | 'counted_seq' | 'counted_at'>

export interface LedgerPass {
  afterMs: number
  /** The last entry that was handled. */
  handledSeq(progress: Progress): number
  /** Answers the members of the company that say so. */
  handle(entries: readonly LedgerDoc[], progress: Progress): Promise<Required<Pick<Progress, 'settled_seq'>> | Progress>
}

const RUN_EVERY_MS = MINUTE_MS
const MAX_BATCHES_PER_RUN = 10

export function createLedgerPass(
  { store, clock }: { store: CountersignStore; clock: Pick<Clock, 'now'> },
  { afterMs, handledSeq, handle }: LedgerPass,
): Sweep {
  const [companies, ledger] = [store.docs('companies'), store.docs('ledger')]
  let nextRunAt = 0

  /** The next entries that are old enough, without a gap. */
  async function nextEntries(company_id: string, handled: number): Promise<LedgerDoc[]> {
    const after = { company_id, _id: { $gt: ledgerId(company_id, handled) } }
    const found = await ledger.find(after, { sort: { _id: 1 }, limit: SWEEP_BATCH })
    const until = clock.now() - afterMs
    const end = found.findIndex(({ seq, at }, nth) => seq !== handled + nth + 1 || at > until)
    return end === -1 ? found : found.slice(0, end)
  }

  return byOneProcess(async () => {
    if (clock.now() < nextRunAt) return 0
    let batchesLeft = MAX_BATCHES_PER_RUN
    for await (const { _id, seq, ...company } of scanAll(companies)) {
      let progress: Progress = company
      while (handledSeq(progress) < seq) {
        if (batchesLeft-- <= 0) return 0
        const entries = await nextEntries(_id, handledSeq(progress))
        if (entries.length === 0) break
        const $max = await handle(entries, progress)
        await companies.modify({ _id }, { $max })
        progress = { ...progress, ...$max }
      }
    }
    nextRunAt = clock.now() + RUN_EVERY_MS
    return 0
  })
}
