// A memory of the latest values, so many at most and half as many at least. In two halves, the older of which is dropped whole: to
// delete the oldest key of a map again and again is slow.
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
