// Shares the event loop between work and connections. In: pieces of work that hold the event loop for a while, connections as they are
// accepted. Out: one piece of work in a turn of the event loop, in their order.
//
// Node accepts one connection in a turn. A process whose turns are long accepts few: neither a health check nor a call that is to be refused
// gets in. So work waits while each turn brings a connection, though only as long as the piece before it took: many connections must not
// keep the process from working.
import { setImmediate } from 'node:timers'
import { createFifo } from './fifo.ts'

export interface EventLoop {
  /** Called for each connection of this process. */
  connectionAccepted(): void
  /** Runs `work` in one of the next turns. */
  inTurn(work: () => void): void
}

export function createEventLoop(now = (): number => performance.now()): EventLoop {
  const waiting = createFifo<() => void>()
  let scheduled = false
  let accepted = false
  let workBegunAt: number | null = null
  let connectionsFirstUntil = 0

  function schedule(): void {
    scheduled = true
    setImmediate(takeTurn)
  }

  function takeTurn(): void {
    const time = now()
    if (workBegunAt !== null) connectionsFirstUntil = time + (time - workBegunAt)
    workBegunAt = null
    const connectionsFirst = accepted && time < connectionsFirstUntil
    accepted = false
    const work = connectionsFirst ? undefined : waiting.shift()
    if (work !== undefined) workBegunAt = time
    if (connectionsFirst || work !== undefined) schedule()
    else scheduled = false
    work?.()
  }

  function inTurn(work: () => void): void {
    waiting.push(work)
    if (!scheduled) schedule()
  }

  return {
    connectionAccepted() {
      accepted = true
    },
    inTurn,
  }
}

/** A process has one. */
export const eventLoop = createEventLoop()
