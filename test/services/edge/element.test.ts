// GET /element.js: how pages of other origins get the element, and which languages it speaks.
import { expect } from 'chai'
import { NAMES, ROWS } from '../../../clients/web/texts.ts'
import { readBuiltSite } from '../../../infra/web/built-site.ts'
import { SENTENCES } from '../../../services/domain/texts/languages.ts'
import { startTestEdge, type TestEdge } from '../../support/edge.ts'

const MOST_BYTES = 20_000

describe('/element.js', () => {
  let edge: TestEdge
  before(async () => {
    edge = await startTestEdge()
  })
  after(() => edge.close())

  it('may be loaded by every page, is asked for again only if it changed, and is what its type says', async () => {
    const first = await edge.request('/element.js')
    expect(first.status).to.equal(200)
    expect(Object.fromEntries(first.headers)).to.include({
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
      'x-content-type-options': 'nosniff',
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=300',
    })
    // Without this Cache-Control, fetch sends no-cache with If-None-Match.
    const headers = { 'If-None-Match': first.headers.get('etag') ?? '', 'Cache-Control': 'max-age=0' }
    expect((await edge.request('/element.js', { headers })).status).to.equal(304)
  })

  it('is one file under 20 KB, compressed', () => {
    const site = readBuiltSite('element')
    expect([...(site?.keys() ?? [])]).to.deep.equal(['/element.js'])
    expect(site?.get('/element.js')?.gzip?.length).to.be.lessThan(MOST_BYTES)
    expect(site?.get('/element.js')?.plain.toString()).to.not.match(/\bimport\b(?!\.meta)/)
  })
})

describe('the texts of <countersign-verify>', () => {
  it('are in the languages of the messages, each of them whole', () => {
    expect(Object.keys(ROWS).sort()).to.deep.equal(Object.keys(SENTENCES).sort())
    for (const [language, row] of Object.entries(ROWS)) {
      expect(row, language).to.have.length(NAMES.length)
      expect(
        row.filter(text => text.trim() === ''),
        language,
      ).to.deep.equal([])
    }
  })
})
