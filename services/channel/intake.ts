// Bodies from anyone, before anybody has proven anything: so many bytes of them at once, each within a while. Who dribbles, and who comes
// when there is too much already, is cut off; a vendor calls again.
import type { Buffer } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import type { Clock } from '../../infra/clock.ts'

export interface Limits {
  mostBytes: number
  withinMs: number
}

/** Watches a request whose body is about to be read; answers how to say that it is of no use any more. */
export type Watch = (req: IncomingMessage) => () => void

export function intake({ mostBytes, withinMs }: Limits, clock: Pick<Clock, 'after'>): Watch {
  let held = 0
  return req => {
    let bytes = 0
    const cancel = clock.after(withinMs, () => req.destroy())
    const count = (chunk: Buffer): void => {
      bytes += chunk.length
      held += chunk.length
      if (held > mostBytes) req.destroy()
    }
    req.on('data', count).on('end', cancel)
    return () => {
      cancel()
      req.off('data', count)
      held -= bytes
    }
  }
}
