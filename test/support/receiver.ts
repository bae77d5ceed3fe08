// A fake server of a provider or a webhook endpoint, over HTTP or HTTPS. In: how it answers a request. Out: its port,
// and the connections and requests it has received.
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
  /** The number of its connection. The first is 1. */
  connection: number
}

export interface Receiver {
  port: number
  received: ReceivedRequest[]
  connections(): number
  /** The SNI of each TLS connection. */
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

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url: path = '', headers, socket } = request
    const one = { method, path, headers, body: await buffer(request), connection: numbers.get(socket) ?? 0 }
    received.push(one)
    answer(one, response)
  }
  // A client that hangs up must not fail the test.
  const listener = (request: IncomingMessage, response: ServerResponse) =>
    void receive(request, response).catch(() => {})
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
