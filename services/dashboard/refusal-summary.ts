// How many refusals there are of each type. In: refusals, newest first. Out: the counts, the most frequent type first. Of more than
// MAX_COUNTED_REFUSALS the older ones are not read, and the answer says so, so that one busy app does not keep the process from other work.

import { isoTimeOrNull } from '../../infra/iso-time.ts'
import type { RefusalDoc, RefusalType } from '../domain/refusals/documents.ts'
import type { RefusalSummaryAnswer } from './refusals.schemas.ts'

export const MAX_COUNTED_REFUSALS = 5_000

export async function summarizeRefusals(
  newestFirst: AsyncIterable<RefusalDoc>,
  matches: (doc: RefusalDoc) => boolean,
  max = MAX_COUNTED_REFUSALS,
): Promise<RefusalSummaryAnswer> {
  const counts = new Map<RefusalType, number>()
  let [read, counted] = [0, 0]
  let oldest: number | null = null
  let complete = true
  for await (const doc of newestFirst) {
    if (read === max) {
      complete = false
      break
    }
    read += 1
    oldest = doc.at
    if (!matches(doc)) continue
    counted += 1
    counts.set(doc.type, (counts.get(doc.type) ?? 0) + 1)
  }
  const types = [...counts].map(([type, count]) => ({ type, count }))
  types.sort((a, b) => b.count - a.count || (a.type < b.type ? -1 : 1))
  return { types, counted, complete, oldest_at: isoTimeOrNull(oldest) }
}
