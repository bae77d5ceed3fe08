// Bodies from anyone, before anybody has proven anything: so many bytes of them at once, each within a while. Who dribbles is cut off, and
// who holds most when there is too much; a vendor calls again.
import type { Buffer } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import type { Clock } from '../../../infra/clock.ts'

export interface Limits {
  mostBytes: number
  withinMs: number
}

/** Watches a request whose body is about to be read; answers how to say that it is of no use any more. */
export type Watch = (req: IncomingMessage) => () => void

export function intake({ mostBytes, withinMs }: Limits, clock: Pick<Clock, 'after'>): Watch {
  const holding = new Map<IncomingMessage, number>()
  let held = 0

  function letGo(req: IncomingMessage): void {
    held -= holding.get(req) ?? 0
    holding.delete(req)
  }

  /** Whoever has most of it: a receipt is small, and who hoards is no vendor. */
  function cutOffLargest(): void {
    let [largest, most]: [IncomingMessage | null, number] = [null, -1]
    for (const [req, bytes] of holding) if (bytes > most) [largest, most] = [req, bytes]
    if (!largest) return
    letGo(largest)
    largest.destroy()
  }

  return req => {
    holding.set(req, 0)
    const cancel = clock.after(withinMs, () => req.destroy())
    const count = (chunk: Buffer): void => {
      const bytes = holding.get(req)
      if (bytes === undefined) return
      holding.set(req, bytes + chunk.length)
      held += chunk.length
      if (held > mostBytes) cutOffLargest()
    }
    req.on('data', count).on('end', cancel)
    return () => {
      cancel()
      req.off('data', count)
      letGo(req)
    }
  }
}
