// Paces refusals. In: refusals that could be answered now. Out: their answers, at once while they are few, and the
// later the more there are.
//
// Under overload many callers repeat a refused call as soon as they are refused, so every answer brings the next
// request: refusing as fast as possible takes the processor from the calls that were accepted. So refusals get a share
// of the event loop. What is beyond it waits, and a caller that waits for its answer makes no request meanwhile.
//
// A caller that does not wait opens a connection for its next request. Waiting refusals would make such callers open thousands. So while
// more connections are opened, some that wait are answered for each of them, and their connections can be used again.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate } from 'node:timers'
import type { Clock } from '../clock.ts'
import { dropBody } from './pipelining.ts'

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
  /** Milliseconds that pass while the process works. A fake clock stands still meanwhile. */
  elapsed?: () => number
}

/** The share of the event loop that refusals get: half of the fifth that they may take, because garbage collection and
 *  accepting connections are not measured. */
const SHARE = 0.1
export const MAX_DELAY_MS = 2_000
/** Refusals get a larger share when they need it to be answered in this time. Otherwise those that came together would be due together. */
const USUAL_MAX_DELAY_MS = 1_800
/** How long it is remembered that more refusals waited than now. Those that came together have the same share until the
 *  last is answered. */
const MEMORY_MS = 4_000
/** What few refusals leave of their share is saved up to so much, so that they are answered at once. */
const MAX_SAVED_MS = 10
const INTERVAL_MS = 10
/** Few, because callers that do wait open connections too, when a storm begins. */
export const ANSWERS_PER_NEW_CONNECTION = 8
/** Answers of one turn of the event loop, beside those for new connections. */
export const ANSWERS_PER_TURN = 128
/** A connection has one waiting refusal at most, and costs more than it. Beyond this number the oldest is answered at once. */
export const MAX_WAITING = 5_000

interface Waiting {
  answer(): void
  dueAt: number
}

export function createRefusalPacing({ clock, elapsed = () => performance.now() }: RefusalPacingDeps): RefusalPacing {
  /** Oldest first. */
  const waiting = new Set<Waiting>()
  const cost = createCostOfRefusal(elapsed)
  let savedMs = MAX_SAVED_MS
  let savedAt = clock.now()
  /** As many as wait now, or as waited lately, if that is more. */
  let latelyWaiting = 0
  let [openConnections, mostConnections] = [0, 0]
  let scheduled = false
  let ended = false

  function save(): void {
    const now = clock.now()
    const passedMs = now - savedAt
    const less = Math.max(latelyWaiting - waiting.size, 0) * Math.max(1 - passedMs / MEMORY_MS, 0)
    latelyWaiting = waiting.size + less
    savedMs += passedMs * Math.max(SHARE, (latelyWaiting * cost.ms()) / USUAL_MAX_DELAY_MS)
    if (waiting.size === 0) savedMs = Math.min(savedMs, MAX_SAVED_MS)
    savedAt = now
  }

  const affordsOne = (): boolean => savedMs >= cost.ms()

  function answer(refusal: Waiting): void {
    waiting.delete(refusal)
    // Refusals that had to be answered leave no debt that would delay a single one long after the storm.
    savedMs = Math.max(savedMs - cost.ms(), -MAX_SAVED_MS)
    refusal.answer()
  }

  function schedule(ms: number): void {
    if (scheduled) return
    scheduled = true
    clock.after(ms, () => {
      let [begunAt, answered] = [0, 0]
      // Two, because what the answers leave to do at once, such as promises, is done between them.
      setImmediate(() => {
        begunAt = elapsed()
        answered = answerSome()
      })
      setImmediate(() => {
        if (answered > 0) cost.learnAnswer((elapsed() - begunAt) / answered)
        scheduled = false
        if (waiting.size > 0) schedule(answered === ANSWERS_PER_TURN ? 0 : INTERVAL_MS)
      })
    })
  }

  function answerSome(): number {
    save()
    let answered = 0
    for (const refusal of waiting) {
      const isDue = ended || refusal.dueAt <= clock.now()
      if (answered === ANSWERS_PER_TURN || (!isDue && !affordsOne())) break
      answer(refusal)
      answered += 1
    }
    return answered
  }

  function answerOldest(count: number): void {
    for (let left = count; left > 0; left -= 1) {
      const [oldest] = waiting
      if (oldest !== undefined) answer(oldest)
    }
  }

  return {
    pace(request, response, answerNow) {
      const refusal: Waiting = { answer: answerNow, dueAt: clock.now() + MAX_DELAY_MS }
      save()
      // A response without a connection stands behind another answer of its connection. Node holds such answers back, and reads no more
      // requests from the connection when they are many; it would go on reading if they waited here.
      const isPipelined = response.socket === null
      if (ended || isPipelined || (waiting.size === 0 && affordsOne())) answer(refusal)
      else {
        waiting.add(refusal)
        response.once('close', () => waiting.delete(refusal))
        // Otherwise as much of the body as a buffer holds would wait too.
        dropBody(request)
        if (waiting.size > MAX_WAITING) answerOldest(1)
        schedule(INTERVAL_MS)
      }
      cost.learnArrival()
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
      if (waiting.size > 0) schedule(0)
    },
  }
}

/** Until refusals were measured. */
const ASSUMED_MS = 0.1
/** What a new measurement weighs. */
const WEIGHT = 0.05

/** Learns what a refusal takes of the event loop: until it is decided, and its answer. */
function createCostOfRefusal(elapsed: () => number) {
  let [arrivalMs, answerMs] = [ASSUMED_MS, ASSUMED_MS]
  let lastArrivalAt: number | null = null
  return {
    ms: () => arrivalMs + answerMs,
    learnAnswer(ms: number): void {
      answerMs += (ms - answerMs) * WEIGHT
    },
    /** Node reads and parses a request before anything of ours runs. Of two refusals in one turn of the event loop the second took the time
     *  between them, unless other work came between: therefore the median counts. */
    learnArrival(): void {
      const now = elapsed()
      if (lastArrivalAt === null)
        setImmediate(() => {
          lastArrivalAt = null
        })
      else arrivalMs *= now - lastArrivalAt > arrivalMs ? 1 + WEIGHT : 1 - WEIGHT
      lastArrivalAt = now
    },
  }
}
