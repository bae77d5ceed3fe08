// In: what Node refuses before there is a request: bytes that are not HTTP, headers that are too large, a request that arrives too slowly.
// Out: a problem of the same shape as every other refusal, instead of Node's bare status line.
import { Buffer } from 'node:buffer'
import { randomUUID } from 'node:crypto'
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { httpException, PROBLEM_TYPE, problemBody } from './problem.ts'

/** How long a slow client can keep a connection busy. */
export const REQUEST_TIMEOUTS = { headersTimeout: 15_000, requestTimeout: 30_000 }

const STATUS_BY_CODE: Record<string, number> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
}

const DETAIL_BY_STATUS: Record<number, string> = {
  400: 'This is not HTTP.',
  408: 'The request took too long to arrive.',
  413: 'The request is too large.',
  431: 'The headers are too large.',
}

export function refuseMalformedRequests(server: Server): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    // The client has hung up, or the response has begun, so no refusal can be sent.
    if (error.code === 'ECONNRESET' || !socket.writable || isAnswering(socket)) return void socket.destroy(error)
    socket.end(response(STATUS_BY_CODE[error.code ?? ''] ?? 400))
  })
}

const isAnswering = (socket: Socket): boolean =>
  '_httpMessage' in socket && (socket._httpMessage as { headersSent?: boolean } | null)?.headersSent === true

function response(status: number): string {
  const failure = httpException(status, DETAIL_BY_STATUS[status])
  const requestId = randomUUID()
  const body = JSON.stringify(problemBody(failure, requestId))
  return [
    `HTTP/1.1 ${status} ${failure.title}`,
    `Content-Type: ${PROBLEM_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n')
}
