// Limits how many requests wait at this edge at the same time. A request beyond the limit is refused at once instead of queued, because
// its caller would stop waiting before its turn came.
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
