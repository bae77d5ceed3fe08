// The pages of the dashboard as HTTP answers. `npm test` builds them first.
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { expect } from 'chai'
import { readBuiltSite } from '../../../infra/web/built-site.ts'
import { addressIn, SCREENS } from '../../../services/dashboard/screens.ts'
import { createWebPages } from '../../../services/dashboard/web-pages.ts'
import { type ShellServer, useShellServers } from '../../support/http-shell.ts'

const MAX_FIRST_LOAD_BYTES = 200_000

describe("the dashboard's pages", () => {
  const start = useShellServers()
  let server: ShellServer
  beforeEach(async () => {
    server = await start(createWebPages())
  })

  /** The addresses that the page loads at once. */
  const assetsOf = (html: string): string[] =>
    [...html.matchAll(/<(?:script|link)[^>]* (?:src|href)="([^"]+)"/g)].map(([, address = '']) => address)

  /** As it was before addresses named an app or a company, and as it is. */
  const addressesOf = (path: string): string[] => [
    ...new Set([path, addressIn({ app_id: 'app_1', company_id: 'cmp_1' }, path)]),
  ]

  for (const path of [
    '/',
    '/sign-in',
    ...['/verifications/otp_1', ...SCREENS.map(({ path }) => path)].flatMap(addressesOf),
  ])
    it(`has one page for all screens: ${path}`, async () => {
      const { status, headers, body } = await server.ask(path)
      expect(status).to.equal(200)
      expect(headers.get('content-type')).to.equal('text/html; charset=utf-8')
      expect(headers.get('content-security-policy')).to.include("default-src 'none'")
      expect(headers.get('cache-control')).to.equal('no-cache')
      expect(body).to.include('<div id="app">')
    })

  it('allows no inline script, no inline style, no foreign frame and nothing from elsewhere', async () => {
    const { headers, body } = await server.ask('/')
    const policy = headers.get('content-security-policy') ?? ''
    expect(policy).to.include("default-src 'none'").and.include("script-src 'self'").and.include("style-src 'self'")
    expect(policy).to.include("frame-ancestors 'none'")
    expect(policy).not.to.match(/unsafe|http|data:|\*/)
    expect(body).not.to.match(/<script(?![^>]* src="\/)|<style|\sstyle=|\son\w+=/)
    for (const address of assetsOf(body)) expect(address).to.match(/^\/[^/]/)
  })

  it('shows a mail in a frame without an origin, which loads nothing and which only the dashboard shows', async () => {
    const { headers } = await server.ask('/mail-frame.html')
    expect(headers.get('content-security-policy')?.split('; ')).to.have.members([
      'sandbox allow-scripts',
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'unsafe-inline'",
      "base-uri 'none'",
      "frame-ancestors 'self'",
    ])
  })

  it('gives every asset of the page, to be kept for ever if its name tells its content', async () => {
    const { body } = await server.ask('/')
    const assets = assetsOf(body)
    expect(assets).to.have.length.greaterThan(2)
    for (const address of assets) {
      const { status, headers } = await server.ask(address)
      expect(status, address).to.equal(200)
      const caching = headers.get('cache-control')
      expect(caching, address).to.equal(
        address.startsWith('/dashboard-assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
      )
      expect(headers.get('x-content-type-options')).to.equal('nosniff')
    }
  })

  it('loads less than 200 KB, compressed, before the first screen is shown', async () => {
    const site = readBuiltSite('dashboard')
    const { body } = await server.ask('/')
    const first = ['/index.html', ...assetsOf(body)].map(path => site?.get(path))
    const bytes = first.map(file => file?.gzip?.length ?? Number.POSITIVE_INFINITY).reduce((sum, size) => sum + size)
    expect(bytes).to.be.lessThan(MAX_FIRST_LOAD_BYTES)
  })

  it('is compressed as the browser can read it', async () => {
    const file = readBuiltSite('dashboard')?.get('/index.html')
    expect(file?.brotli && brotliDecompressSync(file.brotli).equals(file.plain)).to.equal(true)
    expect(file?.gzip && gunzipSync(file.gzip).equals(file.plain)).to.equal(true)
    for (const [accepted, encoding] of [
      ['br, gzip', 'br'],
      ['gzip', 'gzip'],
      ['identity', null],
    ] as const) {
      const { headers } = await server.ask('/', { headers: { 'Accept-Encoding': accepted } })
      expect(headers.get('content-encoding')).to.equal(encoding)
      expect(headers.get('vary')).to.equal('Accept-Encoding')
    }
  })

  it('is not sent again to a browser that has it', async () => {
    const { headers } = await server.ask('/')
    // One for all encodings, so it cannot stand for the same bytes.
    expect(headers.get('etag')).to.match(/^W\/"/)
    // fetch adds `no-cache` to a condition, unless the caller has a word of its own.
    const condition = { 'If-None-Match': headers.get('etag') ?? '', 'Cache-Control': 'max-age=0' }
    const again = await server.ask('/', { headers: condition })
    expect(again.status).to.equal(304)
    expect(again.body).to.equal('')
  })

  for (const path of [
    '/dashboard-assets/none.js',
    '/dashboard-assets/..%2findex.html',
    '/dashboard-assets/%2e%2e/x',
    '/x',
    '/a/app_1/x',
    '/a/app_1/overview/x',
    '/c/cmp_1/queues',
    '/a//overview',
  ])
    it(`gives no other file: ${path}`, async () => {
      const { status, body } = await server.ask(path)
      expect(status).to.equal(404)
      expect(body).to.include({ type: 'HTTPException' })
    })
})
