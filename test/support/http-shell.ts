// The HTTP shell around the routers of a test, on a free port. It closes after the test.
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
  /** `fetch` with a path. A JSON body is parsed. */
  ask(path: string, init?: RequestInit): Promise<Answer>
  /** A bare connection, for what an HTTP client does not do. */
  openConnection(): Promise<RawConnection>
  close(graceMs: number): Promise<void>
}

interface Answer {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: the JSON of any route, to be compared
  body: any
}

interface RawConnection {
  socket: Socket
  received(): string
  closed: Promise<unknown>
}

const openServers: ShellServer[] = []

/** Call it in a suite: its servers close after each test. */
export function useShellServers(): (...routers: Router[]) => Promise<ShellServer> {
  afterEach(() => Promise.all(openServers.splice(0).map(server => server.close(0))))
  return async (...routers) => {
    const server = await startShell(routers)
    openServers.push(server)
    return server
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
      // The test clock stands still, so it has to be moved for a grace of 0 ms to end.
      if (graceMs === 0) await clock.advance(60_000)
      return closing
    },
  }
}

async function openConnection(port: number): Promise<RawConnection> {
  const socket = connect(port, '127.0.0.1')
  let received = ''
  socket.setEncoding('utf8').on('data', text => {
    received += text
  })
  // Some tests wait for the connection to be cut.
  socket.on('error', () => {})
  const closed = once(socket, 'close')
  await once(socket, 'connect')
  return { socket, received: () => received, closed }
}

/** A router with one GET path. */
export function routerWith(path: string, answer: Parameters<Router['get']>[1]): Router {
  const router = new Router()
  router.get(path, answer as never)
  return router
}

/** A handler that answers with `body`. */
export const answerWith = (body: unknown) => (ctx: { body: unknown }) => {
  ctx.body = body
}

export const request = (path: string, method = 'GET'): string => `${method} ${path} HTTP/1.1\r\nHost: test\r\n\r\n`
