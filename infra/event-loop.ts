// Shares the event loop. In: pieces of work that hold it for a while. Out: one of them in a turn of the event loop, in their order, so that
// connections, requests and answers come in between. After a portion of long work the next one waits until the loop had nothing to do:
// what is urgent takes several turns one after another, and would wait for a portion in each of them.
import { performance } from 'node:perf_hooks'
import { setImmediate } from 'node:timers'
import { systemClock } from './clock.ts'
import { createFifo } from './fifo.ts'

export interface EventLoop {
  /** Runs `work` in one of the next turns. */
  inTurn(work: () => void): void
  /** Resolves when the next portion of long work may go on, once no other goes on. */
  turn(): Promise<void>
}

/** A portion that needs no rest. */
const SHORT_MS = 1
/** On a busy loop a rest is this many times as long as the portion before it. */
const MAX_REST = 6
const MAX_REST_MS = 100
const [REST_STEP_MS, IDLE_MS] = [2, 1]

export interface Timing {
  now(): number
  /** Milliseconds that the loop had nothing to do since the start. */
  idleMs(): number
  after(ms: number, task: () => void): void
}

const systemTiming: Timing = {
  now: () => performance.now(),
  idleMs: () => performance.eventLoopUtilization().idle,
  after: systemClock.after,
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

function createPortions({ now, idleMs, after }: Timing): (begin: () => void) => void {
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
      else rest(Math.min(heldMs * MAX_REST, MAX_REST_MS))
    })
  }

  function rest(mostMs: number): void {
    const [restsAt, idleBefore] = [now(), idleMs()]
    const goOn = (): void => {
      if (idleMs() - idleBefore >= IDLE_MS || now() - restsAt >= mostMs) beginNext()
      else after(REST_STEP_MS, goOn)
    }
    after(REST_STEP_MS, goOn)
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
