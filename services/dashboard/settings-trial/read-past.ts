// Reads the calls of a time from the store, in the order in which they came. In: an app and a time. Out: batches of
// events for a replay. What was sent and what was refused are read page by page beside each other, and an event waits
// until nothing earlier can follow: a verification holds its later messages, and an id is a little older than what it
// names. Other work of the process goes on after each page is read and after it is played.
import { setImmediate } from 'node:timers/promises'
import { firstIdAt, type IdPrefix, ulidTime } from '../../../infra/ids.ts'
import type { Doc, Docs, Filter, Page, Sort } from '../../../infra/store/docs.ts'
import type { PastEvent } from '../../../machines/replay.calls.ts'
import type { CountersignStore } from '../../domain/collections.ts'
import type { RefusalDoc } from '../../domain/refusals/documents.ts'
import type { OtpDoc } from '../../domain/verifications/documents.ts'
import { createEventQueue } from './event-queue.ts'
import {
  callsOfOtp,
  callsOfRefusal,
  type PastCalls,
  type PastOtp,
  READ_OF_OTP,
  type ReadCallsDeps,
} from './past-calls.ts'

export interface PastRange {
  app_id: string
  /** Reading begins here; `until` is not included. */
  from: number
  until: number
}

export interface ReadPastDeps extends ReadCallsDeps {
  store: Pick<CountersignStore, 'docs'>
  pageSize: number
}

type StoredCall = Doc & { app_id: string; mode: 'live' | 'test' }

/** MongoDB takes an eighth less time for all pages than with 100 in each. */
export const PAGE_SIZE = 300
/** How much later than its id a call may be: it may wait, and its idempotency key may have been claimed by a call before it. */
const ID_SLACK_MS = 60_000

const rangeOf = (prefix: IdPrefix, { app_id, from, until }: PastRange) => ({
  app_id,
  _id: { $gte: firstIdAt(prefix, from - ID_SLACK_MS), $lt: firstIdAt(prefix, until) },
})

const SENDS = ['otp', 'msg'] as const

/** Whether the time has more documents than that, of both modes. */
export async function hasMorePast(
  { docs }: Pick<CountersignStore, 'docs'>,
  range: PastRange,
  max: number,
): Promise<boolean> {
  const counts = await Promise.all([
    ...SENDS.map(prefix => docs('otps').count(rangeOf(prefix, range), max + 1)),
    docs('refusals').count(rangeOf('rfs', range), max + 1),
  ])
  return counts.reduce((sum, count) => sum + count, 0) > max
}

/** One kind of documents, in pages. The next page is asked for before it is wanted: MongoDB reads it while the one before is played. */
function createReader<T extends StoredCall>(
  docs: Pick<Docs<T>, 'find'>,
  prefix: IdPrefix,
  range: PastRange,
  options: Pick<Page<T>, 'limit' | 'only'>,
) {
  const { $gte, ...below } = rangeOf(prefix, range)._id
  let next: Promise<T[]> | null = null
  const reader = {
    /** Everything older was read. */
    readUntil: Number.NEGATIVE_INFINITY,
    async page(): Promise<T[]> {
      const page = await (next ?? find({ $gte, ...below }))
      // The embedded store reads the next page at once.
      await setImmediate()
      const last = page.length < options.limit ? undefined : page.at(-1)
      reader.readUntil = last ? (ulidTime(last._id) ?? 0) : Number.POSITIVE_INFINITY
      if (last) {
        // One lower bound: with two, an index is read from the lesser one, for every page anew.
        next = find({ $gt: last._id, ...below })
        // Its failure is for who asks for the page; a trial may have ended by then.
        next.catch(() => {})
      }
      return page.filter(({ mode }) => mode === 'live')
    },
  }
  return reader

  function find(_id: { $gte: string } | { $gt: string }): Promise<T[]> {
    const filter = { app_id: range.app_id, _id } as Filter<T>
    return docs.find(filter, { sort: { _id: 1 } as Sort<T>, ...options })
  }
}

/** Called with every document that is read. */
export interface PastWatcher {
  onOtp(doc: PastOtp, calls: PastCalls): void
  onRefusal(doc: RefusalDoc, calls: PastCalls): void
}

export async function* readPast(
  { store, pageSize: limit, ...deps }: ReadPastDeps,
  range: PastRange,
  { onOtp, onRefusal }: PastWatcher,
): AsyncGenerator<PastEvent[]> {
  const { until } = range
  const queue = createEventQueue()
  const sources = [
    ...SENDS.map(prefix => {
      const reader = createReader<OtpDoc>(store.docs('otps'), prefix, range, { limit, only: READ_OF_OTP })
      return { reader, read: async () => takeAll(await reader.page(), callsOfOtp, onOtp) }
    }),
    (() => {
      const reader = createReader<RefusalDoc>(store.docs('refusals'), 'rfs', range, { limit })
      return { reader, read: async () => takeAll(await reader.page(), callsOfRefusal, onRefusal) }
    })(),
  ]

  function takeAll<T>(
    page: readonly T[],
    callsOf: (deps: ReadCallsDeps, doc: T) => PastCalls,
    onRead: (doc: T, calls: PastCalls) => void,
  ): void {
    for (const doc of page) {
      const calls = callsOf(deps, doc)
      onRead(doc, calls)
      for (const event of calls.events) if (event.at < until) queue.add(event)
    }
  }

  for (;;) {
    const source = sources.reduce((one, other) => (other.reader.readUntil < one.reader.readUntil ? other : one))
    if (source.reader.readUntil === Number.POSITIVE_INFINITY) break
    await source.read()
    await setImmediate()
    const horizon = Math.min(...sources.map(({ reader }) => reader.readUntil)) - ID_SLACK_MS
    yield queue.takeBefore(horizon)
    await setImmediate()
  }
  yield queue.takeBefore(Number.POSITIVE_INFINITY)
}
