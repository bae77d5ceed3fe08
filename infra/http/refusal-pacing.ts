// Paces refusals. In: refusals that could be answered now. Out: their answers, at once while they are few, and the later the more there are.
//
// Under overload many callers repeat a refused call as soon as they are refused, so every answer brings the next request: refusing as fast as
// possible takes the processor from the calls that were accepted. So one refusal has its turn in a millisecond. A caller that waits
// for its answer makes no request meanwhile.
//
// A caller that does not wait opens a connection for its next request. Waiting refusals would make such callers open thousands, of which the
// process accepts one in a turn of the event loop. So while more connections are opened, some that wait are answered for each of them, and
// their connections can be used again.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate } from 'node:timers'
import type { Clock } from '../clock.ts'

export interface RefusalPacing {
  /** Calls `answer` now or later, or never, if the caller hangs up before. */
  pace(request: IncomingMessage, response: ServerResponse, answer: () => void): void
  /** Answers everything that waits. From now on nothing waits. */
  end(): void
  /** Called for each connection of the process. */
  connectionOpened(connection: Pick<Socket, 'once'>): void
}

export interface RefusalPacingDeps {
  clock: Pick<Clock, 'now' | 'after'>
  random?: () => number
}

/** A refusal takes 0.1 to 0.2 ms, so those that have their turn take a fifth of the event loop at most. */
const TURN_MS = 1
/** Turns that no refusal used are saved up to so much time, so that few refusals are answered at once. */
const MAX_SAVED_MS = 50
export const MAX_DELAY_MS = 2_000
/** Refusals that would wait longer are answered between this share of the longest time and all of it. Otherwise those that came together
 *  would be answered together, and come again together. */
const MIN_SHARE_OF_MAX_DELAY = 0.8
/** Few, because callers that do wait open connections too, when a storm begins. */
export const ANSWERS_PER_NEW_CONNECTION = 8
/** Answers of one turn of the event loop, at the end. */
export const ANSWERS_PER_TURN = 128
/** A connection has one waiting refusal at most, and costs more than it. Beyond this number the oldest is answered at once. */
export const MAX_WAITING = 5_000

export function createRefusalPacing({ clock, random = Math.random }: RefusalPacingDeps): RefusalPacing {
  /** What answers them, oldest first. */
  const waiting = new Set<() => void>()
  let lastTurnAt = 0
  let [openConnections, mostConnections] = [0, 0]
  let ended = false

  function takeTurn(): number {
    const now = clock.now()
    lastTurnAt = Math.min(Math.max(lastTurnAt, now - MAX_SAVED_MS) + TURN_MS, now + MAX_DELAY_MS)
    if (lastTurnAt < now + MAX_DELAY_MS) return lastTurnAt - now
    return MAX_DELAY_MS * (MIN_SHARE_OF_MAX_DELAY + (1 - MIN_SHARE_OF_MAX_DELAY) * random())
  }

  function answerOldest(count: number): void {
    let left = count
    for (const answer of waiting) {
      if (left === 0) return
      answer()
      left -= 1
    }
  }

  function answerAll(): void {
    answerOldest(ANSWERS_PER_TURN)
    if (waiting.size > 0) setImmediate(answerAll)
  }

  function wait(response: ServerResponse, ms: number, answer: () => void): void {
    const end = (): void => {
      cancel()
      waiting.delete(answerNow)
    }
    const answerNow = (): void => {
      end()
      answer()
    }
    const cancel = clock.after(ms, answerNow)
    waiting.add(answerNow)
    response.once('close', end)
  }

  return {
    pace(request, response, answer) {
      // A response without a connection stands behind another answer of its connection. Node holds such answers back, and reads no more
      // requests from the connection when they are many; it would go on reading if they waited here.
      const isPipelined = response.socket === null
      const ms = ended || isPipelined ? 0 : takeTurn()
      if (ms <= 0) return answer()
      wait(response, ms, answer)
      // Otherwise as much of the body as a buffer holds would wait too.
      request.resume()
      if (waiting.size > MAX_WAITING) answerOldest(1)
    },
    connectionOpened(connection) {
      openConnections += 1
      connection.once('close', () => {
        openConnections -= 1
      })
      const isMore = openConnections > mostConnections
      if (isMore || waiting.size === 0) mostConnections = openConnections
      if (isMore) answerOldest(ANSWERS_PER_NEW_CONNECTION)
    },
    end() {
      ended = true
      answerAll()
    },
  }
}
