// In: a Koa app and an address. Out: where it listens, and a way to stop that finishes what is in hand.
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type Koa from 'koa'
import { type Clock, systemClock } from '../clock.ts'
import { StartProblem } from '../start-problem.ts'
import { REQUEST_TIMEOUTS, refuseMalformedRequests } from './malformed-requests.ts'

export interface Address {
  host: string
  port: number
}

export interface Listener {
  port: number
  /** Refuses new connections at once, closes idle ones, lets requests in hand finish, and cuts what is left after `graceMs`. */
  close(graceMs: number): Promise<void>
}

/** Rejects with `StartProblem` when the address cannot be had. */
export async function listen(app: Koa, address: Address, clock: Clock = systemClock): Promise<Listener> {
  const server = createServer(REQUEST_TIMEOUTS, app.callback())
  refuseMalformedRequests(server)
  const connections = trackConnections(server)
  await startListening(server, address)
  // Too many open files, and its like: one connection is lost, the next may be taken.
  server.on('error', error => app.emit('error', error))
  return {
    port: (server.address() as AddressInfo).port,
    close: graceMs =>
      new Promise(resolve => {
        const cancel = clock.after(graceMs, () => server.closeAllConnections())
        server.close(() => {
          cancel()
          resolve()
        })
        connections.finish()
      }),
  }
}

const startListening = (server: Server, { host, port }: Address): Promise<void> =>
  new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException) => reject(listenProblem(error, { host, port }))
    server.once('error', onError)
    server.listen(port, host, () => {
      server.off('error', onError)
      resolve()
    })
  })

const REASONS: Record<string, string> = {
  EADDRINUSE: 'another process is using it',
  EACCES: 'this user may not listen there',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'this machine has no such address',
}

function listenProblem(error: NodeJS.ErrnoException, { host, port }: Address): Error {
  const why = REASONS[error.code ?? ''] ?? error.message
  return new StartProblem(`cannot listen on port ${port} of ${host}: ${why}`, { cause: error })
}

/** Which connections have requests in hand. Node's own `closeIdleConnections` leaves alone a connection that never asked
 *  anything, and one whose request was in hand stays open for a next one until it has been idle for seconds. */
function trackConnections(server: Server): { finish(): void } {
  const openResponses = new Map<Socket, Set<ServerResponse>>()
  let finishing = false

  server.on('connection', (socket: Socket) => {
    openResponses.set(socket, new Set())
    socket.once('close', () => openResponses.delete(socket))
  })
  // Before the app's own listener: it may close the door in its first breath.
  server.prependListener('request', ({ socket }, response) => {
    const responses = openResponses.get(socket)
    responses?.add(response)
    response.once('close', () => {
      responses?.delete(response)
      if (finishing && responses?.size === 0) socket.destroySoon()
    })
  })
  return {
    finish() {
      finishing = true
      for (const [socket, responses] of openResponses) {
        if (responses.size === 0) socket.destroy()
        const last = [...responses].at(-1)
        if (last && !last.headersSent) last.setHeader('Connection', 'close')
      }
    },
  }
}
