// Limits the bodies of callbacks, which anyone can send, before a signature is checked: their total size in memory, and the time each may
// take to arrive. A slow request is cut off; when the total is exceeded, the largest request is cut off. A vendor calls again later.
import type { Buffer } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import type { Clock } from '../../../infra/clock.ts'

export interface BodyLimits {
  maxTotalBytes: number
  timeoutMs: number
}

/** Watches a request whose body is about to be read. Returns a function to call when the body is no longer needed. */
export type LimitBody = (req: IncomingMessage) => () => void

export function createBodyLimiter({ maxTotalBytes, timeoutMs }: BodyLimits, clock: Pick<Clock, 'after'>): LimitBody {
  const bytesByRequest = new Map<IncomingMessage, number>()
  let totalBytes = 0

  function forget(req: IncomingMessage): void {
    totalBytes -= bytesByRequest.get(req) ?? 0
    bytesByRequest.delete(req)
  }

  /** The largest request and not the latest: receipts are small, so the largest body is probably not a vendor's. */
  function cutOffLargest(): void {
    let [largest, largestBytes]: [IncomingMessage | null, number] = [null, -1]
    for (const [req, bytes] of bytesByRequest) if (bytes > largestBytes) [largest, largestBytes] = [req, bytes]
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
