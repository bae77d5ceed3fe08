// Joins the items of many callers into one call. Items of one tick share a call, and so do items that arrive while `parallel` calls are
// running. An idle system answers at once; a busy one makes fewer and larger calls.

export interface BatchLimits {
  /** Items in one call, at most. One caller's items are never split, so a caller with more makes a larger call. */
  maxSize: number
  /** Calls running at once, at most. Items wait while that many run. */
  parallel: number
}

/** `run` returns one result per item, in the order of the items. When it rejects, every caller of that call gets the error. */
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

  /** The first request, and those after it that fit. */
  function takeBatch(): BatchRequest[] {
    let items = 0
    const end = waiting.findIndex((request, at) => {
      items += request.items.length
      return at > 0 && items > maxSize
    })
    const batch = end < 0 ? waiting : waiting.slice(0, end)
    waiting = end < 0 ? [] : waiting.slice(end)
    return batch
  }

  async function flush(): Promise<void> {
    const batch = takeBatch()
    running += 1
    schedule()
    try {
      const results = await run(batch.flatMap(request => request.items))
      let at = 0
      for (const request of batch) {
        request.resolve(results.slice(at, at + request.items.length))
        at += request.items.length
      }
    } catch (error) {
      for (const request of batch) request.reject(error)
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

/** One batcher per key, so that items of one key never wait for those of another. A key without items costs no memory. */
export function createKeyedBatcher<Item, Result>(
  keyOf: (item: Item) => string,
  run: (items: Item[]) => Promise<Result[]>,
  limits: BatchLimits,
): (item: Item) => Promise<Result> {
  const groups = new Map<string, { runBatched(items: readonly Item[]): Promise<Result[]>; pending: number }>()
  return async item => {
    const key = keyOf(item)
    const group = groups.get(key) ?? { runBatched: createBatcher(run, limits), pending: 0 }
    groups.set(key, group)
    group.pending += 1
    try {
      const [result] = await group.runBatched([item])
      return result as Result
    } finally {
      group.pending -= 1
      if (group.pending === 0) groups.delete(key)
    }
  }
}
