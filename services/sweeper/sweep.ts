// What all sweeps have in common.
import type { Pipeline } from '../../infra/store/docs.ts'

/** In: partitions, all in one query, because most of the time nothing is due in any of them. Out: how many documents were swept; a full
 *  batch (`SWEEP_BATCH`) means that there may be more. */
export type Sweep = (partitions: readonly number[]) => Promise<number>

export const SWEEP_BATCH = 200

/** Only while `due_at` is set: a document that ended since it was read must not become due again. */
export const postponeDue = (until: number): Pipeline => [
  { $set: { due_at: { $cond: [{ $gt: ['$due_at', 0] }, { $max: ['$due_at', until] }, '$$REMOVE'] } } },
]
