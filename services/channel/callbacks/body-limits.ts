// Bodies from anyone, before anybody has proven anything: so many bytes of them at once, each within a while. Who dribbles is cut off, and
// who holds most when there is too much; a vendor calls again.
import type { Buffer } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import type { Clock } from '../../../infra/clock.ts'

export interface BodyLimits {
  maxTotalBytes: number
  timeoutMs: number
}

/** Watches a request whose body is about to be read; answers how to say that it is of no use any more. */
export type LimitBody = (req: IncomingMessage) => () => void

export function createBodyLimiter({ maxTotalBytes, timeoutMs }: BodyLimits, clock: Pick<Clock, 'after'>): LimitBody {
  const bytesByRequest = new Map<IncomingMessage, number>()
  let totalBytes = 0

  function forget(req: IncomingMessage): void {
    totalBytes -= bytesByRequest.get(req) ?? 0
    bytesByRequest.delete(req)
  }

  /** Whoever has most of it: a receipt is small, and who hoards is no vendor. */
  function cutOffLargest(): void {
    let [largest, most]: [IncomingMessage | null, number] = [null, -1]
    for (const [req, bytes] of bytesByRequest) if (bytes > most) [largest, most] = [req, bytes]
    if (!largest) return
    forget(largest)
    largest.destroy()
  }

  return req => {
    bytesByRequest.set(req, 0)
    const cancel = clock.after(timeoutMs, () => req.destroy())
    const count = (chunk: Buffer): void => {
      const bytes = bytesByRequest.get(req)
      if (bytes === undefined) return
      bytesByRequest.set(req, bytes + chunk.length)
      totalBytes += chunk.length
      if (totalBytes > maxTotalBytes) cutOffLargest()
    }
    req.on('data', count).on('end', cancel)
    return () => {
      cancel()
      req.off('data', count)
      forget(req)
    }
  }
}
