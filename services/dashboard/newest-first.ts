// Reads documents newest first, from one query or from several that are merged by id. In: filters that find disjoint documents, and a
// range of ids. Out: the documents one by one, read in portions as far as the caller iterates.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Doc, Docs, Filter, Sort } from '../../infra/store/docs.ts'

/** Ids from `from` on and below `before`. */
export interface IdRange {
  from?: string | undefined
  before?: string | undefined
}

export interface MergedQuery<T extends Doc> {
  docs: Pick<Docs<T>, 'find'>
  filters: readonly Filter<T>[]
  range: IdRange
  /** How many documents are read at first, from all queries together. */
  wanted: number
}

const MIN_PORTION = 4
const MAX_PORTION = 250
/** The embedded store reads while the event loop waits, so only a few queries begin at once. */
const QUERIES_AT_ONCE = 8

export async function* readNewestFirst<T extends Doc>(query: MergedQuery<T>): AsyncGenerator<T> {
  const [only, ...others] = query.filters
  if (only === undefined) return
  if (others.length === 0) return yield* readPortions(query, only, query.wanted)

  const share = Math.max(MIN_PORTION, Math.ceil(query.wanted / query.filters.length))
  const readers = query.filters.map(filter => readPortions(query, filter, share))
  yield* mergeByTime(readers)
}

/** Merges lists that are in descending order of ids each. Ids of different kinds are compared by what follows the prefix, which is their
 *  time. */
export async function* mergeByTime<T extends Doc>(readers: readonly AsyncGenerator<T>[]): AsyncGenerator<T> {
  const heads: { reader: AsyncGenerator<T>; doc: T }[] = []
  for (let at = 0; at < readers.length; at += QUERIES_AT_ONCE) {
    const some = readers.slice(at, at + QUERIES_AT_ONCE)
    const first = await Promise.all(some.map(async reader => ({ reader, next: await reader.next() })))
    for (const { reader, next } of first) if (!next.done) heads.push({ reader, doc: next.value })
    await nextTurn()
  }
  while (heads.length > 0) {
    const newest = heads.reduce((best, head) => (timeIn(head.doc) > timeIn(best.doc) ? head : best))
    yield newest.doc
    const next = await newest.reader.next()
    if (next.done) heads.splice(heads.indexOf(newest), 1)
    else newest.doc = next.value
  }
}

async function* readPortions<T extends Doc>(
  { docs, range }: MergedQuery<T>,
  filter: Filter<T>,
  firstPortion: number,
): AsyncGenerator<T> {
  let { before } = range
  for (let limit = Math.min(firstPortion, MAX_PORTION); ; limit = Math.min(limit * 4, MAX_PORTION)) {
    const portion = await docs.find({ ...filter, ...idCondition({ ...range, before }) } as Filter<T>, {
      sort: { _id: -1 } as Sort<T>,
      limit,
    })
    yield* portion
    const last = portion.at(-1)
    if (last === undefined || portion.length < limit) return
    before = last._id
    // Other requests have their turn before the next portion.
    await nextTurn()
  }
}

const timeIn = ({ _id }: Doc): string => _id.slice(_id.indexOf('_'))

const idCondition = ({ from, before }: IdRange): { _id?: { $gte?: string; $lt?: string } } =>
  from === undefined && before === undefined
    ? {}
    : { _id: { ...(from === undefined ? {} : { $gte: from }), ...(before === undefined ? {} : { $lt: before }) } }
