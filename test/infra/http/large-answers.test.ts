// Large answers are compressed as the client can read them; small ones, and those of a client that reads nothing compressed, are not.
import { get, type IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { Router } from '@koa/router'
import { expect } from 'chai'
import type { Context } from 'koa'
import { compressLargeAnswers } from '../../../infra/http/large-answers.ts'
import { eventually } from '../../support/eventually.ts'
import { useShellServers } from '../../support/http-shell.ts'

const LARGE = { rows: Array.from({ length: 500 }, (_, row) => ({ row, text: 'ähnlich' })) }
const SMALL = { row: 1 }

/** Without `fetch`, which decompresses by itself. */
const ask = (url: string, encodings?: string): Promise<{ headers: IncomingMessage['headers']; body: Buffer }> =>
  new Promise((resolve, reject) => {
    const headers = encodings === undefined ? {} : { 'Accept-Encoding': encodings }
    get(url, { headers }, async message => {
      const chunks: Buffer[] = []
      for await (const chunk of message) chunks.push(chunk as Buffer)
      resolve({ headers: message.headers, body: Buffer.concat(chunks) })
    }).on('error', reject)
  })

describe('an answer of the admin API', () => {
  const startServer = useShellServers()
  const serve = async (answer: (ctx: Context) => void): Promise<string> => {
    const router = new Router()
    router.get('/', compressLargeAnswers, answer)
    return (await startServer(router)).url
  }

  for (const [encoding, decompress] of [
    ['gzip', gunzipSync],
    ['br', brotliDecompressSync],
  ] as const)
    it(`is sent as ${encoding} to a client that reads it, where it is large`, async () => {
      const url = await serve(ctx => {
        ctx.body = LARGE
      })
      const { headers, body } = await ask(url, encoding === 'br' ? 'gzip, deflate, br' : 'gzip')
      expect(headers['content-encoding']).to.equal(encoding)
      expect(headers['content-type']).to.equal('application/json; charset=utf-8')
      expect(headers.vary).to.equal('Accept-Encoding')
      expect(headers['content-length']).to.equal(String(body.length))
      expect(JSON.parse(decompress(body).toString())).to.deep.equal(LARGE)
      expect(body.length).to.be.lessThan(JSON.stringify(LARGE).length / 5)
    })

  it('is sent as it is where it is small, goes to a client that names no encoding, or refuses them', async () => {
    for (const [answer, encodings] of [
      [SMALL, 'br'],
      [LARGE, undefined],
      [LARGE, 'identity, br;q=0, gzip;q=0'],
    ] as const) {
      const url = await serve(ctx => {
        ctx.body = answer
      })
      const { headers, body } = await ask(url, encodings)
      expect(headers['content-encoding']).to.equal(undefined)
      expect(headers['content-type']).to.equal('application/json; charset=utf-8')
      expect(JSON.parse(body.toString())).to.deep.equal(answer)
    }
    const empty = await serve(ctx => {
      ctx.status = 204
    })
    expect((await ask(empty, 'br')).body.length).to.equal(0)
  })

  it('is compressed while it is read where it is a stream, whose reading ends with the client', async () => {
    const url = await serve(ctx => {
      ctx.type = 'text/csv; charset=utf-8'
      ctx.body = Readable.from(['a,b\n', '1,2\n'])
    })
    const { headers, body } = await ask(url, 'gzip')
    expect(headers['content-type']).to.equal('text/csv; charset=utf-8')
    expect(gunzipSync(body).toString()).to.equal('a,b\n1,2\n')

    let ended = false
    async function* endless(): AsyncGenerator<string> {
      try {
        for (;;) yield `${Math.random()}\n`
      } finally {
        ended = true
      }
    }
    const other = await serve(ctx => {
      ctx.type = 'text/csv'
      ctx.body = Readable.from(endless())
    })
    const request = get(other, { headers: { 'Accept-Encoding': 'gzip' } }, message =>
      message.once('data', () => request.destroy()),
    )
    request.on('error', () => {})
    await eventually(() => expect(ended).to.equal(true))
  })
})
