// Counts by key. A key whose count is 0 is dropped, so that only what is counted now takes memory.
export interface Counts {
  of(key: string): number
  add(key: string, by: 1 | -1): void
}

export function createCounts(): Counts {
  const counts = new Map<string, number>()
  const of = (key: string): number => counts.get(key) ?? 0
  return {
    of,
    add(key, by) {
      const count = of(key) + by
      if (count > 0) counts.set(key, count)
      else counts.delete(key)
    },
  }
}
