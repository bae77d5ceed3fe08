// The pages of the reference show everything in the OpenAPI document, and load nothing but their own style and script.
import { expect } from 'chai'
import { errorPage } from '../../../../infra/http/problem.ts'
import { resolveResponse } from '../../../../infra/openapi/document.ts'
import { ERROR_TYPES } from '../../../../machines/errors.ts'
import { SCREENS } from '../../../../services/dashboard/screens.ts'
import { SETTINGS } from '../../../../services/domain/tenancy/setting-list.ts'
import { html, prose } from '../../../../services/edge/docs/html.ts'
import { createReference } from '../../../../services/edge/docs/reference.ts'
import { createFileDocument } from '../../../openapi/document.ts'
import { startTestEdge, type TestEdge } from '../../../support/edge.ts'
import { readSamples } from '../../../support/reference-samples.ts'

describe('the pages of the reference', () => {
  const document = createFileDocument()
  const base = { url: 'https://otp.example', known: true }
  const { pages, markdown, llmsTxt } = createReference({ document, base, screens: SCREENS, assets: '' })
  const all = [...pages.values()].join('\n')
  const pageOf = (anchor: string): string => [...pages.values()].find(page => page.includes(` id="${anchor}"`)) ?? ''
  const operations = Object.values(document.paths).flatMap(methods => Object.values(methods))

  describe('as they are served', () => {
    let edge: TestEdge
    before(async () => {
      edge = await startTestEdge({ publicUrl: 'https://otp.example' })
    })
    after(() => edge.close())

    for (const path of ['/docs', '/docs/errors'])
      it(`${path} is HTML with the policy of all pages: scripts and styles of its own origin, and none in the page`, async () => {
        const response = await edge.request(path)
        const page = await response.text()
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
        expectOwnFilesOnly(page)
      })

    it('are not others', async () => {
      for (const path of [
        '/docs/',
        '/docs/none',
        '/docs/errors/',
        '/docs/Errors',
        '/docs/__proto__',
        '/docs/errors/x',
        '/docs/none.md',
        '/docs.md',
      ])
        expect((await edge.request(path)).status, path).to.equal(404)
    })
  })

  it('load nothing from elsewhere and have no script or style in themselves', () => {
    for (const page of pages.values()) expectOwnFilesOnly(page)
  })

  function expectOwnFilesOnly(page: string): void {
    const withoutSamples = page.replaceAll(/<pre[\s\S]*?<\/pre>/g, '')
    expect(withoutSamples).not.to.match(/<style|<iframe|\sstyle=|\son\w+=|@import|url\(/i)
    expect(withoutSamples).not.to.match(/<script(?![^>]* src="\/docs-assets\/)/)
    for (const [, address] of withoutSamples.matchAll(/\s(?:src|href)="([^"]+)"/g)) expect(address).to.match(/^[/#]/)
  }

  it('have a section, a link and samples in every language for each operation', () => {
    const samples = new Map(readSamples(all).map(sample => [sample.section, sample]))
    expect(operations.length).to.be.greaterThan(60)
    for (const [path, methods] of Object.entries(document.paths))
      for (const [method, { operationId }] of Object.entries(methods)) {
        const page = pageOf(operationId)
        expect(page).to.match(new RegExp(`<h2 id="${operationId}">`))
        expect(page, 'in its contents').to.contain(`<li><a href="#${operationId}">`)
        expect(all, 'in the lists of calls').to.match(new RegExp(`<li><a href="/docs/[\\w-]+#${operationId}">`))
        const sample = samples.get(operationId)
        expect(sample?.title).to.equal(`${method.toUpperCase()} ${path}`)
        for (const text of Object.values(sample?.texts ?? {}))
          expect(text, operationId).to.contain('https://otp.example')
      }
  })

  it('show every member, every error and every event', () => {
    for (const schema of Object.values(document.components.schemas))
      for (const name of Object.keys(schema.properties ?? {})) expect(all).to.contain(`<code>${name}</code>`)
    for (const { responses } of operations)
      for (const one of Object.values(responses))
        for (const type of Object.keys(
          resolveResponse(document, one).content?.['application/problem+json']?.examples ?? {},
        ))
          expect(all).to.contain(`<a href="/docs/errors#error-${type}"><code>${type}</code></a>`)
    for (const type of [...ERROR_TYPES, 'HTTPException']) {
      const [path = '', anchor] = errorPage(type).split('#')
      expect(pages.get(path), 'where doc_url leads').to.contain(` id="${anchor}"`)
      expect(all).to.match(new RegExp(`<tr id="error-${type}"[^>]*>.*?<td>[\\d, ]+</td>`, 's'))
    }
    for (const [type, { post }] of Object.entries(document.webhooks)) {
      expect(all).to.contain(`<h2 id="${post.operationId}">`)
      expect(all).to.contain(`</b> <code>${type}</code>`)
    }
  })

  it('are there as Markdown too: every heading, word of a guide and sample, and no tag', () => {
    expect([...markdown.keys()]).to.deep.equal([...pages.keys()].slice(1).map(path => `${path}.md`))
    for (const [path, write] of markdown) {
      const page = pages.get(path.replace('.md', '')) ?? ''
      const text = write()
      const outside = text.replaceAll(/^```[\s\S]*?^```$/gm, '').replaceAll(/`[^`]*`/g, '')
      expect(outside, path).not.to.match(/<\/?[a-z]|&(amp|lt|gt|quot);/)
      const headings = [...page.matchAll(/<h([1-4])[^>]*>(.*?)<\/h\1>/g)].map(
        ([, level, name = '']) => `${'#'.repeat(Number(level))} ${name.replaceAll(/<[^>]+>/g, '')}`,
      )
      const written = text
        .replaceAll('`', '')
        .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .split('\n')
      for (const heading of headings) expect(written, path).to.include(heading.replaceAll('&#39;', "'"))
      expect(text.match(/^```/gm)?.length ?? 0, path).to.equal(2 * (page.match(/<pre/g)?.length ?? 0))
      for (const [, href = ''] of text.matchAll(/\]\((\/docs[^)#]*)/g))
        expect(href === '/docs' || markdown.has(href), `${path}: ${href}`).to.equal(true)
    }
  })

  it('are listed for programs', () => {
    expect(llmsTxt).to.match(/^# Countersign\n\n> /)
    for (const path of markdown.keys()) expect(llmsTxt).to.contain(`](https://otp.example${path}): `)
  })

  it('have every anchor once, and no link that leads nowhere', () => {
    const idsOf = (page: string): string[] => [...page.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id)
    const ofFrame = new Set(['open-search', 'toggle-contents', 'contents', 'content'])
    const ids = [...pages.values()].flatMap(page => idsOf(page).filter(id => !ofFrame.has(id)))
    expect(ids.length).to.equal(new Set(ids).size)
    for (const [own, page] of pages)
      for (const [, href = ''] of page.matchAll(/ href="(#[^"]+|\/docs[^"-]*(?:#[^"]+)?)"/g)) {
        const [path, anchor] = href.startsWith('#') ? [own, href.slice(1)] : href.split('#')
        const target = pages.get(path ?? '')
        expect(target, `${own}: ${href}`).to.be.a('string')
        if (anchor !== undefined) expect(idsOf(target ?? ''), `${own}: ${href}`).to.include(anchor)
      }
  })

  it('link to the screen of an operation and of a setting', () => {
    const inSection = (id: string): string =>
      new RegExp(`<h2 id="${id}">[\\s\\S]*?<p class="callers">(.*?)</p>`, 's').exec(all)?.[1] ?? ''
    expect(inSection('listLedger')).to.contain('In the dashboard: <a href="/money">Money</a>')
    expect(inSection('send')).to.contain('<a href="/try">Try it</a>')
    expect(inSection('signIn')).not.to.contain('In the dashboard')
    const member = (path: string): string =>
      new RegExp(`<li id="changeApp\\.settings\\.${path.replaceAll('.', '\\.')}"><div.*?</div>`, 's').exec(all)?.[0] ??
      ''
    for (const { path, screen } of SETTINGS) {
      const name = SCREENS.find(one => one.path === screen)?.name
      expect(name, path).to.be.a('string')
      expect(member(path), path).to.contain(`In the dashboard: <a href="${screen}">${name}</a>`)
    }
  })

  it('name no screen as a link where the process serves no dashboard', () => {
    const alone = createReference({ document, base, screens: [], assets: '' })
    const text = [...alone.pages.values()].join('\n')
    expect(text).to.contain('the screen API Keys of the dashboard').and.not.to.contain('In the dashboard')
    for (const { path } of SCREENS) expect(text).not.to.contain(`href="${path}"`)
  })

  it('escape the values in them', () => {
    expect(html`<p>${'<script>&"\''}</p>`.html).to.equal('<p>&lt;script&gt;&amp;&quot;&#39;</p>')
    expect(prose('a `<b>` & <c>').html).to.equal('a <code>&lt;b&gt;</code> &amp; &lt;c&gt;')
    expect(prose('**now** [the `x`](#a"b)').html).to.equal('<b>now</b> <a href="#a&quot;b">the <code>x</code></a>')
  })
})

describe('the address in the reference', () => {
  it('is marked for the script where no PUBLIC_URL says it, and fixed where one does', async () => {
    const [without, with_] = await Promise.all([startTestEdge(), startTestEdge({ publicUrl: 'https://otp.example' })])
    const page = await (await without.request('/docs/client-api')).text()
    expect(page).to.contain('<b data-base>http://localhost:3000</b>/api/v1/otp/send')
    const fixed = await (await with_.request('/docs/client-api')).text()
    expect(fixed).to.contain('https://otp.example/api/v1/otp/send').and.not.to.contain('data-base')
    await Promise.all([without.close(), with_.close()])
  })
})
