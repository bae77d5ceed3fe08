// Refuses requests before Koa sees them. In: an app, and a service's decision about a request. Out: the same app, where such a request gets
// the answer that the shell would give: the same body and headers, the same measurement, the same line `http.answered`.
//
// An overload makes thousands of refusals a second. What they cost is taken from the requests that are accepted, and the way through the
// shell and the routers costs several times as much. Many refusals are paced (refusal-pacing.ts). A call that is not refused waits for a
// turn of the event loop, so that a burst of calls does not keep connections and refusals waiting.
import { Buffer } from 'node:buffer'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../clock.ts'
import { eventLoop } from '../event-loop.ts'
import { createFifo } from '../fifo.ts'
import type { Logger } from '../log/log.ts'
import { answerHeaders } from './answer-headers.ts'
import type { App } from './listen.ts'
import { PROBLEM_TYPE, type Problem, problemBody } from './problem.ts'
import type { RefusalPacing } from './refusal-pacing.ts'
import type { RequestFields } from './request-log.ts'
import { arrivalOf, logAnswer, noteArrival, requestIdOf, type ShellDeps } from './shell.ts'

/** Null for a request that the app answers at once. */
export type RefuseEarly = (request: IncomingMessage) => EarlyRefusal | WaitingCall | null

/** A call that is not refused now. The app answers it in one of the next turns of the event loop. */
export interface WaitingCall {
  /** Called when its turn has come. A refusal if there is no room for it any more. */
  begin(): EarlyRefusal | null
}

export interface EarlyRefusal {
  failure: Problem
  /** For logs and metrics: the pattern of the path that would refuse. */
  route: string
  /** Beside those of the failure. */
  headers: Record<string, string>
  /** For the log. */
  fields: RequestFields
  /** Called once the request has an id. */
  record(requestId: string): void
}

export interface EarlyRefusalsDeps {
  refuse: RefuseEarly
  /** The log of the service that refuses. */
  log: Logger
  metrics: ShellDeps['metrics']
  clock: Pick<Clock, 'now' | 'after'>
  publicUrl?: string | null
  pacing: RefusalPacing
}

export function withEarlyRefusals(app: App, deps: EarlyRefusalsDeps): App {
  const { refuse, log, metrics, clock, publicUrl = null, pacing } = deps
  const everyAnswers = answerHeaders(publicUrl)
  const countInLog = createCountedLines(log, clock)
  const waitInTurn = createWaitingCalls()

  function answerPaced(request: IncomingMessage, response: ServerResponse, refusal: EarlyRefusal): void {
    const arrivedAt = arrivalOf(request, clock.now())
    pacing.pace(request, response, () => answer(request, response, refusal, arrivedAt))
  }

  function answer(request: IncomingMessage, response: ServerResponse, refusal: EarlyRefusal, arrivedAt: number): void {
    const { failure, route, headers, fields, record } = refusal
    const requestId = requestIdOf(request.headers['x-request-id'])
    const body = JSON.stringify(problemBody(failure, requestId, publicUrl))
    response.writeHead(failure.status, {
      ...everyAnswers,
      'X-Request-Id': requestId,
      ...headers,
      ...failure.extras.headers,
      'Content-Type': PROBLEM_TYPE,
      'Content-Length': Buffer.byteLength(body),
    })
    response.end(body)
    record(requestId)
    countInLog(String(failure))
    logAnswer(
      { log, metrics },
      { request_id: requestId, ...fields },
      {
        method: request.method ?? '',
        route,
        status: failure.status,
        error_type: failure.type,
        ms: clock.now() - arrivedAt,
      },
    )
  }

  return {
    callback() {
      const handle = app.callback()
      return (request, response) => {
        const decision = refuse(request)
        if (decision === null) handle(request, response)
        else if ('failure' in decision) answerPaced(request, response, decision)
        else {
          noteArrival(request, clock.now())
          waitInTurn(() => {
            const refusal = decision.begin()
            // A caller that has hung up meanwhile costs nothing more.
            if (response.destroyed) return false
            if (refusal === null) handle(request, response)
            else answerPaced(request, response, refusal)
            return refusal === null
          })
        }
      }
    },
    emit: (event, error) => app.emit(event, error),
    answerWaiting: () => pacing.end(),
    connectionOpened: connection => pacing.connectionOpened(connection),
  }
}

/** Not all at once, because they hold the event loop. Many, because the calls of a turn are saved together, or travel to RabbitMQ in one
 *  message: with four, a send took a quarter more processor time. */
export const CALLS_PER_TURN = 64
/** Calls that are refused when their turn comes cost little. */
const REFUSALS_PER_TURN = 128

/** The result says whether the app has got the call. */
type BeginCall = () => boolean

function createWaitingCalls(): (call: BeginCall) => void {
  const waiting = createFifo<BeginCall>()
  let scheduled = false

  function schedule(): void {
    if (scheduled || waiting.size === 0) return
    scheduled = true
    eventLoop.inTurn(() => {
      scheduled = false
      try {
        beginSome()
      } finally {
        schedule()
      }
    })
  }

  function beginSome(): void {
    for (let [begun, refused] = [0, 0]; begun < CALLS_PER_TURN && refused < REFUSALS_PER_TURN; ) {
      const begin = waiting.shift()
      if (begin === undefined) return
      if (begin()) begun += 1
      else refused += 1
    }
  }

  return call => {
    waiting.push(call)
    schedule()
  }
}

const LINE_INTERVAL_MS = 1_000

/** The first refusal for a reason has its line at once, later ones share a line a second, with their number. A line for each of them would
 *  cost as much as the refusal. */
function createCountedLines(log: Logger, clock: Pick<Clock, 'after'>): (why: string) => void {
  const counts = new Map<string, number>()

  function write(why: string, count: number): void {
    log.warn({ why, count }, 'http.unavailable')
    counts.set(why, 0)
    clock.after(LINE_INTERVAL_MS, () => {
      const more = counts.get(why) ?? 0
      counts.delete(why)
      if (more > 0) write(why, more)
    })
  }

  return why => {
    const count = counts.get(why)
    if (count === undefined) write(why, 1)
    else counts.set(why, count + 1)
  }
}
