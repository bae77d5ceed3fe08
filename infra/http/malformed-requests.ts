// In: what Node refuses by itself: bytes that are not HTTP, headers that are too large, a request that arrives too slowly, that lacks
// a Host or expects what Node does not know.
// Out: a problem of the same shape as every other refusal, instead of Node's bare status line.
import { Buffer } from 'node:buffer'
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { httpException, PROBLEM_TYPE, problemBody } from './problem.ts'
import { requestIdOf } from './shell.ts'

/** The timeouts: how long a slow client can keep a connection busy. Node refuses a request without a Host with an empty answer, so
 *  `requireHost` does it. */
export const SERVER_OPTIONS = { headersTimeout: 15_000, requestTimeout: 30_000, requireHostHeader: false }

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
  server.on('checkExpectation', (request, response) =>
    refuse(request, response, 417, 'The header Expect may hold 100-continue only.'),
  )
}

type Handle = (request: IncomingMessage, response: ServerResponse) => unknown

/** HTTP/1.1 asks for the header; HTTP/1.0 does not have it. */
export const requireHost =
  (handle: Handle): Handle =>
  (request, response) =>
    request.httpVersion === '1.1' && request.headers.host === undefined
      ? refuse(request, response, 400, 'The header Host is missing.')
      : handle(request, response)

function refuse({ headers }: IncomingMessage, response: ServerResponse, status: number, detail: string): void {
  const requestId = requestIdOf(headers['x-request-id'])
  const body = JSON.stringify(problemBody(httpException(status, detail), requestId))
  response.writeHead(status, {
    'Content-Type': PROBLEM_TYPE,
    'Content-Length': Buffer.byteLength(body),
    'X-Request-Id': requestId,
    Connection: 'close',
  })
  response.end(body)
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
