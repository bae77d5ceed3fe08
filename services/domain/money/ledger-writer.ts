// Moves entries from the company's document, where they were entered, to the ledger. In: batches that were entered, and which of their
// holds were confirmed: their deliveries are saved. Out: items in the ledger, and the batches removed from the company.
//
// The process that entered a batch moves it in the background, as soon as its holds are confirmed; the sweeper moves the batches of a
// process that died. A hold that was not confirmed is moved with a time at which the sweeper looks for its delivery. A confirmed one has
// none, so that a send that is completed costs the sweeper nothing.
//
// The next write of entries removes moved batches as well: a write of its own would be one more for each batch, and would delay the other
// processes that write the same document. Only where no entry comes for a while, they are removed by themselves.
import type { Clock } from '../../../infra/clock.ts'
import type { Logger } from '../../../infra/log/log.ts'
import { partitionOf } from '../../../infra/partitions.ts'
import type { Docs, Pipeline } from '../../../infra/store/docs.ts'
import { createUnderWay } from '../../../infra/under-way.ts'
import { batchesWithout, itemsOf, UPDATE_BEHIND_AT, waitingItems } from './batches.ts'
import { type AccountDoc, type Entry, type EntryBatch, type LedgerDoc, type LedgerItem, ledgerId } from './documents.ts'

export interface LedgerWriterDeps {
  companies: Pick<Docs<AccountDoc>, 'update'>
  ledger: Pick<Docs<LedgerDoc>, 'insert'>
  clock: Pick<Clock, 'now' | 'after'>
  log: Pick<Logger, 'warn'>
}

/** How long moved batches wait for a write of entries. Far shorter than the time after which the sweeper moves what waits. */
export const REMOVE_MOVED_WITHIN_MS = 1_000
/** Longer than any call may take: a hold that has no delivery by then never gets one. */
export const CHECK_HOLD_AFTER_MS = 60_000
/** A hold is followed by one write of its verification. A hold that is not confirmed by then was undone, or that write is slow, or its
 *  answer was lost. */
export const CONFIRM_HOLD_WITHIN_MS = 2_000

/** A batch that this process entered, and that waits for its holds to be confirmed. */
interface UnconfirmedBatch {
  company_id: string
  seq: number
  items: readonly LedgerItem[]
  /** The deliveries of the holds that are not confirmed yet. */
  deliveries: Set<string>
  since: number
}

/** Batches that are in the ledger and still in the company's document. */
interface MovedBatches {
  /** Their first numbers. */
  seqs: number[]
  /** When the first of them was moved. */
  since: number
  cancelRemoval(): void
}

export function createLedgerWriter({ companies, ledger, clock, log }: LedgerWriterDeps) {
  const running = createUnderWay()
  /** By delivery, the oldest first. A batch is here once for each of its holds that is not confirmed. */
  const unconfirmed = new Map<string, UnconfirmedBatch>()
  /** By company. */
  const moved = new Map<string, MovedBatches>()

  /** Comes before the batches are removed: an item that a crash leaves in both places is counted once. */
  async function insertItems(
    company_id: string,
    items: readonly LedgerItem[],
    needsCheck: (item: LedgerItem) => boolean,
  ): Promise<void> {
    if (items.length > 0) await ledger.insert(items.map(item => ledgerDoc(company_id, item, needsCheck(item))))
  }

  /** `movedAt`: of the first. Writes that are refused take them and put them back, and must not put off their removal. */
  function removeLater(company_id: string, seqs: readonly number[], movedAt: number): void {
    if (seqs.length === 0) return
    const known = takeMoved(company_id)
    const since = Math.min(known.since, movedAt)
    const waitMs = Math.max(since + REMOVE_MOVED_WITHIN_MS - clock.now(), 0)
    const cancelRemoval = clock.after(waitMs, () => removeNow(company_id))
    moved.set(company_id, { seqs: [...known.seqs, ...seqs], since, cancelRemoval })
  }

  /** They are no longer removed by anything else. */
  function takeMoved(company_id: string): MovedBatches {
    const known = moved.get(company_id) ?? NOTHING_MOVED
    known.cancelRemoval()
    moved.delete(company_id)
    return known
  }

  function removeNow(company_id: string): void {
    const { seqs } = takeMoved(company_id)
    inBackground(company_id, async () => {
      await companies.update([{ ids: [company_id], update: removeBatches(seqs) }])
    })
  }

  function inBackground(company_id: string, work: () => Promise<void>): void {
    running.add(work().catch(error => log.warn({ err: error, company_id }, 'ledger.behind')))
  }

  /** The holds that are not confirmed by now will be checked, even if they are confirmed later. */
  function moveInBackground({ company_id, seq, items, deliveries }: UnconfirmedBatch): void {
    for (const delivery_id of deliveries) unconfirmed.delete(delivery_id)
    inBackground(company_id, async () => {
      await insertItems(company_id, items, ({ delivery_id }) => delivery_id !== null && deliveries.has(delivery_id))
      removeLater(company_id, [seq], clock.now())
    })
  }

  /** Runs with the next batch that this process enters, so that no timer is needed. If none comes, the sweeper moves the old ones. */
  function moveOverdue(): void {
    const limit = clock.now() - CONFIRM_HOLD_WITHIN_MS
    for (const batch of unconfirmed.values()) {
      if (batch.since > limit) return
      moveInBackground(batch)
    }
  }

  return {
    /** Makes a write of entries, which also removes the batches of `movedSeqs`. `write` answers null when its filter did not match. */
    async writeCompany(
      company_id: string,
      write: (movedSeqs: readonly number[]) => Promise<AccountDoc | null>,
    ): Promise<AccountDoc | null> {
      const { seqs: movedSeqs, since } = takeMoved(company_id)
      let after: AccountDoc | null = null
      try {
        after = await write(movedSeqs)
        return after
      } finally {
        if (after === null) removeLater(company_id, movedSeqs, since)
      }
    },
    /** Moves a batch once all of its holds are confirmed; at once if it has none. */
    moveWhenConfirmed(company_id: string, batch: EntryBatch): void {
      moveOverdue()
      const items = itemsOf(batch)
      const deliveries = new Set(items.filter(isHoldForDelivery).map(({ delivery_id }) => delivery_id))
      const waiting: UnconfirmedBatch = { company_id, seq: batch.seq, items, deliveries, since: clock.now() }
      for (const delivery_id of deliveries) unconfirmed.set(delivery_id, waiting)
      if (deliveries.size === 0) moveInBackground(waiting)
    },
    confirm(delivery_id: string): void {
      const batch = unconfirmed.get(delivery_id)
      if (!batch) return
      unconfirmed.delete(delivery_id)
      batch.deliveries.delete(delivery_id)
      if (batch.deliveries.size === 0) moveInBackground(batch)
    },
    /** Moves all batches of a company, of any process, so that all of their holds are checked. A batch that its own process moves at the
     *  same time is inserted once. */
    async moveAll(company: AccountDoc): Promise<void> {
      const { _id, batches } = company
      await insertItems(_id, waitingItems(company), isHoldForDelivery)
      const movedSeqs = batches.map(({ seq }) => seq)
      if (movedSeqs.length > 0) await companies.update([{ ids: [_id], update: removeBatches(movedSeqs) }])
    },
    /** Does not wait for holds to be confirmed. */
    settled: async (): Promise<void> => {
      while (unconfirmed.size > 0 || running.size() > 0 || moved.size > 0) {
        for (const batch of unconfirmed.values()) moveInBackground(batch)
        for (const company_id of moved.keys()) removeNow(company_id)
        await running.settled()
      }
    },
  }
}

const NOTHING_MOVED: MovedBatches = { seqs: [], since: Number.POSITIVE_INFINITY, cancelRemoval: () => {} }

const removeBatches = (movedSeqs: readonly number[]): Pipeline => [
  { $set: { batches: batchesWithout(movedSeqs) } },
  UPDATE_BEHIND_AT,
]

const isHoldForDelivery = <E extends Entry>(entry: E): entry is E & { otp_id: string; delivery_id: string } =>
  entry.kind === 'hold' && entry.otp_id !== null && entry.delivery_id !== null

function ledgerDoc(company_id: string, item: LedgerItem, needsCheck: boolean): LedgerDoc {
  const { otp_id, seq, at } = item
  return {
    _id: ledgerId(company_id, seq),
    company_id,
    rev: 1,
    ...item,
    ...(needsCheck && otp_id !== null ? { check_at: at + CHECK_HOLD_AFTER_MS, partition: partitionOf(otp_id) } : {}),
  }
}
