// Shared counts that need not be exact: each process adds what it saw to documents that all of them read, a moment later and
// together with the rest. In: news under a key. Out: the state under a key, the process's own news in it at once, others' a few
// seconds later. Many sends cost few writes, and none waits for one.
import type { Clock } from '../../../infra/clock.ts'
import type { Logger } from '../../../infra/log/log.ts'
import type { Docs } from '../../../infra/store/docs.ts'
import type { SharedStateDoc } from '../../domain/fraud/documents.ts'

export interface SharedState<State, Entry> {
  state(key: string): Promise<State>
  /** `app_id` is whose it is. */
  add(key: string, app_id: string, added: Entry): void
  /** Resolves when what was added is stored, or cannot be. */
  settled(): Promise<void>
}

export interface SharedStateParts<State, Entry> {
  docs: Docs<SharedStateDoc<State>>
  clock: Clock
  log: Pick<Logger, 'warn'>
  empty: State
  fold(state: State, added: readonly Entry[], now: number): State
  /** Adds one to what waits: as little as says the same. */
  merge(waiting: readonly Entry[], added: Entry): Entry[]
  /** Whether the news make a state where there is none. */
  createsState(added: readonly Entry[]): boolean
  /** How long news wait for more of the same. */
  flushMs: number
  /** How old what others saw may be. */
  freshMs: number
  /** How long a state says anything after its last news. */
  keepMs: number
}

interface CachedState<State> {
  doc: SharedStateDoc<State> | null
  /** With this process's news in it; null until somebody asks. */
  view: State | null
  until: number
}

const revOf = (doc: SharedStateDoc<unknown> | null): number => doc?.rev ?? 0

interface Waiting<Entry> {
  app_id: string
  added: Entry[]
}

const MAX_KEYS = 5_000
const MAX_FLUSHES_AT_STOP = 5

export function createSharedState<State, Entry>(deps: SharedStateParts<State, Entry>): SharedState<State, Entry> {
  const { docs, clock, log, empty, fold, merge, createsState, flushMs, freshMs, keepMs } = deps
  const cachedStates = new Map<string, CachedState<State>>()
  let waiting = new Map<string, Waiting<Entry>>()
  let writing = new Map<string, Waiting<Entry>>()
  let cancel: (() => void) | null = null
  let flushing = Promise.resolve()
  let storeFailed = false

  function cacheDoc(key: string, doc: SharedStateDoc<State> | null): void {
    const before = cachedStates.get(key)
    const isOld = before !== undefined && revOf(before.doc) >= revOf(doc)
    cachedStates.delete(key)
    cachedStates.set(key, {
      doc: isOld ? before.doc : doc,
      // What was stored may have come from here: it is in the document now, and would be seen twice.
      view: isOld ? before.view : null,
      until: clock.now() + freshMs,
    })
    if (cachedStates.size > MAX_KEYS) cachedStates.delete(cachedStates.keys().next().value as string)
  }

  function enqueue(key: string, app_id: string, added: readonly Entry[]): void {
    const before = waiting.get(key)?.added ?? []
    waiting.set(key, { app_id, added: added.reduce<Entry[]>((all, one) => merge(all, one), before) })
    // A help, not a ledger: while the store is away, what is oldest is forgotten.
    if (waiting.size > MAX_KEYS) waiting.delete(waiting.keys().next().value as string)
    cancel ??= clock.after(flushMs, () => {
      cancel = null
      flushing = flushing.then(flush)
    })
  }

  async function flush(): Promise<void> {
    storeFailed = false
    if (waiting.size === 0) return
    const batch = waiting
    ;[writing, waiting] = [new Map(batch), new Map()]
    const stored = await store(batch).catch(error => {
      log.warn({ err: error, keys: batch.size }, 'fraud.counts.behind')
      storeFailed = true
      return new Set<string>()
    })
    writing = new Map()
    for (const [key, { app_id, added }] of batch) if (!stored.has(key)) enqueue(key, app_id, added)
  }

  /** Answers the keys whose news are stored; another process was faster with the rest. */
  async function store(batch: ReadonlyMap<string, Waiting<Entry>>): Promise<Set<string>> {
    const now = clock.now()
    const purge_at = new Date(now + keepMs)
    const found = await docs.get([...batch.keys()])
    const [fresh, changed, stored]: [SharedStateDoc<State>[], SharedStateDoc<State>[], Set<string>] = [
      [],
      [],
      new Set(),
    ]
    for (const [_id, { app_id, added }] of batch) {
      const doc = found.get(_id)
      if (doc) changed.push({ ...doc, state: fold(doc.state, added, now), purge_at, rev: doc.rev + 1 })
      else if (createsState(added)) fresh.push({ _id, app_id, state: fold(empty, added, now), purge_at, rev: 1 })
      else stored.add(_id)
    }
    const changes = changed.map(({ _id, state, rev }) => ({ _id, rev: rev - 1, update: { $set: { state, purge_at } } }))
    const [inserted, won] = await Promise.all([docs.insert(fresh), docs.change(changes)])
    const after = [
      ...fresh.filter((_, at) => inserted[at] === 'inserted'),
      ...changed.filter((_, at) => won[at] === 'won'),
    ]
    for (const doc of after) {
      // In the same breath, so that nobody sees it twice.
      cacheDoc(doc._id, doc)
      writing.delete(doc._id)
      stored.add(doc._id)
    }
    return stored
  }

  return {
    async state(key) {
      const found = cachedStates.get(key)
      if (!found || found.until <= clock.now()) cacheDoc(key, (await docs.get([key])).get(key) ?? null)
      // Looked up again: what was under way may have been stored meanwhile.
      const now = cachedStates.get(key)
      if (now?.view) return now.view
      const own = [...(writing.get(key)?.added ?? []), ...(waiting.get(key)?.added ?? [])]
      const view = fold(now?.doc?.state ?? empty, own, clock.now())
      if (now) now.view = view
      return view
    },
    add(key, app_id, added) {
      const found = cachedStates.get(key)
      if (found?.view) found.view = fold(found.view, [added], clock.now())
      enqueue(key, app_id, [added])
    },
    async settled() {
      for (let tries = 0; tries < MAX_FLUSHES_AT_STOP; tries += 1) {
        cancel?.()
        cancel = null
        flushing = flushing.then(flush)
        await flushing
        if (waiting.size === 0 || storeFailed) break
      }
      cancel?.()
    },
  }
}
