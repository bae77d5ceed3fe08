// Shares the event loop. In: pieces of work that hold it for a while. Out: one of them in a turn of the event loop, in their order, so that
// connections, requests and answers come in between. The portions of long work rest after each, because what is urgent takes several turns
// one after another, and would wait for a portion in each of them.
import { performance } from 'node:perf_hooks'
import { setImmediate } from 'node:timers'
import { createFifo } from './fifo.ts'

export interface EventLoop {
  /** Runs `work` in one of the next turns. */
  inTurn(work: () => void): void
  /** Resolves when the next portion of long work may go on: once no other goes on, and after a rest for each. */
  turn(): Promise<void>
}

/** A rest is this many times as long as the turn before it. */
const REST = 6
/** A portion that needs no rest. */
const SHORT_MS = 1
const MAX_REST_MS = 100

export interface Timing {
  now(): number
  after(ms: number, task: () => void): void
}

const systemTiming: Timing = {
  now: () => performance.now(),
  after: (ms, task) => void setTimeout(task, ms),
}

export function createEventLoop(timing: Timing = systemTiming): EventLoop {
  const portions = createPortions(timing)
  return { inTurn: createTurns(), turn: () => new Promise(portions) }
}

function createTurns(): EventLoop['inTurn'] {
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

  return work => {
    waiting.push(work)
    if (!scheduled) schedule()
  }
}

function createPortions({ now, after }: Timing): (begin: () => void) => void {
  const waiting = createFifo<() => void>()
  let isTaken = false

  function beginNext(): void {
    const begin = waiting.shift()
    isTaken = begin !== undefined
    if (!begin) return
    const begunAt = now()
    begin()
    // The portion runs before the next turn.
    setImmediate(() => {
      const heldMs = now() - begunAt
      if (heldMs < SHORT_MS) beginNext()
      else after(Math.min(heldMs * REST, MAX_REST_MS), beginNext)
    })
  }

  return begin => {
    waiting.push(begin)
    if (isTaken) return
    isTaken = true
    setImmediate(beginNext)
  }
}

/** A process has one. */
export const eventLoop = createEventLoop()
