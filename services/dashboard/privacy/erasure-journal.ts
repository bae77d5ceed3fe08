// The journal of erasures as a file, and what is done with one after a backup was restored. In: lines of NDJSON, each an app, a keyed index
// of a recipient and a time. Out: what the app had under the index at that time is erased again. A person who came back later keeps what
// was made since.
//
// Any call may be repeated: an entry is stored once, and what is erased is not found again. A call ends after a while and says at which
// line the next one begins, so that none outlasts the patience of a proxy.
import type { Clock } from '../../../infra/clock.ts'
import { isoTime } from '../../../infra/iso-time.ts'
import { scanAll } from '../../../infra/store/scan.ts'
import { SECOND_MS } from '../../../infra/time.ts'
import type { CountersignStore } from '../../domain/collections.ts'
import { type ErasureEntry, erasureDoc, firstErasureAt } from '../../domain/privacy/documents.ts'
import { sumCounts } from '../../domain/privacy/erasure.ts'
import type { Line } from '../lines.ts'
import { type createErasures, ZERO_COUNTS } from './erase-recipient.ts'
import type { ReplayAnswer } from './schemas.ts'

/** In the order of time. A page is read when the client has taken the one before. */
export async function* journalLines(store: CountersignStore, since: number | undefined): AsyncGenerator<string> {
  const docs = store.docs('erasures')
  for await (const { app_id, index, at } of scanAll(docs, {}, since === undefined ? '' : firstErasureAt(since)))
    yield `${JSON.stringify({ app_id, index, at: isoTime(at) })}\n`
}

const MAX_REPLAY_MS = 20 * SECOND_MS
const ENTRIES_STORED_AT_ONCE = 500

export interface ReplayDeps {
  store: CountersignStore
  clock: Pick<Clock, 'now'>
  eraseIndexed: ReturnType<typeof createErasures>['eraseIndexed']
}

export async function replayErasures(
  { store, clock, eraseIndexed }: ReplayDeps,
  lines: readonly Line<ErasureEntry>[],
): Promise<ReplayAnswer> {
  const endAt = clock.now() + MAX_REPLAY_MS
  // The journal that was restored does not have them, and the next backup needs them.
  for (let at = 0; at < lines.length; at += ENTRIES_STORED_AT_ONCE) {
    const some = lines.slice(at, at + ENTRIES_STORED_AT_ONCE)
    await store.docs('erasures').insert(some.map(({ value }) => erasureDoc(value)))
  }
  let erased = ZERO_COUNTS
  let replayed = 0
  for (const { value, line } of lines) {
    if (replayed > 0 && clock.now() >= endAt) return { entries: lines.length, replayed, next_line: line, erased }
    const { app_id, index, at } = value
    erased = sumCounts(erased, await eraseIndexed({ app_id, indexes: [index], until: at }))
    replayed += 1
  }
  return { entries: lines.length, replayed, next_line: null, erased }
}
