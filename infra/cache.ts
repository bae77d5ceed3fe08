// Remembers what was loaded for a short while, bounded in number and in age, and loads each thing once however many ask.
import type { Clock } from './clock.ts'

export interface Cache<Value> {
  get(key: string): Promise<Value>
  invalidate(key: string): void
}

export function createCache<Value>(
  load: (key: string) => Promise<Value>,
  { ttlMs, maxSize, clock }: { ttlMs: number; maxSize: number; clock: Pick<Clock, 'now'> },
): Cache<Value> {
  const entries = new Map<string, { value: Promise<Value>; until: number }>()
  return {
    get(key) {
      const found = entries.get(key)
      if (found && clock.now() < found.until) return found.value
      const value = load(key)
      entries.delete(key)
      entries.set(key, { value, until: clock.now() + ttlMs })
      // A failure is nobody's answer but those who were waiting for it.
      value.catch(() => {
        if (entries.get(key)?.value === value) entries.delete(key)
      })
      // The oldest loaded goes first: what is asked for often is soon back, at the end of the line.
      if (entries.size > maxSize) entries.delete(entries.keys().next().value as string)
      return value
    },
    invalidate: key => {
      entries.delete(key)
    },
  }
}
