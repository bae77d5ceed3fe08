// A memory of the latest values, so many at most and half as many at least. In two halves, the older of which is dropped whole: to
// delete the oldest key of a map again and again is slow.
export interface Bounded<Value> {
  get(key: string): Value | undefined
  set(key: string, value: Value): void
  drop(key: string): void
}

export function bounded<Value>(most: number): Bounded<Value> {
  let [young, old] = [new Map<string, Value>(), new Map<string, Value>()]
  return {
    get: key => young.get(key) ?? old.get(key),
    set(key, value) {
      young.set(key, value)
      if (young.size > most / 2) [young, old] = [new Map(), young]
    },
    drop(key) {
      young.delete(key)
      old.delete(key)
    },
  }
}
