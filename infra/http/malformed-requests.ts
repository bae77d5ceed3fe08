// In: what Node refuses by itself: bytes that are not HTTP, headers that are too large, a request that arrives too
// slowly, that lacks a Host or expects what Node does not know. And what Node accepts, and a proxy in front of it may
// read in another way: two Hosts, or a body in chunks over HTTP/1.0, which does not know them, or the number of another
// version, or a coding that Node would not undo. Out: a problem of the same shape as every other refusal, instead of
// Node's bare status line.
import { Buffer } from 'node:buffer'
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { answerHeaders } from './answer-headers.ts'
import { httpException, PROBLEM_TYPE, problemBody } from './problem.ts'
import { requestIdOf } from './shell.ts'

/** The timeouts: how long a slow client can keep a connection busy. Node refuses a request without a Host with an empty answer, so
 *  `refuseAmbiguousRequests` does it. */
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

export const refuseAmbiguousRequests =
  (handle: Handle): Handle =>
  (request, response) => {
    const fault = faultOf(request)
    return fault === null ? handle(request, response) : refuse(request, response, ...fault)
  }

/** HTTP/1.1 asks for a Host; HTTP/1.0 does not have it. */
function faultOf(request: IncomingMessage): [status: number, detail: string] | null {
  const { httpVersion, headers, rawHeaders } = request
  const hosts = countHosts(rawHeaders)
  if (httpVersion !== '1.0' && httpVersion !== '1.1') return [400, 'Only HTTP/1.0 and HTTP/1.1 are spoken here.']
  if (httpVersion === '1.1' && hosts === 0) return [400, 'The header Host is missing.']
  if (hosts > 1) return [400, 'There is more than one header Host.']
  const coding = headers['transfer-encoding']
  if (coding === undefined) return null
  if (httpVersion === '1.0') return [400, 'HTTP/1.0 has no Transfer-Encoding.']
  return coding.trim().toLowerCase() === 'chunked' ? null : [501, 'The only Transfer-Encoding here is chunked.']
}

/** Names and values take turns. Node shows the first Host only. */
function countHosts(rawHeaders: readonly string[]): number {
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1
  }
  return hosts
}

function refuse({ headers }: IncomingMessage, response: ServerResponse, status: number, detail: string): void {
  const requestId = requestIdOf(headers['x-request-id'])
  const body = JSON.stringify(problemBody(httpException(status, detail), requestId))
  response.writeHead(status, headersOf(body, requestId)).end(body)
}

const headersOf = (body: string, requestId: string): Record<string, string> => ({
  ...answerHeaders(null),
  'Content-Type': PROBLEM_TYPE,
  'Content-Length': String(Buffer.byteLength(body)),
  'X-Request-Id': requestId,
  Connection: 'close',
})

const isAnswering = (socket: Socket): boolean =>
  '_httpMessage' in socket && (socket._httpMessage as { headersSent?: boolean } | null)?.headersSent === true

function response(status: number): string {
  const failure = httpException(status, DETAIL_BY_STATUS[status])
  const requestId = randomUUID()
  const body = JSON.stringify(problemBody(failure, requestId))
  return [
    `HTTP/1.1 ${status} ${failure.title}`,
    ...Object.entries(headersOf(body, requestId)).map(([name, value]) => `${name}: ${value}`),
    '',
    body,
  ].join('\r\n')
}
