// Reads a connection no faster than it is answered. In: a connection of an HTTP server. Out: its bytes for Node's
// parser, in pieces, and whether a request is the last one of its connection.
//
// A client may send requests without waiting for the answers. Node parses what has come, up to 64 KiB, at once: that can be two thousand
// requests, and the app would get them all in one turn of the event loop. So this file stands between the connection and the parser. It
// cuts what has come after the heads of so many requests as may be begun, and keeps the rest until answers are out. A client that does not
// pipeline is read at once.
import { Buffer } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { eventLoop } from '../event-loop.ts'

/** A connection with so many requests in hand is not read. */
export const MAX_UNANSWERED = 16
/** A connection that sends more without a pause is closed after the answer to this one. */
export const MAX_IN_A_BURST = 1_000
/** Of a body that is not wanted, for a client that writes all of it before it reads the refusal. */
export const MAX_DROPPED_BYTES = 2 * 2 ** 20
/** Those of a client that waits for its answers, and one more, because the end of a body may look like the end of a head. */
const HEADS_AT_ONCE = 2

export interface Pipeline {
  /** Called when a request begins. Whether its answer has to be the last of the connection. */
  begun(): boolean
  /** Called when a request has its answer. */
  answered(): void
  /** The rest of the request's body is not wanted: what comes of it is counted. */
  dropBody(): void
}

const pipelines = new WeakMap<Socket, Pipeline>()

/** Reads the rest of the body without keeping it. Where it is long, its connection is closed. */
export function dropBody(request: IncomingMessage): void {
  if (request.complete) return
  pipelines.get(request.socket)?.dropBody()
  request.resume()
}

/** Null where the runtime gives no way to stand before its parser. */
export function createPipeline(connection: Socket, unanswered: () => number): Pipeline | null {
  const [parse] = connection.listeners('data') as ((bytes: Buffer) => void)[]
  if (parse === undefined) return null
  /** Has come, and is not parsed yet. */
  let waiting: Buffer | null = null
  /** Requests since the connection was last idle. */
  let burst = 0
  /** Of a body that is not wanted; null while there is none. */
  let droppedBytes: number | null = null
  let hasTurn = false
  let isPaused = false

  // With a listener that is not the parser's, the bytes come here instead of going to the parser by a way of Node's own.
  connection.on('data', bytes => {
    if (droppedBytes !== null) {
      droppedBytes += bytes.length
      if (droppedBytes > MAX_DROPPED_BYTES) return void connection.destroy()
    }
    waiting = waiting === null ? bytes : Buffer.concat([waiting, bytes])
    if (unanswered() < HEADS_AT_ONCE && !hasTurn && !isHeldByNode(connection)) read(HEADS_AT_ONCE)
    else goOn()
  })
  connection.off('data', parse)
  readByListeners(connection)
  // Node resumes the connection when a request waits for its body, and after it has itself paused it.
  connection.on('resume', goOn)

  function read(heads: number): void {
    const bytes = waiting
    // The parser of a connection that is gone works for another one.
    if (bytes === null || connection.destroyed) return
    const end = endOfHeads(bytes, Math.min(heads, MAX_IN_A_BURST - burst))
    waiting = end < bytes.length ? bytes.subarray(end) : null
    parse?.call(connection, bytes.subarray(0, end))
    goOn()
  }

  function goOn(): void {
    if (connection.destroyed || burst >= MAX_IN_A_BURST) waiting = null
    const isFull = unanswered() >= MAX_UNANSWERED || burst >= MAX_IN_A_BURST
    if (waiting === null && !isFull) {
      resume()
      return
    }
    isPaused = true
    connection.pause()
    if (isFull || hasTurn || isHeldByNode(connection)) return
    hasTurn = true
    // One connection in a turn, so that many that pipeline do not keep the others waiting.
    eventLoop.inTurn(() => {
      hasTurn = false
      if (isHeldByNode(connection)) return
      read(MAX_UNANSWERED - unanswered())
    })
  }

  function resume(): void {
    if (!isPaused || isHeldByNode(connection)) return
    isPaused = false
    connection.resume()
  }

  const pipeline: Pipeline = {
    begun() {
      burst += 1
      droppedBytes = null
      return burst >= MAX_IN_A_BURST
    },
    answered() {
      if (unanswered() === 0 && waiting === null && burst < MAX_IN_A_BURST) burst = 0
      if (isPaused) goOn()
    },
    dropBody() {
      droppedBytes ??= 0
    },
  }
  pipelines.set(connection, pipeline)
  return pipeline
}

/** Node's parser takes its bytes from the system until a listener wants them too. Deno's does not look for such listeners. */
function readByListeners(connection: Socket): void {
  const { parser, _handle: handle } = connection as unknown as {
    parser?: { unconsume?(): void }
    _handle?: { _consumed?: boolean }
  }
  if (!handle?._consumed) return
  parser?.unconsume?.()
  handle._consumed = false
}

/** Node stops its parser while too much of what was answered has not been sent. */
const isHeldByNode = (connection: Socket): boolean => (connection as { _paused?: boolean })._paused === true

const END_OF_HEAD = '\r\n\r\n'

/** Behind so many heads, or the end of the bytes. A body that looks like heads is only read in smaller pieces. */
function endOfHeads(bytes: Buffer, heads: number): number {
  let end = 0
  for (let left = heads; left > 0; left -= 1) {
    const found = bytes.indexOf(END_OF_HEAD, end, 'latin1')
    if (found === -1) return bytes.length
    end = found + END_OF_HEAD.length
  }
  return end
}
