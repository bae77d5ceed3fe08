// How much may wait at this edge at once. What is beyond it is refused at once: a queue that only grows helps nobody.
import { problem } from '../domain/errors.ts'

export type Capacity = <T>(work: () => Promise<T>) => Promise<T>

export function createCapacity(max: number): Capacity {
  let waiting = 0
  return async work => {
    if (waiting >= max)
      throw problem('ServiceUnavailableError', {
        detail: 'Too many requests are waiting. Nothing was executed.',
        headers: { 'Retry-After': '1' },
      })
    waiting += 1
    try {
      return await work()
    } finally {
      waiting -= 1
    }
  }
}
