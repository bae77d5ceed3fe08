// In: a Koa app and an address. Out: where it listens, and a way to stop that finishes what is in hand.
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type Koa from 'koa'
import { type Clock, systemClock } from '../clock.ts'
import { StartProblem } from '../start-problem.ts'
import { PATIENCE, refuseUnparsed } from './unparsed.ts'

export interface Address {
  host: string
  port: number
}

export interface Listening {
  port: number
  /** Refuses new connections at once, closes idle ones, lets requests in hand finish, and cuts what is left after `graceMs`. */
  close(graceMs: number): Promise<void>
}

/** Rejects with `StartProblem` when the address cannot be had. */
export async function listen(app: Koa, address: Address, clock: Clock = systemClock): Promise<Listening> {
  const server = createServer(PATIENCE, app.callback())
  refuseUnparsed(server)
  const connections = connectionsOf(server)
  await listening(server, address)
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

const listening = (server: Server, { host, port }: Address): Promise<void> =>
  new Promise((resolve, reject) => {
    const refused = (error: NodeJS.ErrnoException) => reject(refusal(error, { host, port }))
    server.once('error', refused)
    server.listen(port, host, () => {
      server.off('error', refused)
      resolve()
    })
  })

const WHY: Record<string, string> = {
  EADDRINUSE: 'another process is using it',
  EACCES: 'this user may not listen there',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'this machine has no such address',
}

function refusal(error: NodeJS.ErrnoException, { host, port }: Address): Error {
  const why = WHY[error.code ?? ''] ?? error.message
  return new StartProblem(`cannot listen on port ${port} of ${host}: ${why}`, { cause: error })
}

/** Which connections have requests in hand. Node's own `closeIdleConnections` leaves alone a connection that never asked
 *  anything, and one whose request was in hand stays open for a next one until it has been idle for seconds. */
function connectionsOf(server: Server): { finish(): void } {
  const inHand = new Map<Socket, Set<ServerResponse>>()
  let finishing = false

  server.on('connection', (socket: Socket) => {
    inHand.set(socket, new Set())
    socket.once('close', () => inHand.delete(socket))
  })
  // Before the app's own listener: it may close the door in its first breath.
  server.prependListener('request', ({ socket }, response) => {
    const responses = inHand.get(socket)
    responses?.add(response)
    response.once('close', () => {
      responses?.delete(response)
      if (finishing && responses?.size === 0) socket.destroySoon()
    })
  })
  return {
    finish() {
      finishing = true
      for (const [socket, responses] of inHand) {
        if (responses.size === 0) socket.destroy()
        const last = [...responses].at(-1)
        if (last && !last.headersSent) last.setHeader('Connection', 'close')
      }
    },
  }
}
