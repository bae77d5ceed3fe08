// A first-in-first-out list. Taking from a long one costs as little as from a short one, while Array.shift moves every element.
export interface Fifo<T> {
  readonly size: number
  push(item: T): void
  shift(): T | undefined
  peek(): T | undefined
  /** Puts items back at the head, in their order. */
  unshift(items: readonly T[]): void
  /** Takes out everything, in order. */
  clear(): T[]
}

/** The array is copied without its taken places when there are this many of them and they are at least half of it. */
const COMPACT_FROM = 1_024

export function createFifo<T>(): Fifo<T> {
  let items: (T | undefined)[] = []
  let head = 0
  return {
    get size() {
      return items.length - head
    },
    push(item) {
      items.push(item)
    },
    shift() {
      if (head === items.length) return undefined
      const item = items[head]
      items[head] = undefined
      head += 1
      if (head >= COMPACT_FROM && head * 2 >= items.length) {
        items = items.slice(head)
        head = 0
      }
      return item
    },
    peek: () => items[head],
    unshift(returned) {
      if (returned.length === 0) return
      items = [...returned, ...items.slice(head)]
      head = 0
    },
    clear() {
      const all = items.slice(head) as T[]
      items = []
      head = 0
      return all
    },
  }
}
