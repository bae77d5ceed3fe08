// Shares the event loop. In: pieces of work that hold it for a while. Out: one of them in a turn of the event loop, in their order, so that
// connections, requests and answers come in between.
import { setImmediate } from 'node:timers'
import { createFifo } from './fifo.ts'

export interface EventLoop {
  /** Runs `work` in one of the next turns. */
  inTurn(work: () => void): void
  /** Resolves in one of the next turns, in which nothing else of this kind goes on. */
  turn(): Promise<void>
}

export function createEventLoop(): EventLoop {
  const waiting = createFifo<() => void>()
  let scheduled = false

  function schedule(): void {
    scheduled = waiting.size > 0
    if (scheduled) setImmediate(takeTurn)
  }

  function takeTurn(): void {
    const work = waiting.shift()
    // Before the work, which may fail.
    schedule()
    work?.()
  }

  function inTurn(work: () => void): void {
    waiting.push(work)
    if (!scheduled) schedule()
  }

  return { inTurn, turn: () => new Promise(inTurn) }
}

/** A process has one. */
export const eventLoop = createEventLoop()
