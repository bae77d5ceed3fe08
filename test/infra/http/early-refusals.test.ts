// A request that is refused before Koa sees it gets what the shell would have answered.
import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Router } from '@koa/router'
import { expect } from 'chai'
import {
  CALLS_PER_TURN,
  type EarlyRefusal,
  type RefuseEarly,
  withEarlyRefusals,
} from '../../../infra/http/early-refusals.ts'
import { type Listener, listen } from '../../../infra/http/listen.ts'
import { httpException } from '../../../infra/http/problem.ts'
import { createRefusalPacing, MAX_DELAY_MS } from '../../../infra/http/refusal-pacing.ts'
import { arrivalOf, createHttpShell } from '../../../infra/http/shell.ts'
import { createMetrics } from '../../../infra/metrics.ts'
import { createCapturedLog } from '../../support/captured-log.ts'
import { testClock } from '../../support/clock.ts'
import { eventually } from '../../support/eventually.ts'

const DETAIL = 'Too many requests. Nothing was executed.'
const failure = () => httpException(503, DETAIL, { 'Retry-After': '2' })

const noteBegun = (list: string[]): null => {
  list.push('begun')
  return null
}

describe('early refusals', () => {
  let listener: Listener
  const [captured, metrics, clock] = [createCapturedLog(), createMetrics(), testClock()]
  const deps = { log: captured.log, metrics, clock, pacing: createRefusalPacing({ clock }) }
  const recorded: string[] = []
  const begun: string[] = []
  let room = true
  const refusalAt = (route: string): EarlyRefusal => ({
    failure: failure(),
    route,
    headers: { 'Cache-Control': 'no-store' },
    fields: { app_id: 'app_shop' },
    record: requestId => void recorded.push(requestId),
  })
  const refuse: RefuseEarly = ({ url }) => {
    if (url === '/call') return { begin: () => (room ? noteBegun(begun) : refusalAt('/call')) }
    return url === '/early' ? refusalAt('/early') : null
  }
  before(async () => {
    const router = new Router()
    router.post('/late', ctx => {
      ctx.set('Cache-Control', 'no-store')
      throw failure()
    })
    router.post('/call', ctx => {
      begun.push('answered')
      ctx.body = 'called'
    })
    const app = withEarlyRefusals(createHttpShell(deps, [router]), { refuse, ...deps })
    listener = await listen(app, { host: '127.0.0.1', port: 0 })
  })
  after(() => listener.close(0))

  const post = async (path: string, headers: Record<string, string> = {}) => {
    const call = { method: 'POST', headers, body: 'unread' }
    const response = await fetch(`http://127.0.0.1:${listener.port}${path}`, call)
    return { status: response.status, headers: Object.fromEntries(response.headers), body: await response.text() }
  }
  const linesOf = (event: string) => captured.lines().filter(({ msg }) => msg === event)

  it('have the status, the headers and the body of a refusal by the shell', async () => {
    const headers = { 'X-Request-Id': 'order-17' }
    const [early, late] = [await post('/early', headers), await post('/late', headers)]
    const { date: _, ...earlyHeaders } = early.headers
    const { date: __, ...lateHeaders } = late.headers
    expect(early.status).to.equal(503)
    expect(earlyHeaders).to.deep.equal(lateHeaders)
    expect(earlyHeaders).to.include({ 'retry-after': '2', 'x-request-id': 'order-17' })
    expect({ ...early, headers: {} }).to.deep.equal({ ...late, headers: {} })
    expect(recorded).to.deep.equal(['order-17'])
    const own = (await post('/early', { 'X-Request-Id': 'no id' })).headers['x-request-id']
    expect(own).to.match(/^[0-9a-f-]{36}$/)
    expect(recorded.at(-1)).to.equal(own)
  })

  it('are measured and logged by their route, as other answers are', async () => {
    const before = linesOf('http.answered').length
    await post('/early', { 'X-Request-Id': 'order-18' })
    const [line, ...more] = linesOf('http.answered').slice(before)
    expect(more).to.deep.equal([])
    const told = { request_id: 'order-18', app_id: 'app_shop', error_type: 'HTTPException' }
    expect(line).to.include({ ...told, method: 'POST', route: '/early', status: 503 })
    const { body } = await metrics.render()
    expect(body).to.match(/http_requests_total\{method="POST",route="\/early",status="503"\} 3/)
  })

  it('have a line of warning at once, and then one a second for each reason, with their number', async () => {
    // The lines of the tests before.
    await clock.advance(1_000)
    await clock.advance(1_000)
    const before = linesOf('http.unavailable').length
    for (let n = 0; n < 4; n += 1) await post('/early')
    expect(linesOf('http.unavailable')).to.have.length(before + 1)
    await clock.advance(1_000)
    await clock.advance(1_000)
    await post('/early')
    await clock.advance(1_000)
    const lines = linesOf('http.unavailable').slice(before)
    expect(lines.map(({ why, count }) => ({ why, count }))).to.deep.equal([
      { why: `Problem: ${DETAIL}`, count: 1 },
      { why: `Problem: ${DETAIL}`, count: 3 },
      { why: `Problem: ${DETAIL}`, count: 1 },
    ])
  })

  it('let a call that is not refused wait for its turn', async () => {
    const order: string[] = []
    const app = withEarlyRefusals(
      { callback: () => () => void order.push('answered'), emit: () => {} },
      { refuse: () => ({ begin: () => noteBegun(order) }), ...deps },
    )
    const handle = app.callback()
    for (let n = 0; n < CALLS_PER_TURN + 1; n += 1) handle({} as IncomingMessage, {} as ServerResponse)
    expect(order).to.deep.equal([])
    await new Promise(resolve => setImmediate(resolve))
    expect(order.slice(0, 3)).to.deep.equal(['begun', 'answered', 'begun'])
    expect(order, 'of one turn').to.have.length(2 * CALLS_PER_TURN)
    await new Promise(resolve => setImmediate(resolve))
    expect(order, 'of the next turn too').to.have.length(2 * CALLS_PER_TURN + 2)
    expect((await post('/call')).body).to.equal('called')
    expect((await post('/nowhere')).status, 'of any other request').to.equal(404)
    expect(begun).to.deep.equal(['begun', 'answered'])
  })

  it('measure a call from its arrival, and drop one whose caller has gone', async () => {
    const handled: number[] = []
    const app = withEarlyRefusals(
      { callback: () => request => void handled.push(arrivalOf(request, 0)), emit: () => {} },
      { refuse: () => ({ begin: () => noteBegun(begun) }), ...deps },
    )
    const handle = app.callback()
    const [arrivedAt, before] = [clock.now(), begun.length]
    handle({} as IncomingMessage, { destroyed: false } as ServerResponse)
    handle({} as IncomingMessage, { destroyed: true } as ServerResponse)
    await clock.advance(300)
    await new Promise(resolve => setImmediate(resolve))
    expect(handled).to.deep.equal([arrivedAt])
    expect(begun, 'the places of both are given back').to.have.length(before + 2)
  })

  it('answer a call for which there is no room any more when its turn comes', async () => {
    room = false
    const { status, headers } = await post('/call', { 'X-Request-Id': 'order-19' })
    room = true
    expect(status).to.equal(503)
    expect(headers).to.include({ 'retry-after': '2', 'x-request-id': 'order-19' })
    expect(recorded.at(-1)).to.equal('order-19')
  })

  describe('that wait', () => {
    let other: Listener
    let sockets: Socket[]
    beforeEach(async () => {
      sockets = []
      const pacing = createRefusalPacing({ clock })
      const app = withEarlyRefusals(createHttpShell(deps, []), {
        ...deps,
        pacing,
        refuse: request => {
          sockets.push(request.socket)
          return refusalAt('/early')
        },
      })
      other = await listen(app, { host: '127.0.0.1', port: 0 }, clock)
      // They take what may be answered at once.
      for (let n = 0; n < 200; n += 1) {
        const response = Object.assign(new EventEmitter(), { socket: {} }) as unknown as ServerResponse
        pacing.pace({ resume() {} } as IncomingMessage, response, () => {})
      }
    })
    afterEach(async () => {
      const closed = other.close(0)
      await clock.advance(0)
      await closed
    })

    const ask = async (signal: AbortSignal | null = null) => {
      const call = { method: 'POST', body: 'unread', signal }
      const { status, headers } = await fetch(`http://127.0.0.1:${other.port}/early`, call)
      return { status, connection: headers.get('connection') }
    }

    for (const how of ['drain', 'close'] as const)
      it(`are answered when the process is told to stop (${how})`, async () => {
        const answers = [ask(), ask(), ask()]
        await eventually(() => expect(sockets).to.have.length(3))
        const before = linesOf('http.answered').length
        await clock.advance(0)
        expect(linesOf('http.answered'), 'before').to.have.length(before)
        const closed = how === 'close' ? other.close(4_000) : other.drain()
        await clock.advance(10)
        for (const { status, connection } of await Promise.all(answers)) {
          expect(status).to.equal(503)
          expect(connection).to.equal(how === 'close' ? 'close' : 'keep-alive')
        }
        await closed
      })

    it('leave nothing behind, neither a record nor a line, when the caller hangs up', async () => {
      const [before, recordedBefore] = [linesOf('http.answered').length, recorded.length]
      const caller = new AbortController()
      const gone = ask(caller.signal).catch(() => 'gone')
      await eventually(() => expect(sockets).to.have.length(1))
      caller.abort()
      expect(await gone).to.equal('gone')
      await eventually(() => expect(sockets[0]?.destroyed).to.equal(true))
      await clock.advance(MAX_DELAY_MS)
      expect(linesOf('http.answered')).to.have.length(before)
      expect(recorded).to.have.length(recordedBefore)
    })
  })
})
