// Shared counts that need not be exact. In: entries under a key. Out: the state under a key. A process sees its own entries at once and
// those of other processes a few seconds later. Entries are collected and written together in the background, so that many sends cost
// few writes, and a send waits for one only if its process knows no state of the key yet.
import { createBoundedMap } from '../../../infra/bounded-map.ts'
import type { Clock } from '../../../infra/clock.ts'
import type { Logger } from '../../../infra/log/log.ts'
import type { Metrics } from '../../../infra/metrics.ts'
import type { Docs } from '../../../infra/store/docs.ts'
import { getOne } from '../../../infra/store/one-doc.ts'
import { createWriteBehind } from '../../../infra/write-behind.ts'
import type { SharedStateDoc } from '../../domain/fraud/documents.ts'

export interface SharedState<State, Entry> {
  state(key: string): Promise<State>
  /** `app_id` is the owner of the state. */
  add(key: string, app_id: string, added: Entry): void
  /** Resolves when the added entries are stored, or the store has failed. */
  settled(): Promise<void>
}

export interface SharedStateDeps<State, Entry> {
  /** In the log and in metrics. */
  what: string
  docs: Docs<SharedStateDoc<State>>
  clock: Clock
  log: Pick<Logger, 'warn'>
  metrics?: Pick<Metrics, 'writtenBehind'> | undefined
  empty: State
  fold(state: State, added: readonly Entry[], now: number): State
  /** Adds an entry to those that wait, and combines them where that loses nothing. */
  merge(waiting: readonly Entry[], added: Entry): Entry[]
  /** Whether these entries are worth a new document. */
  createsState(added: readonly Entry[]): boolean
  /** How long entries wait before they are written together. */
  flushMs: number
  /** How old the entries of other processes may be. */
  freshMs: number
  /** How long a state is kept after its last entry. */
  keepMs: number
}

interface CachedState<State> {
  doc: SharedStateDoc<State> | null
  /** The document's state with this process's own entries; null until it is computed. */
  view: State | null
  until: number
}

const revOf = (doc: SharedStateDoc<unknown> | null): number => doc?.rev ?? 0

interface Waiting<Entry> {
  app_id: string
  added: Entry[]
}

const MAX_KEYS = 5_000

export function createSharedState<State, Entry>(deps: SharedStateDeps<State, Entry>): SharedState<State, Entry> {
  const { what, docs, clock, log, metrics, empty, fold, merge, createsState, flushMs, freshMs, keepMs } = deps
  const cachedStates = createBoundedMap<CachedState<State>>(MAX_KEYS)
  const addAll = (before: Entry[], added: readonly Entry[]): Entry[] =>
    added.reduce<Entry[]>((all, one) => merge(all, one), before)
  const unwritten = createWriteBehind<Waiting<Entry>>({
    what,
    clock,
    log,
    metrics,
    waitMs: () => flushMs,
    maxEntries: MAX_KEYS,
    merge: (older, newer) => ({ ...newer, added: addAll(older.added, newer.added) }),
    write,
  })

  function cacheDoc(key: string, doc: SharedStateDoc<State> | null): void {
    const before = cachedStates.get(key)
    const isOld = before !== undefined && revOf(before.doc) >= revOf(doc)
    cachedStates.set(key, {
      doc: isOld ? before.doc : doc,
      // The new document may contain this process's own entries, which the old view has already: it would count them twice.
      view: isOld ? before.view : null,
      until: clock.now() + freshMs,
    })
  }

  /** Of the others, another process has changed the document first. The writes are made one after the other: when the
   *  second one fails, what the first one stored must not be added again. */
  async function write(batch: Map<string, Waiting<Entry>>): Promise<void> {
    const now = clock.now()
    const purge_at = new Date(now + keepMs)
    const found = await docs.get([...batch.keys()])
    const fresh: SharedStateDoc<State>[] = []
    const changed: SharedStateDoc<State>[] = []
    for (const [_id, { app_id, added }] of batch) {
      const doc = found.get(_id)
      if (doc) changed.push({ ...doc, state: fold(doc.state, added, now), purge_at, rev: doc.rev + 1 })
      else if (createsState(added)) fresh.push({ _id, app_id, state: fold(empty, added, now), purge_at, rev: 1 })
      else batch.delete(_id)
    }
    const changes = changed.map(({ _id, state, rev }) => ({ _id, rev: rev - 1, update: { $set: { state, purge_at } } }))
    const keep = (doc: SharedStateDoc<State>): void => {
      // Both without an await between them, so that no reader sees the entries twice.
      cacheDoc(doc._id, doc)
      batch.delete(doc._id)
    }
    const inserted = await docs.insert(fresh)
    fresh.filter((_, at) => inserted[at] === 'inserted').forEach(keep)
    const won = await docs.change(changes)
    changed.filter((_, at) => won[at] === 'won').forEach(keep)
  }

  /** While entries of the key are being written, a document that is read may hold them already, and they would be counted twice. So what is
   *  cached holds until they are written. */
  async function refresh(key: string): Promise<void> {
    for (;;) {
      if (!unwritten.isBeingWritten(key)) {
        const doc = (await getOne(docs, key)) ?? null
        if (!unwritten.isBeingWritten(key)) return cacheDoc(key, doc)
      }
      if (cachedStates.get(key) !== undefined) return
      await unwritten.written()
    }
  }

  return {
    async state(key) {
      const found = cachedStates.get(key)
      if (!found || found.until <= clock.now()) await refresh(key)
      // Read again, because a write may have replaced the cached document during the await.
      const now = cachedStates.get(key)
      if (now?.view) return now.view
      const own = unwritten.unstored(key).flatMap(({ added }) => added)
      const view = fold(now?.doc?.state ?? empty, own, clock.now())
      if (now) now.view = view
      return view
    },
    add(key, app_id, added) {
      const found = cachedStates.get(key)
      if (found?.view) found.view = fold(found.view, [added], clock.now())
      const waiting = unwritten.entry(key, () => ({ app_id, added: [] }))
      waiting.added = merge(waiting.added, added)
    },
    settled: unwritten.settled,
  }
}
