// Reading a JSON body over real connections: what a client may send, and which refusal it gets otherwise.
import { Buffer } from 'node:buffer'
import { once } from 'node:events'
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { Router } from '@koa/router'
import { expect } from 'chai'
import type { Context } from 'koa'
import { createReadJson, MAX_VALUES } from '../../../infra/http/body.ts'
import { createHttpShell } from '../../../infra/http/shell.ts'
import { createMetrics } from '../../../infra/metrics.ts'
import { type CapturedLog, createCapturedLog } from '../../support/captured-log.ts'
import { testClock } from '../../support/clock.ts'
import { eventually } from '../../support/eventually.ts'
import { type ServedApp, serveApp } from '../../support/serve-app.ts'

const MAX_BYTES = 100

describe('a JSON body', () => {
  let server: ServedApp
  let captured: CapturedLog
  let beforeRead: (ctx: Context) => Promise<void>
  const read: unknown[] = []

  beforeEach(async () => {
    captured = createCapturedLog()
    beforeRead = async () => {}
    read.length = 0
    server = await serve(createReadJson(MAX_BYTES))
  })
  afterEach(() => server.close())

  function serve(readJson: ReturnType<typeof createReadJson>): Promise<ServedApp> {
    const router = new Router()
    router.all('/', async ctx => {
      await beforeRead(ctx)
      read.push(await readJson(ctx))
      ctx.body = { read: true }
    })
    const deps = { log: captured.log, metrics: createMetrics({ processMetrics: false }), clock: testClock() }
    return serveApp(createHttpShell(deps, [router]))
  }

  const post = (
    body: string | Uint8Array | ReadableStream | null,
    headers: Record<string, string> = {},
    method = 'POST',
  ) =>
    fetch(server.url, {
      method,
      ...(body === null ? {} : { body }),
      ...(body instanceof ReadableStream ? { duplex: 'half' as const } : {}),
      headers: { 'Content-Type': 'application/json', ...headers },
    })

  const streamed = (...parts: (string | Uint8Array)[]): ReadableStream =>
    new ReadableStream({
      start(controller) {
        for (const part of parts) controller.enqueue(Buffer.from(part))
        controller.close()
      },
    })

  it('is read, whole or in pieces', async () => {
    expect((await post('{"a":[1,"ü"]}')).status).to.equal(200)
    expect((await post(streamed('{"a":', '2}'))).status).to.equal(200)
    expect(read).to.deep.equal([{ a: [1, 'ü'] }, { a: 2 }])
  })

  it('is read with other methods, cut into chunks in the middle of a character, and after a byte order mark', async () => {
    for (const method of ['PUT', 'PATCH', 'DELETE']) await post('{"a":1}', {}, method)
    const bytes = Buffer.from('"€ and \uFFFD"')
    await post(streamed(bytes.subarray(0, 2), bytes.subarray(2, 3), bytes.subarray(3)))
    await post('\uFEFF{"a":2}')
    expect(read).to.deep.equal([{ a: 1 }, { a: 1 }, { a: 1 }, '€ and \uFFFD', { a: 2 }])
  })

  it('is undefined when there is none, with any content type, and not when it is the empty text', async () => {
    expect((await post(null, { 'Content-Type': 'text/plain' })).status).to.equal(200)
    expect((await post(streamed(), { 'Content-Type': 'text/plain' })).status).to.equal(200)
    expect((await post(streamed())).status).to.equal(200)
    await post('""')
    expect(read).to.deep.equal([undefined, undefined, undefined, ''])
  })

  it('is 415 with the content type of something else', async () => {
    const json = 'application/json; charset=utf-8,application/json;,Application/JSON,application/merge-patch+json'
    for (const type of json.split(',')) expect((await post('1', { 'Content-Type': type })).status, type).to.equal(200)
    const others = 'text/plain,application/x-www-form-urlencoded,multipart/form-data; boundary=x,application/jsonx,'
    for (const type of others.split(',')) expect((await post('1', { 'Content-Type': type })).status, type).to.equal(415)
    expect(read).to.deep.equal([1, 1, 1, 1])
  })

  it('is 415 when it is compressed, and read when its coding is named "identity", in any case', async () => {
    expect((await post(gzipSync('{}'), { 'Content-Encoding': 'gzip' })).status).to.equal(415)
    expect((await post('{}', { 'Content-Encoding': 'IDENTITY' })).status).to.equal(200)
    expect(read).to.deep.equal([{}])
  })

  it('is 413 at once when more bytes are announced than fit into 32 bits', async () => {
    const { hostname, port } = new URL(server.url)
    const socket = connect(Number(port), hostname)
    const head = ['POST / HTTP/1.1', 'Host: x', 'Content-Type: application/json', `Content-Length: ${2 ** 32 + 10}`]
    socket.write(`${head.join('\r\n')}\r\n\r\n{`)
    const [answer] = await once(socket, 'data')
    socket.destroy()
    expect(String(answer)).to.match(/^HTTP\/1\.1 413 /)
  })

  it('is read with exactly as many bytes as the limit, and is 413 with one more', async () => {
    const text = JSON.stringify('x'.repeat(MAX_BYTES - 2))
    expect((await post(text)).status).to.equal(200)
    expect((await post(` ${text}`)).status).to.equal(413)
    expect((await post(streamed(' ', text))).status).to.equal(413)
    expect((await post(JSON.stringify('ü'.repeat(MAX_BYTES / 2)))).status, 'bytes, not characters').to.equal(413)
  })

  it('is 413 when it is far too large, on a connection that stays usable', async () => {
    const refused = await post('x'.repeat(2 ** 20))
    expect(refused.status).to.equal(413)
    expect(await refused.json()).to.include({ type: 'HTTPException', status: 413 })
    expect((await post('{}')).status).to.equal(200)
  })

  it('is 400 when it is not JSON; the refusal says where and does not repeat the body', async () => {
    const refused = await post('{"secret": hunter2}')
    expect(refused.status).to.equal(400)
    const { type, detail } = (await refused.json()) as { type: string; detail: string }
    expect(type).to.equal('HTTPException')
    expect(detail).to.contain('line 1, column 12').and.not.contain('hunter2')
  })

  it('is 400 when it is not UTF-8', async () => {
    for (const hex of ['22ff22', '22e282']) {
      const refused = await (await post(Buffer.from(hex, 'hex'))).json()
      expect(refused).to.include({ status: 400, detail: 'The body is not UTF-8.' })
    }
    expect(read).to.deep.equal([])
  })

  it('is 400 when it is nested too deeply', async () => {
    expect((await post('['.repeat(33) + ']'.repeat(33))).status).to.equal(200)
    expect((await post('['.repeat(34) + ']'.repeat(34))).status).to.equal(400)
  })

  it('is 413 with more members and items than allowed, before it is parsed, and whether or not it is JSON', async () => {
    const strict = await serve(createReadJson(2 ** 20, 4))
    const status = async (body: string) =>
      (await fetch(strict.url, { method: 'POST', body, headers: { 'Content-Type': 'application/json' } })).status
    expect(await status('{"a":[1,2],"b":",,,,\\",[[[["}')).to.equal(200)
    expect(await status('{"a":[1,2,3],"b":"c"}')).to.equal(413)
    expect(await status('[1,2,3,4,5')).to.equal(413)
    expect(await status(`[${'[],'.repeat(MAX_VALUES)}[]]`)).to.equal(413)
    await strict.close()
  })

  it('changes no prototype with a member named __proto__', async () => {
    await post('{"__proto__":{"polluted":true}}')
    expect(Object.getPrototypeOf(read[0])).to.equal(Object.prototype)
    expect(Object.keys(read[0] as object)).to.deep.equal(['__proto__'])
    expect('polluted' in {}).to.equal(false)
  })

  it('is 400, and no fault of ours, when the client hangs up before its end', async () => {
    const socket = connect(server.port, '127.0.0.1')
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{"a"')
    await new Promise(resolve => setImmediate(resolve))
    socket.end()
    await eventually(() => expect(captured.lines().map(line => line.status)).to.include(400))
    // The answer is never read, so the end of the connection is not seen here.
    socket.destroy()
    expect(captured.output()).not.to.contain('http.failed')
    expect(read).to.deep.equal([])
  })

  it('is 400, and no fault of ours, when the client hung up before the body was asked for', async () => {
    const socket = connect(server.port, '127.0.0.1')
    beforeRead = ({ req }) =>
      new Promise(resolve => {
        req.on('close', resolve)
        socket.destroy()
      })
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{"a"')
    await eventually(() => expect(captured.lines().map(line => line.status)).to.include(400))
    expect(captured.output()).not.to.contain('http.failed')
  })
})
