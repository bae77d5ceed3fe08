// The errors of calls that were not answered. The other side must never have seen a call that ends with `NotSent`.
import type { Socket } from 'node:net'
import { expect } from 'chai'
import { Lost, NotSent } from '../../../infra/outbound/outbound.ts'
import { eventually } from '../../support/eventually.ts'
import { connectionFreed, errorOf, get, post, useOutbound } from '../../support/outbound.ts'

const { outbound, receiver, rawServer } = useOutbound()

/** No server listens on this port. */
const CLOSED = 'http://127.0.0.1:1/'
const never = () => new Promise<never>(() => {})

describe('a call ends with NotSent', () => {
  const expectNotSent = async (call: Promise<unknown>) => expect(await errorOf(call)).to.be.instanceOf(NotSent)

  it('when its host has no address', async () => {
    const lookup = () => Promise.reject(new Error('ENOTFOUND'))
    await expectNotSent(post(outbound({ lookup }), 'http://hooks.countersign.test/'))
  })

  it('when the connection is refused, also at every address or while other calls wait for it, or calls were closed', async () => {
    const one = outbound({ connections: 1 })
    await Promise.all(Array.from({ length: 5 }, () => expectNotSent(post(one, CLOSED))))
    const two = outbound({ lookup: async () => ['127.0.0.1', '127.0.0.2'] })
    await expectNotSent(post(two, 'http://hooks.countersign.test:1/'))
    await one.close()
    await expectNotSent(post(one, CLOSED))
  })

  it('when the server does not speak TLS, or the connection is reset during the TLS handshake', async () => {
    for (const handle of [
      (socket: Socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'),
      (socket: Socket) => socket.once('data', () => socket.resetAndDestroy()),
    ]) {
      const server = await rawServer(handle)
      await expectNotSent(post(outbound(), `https://127.0.0.1:${server.port}/`))
    }
  })

  it('when the certificate is of an unknown authority', async () => {
    const server = await receiver(undefined, { tls: true })
    await expectNotSent(post(outbound(), `https://127.0.0.1:${server.port}/`))
    expect(server.received).to.deep.equal([])
  })

  it('when the connection takes too long', async () => {
    const server = await rawServer(() => {})
    await expectNotSent(post(outbound({ connectTimeoutMs: 20 }), `https://127.0.0.1:${server.port}/`))
  })

  it('when it is aborted before it begins, or during the lookup of its host', async () => {
    const server = await receiver()
    await expectNotSent(post(outbound(), `http://127.0.0.1:${server.port}/`, { signal: AbortSignal.abort() }))
    expect(server.connections()).to.equal(0)
    const stop = new AbortController()
    const call = post(outbound({ lookup: never }), 'http://hooks.countersign.test/', { signal: stop.signal })
    stop.abort()
    await expectNotSent(call)
  })

  it('when it is aborted while it connects', async () => {
    const server = await rawServer(() => {})
    const stop = new AbortController()
    const call = post(outbound(), `https://127.0.0.1:${server.port}/`, { signal: stop.signal })
    await eventually(async () => expect(server.connections()).to.equal(1))
    stop.abort()
    await expectNotSent(call)
  })

  it('when it is aborted while it waits for a connection, and it is not sent later either', async () => {
    const answers: (() => void)[] = []
    const server = await receiver((_, response) => void answers.push(() => response.end()))
    const one = outbound({ connections: 1 })
    const url = `http://127.0.0.1:${server.port}`
    const first = post(one, `${url}/first`)
    const stop = new AbortController()
    const second = post(one, `${url}/second`, { signal: stop.signal })
    await eventually(async () => expect(answers).to.have.lengthOf(1))
    stop.abort()
    await expectNotSent(second)
    const third = post(one, `${url}/third`)
    answers[0]?.()
    await first
    await eventually(async () => expect(answers).to.have.lengthOf(2))
    answers[1]?.()
    await third
    expect(server.received.map(({ path }) => path)).to.deep.equal(['/first', '/third'])
  })

  it('when it has an invalid header', () =>
    expectNotSent(post(outbound(), CLOSED, { headers: { 'x-bad': 'a\r\nx-injected: b' } })))
})

describe('a call ends with Lost', () => {
  const expectLost = async (call: Promise<unknown>) => expect(await errorOf(call)).to.be.instanceOf(Lost)

  it('when the connection is reset after the request was read, and it is not repeated', async () => {
    const server = await rawServer(socket => socket.once('data', () => socket.resetAndDestroy()))
    await expectLost(get(outbound(), `http://127.0.0.1:${server.port}/`))
    expect(server.connections()).to.equal(1)
  })

  it('when the connection is closed after the request was read', async () => {
    const server = await rawServer(socket => socket.once('data', () => socket.end()))
    await expectLost(post(outbound(), `http://127.0.0.1:${server.port}/`))
  })

  it('when it is aborted while it waits for the answer, and the connection is closed', async () => {
    const stop = new AbortController()
    const ended: string[] = []
    const server = await rawServer(socket =>
      socket.once('data', () => {
        socket.once('close', () => ended.push('closed'))
        stop.abort()
      }),
    )
    await expectLost(post(outbound(), `http://127.0.0.1:${server.port}/`, { signal: stop.signal }))
    await eventually(async () => expect(ended).to.deep.equal(['closed']))
  })

  it('when it is aborted while it reads the answer', async () => {
    const stop = new AbortController()
    const server = await receiver((_, response) => {
      response.write('{"sid":')
      setImmediate(() => stop.abort())
    })
    await expectLost(post(outbound(), `http://127.0.0.1:${server.port}/`, { signal: stop.signal }))
  })

  it('when the answer is cut off or not HTTP', async () => {
    for (const [what, answer] of Object.entries({
      'cut off within its headers': 'HTTP/1.1 200 OK\r\nContent-Le',
      'cut off within its body': 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{"a"',
      'cut off within a chunk': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab',
      'not HTTP': 'SSH-2.0-OpenSSH_9.2\r\n',
      'another protocol': 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
      'nothing but headers': `HTTP/1.1 200 OK\r\n${'x-more: and more\r\n'.repeat(10_000)}`,
    })) {
      const server = await rawServer(socket => socket.once('data', () => socket.end(answer)))
      await expectLost(post(outbound(), `http://127.0.0.1:${server.port}/`))
      expect(server.connections(), what).to.equal(1)
    }
  })

  it('when the server breaks a connection that was kept', async () => {
    let requests = 0
    const server = await rawServer(socket =>
      socket.on('data', () => {
        requests += 1
        if (requests === 1) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
        else socket.resetAndDestroy()
      }),
    )
    const one = outbound()
    const url = `http://127.0.0.1:${server.port}/`
    expect((await post(one, url)).status).to.equal(200)
    await connectionFreed()
    await expectLost(post(one, url))
    expect([requests, server.connections()]).to.deep.equal([2, 1])
  })

  it('when outbound calls are closed while it is in progress', async () => {
    const server = await receiver(() => void closing.close())
    const closing = outbound()
    await expectLost(post(closing, `http://127.0.0.1:${server.port}/`))
  })
})

describe('the error of a failed call', () => {
  it('names the host, but nothing of the URL that may be a secret', async () => {
    const error = await errorOf(post(outbound(), 'http://127.0.0.1:1/hook/s3cr3t?key=s3cr3t'))
    expect(error.message).to.contain('127.0.0.1').and.not.contain('s3cr3t')
  })
})
