import { Router } from '@koa/router'
import { expect } from 'chai'
import Koa from 'koa'
import { listen } from '../../../infra/http/listen.ts'
import { StartProblem } from '../../../infra/start-problem.ts'
import { eventually } from '../../support/eventually.ts'
import { answerWith, request, useShellServers } from '../../support/http-shell.ts'
import { promiseState } from '../../support/promise-state.ts'

const LONG_GRACE_MS = 60_000

async function expectRefused(url: string): Promise<void> {
  const failure = await fetch(url).catch((error: TypeError) => error.cause)
  expect(failure).to.include({ code: 'ECONNREFUSED' })
}

describe('a listener', () => {
  const startServer = useShellServers()

  /** `/quick` answers at once, `/slow` after `letGo()`, and `/stream` begins at once and ends after `letGo()`. */
  function createRoutes() {
    const waiting: (() => void)[] = []
    const permission = () => new Promise<void>(resolve => waiting.push(resolve))
    const router = new Router()
    router.get('/quick', answerWith('quick'))
    router.get('/slow', async ctx => {
      await permission()
      ctx.body = 'slow'
    })
    router.get('/stream', async ctx => {
      ctx.respond = false
      ctx.res.write('begun')
      await permission()
      ctx.res.end('ended')
    })
    const letGo = () => {
      for (const go of waiting.splice(0)) go()
    }
    return { router, waiting, letGo }
  }

  it('closes at once without connections', async () => {
    const { close, url } = await startServer(createRoutes().router)
    await close(LONG_GRACE_MS)
    await expectRefused(url)
  })

  it('closes idle connections at once, with or without an earlier request', async () => {
    const { close, openConnection } = await startServer(createRoutes().router)
    const [idle, mute] = [await openConnection(), await openConnection()]
    idle.socket.write(request('/quick'))
    await eventually(() => expect(idle.received()).to.contain('quick'))
    await close(LONG_GRACE_MS)
    await Promise.all([idle.closed, mute.closed])
  })

  it('finishes an open request, answers it with Connection: close, and closes the connection', async () => {
    const { router, waiting, letGo } = createRoutes()
    const { close, openConnection, url } = await startServer(router)
    const { socket, received, closed } = await openConnection()
    socket.write(request('/slow'))
    await eventually(() => expect(waiting).to.have.length(1))
    const closing = close(LONG_GRACE_MS)
    const state = promiseState(closing)
    await eventually(() => expectRefused(url))
    expect(state.state).to.equal('pending')
    letGo()
    await Promise.all([closing, closed])
    expect(received())
      .to.match(/^HTTP\/1\.1 200 /)
      .and.to.match(/connection: close/i)
      .and.to.match(/slow$/)
  })

  it('finishes a response that has begun, and every request of a pipeline', async () => {
    const { router, waiting, letGo } = createRoutes()
    const { close, openConnection } = await startServer(router)
    const [streaming, piping] = [await openConnection(), await openConnection()]
    streaming.socket.write(request('/stream'))
    piping.socket.write(request('/slow') + request('/slow'))
    await eventually(() => expect(streaming.received()).to.contain('begun'))
    await eventually(() => expect(waiting).to.have.length(3))
    const closing = close(LONG_GRACE_MS)
    letGo()
    await Promise.all([closing, streaming.closed, piping.closed])
    expect(streaming.received()).to.contain('ended')
    expect(piping.received().match(/200 OK/g)).to.have.length(2)
  })

  it('cuts unfinished requests after the grace, not before', async () => {
    const { router, waiting } = createRoutes()
    const { close, openConnection, clock } = await startServer(router)
    const { socket, received, closed } = await openConnection()
    socket.write(request('/slow'))
    await eventually(() => expect(waiting).to.have.length(1))
    const closing = close(5000)
    const state = promiseState(closing)
    await clock.advance(4999)
    expect(state.state).to.equal('pending')
    await clock.advance(1)
    await Promise.all([closing, closed])
    expect(received()).to.equal('')
  })

  it('refuses a port in use with a message an operator can act on', async () => {
    const { port } = await startServer()
    const refusal = await listen(new Koa(), { host: '127.0.0.1', port }).catch((error: unknown) => error)
    expect(refusal).to.be.instanceOf(StartProblem)
    expect((refusal as Error).message).to.equal(
      `PORT: another process is using port ${port} of 127.0.0.1. Stop that process, or set PORT to another port`,
    )
  })

  it('refuses an address that the machine does not have', async () => {
    const refusal = await listen(new Koa(), { host: '192.0.2.1', port: 0 }).catch((error: unknown) => error)
    expect(refusal).to.be.instanceOf(StartProblem)
    expect((refusal as Error).message).to.match(/^HOST: this machine has no address 192\.0\.2\.1\. Set HOST to /)
  })
})
