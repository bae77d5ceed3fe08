// How /docs, its files and /openapi.json are sent: compressed once, not again to a client that has them.
import { get, type IncomingMessage } from 'node:http'
import { brotliDecompressSync } from 'node:zlib'
import { expect } from 'chai'
import { startTestEdge, type TestEdge } from '../../../support/edge.ts'

interface Received {
  status: number
  headers: IncomingMessage['headers']
  body: Buffer
}

/** Without `fetch`, which decompresses by itself. */
const ask = (url: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Received> =>
  new Promise((resolve, reject) => {
    get(url, { headers, method }, async message => {
      const chunks: Buffer[] = []
      for await (const chunk of message) chunks.push(chunk as Buffer)
      resolve({ status: message.statusCode ?? 0, headers: message.headers, body: Buffer.concat(chunks) })
    }).on('error', reject)
  })

describe('the reference, as it is served', () => {
  let edge: TestEdge
  before(async () => {
    edge = await startTestEdge()
  })
  after(() => edge.close())

  for (const path of ['/docs/client-api', '/docs/errors.md', '/llms.txt', '/docs/search.json', '/openapi.json'])
    it(`compresses ${path} for a client that can read it, and sends it no body for HEAD or once it has it`, async () => {
      const url = edge.url + path
      const encoded = { 'Accept-Encoding': 'gzip, deflate, br' }
      const [plain, brotli, head] = [await ask(url), await ask(url, encoded), await ask(url, encoded, 'HEAD')]
      expect([plain, brotli, head].map(({ status }) => status)).to.deep.equal([200, 200, 200])
      expect(plain.headers['content-encoding']).to.equal(undefined)
      expect(brotliDecompressSync(brotli.body).equals(plain.body)).to.equal(true)
      expect(head.body.length).to.equal(0)
      for (const name of ['etag', 'content-length', 'content-encoding', 'content-type', 'cache-control'])
        expect(head.headers[name], name).to.be.a('string').and.equal(brotli.headers[name])
      const again = await ask(url, { ...encoded, 'If-None-Match': plain.headers.etag ?? '' })
      expect([again.status, again.body.length]).to.deep.equal([304, 0])
    })

  it('lets a browser keep the document for a while, but ask for the page, which names files by their contents', async () => {
    expect((await ask(`${edge.url}/openapi.json`)).headers['cache-control']).to.equal('public, max-age=300')
    expect((await ask(`${edge.url}/docs`)).headers['cache-control']).to.equal('no-cache')
  })

  it('serves the files that a page loads, below 30 KB together with it', async () => {
    const { body: page } = await ask(`${edge.url}/docs/client-api`)
    const compressed = await ask(`${edge.url}/docs/client-api`, { 'Accept-Encoding': 'gzip' })
    const files = [...page.toString().matchAll(/ (?:src|href)="(\/docs-assets\/[^"]+)"/g)].map(([, file = '']) => file)
    // One script, one style, the theme and the icon, which the page shows too.
    expect(new Set(files).size).to.equal(4)
    let bytes = compressed.body.length
    for (const file of new Set(files)) {
      const answer = await ask(edge.url + file, { 'Accept-Encoding': 'gzip' })
      expect(answer.status, file).to.equal(200)
      const isHashed = /-[\w-]{8}\.\w+$/.test(file)
      expect(answer.headers['cache-control']).to.equal(isHashed ? 'public, max-age=31536000, immutable' : 'no-cache')
      bytes += answer.body.length
    }
    expect(bytes).to.be.lessThan(30_000)
  })

  it('has no other files', async () => {
    for (const path of ['/docs-assets/', '/docs-assets/none.js', '/docs-assets/..%2Findex.html', '/docs-assets/%2e%2e'])
      expect((await ask(edge.url + path)).status, path).to.equal(404)
  })
})
