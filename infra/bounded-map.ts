// A map that keeps only the latest values: at most `maxSize`, at least half as many. It has two halves and drops the older half as a
// whole, because deleting the oldest key of a map again and again is slow.
export interface BoundedMap<Value> {
  get(key: string): Value | undefined
  set(key: string, value: Value): void
  delete(key: string): void
}

export function createBoundedMap<Value>(maxSize: number): BoundedMap<Value> {
  let [newer, older] = [new Map<string, Value>(), new Map<string, Value>()]
  return {
    get: key => newer.get(key) ?? older.get(key),
    set(key, value) {
      newer.set(key, value)
      if (newer.size > maxSize / 2) [newer, older] = [new Map(), newer]
    },
    delete(key) {
      newer.delete(key)
      older.delete(key)
    },
  }
}
