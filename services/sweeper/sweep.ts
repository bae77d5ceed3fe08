// What all sweeps have in common.
import type { Clock } from '../../infra/clock.ts'
import type { Doc, Docs, Filter, Pipeline, Sort } from '../../infra/store/docs.ts'

/** In: partitions, all in one query, because most of the time nothing is due in any of them. Out: how many documents were swept; a full
 *  batch (`SWEEP_BATCH`) means that there may be more. */
export type Sweep = (partitions: readonly number[]) => Promise<number>

export const SWEEP_BATCH = 200

/** A sweep of what has no partition: made by the process that holds partition 0. */
export const byOneProcess =
  (sweep: () => Promise<number>): Sweep =>
  async partitions =>
    partitions.includes(0) ? sweep() : 0

/** Per run of a sweep that is not urgent: other sweeps are due every second. */
export const MAX_BATCHES_PER_RUN = 5
const MAX_RUN_MS = 500

/** `work` is one batch, and answers whether there is more to do at once. */
export async function runBatches(clock: Pick<Clock, 'now'>, work: () => Promise<boolean>): Promise<void> {
  const until = clock.now() + MAX_RUN_MS
  for (let batches = 1; await work(); batches += 1) if (batches === MAX_BATCHES_PER_RUN || clock.now() >= until) break
}

/** The documents of these partitions whose time in `field` has come, the earliest first. */
export const findDue = <T extends Doc & { partition?: number }>(
  docs: Pick<Docs<T>, 'find'>,
  partitions: readonly number[],
  field: keyof T & string,
  until: number,
): Promise<T[]> =>
  docs.find({ partition: { $in: [...partitions] }, [field]: { $gt: 0, $lte: until } } as Filter<T>, {
    sort: { partition: 1, [field]: 1 } as Sort<T>,
    limit: SWEEP_BATCH,
  })

/** Only while `due_at` is set: a document that ended since it was read must not become due again. */
export const postponeDue = (until: number): Pipeline => [
  { $set: { due_at: { $cond: [{ $gt: ['$due_at', 0] }, { $max: ['$due_at', until] }, '$$REMOVE'] } } },
]
