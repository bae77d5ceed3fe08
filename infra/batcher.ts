// Many callers, one call. What is asked for in one tick, or while enough calls are under way, goes together in the next:
// an idle system answers at once, a busy one does fewer and larger calls.

export interface BatchLimits {
  /** The most items in one call. */
  maxSize: number
  /** The most calls under way at once; past it, items wait and gather. */
  parallel: number
}

/** `run` answers one result per item, in their order. When it rejects, everyone in that call is told. */
export function createBatcher<Item, Result>(
  run: (items: Item[]) => Promise<Result[]>,
  { maxSize, parallel }: BatchLimits,
): (items: readonly Item[]) => Promise<Result[]> {
  interface BatchRequest {
    items: readonly Item[]
    resolve(results: Result[]): void
    reject(error: unknown): void
  }
  let waiting: BatchRequest[] = []
  let running = 0
  let scheduled = false

  function schedule(): void {
    if (scheduled || running >= parallel || waiting.length === 0) return
    scheduled = true
    setImmediate(() => {
      scheduled = false
      void flush()
    })
  }

  /** At least one ask, then as many as fit: an ask is never split, so its caller's own grouping holds. */
  function takeBatch(): BatchRequest[] {
    let items = 0
    const end = waiting.findIndex((ask, at) => {
      items += ask.items.length
      return at > 0 && items > maxSize
    })
    const asks = end < 0 ? waiting : waiting.slice(0, end)
    waiting = end < 0 ? [] : waiting.slice(end)
    return asks
  }

  async function flush(): Promise<void> {
    const asks = takeBatch()
    running += 1
    schedule()
    try {
      const results = await run(asks.flatMap(ask => ask.items))
      let at = 0
      for (const ask of asks) {
        ask.resolve(results.slice(at, at + ask.items.length))
        at += ask.items.length
      }
    } catch (error) {
      for (const ask of asks) ask.reject(error)
    } finally {
      running -= 1
      schedule()
    }
  }

  return items =>
    items.length === 0
      ? Promise.resolve([])
      : new Promise((resolve, reject) => {
          waiting.push({ items, resolve, reject })
          schedule()
        })
}

/** The same, apart for every key: what is asked for under one key never waits for another. Keys at rest cost nothing. */
export function createKeyedBatcher<Item, Result>(
  keyOf: (item: Item) => string,
  run: (items: Item[]) => Promise<Result[]>,
  limits: BatchLimits,
): (item: Item) => Promise<Result> {
  const groups = new Map<string, { ask(items: readonly Item[]): Promise<Result[]>; asking: number }>()
  return async item => {
    const key = keyOf(item)
    const group = groups.get(key) ?? { ask: createBatcher(run, limits), asking: 0 }
    groups.set(key, group)
    group.asking += 1
    try {
      const [result] = await group.ask([item])
      return result as Result
    } finally {
      group.asking -= 1
      if (group.asking === 0) groups.delete(key)
    }
  }
}
