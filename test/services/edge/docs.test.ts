// The reference page shows everything in the OpenAPI document, and has nothing that a browser would fetch or run.
import { createHash } from 'node:crypto'
import { expect } from 'chai'
import { resolveResponse } from '../../../infra/openapi/document.ts'
import { html, prose } from '../../../services/edge/docs/html.ts'
import { createFileDocument } from '../../openapi/document.ts'
import { startTestEdge, type TestEdge } from '../../support/edge.ts'

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

  it('is HTML that browsers may cache', () => {
    expect(response.status).to.equal(200)
    expect(response.headers.get('content-type')).to.equal('text/html; charset=utf-8')
    expect(response.headers.get('cache-control')).to.equal('public, max-age=300')
    expect(page).to.match(/^<!doctype html>/)
  })

  it('has a policy that allows its own style only', () => {
    const policy = response.headers.get('content-security-policy') ?? ''
    const style = /<style>([\s\S]*?)<\/style>/.exec(page)?.[1] ?? ''
    const hash = createHash('sha256').update(style).digest('base64')
    expect(policy.split('; ')).to.deep.equal([
      "default-src 'none'",
      `style-src 'sha256-${hash}'`,
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ])
    expect(response.headers.get('x-content-type-options')).to.equal('nosniff')
  })

  it('fetches nothing and runs nothing', () => {
    expect(page).not.to.match(/<script|<link|<img|<iframe|\ssrc=|\sstyle=|\son\w+=|@import|url\(/i)
  })

  it('shows every operation, member and error', () => {
    const document = createFileDocument()
    for (const [path, methods] of Object.entries(document.paths)) {
      expect(page).to.contain(`</b> ${path}<`)
      for (const { operationId, responses } of Object.values(methods)) {
        expect(page).to.contain(`<h3 id="${operationId}">`)
        expect(page).to.contain(`href="#${operationId}"`)
        for (const response of Object.values(responses))
          for (const type of Object.keys(
            resolveResponse(document, response).content?.['application/problem+json']?.examples ?? {},
          ))
            expect(page).to.contain(`<code>${type}</code>`)
      }
    }
    for (const schema of Object.values(document.components.schemas))
      for (const name of Object.keys(schema.properties ?? {})) expect(page).to.contain(name)
    for (const [type, { post }] of Object.entries(document.webhooks)) {
      expect(page).to.contain(`</b> ${type}<`)
      expect(page).to.contain(`<h3 id="${post.operationId}">`)
    }
  })

  it('gives commands with the URL of this deployment', () => {
    expect(page).to.contain('export BASE=https://otp.example\n')
    expect(page).to.contain('curl -X POST &quot;$BASE/api/v1/otp/send&quot;')
    expect(page).to.contain('curl &quot;$BASE/api/v1/otp/$otp_id&quot;')
    expect(page).to.contain('curl -X DELETE &quot;$BASE/admin/v1/keys/$id&quot;')
    expect(page).to.contain('Bearer $SERVER_KEY').and.to.contain('Bearer $ADMIN_TOKEN')
    for (const [, name] of page.matchAll(/Bearer \$(\w+)/g)) expect(page).to.contain(`export ${name}=`)
  })

  it('escapes the values in it', () => {
    expect(html`<p>${'<script>&"\''}</p>`.html).to.equal('<p>&lt;script&gt;&amp;&quot;&#39;</p>')
    expect(prose('a `<b>` & <c>').html).to.equal('a <code>&lt;b&gt;</code> &amp; &lt;c&gt;')
  })
})
