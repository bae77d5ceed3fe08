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
    const readJson = createReadJson(MAX_BYTES)
    const router = new Router()
    router.all('/', async ctx => {
      await beforeRead(ctx)
      read.push(await readJson(ctx))
      ctx.body = { read: true }
    })
    const deps = { log: captured.log, metrics: createMetrics({ processMetrics: false }), clock: testClock() }
    server = await serveApp(createHttpShell(deps, [router]))
  })
  afterEach(() => server.close())

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

  for (const method of ['PUT', 'PATCH', 'DELETE'])
    it(`is read with ${method}`, async () => {
      await post('{"a":1}', {}, method)
      expect(read).to.deep.equal([{ a: 1 }])
    })

  it('may be cut into chunks in the middle of a character', async () => {
    const bytes = Buffer.from('"€ and \uFFFD"')
    await post(streamed(bytes.subarray(0, 2), bytes.subarray(2, 3), bytes.subarray(3)))
    expect(read).to.deep.equal(['€ and \uFFFD'])
  })

  for (const type of [
    'application/json; charset=utf-8',
    'application/json;',
    'Application/JSON',
    'application/merge-patch+json',
  ])
    it(`may have the content type ${type}`, async () => {
      expect((await post('1', { 'Content-Type': type })).status).to.equal(200)
    })

  it('is undefined when there is none, with any content type', async () => {
    expect((await post(null, { 'Content-Type': 'text/plain' })).status).to.equal(200)
    expect((await post(streamed(), { 'Content-Type': 'text/plain' })).status).to.equal(200)
    expect((await post(streamed())).status).to.equal(200)
    expect(read).to.deep.equal([undefined, undefined, undefined])
  })

  it('is not taken for absent when it is the empty text', async () => {
    await post('""')
    expect(read).to.deep.equal([''])
  })

  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonx',
    '',
  ])
    it(`is 415 with the content type "${type}"`, async () => {
      expect((await post('{}', { 'Content-Type': type })).status).to.equal(415)
      expect(read).to.deep.equal([])
    })

  it('is 415 when it is compressed', async () => {
    expect((await post(gzipSync('{}'), { 'Content-Encoding': 'gzip' })).status).to.equal(415)
    expect(read).to.deep.equal([])
  })

  it('is read when its coding is named "identity", in any case', async () => {
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
  })

  it('is limited by its bytes, not by its characters', async () => {
    expect((await post(JSON.stringify('ü'.repeat(MAX_BYTES / 2)))).status).to.equal(413)
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
    for (const bytes of [
      [0x22, 0xff, 0x22],
      [0x22, 0xe2, 0x82],
    ])
      expect(await (await post(Buffer.from(bytes))).json()).to.include({
        status: 400,
        detail: 'The body is not UTF-8.',
      })
    expect(read).to.deep.equal([])
  })

  it('may begin with a byte order mark', async () => {
    expect((await post('\uFEFF{"a":1}')).status).to.equal(200)
    expect(read).to.deep.equal([{ a: 1 }])
  })

  it('is 400 when it is nested too deeply', async () => {
    expect((await post('['.repeat(33) + ']'.repeat(33))).status).to.equal(200)
    expect((await post('['.repeat(34) + ']'.repeat(34))).status).to.equal(400)
  })

  it('is 413 with more members and items than allowed, before it is parsed, and whether or not it is JSON', async () => {
    const router = new Router()
    const readJson = createReadJson(2 ** 20, 4)
    router.post('/', async ctx => {
      ctx.body = { read: await readJson(ctx) }
    })
    const deps = { log: captured.log, metrics: createMetrics({ processMetrics: false }), clock: testClock() }
    const strict = await serveApp(createHttpShell(deps, [router]))
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
