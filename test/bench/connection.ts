// One keep-alive connection that sends one request after the other. It writes prepared requests and parses as little of an answer as
// it can, because the load generator should cost little beside the system that is measured.
import { connect } from 'node:net'

export interface Response {
  status: number
  body: string
}

export interface Connection {
  isOpen(): boolean
  ask(request: string): Promise<Response>
  close(): void
}

const LENGTH = /\r\ncontent-length: *(\d+)/i

export function connection(url: URL): Connection {
  const socket = connect({ host: url.hostname, port: Number(url.port), noDelay: true })
  socket.setEncoding('latin1')
  let received = ''
  let asking: { resolve(response: Response): void; reject(error: Error): void } | undefined
  socket.on('data', (text: string) => {
    received += text
    const head = received.indexOf('\r\n\r\n')
    if (head < 0) return
    const end = head + 4 + Number(LENGTH.exec(received)?.[1] ?? 0)
    if (received.length < end) return
    const response = { status: Number(received.slice(9, 12)), body: received.slice(head + 4, end) }
    received = received.slice(end)
    asking?.resolve(response)
  })
  const ended = (error?: Error) => asking?.reject(error ?? new Error('the server hung up'))
  socket.on('error', ended).on('close', () => ended())
  return {
    isOpen: () => !socket.destroyed,
    ask: request =>
      new Promise((resolve, reject) => {
        if (socket.destroyed) throw new Error('the server hung up')
        asking = { resolve, reject }
        socket.write(request)
      }),
    close: () => socket.destroy(),
  }
}

export function requestText(
  { host }: URL,
  {
    method,
    path,
    key,
    body = '',
    headers = '',
  }: Record<'method' | 'path' | 'key', string> & Partial<Record<'body' | 'headers', string>>,
): string {
  const json = body === '' ? '' : `content-type: application/json\r\ncontent-length: ${body.length}\r\n`
  return `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${key}\r\n${headers}${json}\r\n${body}`
}
