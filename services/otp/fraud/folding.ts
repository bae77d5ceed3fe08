// Shared counts that need not be exact: each process adds what it saw to documents that all of them read, a moment later and
// together with the rest. In: news under a key. Out: the state under a key, the process's own news in it at once, others' a few
// seconds later. Many sends cost few writes, and none waits for one.
import type { Clock } from '../../../infra/clock.ts'
import type { Logger } from '../../../infra/log/log.ts'
import type { Docs } from '../../../infra/store/docs.ts'
import type { FoldedDoc } from '../../domain/fraud/documents.ts'

export interface Folding<State, News> {
  state(key: string): Promise<State>
  /** `app_id` is whose it is. */
  add(key: string, app_id: string, news: News): void
  /** Resolves when what was added is stored, or cannot be. */
  settled(): Promise<void>
}

export interface FoldingParts<State, News> {
  docs: Docs<FoldedDoc<State>>
  clock: Clock
  log: Pick<Logger, 'warn'>
  empty: State
  fold(state: State, news: readonly News[], now: number): State
  /** Adds one to what waits: as little as says the same. */
  gathered(waiting: readonly News[], news: News): News[]
  /** Whether the news make a state where there is none. */
  begins(news: readonly News[]): boolean
  /** How long news wait for more of the same. */
  flushMs: number
  /** How old what others saw may be. */
  freshMs: number
  /** How long a state says anything after its last news. */
  keepMs: number
}

interface Known<State> {
  doc: FoldedDoc<State> | null
  /** With this process's news in it; null until somebody asks. */
  view: State | null
  until: number
}

const revOf = (doc: FoldedDoc<unknown> | null): number => doc?.rev ?? 0

interface Waiting<News> {
  app_id: string
  news: News[]
}

const MOST = 5_000
const TRIES_AT_THE_END = 5

export function folding<State, News>(parts: FoldingParts<State, News>): Folding<State, News> {
  const { docs, clock, log, empty, fold, gathered, begins, flushMs, freshMs, keepMs } = parts
  const known = new Map<string, Known<State>>()
  let waiting = new Map<string, Waiting<News>>()
  let leaving = new Map<string, Waiting<News>>()
  let cancel: (() => void) | null = null
  let flushing = Promise.resolve()
  let isAway = false

  function know(key: string, doc: FoldedDoc<State> | null): void {
    const before = known.get(key)
    const isOld = before !== undefined && revOf(before.doc) >= revOf(doc)
    known.delete(key)
    known.set(key, {
      doc: isOld ? before.doc : doc,
      // What was stored may have come from here: it is in the document now, and would be seen twice.
      view: isOld ? before.view : null,
      until: clock.now() + freshMs,
    })
    if (known.size > MOST) known.delete(known.keys().next().value as string)
  }

  function wait(key: string, app_id: string, news: readonly News[]): void {
    const before = waiting.get(key)?.news ?? []
    waiting.set(key, { app_id, news: news.reduce<News[]>((all, one) => gathered(all, one), before) })
    // A help, not a ledger: while the store is away, what is oldest is forgotten.
    if (waiting.size > MOST) waiting.delete(waiting.keys().next().value as string)
    cancel ??= clock.after(flushMs, () => {
      cancel = null
      flushing = flushing.then(flush)
    })
  }

  async function flush(): Promise<void> {
    isAway = false
    if (waiting.size === 0) return
    const batch = waiting
    ;[leaving, waiting] = [new Map(batch), new Map()]
    const stored = await store(batch).catch(error => {
      log.warn({ err: error, keys: batch.size }, 'fraud.counts.behind')
      isAway = true
      return new Set<string>()
    })
    leaving = new Map()
    for (const [key, { app_id, news }] of batch) if (!stored.has(key)) wait(key, app_id, news)
  }

  /** Answers the keys whose news are stored; another process was faster with the rest. */
  async function store(batch: ReadonlyMap<string, Waiting<News>>): Promise<Set<string>> {
    const now = clock.now()
    const purge_at = new Date(now + keepMs)
    const found = await docs.get([...batch.keys()])
    const [fresh, changed, stored]: [FoldedDoc<State>[], FoldedDoc<State>[], Set<string>] = [[], [], new Set()]
    for (const [_id, { app_id, news }] of batch) {
      const doc = found.get(_id)
      if (doc) changed.push({ ...doc, state: fold(doc.state, news, now), purge_at, rev: doc.rev + 1 })
      else if (begins(news)) fresh.push({ _id, app_id, state: fold(empty, news, now), purge_at, rev: 1 })
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
      know(doc._id, doc)
      leaving.delete(doc._id)
      stored.add(doc._id)
    }
    return stored
  }

  return {
    async state(key) {
      const found = known.get(key)
      if (!found || found.until <= clock.now()) know(key, (await docs.get([key])).get(key) ?? null)
      // Looked up again: what was under way may have been stored meanwhile.
      const now = known.get(key)
      if (now?.view) return now.view
      const own = [...(leaving.get(key)?.news ?? []), ...(waiting.get(key)?.news ?? [])]
      const view = fold(now?.doc?.state ?? empty, own, clock.now())
      if (now) now.view = view
      return view
    },
    add(key, app_id, news) {
      const found = known.get(key)
      if (found?.view) found.view = fold(found.view, [news], clock.now())
      wait(key, app_id, [news])
    },
    async settled() {
      for (let tries = 0; tries < TRIES_AT_THE_END; tries += 1) {
        cancel?.()
        cancel = null
        flushing = flushing.then(flush)
        await flushing
        if (waiting.size === 0 || isAway) break
      }
      cancel?.()
    },
  }
}
