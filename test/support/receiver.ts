// A server of somebody else's, on this machine, plain or over TLS. In: what it does with a request. Out: where it answers, and what
// it has seen: connections, and requests as they came.
import type { Buffer } from 'node:buffer'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { CERTIFICATE, KEY } from './certificate.ts'

export interface ReceivedRequest {
  method: string
  path: string
  headers: IncomingHttpHeaders
  body: Buffer
  /** Of the connection it came by: the first is 1. */
  connection: number
}

export interface Receiver {
  port: number
  received: ReceivedRequest[]
  connections(): number
  /** By SNI, one per connection over TLS. */
  servernames: (string | false)[]
  close(): Promise<void>
}

export type AnswerRequest = (request: ReceivedRequest, response: ServerResponse) => void

export async function startReceiver(
  answer: AnswerRequest = (_, response) => void response.end(),
  { tls = false }: { tls?: boolean } = {},
): Promise<Receiver> {
  const received: ReceivedRequest[] = []
  const servernames: (string | false)[] = []
  const numbers = new Map<Socket, number>()

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url: path = '', headers, socket } = request
    const one = { method, path, headers, body: await buffer(request), connection: numbers.get(socket) ?? 0 }
    received.push(one)
    answer(one, response)
  }
  // A caller that hangs up is no fault of the server's.
  const listener = (request: IncomingMessage, response: ServerResponse) => void take(request, response).catch(() => {})
  const server = tls ? createTlsServer({ cert: CERTIFICATE, key: KEY }, listener) : createServer(listener)
  server.on(tls ? 'secureConnection' : 'connection', (socket: Socket & { servername?: string | false }) => {
    numbers.set(socket, numbers.size + 1)
    if (tls) servernames.push(socket.servername ?? false)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    received,
    servernames,
    connections: () => numbers.size,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
