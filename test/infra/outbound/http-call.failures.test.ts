// Which of three endings a call has that was not answered. What is told as not sent must never have been seen by the other side.
import { expect } from 'chai'
import { Lost, NotSent } from '../../../infra/outbound/outbound.ts'
import { eventually } from '../../support/eventually.ts'
import { connectionFreed, errorOf, get, post, useOutbound } from '../../support/outbound.ts'

const { outbound, receiver, rawServer } = useOutbound()

/** Nobody listens there. */
const CLOSED = 'http://127.0.0.1:1/'
const never = () => new Promise<never>(() => {})

describe('a call that was certainly not sent', () => {
  const isNotSent = async (call: Promise<unknown>) => expect(await errorOf(call)).to.be.instanceOf(NotSent)

  it('found no address', async () => {
    const lookup = () => Promise.reject(new Error('ENOTFOUND'))
    await isNotSent(post(outbound({ lookup }), 'http://hooks.countersign.test/'))
  })

  it('found nobody there', () => isNotSent(post(outbound(), CLOSED)))

  it('found nobody there, as did those that waited for a connection', async () => {
    const one = outbound({ connections: 1 })
    await Promise.all(Array.from({ length: 5 }, () => isNotSent(post(one, CLOSED))))
  })

  it('found nobody at any of its addresses', () =>
    isNotSent(post(outbound({ lookup: async () => ['127.0.0.1', '127.0.0.2'] }), 'http://hooks.countersign.test:1/')))

  it('could not agree on TLS', async () => {
    const server = await rawServer(socket => socket.end('SSH-2.0-OpenSSH_9.2\r\n'))
    await isNotSent(post(outbound(), `https://127.0.0.1:${server.port}/`))
  })

  it('was hung up on before TLS was agreed', async () => {
    const server = await rawServer(socket => socket.once('data', () => socket.resetAndDestroy()))
    await isNotSent(post(outbound(), `https://127.0.0.1:${server.port}/`))
  })

  it('trusts no certificate of an unknown authority', async () => {
    const server = await receiver(undefined, { tls: true })
    await isNotSent(post(outbound(), `https://127.0.0.1:${server.port}/`))
    expect(server.received).to.deep.equal([])
  })

  it('waited too long for a connection', async () => {
    const server = await rawServer(() => {})
    await isNotSent(post(outbound({ connectTimeoutMs: 20 }), `https://127.0.0.1:${server.port}/`))
  })

  it('was told to stop before it began', async () => {
    const server = await receiver()
    await isNotSent(post(outbound(), `http://127.0.0.1:${server.port}/`, { signal: AbortSignal.abort() }))
    expect(server.connections()).to.equal(0)
  })

  it('was told to stop while its name was looked up', async () => {
    const stop = new AbortController()
    const call = post(outbound({ lookup: never }), 'http://hooks.countersign.test/', { signal: stop.signal })
    stop.abort()
    await isNotSent(call)
  })

  it('was told to stop while it was connecting', async () => {
    const server = await rawServer(() => {})
    const stop = new AbortController()
    const call = post(outbound(), `https://127.0.0.1:${server.port}/`, { signal: stop.signal })
    await eventually(async () => expect(server.connections()).to.equal(1))
    stop.abort()
    await isNotSent(call)
  })

  it('was told to stop while others had all the connections, and is not sent later either', async () => {
    const answers: (() => void)[] = []
    const server = await receiver((_, response) => void answers.push(() => response.end()))
    const one = outbound({ connections: 1 })
    const url = `http://127.0.0.1:${server.port}`
    const first = post(one, `${url}/first`)
    const stop = new AbortController()
    const second = post(one, `${url}/second`, { signal: stop.signal })
    await eventually(async () => expect(answers).to.have.lengthOf(1))
    stop.abort()
    await isNotSent(second)
    const third = post(one, `${url}/third`)
    answers[0]?.()
    await first
    await eventually(async () => expect(answers).to.have.lengthOf(2))
    answers[1]?.()
    await third
    expect(server.received.map(({ path }) => path)).to.deep.equal(['/first', '/third'])
  })

  it('came after the process was told to stop', async () => {
    const one = outbound()
    await one.close()
    await isNotSent(post(one, CLOSED))
  })

  it('had a header no request can carry', () =>
    isNotSent(post(outbound(), CLOSED, { headers: { 'x-bad': 'a\r\nx-injected: b' } })))
})

describe('a call that may have been acted on', () => {
  const isLost = async (call: Promise<unknown>) => expect(await errorOf(call)).to.be.instanceOf(Lost)

  it('was reset after it was heard, and is not made again by itself', async () => {
    const server = await rawServer(socket => socket.once('data', () => socket.resetAndDestroy()))
    await isLost(get(outbound(), `http://127.0.0.1:${server.port}/`))
    expect(server.connections()).to.equal(1)
  })

  it('was hung up on after it was heard', async () => {
    const server = await rawServer(socket => socket.once('data', () => socket.end()))
    await isLost(post(outbound(), `http://127.0.0.1:${server.port}/`))
  })

  it('was told to stop while it waited for an answer, and the connection ends with it', async () => {
    const stop = new AbortController()
    const ended: string[] = []
    const server = await rawServer(socket =>
      socket.once('data', () => {
        socket.once('close', () => ended.push('closed'))
        stop.abort()
      }),
    )
    await isLost(post(outbound(), `http://127.0.0.1:${server.port}/`, { signal: stop.signal }))
    await eventually(async () => expect(ended).to.deep.equal(['closed']))
  })

  it('was told to stop while it read the answer', async () => {
    const stop = new AbortController()
    const server = await receiver((_, response) => {
      response.write('{"sid":')
      setImmediate(() => stop.abort())
    })
    await isLost(post(outbound(), `http://127.0.0.1:${server.port}/`, { signal: stop.signal }))
  })

  for (const [what, answer] of Object.entries({
    'cut off within its headers': 'HTTP/1.1 200 OK\r\nContent-Le',
    'cut off within its body': 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{"a"',
    'cut off within a chunk': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab',
    'not HTTP': 'SSH-2.0-OpenSSH_9.2\r\n',
    'another protocol than was asked for':
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
    'all headers': `HTTP/1.1 200 OK\r\n${'x-more: and more\r\n'.repeat(10_000)}`,
  }))
    it(`had an answer that was ${what}`, async () => {
      const server = await rawServer(socket => socket.once('data', () => socket.end(answer)))
      await isLost(post(outbound(), `http://127.0.0.1:${server.port}/`))
      expect(server.connections()).to.equal(1)
    })

  it('went out by a kept connection that the server then broke', async () => {
    let heard = 0
    const server = await rawServer(socket =>
      socket.on('data', () => {
        heard += 1
        if (heard === 1) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
        else socket.resetAndDestroy()
      }),
    )
    const one = outbound()
    const url = `http://127.0.0.1:${server.port}/`
    expect((await post(one, url)).status).to.equal(200)
    await connectionFreed()
    await isLost(post(one, url))
    expect([heard, server.connections()]).to.deep.equal([2, 1])
  })

  it('was in hand when the process was told to stop', async () => {
    const server = await receiver(() => void one.close())
    const one = outbound()
    await isLost(post(one, `http://127.0.0.1:${server.port}/`))
  })
})

describe('what is told of a call that failed', () => {
  it('names the host, and nothing of the URL that may be a secret', async () => {
    const error = await errorOf(post(outbound(), 'http://127.0.0.1:1/hook/s3cr3t?key=s3cr3t'))
    expect(error.message).to.contain('127.0.0.1').and.not.contain('s3cr3t')
  })
})
