// In: an app and an address. Out: the port it listens on, and a close that lets open requests finish.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { type Clock, systemClock } from '../clock.ts'
import { StartProblem } from '../start-problem.ts'
import { acceptFaster } from './acceptors.ts'
import { refuseAmbiguousRequests, refuseMalformedRequests, SERVER_OPTIONS } from './malformed-requests.ts'
import { createPipeline, type Pipeline } from './pipelining.ts'

export interface Address {
  host: string
  port: number
  /** The variable that sets the port. Default: PORT. */
  portSetting?: string
}

/** What answers requests, such as a Koa app. */
export interface App {
  callback(): (request: IncomingMessage, response: ServerResponse) => unknown
  /** Takes the errors of the server. */
  emit(event: 'error', error: Error): unknown
  /** Answers what is ready to be answered and was kept back. From now on nothing is. */
  answerWaiting?(): void
  connectionOpened?(connection: Socket): void
}

export interface Listener {
  port: number
  /** From now on every answer ends its connection, so that clients open new ones, elsewhere if they can. */
  drain(): void
  /** Refuses new connections and closes idle ones at once, lets open requests finish, and cuts the rest after `graceMs`. */
  close(graceMs: number): Promise<void>
}

/** Rejects with `StartProblem` when the address cannot be used. */
export async function listen(app: App, address: Address, clock: Clock = systemClock): Promise<Listener> {
  const server = createServer(SERVER_OPTIONS, refuseAmbiguousRequests(app.callback()))
  refuseMalformedRequests(server)
  const connections = trackConnections(server, app)
  await startListening(server, address)
  // An error here, such as too many open files, costs one connection. The server goes on.
  server.on('error', error => app.emit('error', error))
  const acceptors = acceptFaster(server, { backlog: MAX_WAITING_CONNECTIONS })
  return {
    port: (server.address() as AddressInfo).port,
    drain() {
      connections.drain()
      app.answerWaiting?.()
    },
    async close(graceMs) {
      const cancel = clock.after(graceMs, () => server.closeAllConnections())
      const closed = new Promise<void>(resolve => server.close(() => resolve()))
      const allClosed = Promise.all([closed, acceptors.close()])
      connections.finish()
      app.answerWaiting?.()
      await allClosed
      cancel()
    },
  }
}

/** Connections that the system keeps until Node accepts them, if it allows so many. Beyond them it drops attempts to
 *  connect, and the caller tries again after a second. Node's own default is 511. */
const MAX_WAITING_CONNECTIONS = 4_096

const startListening = (server: Server, address: Address): Promise<void> =>
  new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException) => reject(listenProblem(error, address))
    server.once('error', onError)
    server.listen(address.port, address.host, MAX_WAITING_CONNECTIONS, () => {
      server.off('error', onError)
      resolve()
    })
  })

function listenProblem(error: NodeJS.ErrnoException, { host, port, portSetting = 'PORT' }: Address): Error {
  const place = `port ${port} of ${host}`
  const noSuchAddress = `HOST: this machine has no address ${host}. Set HOST to 127.0.0.1 for callers on this machine, or to 0.0.0.0 for all`
  const texts: Record<string, string> = {
    EADDRINUSE: `${portSetting}: another process is using ${place}. Stop that process, or set ${portSetting} to another port`,
    EACCES: `${portSetting}: this user may not listen on ${place}. Set ${portSetting} to a port from 1024 on`,
    EADDRNOTAVAIL: noSuchAddress,
    ENOTFOUND: noSuchAddress,
    EAI_AGAIN: noSuchAddress,
  }
  const text = texts[error.code ?? ''] ?? `${portSetting}: cannot listen on ${place}: ${error.message}`
  return new StartProblem(text, { cause: error })
}

/** Knows the open requests of each connection. Node's `closeIdleConnections` does not close a connection without a first request, and
 *  keeps one whose request has just ended open for seconds. */
function trackConnections(server: Server, app: App): { drain(): void; finish(): void } {
  const openConnections = new Map<Socket, { responses: Set<ServerResponse>; pipeline: Pipeline | null }>()
  let draining = false
  let finishing = false

  server.on('connection', (socket: Socket) => {
    app.connectionOpened?.(socket)
    const responses = new Set<ServerResponse>()
    openConnections.set(socket, { responses, pipeline: createPipeline(socket, () => responses.size) })
    socket.once('close', () => openConnections.delete(socket))
  })
  // This listener runs before the app's, which may answer at once.
  server.prependListener('request', (request, response) => {
    const { socket } = request
    const { responses, pipeline = null } = openConnections.get(socket) ?? {}
    responses?.add(response)
    const isLast = pipeline?.begun() ?? false
    if (draining || isLast) response.setHeader('Connection', 'close')
    response.once('close', () => {
      responses?.delete(response)
      if (finishing && responses?.size === 0) socket.destroySoon()
      if (!request.complete) pipeline?.dropBody()
      pipeline?.answered()
    })
  })
  return {
    drain() {
      draining = true
    },
    finish() {
      finishing = true
      for (const [socket, { responses }] of openConnections) {
        if (responses.size === 0) socket.destroy()
        const last = [...responses].at(-1)
        if (last && !last.headersSent) last.setHeader('Connection', 'close')
      }
    },
  }
}
