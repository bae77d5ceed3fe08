import { Buffer } from 'node:buffer'
import { expect } from 'chai'
import { connectionFreed, get, post, useOutbound } from '../../support/outbound.ts'

const { outbound, receiver } = useOutbound()

const text = (body: Uint8Array): string => Buffer.from(body).toString()

describe('an outbound HTTP call', () => {
  it('sends the given method, path, query, headers and bytes', async () => {
    const server = await receiver()
    const body = new Uint8Array([0, 0xff, 0x7b])
    await outbound().request({
      method: 'PUT',
      url: `http://127.0.0.1:${server.port}/a%20b/?c=%2F&d`,
      body,
      headers: { 'X-One': '1', 'content-type': 'application/octet-stream' },
      signal: new AbortController().signal,
    })
    const [request] = server.received
    expect(request).to.include({ method: 'PUT', path: '/a%20b/?c=%2F&d' })
    expect(request?.headers).to.include({
      'x-one': '1',
      'content-type': 'application/octet-stream',
      'content-length': '3',
      host: `127.0.0.1:${server.port}`,
    })
    expect(request?.body.equals(body)).to.equal(true)
  })

  it('resolves with a response of any status, and follows no redirect', async () => {
    for (const status of [200, 204, 301, 307, 308, 400, 410, 429, 500]) {
      const server = await receiver((_, response) => void response.writeHead(status, { location: '/elsewhere' }).end())
      expect((await post(outbound(), `http://127.0.0.1:${server.port}/`)).status).to.equal(status)
      expect(server.received.map(({ path }) => path)).to.deep.equal(['/'])
    }
  })

  it('returns the headers of the response by their names in lower case, repeated ones joined', async () => {
    const server = await receiver((_, response) => {
      response.writeHead(200, { 'Retry-After': '7', 'X-Many': ['a', 'b'] }).end('hello')
    })
    const { headers, body } = await get(outbound(), `http://127.0.0.1:${server.port}/`)
    expect(headers).to.include({ 'retry-after': '7', 'x-many': 'a, b' })
    expect(text(body)).to.equal('hello')
  })

  it('reads no more of a response than maxBytes, and closes the connection', async () => {
    const server = await receiver((_, response) => {
      // The response never ends.
      response.write('x'.repeat(300_000))
    })
    const url = `http://127.0.0.1:${server.port}/`
    expect((await get(outbound(), url)).body).to.have.lengthOf(65_536)
    expect(text((await get(outbound(), url, { maxBytes: 5 })).body)).to.equal('xxxxx')
    expect((await get(outbound(), url, { maxBytes: 0 })).body).to.have.lengthOf(0)
  })

  it('keeps a connection for the next call', async () => {
    const server = await receiver((_, response) => void response.end('kept'))
    const one = outbound()
    for (let at = 0; at < 3; at += 1) {
      await post(one, `http://127.0.0.1:${server.port}/${at}`)
      await connectionFreed()
    }
    expect(server.connections()).to.equal(1)
  })

  it('waits for a connection when all connections to an origin are in use', async () => {
    const server = await receiver((_, response) => void setImmediate(() => response.end('here')))
    const one = outbound({ connections: 2 })
    const answers = await Promise.all(Array.from({ length: 9 }, () => post(one, `http://127.0.0.1:${server.port}/`)))
    expect(answers.map(({ status }) => status)).to.deep.equal(Array(9).fill(200))
    expect(server.connections()).to.equal(2)
  })

  it('ignores headers of the caller that belong to the connection', async () => {
    const server = await receiver()
    await post(outbound(), `http://127.0.0.1:${server.port}/`, {
      headers: {
        Host: 'internal.example',
        Connection: 'close',
        'Content-Length': '999',
        'Transfer-Encoding': 'chunked',
        Upgrade: 'websocket',
        Expect: '100-continue',
        'Proxy-Authorization': 'Basic x',
        'X-Mine': 'yes',
      },
    })
    const headers = server.received[0]?.headers
    expect(headers).to.include({ host: `127.0.0.1:${server.port}`, 'content-length': '2', 'x-mine': 'yes' })
    expect(headers).to.not.have.any.keys('upgrade', 'expect', 'proxy-authorization', 'transfer-encoding')
  })
})
