// The reference page shows everything in the OpenAPI document, and loads nothing but its own style and script.
import { expect } from 'chai'
import { resolveResponse } from '../../../../infra/openapi/document.ts'
import { ERROR_TYPES } from '../../../../services/domain/errors.ts'
import { html, prose } from '../../../../services/edge/docs/html.ts'
import { createFileDocument } from '../../../openapi/document.ts'
import { startTestEdge, type TestEdge } from '../../../support/edge.ts'
import { readSamples } from '../../../support/reference-samples.ts'

describe('the reference page', () => {
  let edge: TestEdge
  let response: Response
  let page: string
  before(async () => {
    edge = await startTestEdge({ publicUrl: 'https://otp.example' })
    response = await edge.request('/docs')
    page = await response.text()
  })
  after(() => edge.close())

  const document = createFileDocument()
  const operations = Object.values(document.paths).flatMap(methods => Object.values(methods))

  it('is HTML with the policy of all pages: scripts and styles of its own origin, and none in the page', () => {
    expect(response.status).to.equal(200)
    expect(response.headers.get('content-type')).to.equal('text/html; charset=utf-8')
    expect(page).to.match(/^<!doctype html>/)
    const policy = (response.headers.get('content-security-policy') ?? '').split('; ')
    expect(policy).to.include.members([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "connect-src 'self'",
    ])
    expect(response.headers.get('x-content-type-options')).to.equal('nosniff')
  })

  it('loads nothing from elsewhere and has no script or style in itself', () => {
    const withoutSamples = page.replaceAll(/<pre[\s\S]*?<\/pre>/g, '')
    expect(withoutSamples).not.to.match(/<style|<iframe|\sstyle=|\son\w+=|@import|url\(/i)
    expect(withoutSamples).not.to.match(/<script(?![^>]* src="\/docs-assets\/)/)
    for (const [, address] of withoutSamples.matchAll(/\s(?:src|href)="([^"]+)"/g)) expect(address).to.match(/^[/#]/)
  })

  it('has a section, a link and samples in every language for each operation', () => {
    const samples = new Map(readSamples(page).map(sample => [sample.section, sample]))
    expect(operations.length).to.be.greaterThan(60)
    for (const [path, methods] of Object.entries(document.paths))
      for (const [method, { operationId }] of Object.entries(methods)) {
        expect(page).to.match(new RegExp(`<h[34] id="${operationId}">`))
        expect(page).to.contain(`<li><a href="#${operationId}">`)
        const sample = samples.get(operationId)
        expect(sample?.title).to.equal(`${method.toUpperCase()} ${path}`)
        for (const text of Object.values(sample?.texts ?? {}))
          expect(text, operationId).to.contain('https://otp.example/')
      }
  })

  it('says who may call each operation', () => {
    const callersOf = (id: string): string[] => {
      const [, line = ''] = new RegExp(`<h[34] id="${id}">[\\s\\S]*?<p class="callers">(.*?)</p>`, 's').exec(page) ?? []
      return [...line.matchAll(/class="badge">([^<]+)/g)].map(([, name = '']) => name)
    }
    expect(callersOf('send')).to.deep.equal(['server key', 'publishable key'])
    expect(callersOf('exchange')).to.deep.equal(['server key'])
    expect(callersOf('listCompanies')).to.deep.equal(['viewer', 'developer', 'owner', 'operator'])
    expect(callersOf('creditCompany')).to.deep.equal(['operator'])
    expect(page).not.to.contain('Lowest role')
  })

  it('shows every member and every error', () => {
    for (const schema of Object.values(document.components.schemas))
      for (const name of Object.keys(schema.properties ?? {})) expect(page).to.contain(`<code>${name}</code>`)
    for (const { responses } of operations)
      for (const one of Object.values(responses))
        for (const type of Object.keys(
          resolveResponse(document, one).content?.['application/problem+json']?.examples ?? {},
        ))
          expect(page).to.contain(`<a href="#error-${type}"><code>${type}</code></a>`)
    for (const type of [...ERROR_TYPES, 'HTTPException'])
      expect(page).to.match(new RegExp(`<tr id="error-${type}">.*?<td>[\\d, ]+</td>`, 's'))
  })

  it('marks the members that a body must have', () => {
    const members = [...page.matchAll(/<li id="send\.(\w+)"><div class="member">(.*?)<\/div>/gs)]
    const [required, optional] = [true, false].map(isMarked =>
      members.filter(([, , text = '']) => text.includes('>required<') === isMarked).map(([, name]) => name),
    )
    expect(required).to.deep.equal(['recipient'])
    expect(optional).to.include('locale')
  })

  it('shows every event', () => {
    for (const [type, { post }] of Object.entries(document.webhooks)) {
      expect(page).to.contain(`<h3 id="${post.operationId}">`)
      expect(page).to.contain(`</b> <code>${type}</code>`)
    }
  })

  it('has every anchor once, and no link that leads nowhere', () => {
    const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id)
    expect(ids.length).to.equal(new Set(ids).size)
    const links = [...page.matchAll(/ href="#([^"]+)"/g)].map(([, id = '']) => id)
    expect(links.filter(id => !ids.includes(id))).to.deep.equal([])
  })

  it('keeps the anchors that readers may have passed on', () => {
    for (const id of [
      'start',
      'errors',
      'webhooks',
      'schemas',
      'tag-Verifications',
      'tag-Admin',
      'schema-Verification',
    ])
      expect(page).to.contain(` id="${id}"`)
  })

  it('escapes the values in it', () => {
    expect(html`<p>${'<script>&"\''}</p>`.html).to.equal('<p>&lt;script&gt;&amp;&quot;&#39;</p>')
    expect(prose('a `<b>` & <c>').html).to.equal('a <code>&lt;b&gt;</code> &amp; &lt;c&gt;')
    expect(prose('**now** [the `x`](#a"b)').html).to.equal('<b>now</b> <a href="#a&quot;b">the <code>x</code></a>')
  })
})

describe('the address in the reference', () => {
  it('is marked for the script where no PUBLIC_URL says it, and fixed where one does', async () => {
    const [without, with_] = await Promise.all([startTestEdge(), startTestEdge({ publicUrl: 'https://otp.example' })])
    const page = await (await without.request('/docs')).text()
    expect(page).to.contain('<b data-base>http://localhost:3000</b>/api/v1/otp/send')
    const fixed = await (await with_.request('/docs')).text()
    expect(fixed).to.contain('https://otp.example/api/v1/otp/send').and.not.to.contain('data-base')
    await Promise.all([without.close(), with_.close()])
  })
})
