// Reads the ledger of a company. In: a company and what of its ledger is wanted. Out: entries, newest first. The
// numbers of the entries have no gap and grow with time, so a time is found among them by halving: no index of times is
// needed.

import type { Docs } from '../../../infra/store/docs.ts'
import { getOne } from '../../../infra/store/one-doc.ts'
import { MINUTE_MS } from '../../../infra/time.ts'
import type { Channel } from '../../../machines/channels.ts'
import { type EntryKind, type LedgerDoc, ledgerId } from '../../domain/money/documents.ts'
import { readNewestFirst } from '../newest-first.ts'
import { type ExceptionKind, type ExplainedEntry, explained } from './exceptions.ts'

export interface LedgerFilter {
  from?: number | undefined
  to?: number | undefined
  kind?: EntryKind | undefined
  app_id?: string | undefined
  channel?: Channel | undefined
  country?: string | undefined
  delivery_id?: string | undefined
  exception?: ExceptionKind | 'any' | undefined
}

type Ledger = Pick<Docs<LedgerDoc>, 'find' | 'get'>

/** Several processes enter: their clocks differ a little, so near a time entries are not quite in its order. */
const MAX_DISORDER_MS = MINUTE_MS
const READ_AT_ONCE = 500

/** The number of the first entry from `time` on, of entries numbered 1 to `lastSeq`; after the last where there is none. What is before it
 *  ended there, so that months that follow each other have all entries, each once. */
export async function seqAt(ledger: Ledger, company_id: string, lastSeq: number, time: number): Promise<number> {
  // All entries before the one that halving finds are before `time`, also where they are not quite in its order.
  let [low, high] = [1, lastSeq + 1]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const entry = await getOne(ledger, ledgerId(company_id, middle))
    if ((entry?.at ?? 0) < time - MAX_DISORDER_MS) low = middle + 1
    else high = middle
  }
  for (let next = low; next <= lastSeq; next += READ_AT_ONCE) {
    const _id = {
      $gte: ledgerId(company_id, next),
      $lt: ledgerId(company_id, Math.min(next + READ_AT_ONCE, lastSeq + 1)),
    }
    const entries = await ledger.find({ company_id, _id }, { sort: { _id: 1 }, limit: READ_AT_ONCE })
    const first = entries.find(({ at }) => at >= time)
    if (first !== undefined) return first.seq
  }
  return lastSeq + 1
}

export const matchesFilter =
  ({ kind, app_id, channel, country, exception }: LedgerFilter) =>
  (entry: ExplainedEntry): boolean =>
    (exception === undefined || entry.exceptions.some(one => exception === 'any' || one === exception)) &&
    (kind === undefined || entry.kind === kind) &&
    (app_id === undefined || entry.message?.app_id === app_id) &&
    (channel === undefined || entry.message?.channel === channel) &&
    (country === undefined || entry.message?.country === country)

/** The entries of one delivery, of which there are at most three. */
async function* ofDelivery(
  ledger: Ledger,
  company_id: string,
  delivery_id: string,
  before: string | undefined,
): AsyncGenerator<LedgerDoc> {
  const entry = { $in: [`hold:${delivery_id}`, `back:${delivery_id}`, `${delivery_id}:recharge`] }
  const found = await ledger.find({ company_id, entry }, { sort: { entry: 1 }, limit: 3 })
  yield* found.filter(({ _id }) => before === undefined || _id < before).sort((one, other) => other.seq - one.seq)
}

export interface LedgerRead {
  company_id: string
  lastSeq: number
  filter: LedgerFilter
  /** The id below which the page begins, and how many entries are read at first. */
  before: string | undefined
  wanted: number
}

export async function* readLedger(
  ledger: Ledger,
  { company_id, lastSeq, filter, before, wanted }: LedgerRead,
): AsyncGenerator<ExplainedEntry> {
  const explain = (entries: AsyncIterable<LedgerDoc>) => explained(ledger, { company_id, atOnce: wanted }, entries)
  if (filter.delivery_id !== undefined)
    return yield* explain(ofDelivery(ledger, company_id, filter.delivery_id, before))
  const idAt = async (time: number | undefined): Promise<string | undefined> =>
    time === undefined ? undefined : ledgerId(company_id, await seqAt(ledger, company_id, lastSeq, time))
  const [from, end] = [await idAt(filter.from), await idAt(filter.to)]
  const range = { from, before: before === undefined || (end !== undefined && end < before) ? end : before }
  yield* explain(readNewestFirst({ docs: ledger, filters: [{ company_id }], range, wanted }))
}
