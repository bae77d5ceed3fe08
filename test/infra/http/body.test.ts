// Reading a JSON body, over real connections: what a client may send, and what it is told otherwise.
import { Buffer } from 'node:buffer'
import { connect } from 'node:net'
import { Router } from '@koa/router'
import { expect } from 'chai'
import { readJson } from '../../../infra/http/body.ts'
import { createHttpShell } from '../../../infra/http/shell.ts'
import { createMetrics } from '../../../infra/metrics.ts'
import { type CapturedLog, createCapturedLog } from '../../support/captured-log.ts'
import { testClock } from '../../support/clock.ts'
import { eventually } from '../../support/eventually.ts'
import { type ServedApp, serveApp } from '../../support/serve-app.ts'

const MOST = 100

describe('a JSON body', () => {
  let door: ServedApp
  let captured: CapturedLog
  const read: unknown[] = []

  beforeEach(async () => {
    captured = createCapturedLog()
    read.length = 0
    const router = new Router()
    router.post('/', async ctx => {
      read.push(await readJson(ctx, MOST))
      ctx.body = { read: true }
    })
    const parts = { log: captured.log, metrics: createMetrics({ processMetrics: false }), clock: testClock() }
    door = await serveApp(createHttpShell(parts, [router]))
  })
  afterEach(() => door.close())

  const post = (body: string | Uint8Array | ReadableStream | null, headers: Record<string, string> = {}) =>
    fetch(door.url, {
      method: 'POST',
      ...(body === null ? {} : { body }),
      ...(body instanceof ReadableStream ? { duplex: 'half' as const } : {}),
      headers: { 'Content-Type': 'application/json', ...headers },
    })

  const streamed = (...parts: string[]): ReadableStream =>
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

  for (const type of ['application/json; charset=utf-8', 'Application/JSON', 'application/merge-patch+json'])
    it(`may come as ${type}`, async () => {
      expect((await post('1', { 'Content-Type': type })).status).to.equal(200)
    })

  it('that is absent is undefined, whatever the content type', async () => {
    expect((await post(null, { 'Content-Type': 'text/plain' })).status).to.equal(200)
    expect((await post(streamed(), { 'Content-Type': 'text/plain' })).status).to.equal(200)
    expect(read).to.deep.equal([undefined, undefined])
  })

  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonx', ''])
    it(`as "${type}" is 415`, async () => {
      expect((await post('{}', { 'Content-Type': type })).status).to.equal(415)
      expect(read).to.deep.equal([])
    })

  it('that is compressed is 415', async () => {
    expect((await post('{}', { 'Content-Encoding': 'gzip' })).status).to.equal(415)
  })

  it('of exactly the limit is taken, and one byte more is 413', async () => {
    const text = JSON.stringify('x'.repeat(MOST - 2))
    expect((await post(text)).status).to.equal(200)
    expect((await post(` ${text}`)).status).to.equal(413)
    expect((await post(streamed(' ', text))).status).to.equal(413)
  })

  it('counts bytes, not characters', async () => {
    expect((await post(JSON.stringify('ü'.repeat(MOST / 2)))).status).to.equal(413)
  })

  it('that is far too large is answered on a connection that stays usable', async () => {
    const refused = await post('x'.repeat(2 ** 20))
    expect(refused.status).to.equal(413)
    expect(await refused.json()).to.include({ type: 'HTTPException', status: 413 })
    expect((await post('{}')).status).to.equal(200)
  })

  it('that is no JSON is 400 and says where, without repeating it', async () => {
    const refused = await post('{"secret": hunter2}')
    expect(refused.status).to.equal(400)
    const { type, detail } = (await refused.json()) as { type: string; detail: string }
    expect(type).to.equal('HTTPException')
    expect(detail).to.contain('line 1, column 12').and.not.contain('hunter2')
  })

  it('that is not UTF-8 is 400', async () => {
    expect((await post(Buffer.from([0x22, 0xff, 0x22]))).status).to.equal(400)
  })

  it('may begin with a byte order mark', async () => {
    expect((await post('\uFEFF{"a":1}')).status).to.equal(200)
    expect(read).to.deep.equal([{ a: 1 }])
  })

  it('that is nested beyond reason is 400', async () => {
    expect((await post('['.repeat(33) + ']'.repeat(33))).status).to.equal(200)
    expect((await post('['.repeat(34) + ']'.repeat(34))).status).to.equal(400)
  })

  it('with a __proto__ changes no prototype', async () => {
    await post('{"__proto__":{"polluted":true}}')
    expect(Object.getPrototypeOf(read[0])).to.equal(Object.prototype)
    expect(Object.keys(read[0] as object)).to.deep.equal(['__proto__'])
    expect('polluted' in {}).to.equal(false)
  })

  it('that is cut off is no fault of ours', async () => {
    const socket = connect(door.port, '127.0.0.1')
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{"a"')
    await new Promise(resolve => setImmediate(resolve))
    socket.end()
    await eventually(() => expect(captured.lines().map(line => line.status)).to.include(400))
    expect(captured.output()).not.to.contain('http.failed')
    expect(read).to.deep.equal([])
  })
})
