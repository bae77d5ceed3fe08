// The HTTP shell around a test's own routers, listening on a port of its own; closed when the test is over.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Router } from '@koa/router'
import { listen } from '../../infra/http/listen.ts'
import { createHttpShell } from '../../infra/http/shell.ts'
import { createMetrics, type Metrics } from '../../infra/metrics.ts'
import { type CapturedLog, createCapturedLog } from './captured-log.ts'
import { type TestClock, testClock } from './clock.ts'

export interface ShellServer {
  url: string
  port: number
  log: CapturedLog
  metrics: Metrics
  clock: TestClock
  /** `fetch` with a path, the body parsed where there is one. */
  ask(path: string, init?: RequestInit): Promise<Answer>
  /** A bare connection, for what no well-behaved client does. */
  openConnection(): Promise<RawConnection>
  close(graceMs: number): Promise<void>
}

export interface Answer {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: whatever JSON a route answers, to be compared
  body: any
}

export interface RawConnection {
  socket: Socket
  heard(): string
  closed: Promise<unknown>
}

const openServers: ShellServer[] = []

/** Call it in a suite: the doors it opens are closed after each test. */
export function shellServers(): (...routers: Router[]) => Promise<ShellServer> {
  afterEach(() => Promise.all(openServers.splice(0).map(door => door.close(0))))
  return async (...routers) => {
    const door = await startShell(routers)
    openServers.push(door)
    return door
  }
}

async function startShell(routers: Router[]): Promise<ShellServer> {
  const [log, metrics, clock] = [createCapturedLog(), createMetrics(), testClock()]
  const app = createHttpShell({ log: log.log, metrics, clock }, routers)
  const { port, close } = await listen(app, { host: '127.0.0.1', port: 0 }, clock)
  const url = `http://127.0.0.1:${port}`
  let closing: Promise<void> | undefined
  return {
    url,
    port,
    log,
    metrics,
    clock,
    async ask(path, init) {
      const response = await fetch(`${url}${path}`, init)
      const text = await response.text()
      const json = response.headers.get('content-type')?.includes('json') && text !== ''
      return { status: response.status, headers: response.headers, body: json ? JSON.parse(text) : text }
    },
    openConnection: () => openConnection(port),
    async close(graceMs) {
      closing ??= close(graceMs)
      // Time stands still here: after a grace of nothing, let it pass.
      if (graceMs === 0) await clock.advance(60_000)
      return closing
    },
  }
}

async function openConnection(port: number): Promise<RawConnection> {
  const socket = connect(port, '127.0.0.1')
  let heard = ''
  socket.setEncoding('utf8').on('data', text => {
    heard += text
  })
  // A cut is what some tests wait for.
  socket.on('error', () => {})
  const closed = once(socket, 'close')
  await once(socket, 'connect')
  return { socket, heard: () => heard, closed }
}

/** A router with one GET route. */
export function routerWith(path: string, answer: Parameters<Router['get']>[1]): Router {
  const router = new Router()
  router.get(path, answer as never)
  return router
}

/** A route that answers just this. */
export const answerWith = (body: unknown) => (ctx: { body: unknown }) => {
  ctx.body = body
}

export const request = (path: string, method = 'GET'): string => `${method} ${path} HTTP/1.1\r\nHost: test\r\n\r\n`
