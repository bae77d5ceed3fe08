import { Router } from '@koa/router'
import { expect } from 'chai'
import Koa from 'koa'
import { listen } from '../../../infra/http/listen.ts'
import { StartProblem } from '../../../infra/start-problem.ts'
import { eventually } from '../../support/eventually.ts'
import { answerWith, request, shellServers } from '../../support/http-shell.ts'
import { promiseState } from '../../support/promise-state.ts'

const LONG = 60_000

async function expectRefused(url: string): Promise<void> {
  const failure = await fetch(url).catch((error: TypeError) => error.cause)
  expect(failure).to.include({ code: 'ECONNREFUSED' })
}

describe('listening', () => {
  const door = shellServers()

  /** `/quick` answers at once, `/slow` when it is let, `/stream` begins at once and ends when it is let. */
  function parts() {
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

  it('ends at once when nobody is there', async () => {
    const { close, url } = await door(parts().router)
    await close(LONG)
    await expectRefused(url)
  })

  it('ends at once for connections that wait for a next request, or have not asked anything yet', async () => {
    const { close, openConnection } = await door(parts().router)
    const [idle, mute] = [await openConnection(), await openConnection()]
    idle.socket.write(request('/quick'))
    await eventually(() => expect(idle.heard()).to.contain('quick'))
    await close(LONG)
    await Promise.all([idle.closed, mute.closed])
  })

  it('finishes the request in hand, says that the connection ends with it, and ends it', async () => {
    const { router, waiting, letGo } = parts()
    const { close, openConnection, url } = await door(router)
    const { socket, heard, closed } = await openConnection()
    socket.write(request('/slow'))
    await eventually(() => expect(waiting).to.have.length(1))
    const closing = close(LONG)
    const state = promiseState(closing)
    await eventually(() => expectRefused(url))
    expect(state.state).to.equal('pending')
    letGo()
    await Promise.all([closing, closed])
    expect(heard())
      .to.match(/^HTTP\/1\.1 200 /)
      .and.to.match(/connection: close/i)
      .and.to.match(/slow$/)
  })

  it('finishes an answer that had begun, and every request of a pipeline', async () => {
    const { router, waiting, letGo } = parts()
    const { close, openConnection } = await door(router)
    const [streaming, piping] = [await openConnection(), await openConnection()]
    streaming.socket.write(request('/stream'))
    piping.socket.write(request('/slow') + request('/slow'))
    await eventually(() => expect(streaming.heard()).to.contain('begun'))
    await eventually(() => expect(waiting).to.have.length(3))
    const closing = close(LONG)
    letGo()
    await Promise.all([closing, streaming.closed, piping.closed])
    expect(streaming.heard()).to.contain('ended')
    expect(piping.heard().match(/200 OK/g)).to.have.length(2)
  })

  it('cuts what is not finished after the grace, not before', async () => {
    const { router, waiting } = parts()
    const { close, openConnection, clock } = await door(router)
    const { socket, heard, closed } = await openConnection()
    socket.write(request('/slow'))
    await eventually(() => expect(waiting).to.have.length(1))
    const closing = close(5000)
    const state = promiseState(closing)
    await clock.advance(4999)
    expect(state.state).to.equal('pending')
    await clock.advance(1)
    await Promise.all([closing, closed])
    expect(heard()).to.equal('')
  })

  it('refuses a port in use in words a person can act on', async () => {
    const { port } = await door()
    const refusal = await listen(new Koa(), { host: '127.0.0.1', port }).catch((error: unknown) => error)
    expect(refusal).to.be.instanceOf(StartProblem)
    expect((refusal as Error).message).to.equal(
      `cannot listen on port ${port} of 127.0.0.1: another process is using it`,
    )
  })

  it('refuses an address the machine has not', async () => {
    const refusal = await listen(new Koa(), { host: '192.0.2.1', port: 0 }).catch((error: unknown) => error)
    expect(refusal).to.be.instanceOf(StartProblem)
    expect((refusal as Error).message)
      .to.contain('192.0.2.1')
      .and.to.contain('no such address')
  })
})
