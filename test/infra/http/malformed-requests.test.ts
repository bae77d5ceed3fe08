// Requests that Node would refuse by itself, sent over a bare socket.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { expect } from 'chai'
import Koa from 'koa'
import { type Listener, listen } from '../../../infra/http/listen.ts'
import { refuseMalformedRequests, SERVER_OPTIONS } from '../../../infra/http/malformed-requests.ts'

describe('a malformed request', () => {
  let server: Listener
  before(async () => {
    const app = new Koa()
    app.use(ctx => {
      ctx.body = 'served'
    })
    server = await listen(app, { host: '127.0.0.1', port: 0 })
  })
  after(() => server.close(0))

  async function answerTo(
    bytes: string,
    { port }: { port: number } = server,
  ): Promise<{ status: number; type: string; sniffing: string; body: Record<string, unknown> }> {
    const socket = connect(port, '127.0.0.1')
    socket.setEncoding('utf8')
    let text = ''
    socket.on('data', chunk => {
      text += chunk
    })
    socket.write(bytes)
    await once(socket, 'close')
    const [head = '', body = ''] = text.split('\r\n\r\n')
    return {
      status: Number(/^HTTP\/1.1 (\d+)/.exec(head)?.[1]),
      type: /^content-type: (.*)$/im.exec(head)?.[1]?.trim() ?? '',
      sniffing: /^x-content-type-options: (.*)$/im.exec(head)?.[1]?.trim() ?? '',
      body: JSON.parse(body),
    }
  }

  for (const [what, bytes, status] of [
    ['bytes that are not HTTP', 'hello\r\n\r\n', 400],
    ['a header without a name', 'GET / HTTP/1.1\r\nhost: x\r\n: y\r\n\r\n', 400],
    ['two content lengths', 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n', 400],
    ['no Host', 'GET / HTTP/1.1\r\n\r\n', 400],
    ['two Hosts', 'GET / HTTP/1.1\r\nhost: x\r\nHost: x\r\n\r\n', 400],
    ['a body in chunks over HTTP/1.0', 'POST / HTTP/1.0\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n', 400],
    ['a version before 1.0', 'GET / HTTP/0.9\r\nhost: x\r\n\r\n', 400],
    ['a version that begins in another way', 'GET / HTTP/2.0\r\nhost: x\r\n\r\n', 400],
    [
      'a body in a coding that is not known',
      'POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: gzip, chunked\r\n\r\n1\r\n{\r\n0\r\n\r\n',
      501,
    ],
    ['an unknown expectation', 'GET / HTTP/1.1\r\nhost: x\r\nexpect: a-miracle\r\n\r\n', 417],
    ['headers that are too large', `GET / HTTP/1.1\r\nhost: x\r\nx-long: ${'a'.repeat(20_000)}\r\n\r\n`, 431],
  ] as const)
    it(`is refused as a problem with ${what}`, async () => {
      const answer = await answerTo(bytes)
      expect(answer).to.include({ status, type: 'application/problem+json', sniffing: 'nosniff' })
      expect(answer.body).to.include({ type: 'HTTPException', status })
      expect(answer.body.request_id).to.be.a('string')
      expect(await (await fetch(`http://127.0.0.1:${server.port}/`)).text(), 'others are served').to.equal('served')
    })

  it('is refused as a problem when its headers or its body do not arrive in time', async () => {
    const { headersTimeout, requestTimeout } = SERVER_OPTIONS
    expect(headersTimeout).to.be.within(5_000, requestTimeout)
    expect(requestTimeout).to.be.at.most(60_000)
    const inTime = { headersTimeout: 50, requestTimeout: 50, connectionsCheckingInterval: 10 }
    const impatient = createServer({ ...SERVER_OPTIONS, ...inTime })
      .listen(0, '127.0.0.1')
      .unref()
    refuseMalformedRequests(impatient)
    await once(impatient, 'listening')
    const address = impatient.address() as AddressInfo
    for (const bytes of [
      'GET / HTTP/1.1\r\nhost: x',
      'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n12345678',
    ])
      expect(await answerTo(bytes, address)).to.include({ status: 408, type: 'application/problem+json' })
    impatient.close()
  })
})
