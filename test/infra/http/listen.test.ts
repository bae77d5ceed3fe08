import { Buffer } from 'node:buffer'
import { Router } from '@koa/router'
import { expect } from 'chai'
import { readBytes } from '../../../infra/http/body.ts'
import { MAX_DROPPED_BYTES, MAX_IN_A_BURST, MAX_UNANSWERED } from '../../../infra/http/pipelining.ts'
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
  function createRouter() {
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

  it('closes idle connections at once, with or without an earlier request', async () => {
    const { close, openConnection, url } = await startServer(createRouter().router)
    const [idle, mute] = [await openConnection(), await openConnection()]
    idle.socket.write(request('/quick'))
    await eventually(() => expect(idle.received()).to.contain('quick'))
    await close(LONG_GRACE_MS)
    await Promise.all([idle.closed, mute.closed])
    await expectRefused(url)
  })

  it('finishes open requests, all of a pipeline and a response that has begun, and then closes their connections', async () => {
    const { router, waiting, letGo } = createRouter()
    const { close, openConnection, url } = await startServer(router)
    const [streaming, piping] = [await openConnection(), await openConnection()]
    streaming.socket.write(request('/stream'))
    piping.socket.write(request('/slow') + request('/slow'))
    await eventually(() => expect(streaming.received()).to.contain('begun'))
    await eventually(() => expect(waiting).to.have.length(3))
    const closing = close(LONG_GRACE_MS)
    const state = promiseState(closing)
    await eventually(() => expectRefused(url))
    expect(state.state).to.equal('pending')
    letGo()
    await Promise.all([closing, streaming.closed, piping.closed])
    expect(streaming.received()).to.contain('ended')
    expect(piping.received().match(/200 OK/g)).to.have.length(2)
    expect(piping.received()).to.match(/connection: close/i)
  })

  it('cuts unfinished requests after the grace, not before', async () => {
    const { router, waiting } = createRouter()
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

  it('has at most 16 requests of a connection in hand, and answers all of a pipeline in their order', async () => {
    const { router, waiting, letGo } = createRouter()
    const begun: string[] = []
    router.get('/nth/:nth', async ctx => {
      begun.push(String(ctx.params.nth))
      await new Promise<void>(resolve => waiting.push(resolve))
      ctx.body = `nth ${ctx.params.nth};`
    })
    const { openConnection, ask } = await startServer(router)
    const { socket, received } = await openConnection()
    const all = Array.from({ length: 100 }, (_, nth) => String(nth))
    socket.write(all.map(nth => request(`/nth/${nth}`)).join(''))
    for (let answered = 0; answered < all.length; answered += MAX_UNANSWERED) {
      const expected = Math.min(answered + MAX_UNANSWERED, all.length)
      await eventually(() => expect(begun).to.have.length(expected))
      // Another connection is served meanwhile, and nothing more of this one is begun.
      for (let time = 0; time < 5; time += 1) expect((await ask('/quick')).body).to.equal('quick')
      expect(begun).to.have.length(expected)
      letGo()
    }
    await eventually(() => expect(received().match(/nth \d+;/g)).to.deep.equal(all.map(nth => `nth ${nth};`)))
  })

  it('forgets what is not read yet of a connection that its client cuts', async () => {
    const { openConnection, ask } = await startServer(createRouter().router)
    const cut = async () => {
      const { socket, closed } = await openConnection()
      socket.write(request('/quick').repeat(500))
      socket.once('data', () => socket.resetAndDestroy())
      await closed
    }
    await Promise.all(Array.from({ length: 40 }, cut))
    expect((await ask('/quick')).body).to.equal('quick')
  })

  it('closes a connection after the thousandth request of a burst, and not one that waits now and then', async () => {
    const { openConnection } = await startServer(createRouter().router)
    const [hasty, patient] = [await openConnection(), await openConnection()]
    const answers = ({ received }: typeof hasty) => received().match(/HTTP\/1\.1 200/g)?.length ?? 0
    hasty.socket.write(request('/quick').repeat(MAX_IN_A_BURST + 500))
    await hasty.closed
    expect(answers(hasty)).to.equal(MAX_IN_A_BURST)
    expect(hasty.received().match(/connection: close/gi)).to.have.length(1)
    for (const asked of [MAX_IN_A_BURST - 1, 2 * (MAX_IN_A_BURST - 1)]) {
      patient.socket.write(request('/quick').repeat(MAX_IN_A_BURST - 1))
      await eventually(() => expect(answers(patient)).to.equal(asked))
    }
    patient.socket.destroy()
  })

  it('reads a body that is refused as too large to a bound, and closes the connection there', async () => {
    const router = new Router()
    router.post('/small', async ctx => {
      ctx.body = await readBytes(ctx, 10)
    })
    const { openConnection, ask } = await startServer(router)
    const head = (bytes: number) => `POST /small HTTP/1.1\r\nHost: test\r\nContent-Length: ${bytes}\r\n\r\n`
    const long = Buffer.alloc(MAX_DROPPED_BYTES / 2, '.')
    const [within, beyond] = [await openConnection(), await openConnection()]
    within.socket.write(head(long.length))
    within.socket.write(long)
    within.socket.write(`${head(2)}ok`)
    await eventually(() =>
      expect(within.received().match(/HTTP\/1\.1 \d+/g)).to.deep.equal(['HTTP/1.1 413', 'HTTP/1.1 200']),
    )
    beyond.socket.write(head(2 ** 40))
    const sent = (async () => {
      while (!beyond.socket.destroyed) await new Promise(resolve => beyond.socket.write(long, resolve))
    })()
    // Closed with bytes unread, it is a reset to the client.
    await Promise.all([beyond.closed.catch(() => {}), sent])
    expect(beyond.socket.bytesWritten).to.be.below(50 * MAX_DROPPED_BYTES)
    expect((await ask('/small', { method: 'POST', body: 'ok' })).status).to.equal(200)
    within.socket.destroy()
  })

  it('loses nothing of pipelined bodies, wherever the network divides them, nor of answers that fill the connection', async () => {
    const router = new Router()
    router.post('/echo', async ctx => {
      ctx.body = Buffer.concat([await readBytes(ctx, 100_000), Buffer.alloc(30_000, '.')])
    })
    const { openConnection } = await startServer(router)
    const bodies = Array.from({ length: 60 }, (_, nth) => `<${nth}${'\r\n\r\n'.repeat(nth)}>`)
    const head = (more: string) => `POST /echo HTTP/1.1\r\nHost: test\r\n${more}\r\n\r\n`
    const text = bodies
      .map((body, nth) =>
        nth % 2 === 0
          ? `${head(`Content-Length: ${body.length}`)}${body}`
          : `${head('Transfer-Encoding: chunked')}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
      )
      .join('')
    for (const size of [7, 1_000, text.length]) {
      const { socket, received } = await openConnection()
      socket.setNoDelay(true)
      for (let at = 0; at < text.length; at += size) {
        socket.write(text.slice(at, at + size))
        if (size < text.length) await new Promise(resolve => setImmediate(resolve))
      }
      await eventually(() => expect(received().match(/<\d+[\r\n]*>/g)).to.deep.equal(bodies))
      socket.destroy()
    }
  })
})
