// Keeps loaded values for a short time, at most `maxSize` of them. Callers that ask for one key at the same time share one load.
import type { Clock } from './clock.ts'

export interface Cache<Value> {
  get(key: string): Promise<Value>
  invalidate(key: string): void
}

export function createCache<Value>(
  load: (key: string) => Promise<Value>,
  { ttlMs, maxSize, clock }: { ttlMs: number; maxSize: number; clock: Pick<Clock, 'now'> },
): Cache<Value> {
  const entries = new Map<string, { value: Promise<Value>; loadedAt: number }>()
  return {
    get(key) {
      const now = clock.now()
      const found = entries.get(key)
      // A value from before the clock was set back would be kept for too long.
      if (found && found.loadedAt <= now && now < found.loadedAt + ttlMs) return found.value
      const value = load(key)
      entries.delete(key)
      entries.set(key, { value, loadedAt: now })
      // A failed load is not kept: only the callers that waited for it get its error.
      value.catch(() => {
        if (entries.get(key)?.value === value) entries.delete(key)
      })
      // The value loaded longest ago goes first. A key in frequent use is loaded again soon.
      if (entries.size > maxSize) entries.delete(entries.keys().next().value as string)
      return value
    },
    invalidate: key => {
      entries.delete(key)
    },
  }
}
