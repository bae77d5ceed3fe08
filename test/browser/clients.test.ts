// The TypeScript client in a real browser, in a page of another origin than the service, as its package is installed.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect } from 'chai'
import type { Page } from 'playwright-core'
import type * as Client from '../../clients/typescript/src/index.ts'
import { describeInBrowserOnce } from '../support/browser.ts'
import { installTypescriptClient } from '../support/typescript-package.ts'

const PUBLISHABLE_KEY = 'pk_test_0123456789abcdefghijklmn'
const SERVER_KEY = 'sk_test_0123456789abcdefghijklmn'
const bootstrap = {
  companies: [
    {
      id: 'cmp_acme',
      apps: [
        {
          id: 'app_shop',
          settings: { publishable_challenge: 'always' },
          keys: [
            { id: 'key_a', kind: 'publishable', mode: 'test', key: PUBLISHABLE_KEY },
            { id: 'key_b', kind: 'server', mode: 'test', key: SERVER_KEY },
          ],
        },
      ],
    },
  ],
}

describeInBrowserOnce('the TypeScript client in a page of another origin', (open, start) => {
  let folder: string
  const site = createServer((request, response) => {
    const [path = '', query] = (request.url ?? '').split('?')
    const isModule = /^\/[\w-]+\.js$/.test(path)
    if (query === 'strict') response.setHeader('Content-Security-Policy', "default-src 'self'; connect-src *")
    response.setHeader('Content-Type', isModule ? 'text/javascript' : 'text/html')
    response.end(isModule ? readFileSync(join(folder, path)) : '<title>Shop</title>')
  })
  before(async function () {
    this.timeout(180_000)
    folder = join(await installTypescriptClient(), 'node_modules/countersign/dist')
    await new Promise<void>(resolve => site.listen(0, resolve))
  })
  after(() => {
    site.closeAllConnections()
    site.close()
  })

  /** Sends in the page. Out: the verification, and how many workers were started. */
  const send = (page: Page, baseUrl: string, recipient: string) =>
    page.evaluate(
      async options => {
        const { Countersign }: typeof Client = await import(`${'/index.js'}`)
        const global = globalThis as unknown as { Worker: new (...of: unknown[]) => object }
        let workers = 0
        global.Worker = new Proxy(global.Worker, {
          construct(target, of) {
            workers += 1
            return new target(...of)
          },
        })
        const { otp_id } = await new Countersign(options).send({ recipient: options.recipient })
        return { otp_id, workers }
      },
      { key: PUBLISHABLE_KEY, baseUrl, recipient },
    )

  it('solves a challenge in a worker, and gets a token for the right code; it takes no server key', async () => {
    const { context, admin, countersign } = await open.operator(await start({ bootstrap }))
    const page = await context.newPage()
    await page.goto(`http://localhost:${(site.address() as AddressInfo).port}/`)
    const { otp_id, workers } = await send(page, countersign.url, '+15005550010')
    expect(workers).to.equal(1)
    const [message] = (await admin('GET', '/sandbox/messages?recipient=%2B15005550010')).body
    const result = await page.evaluate(
      async ({ serverKey, verification, ...options }) => {
        const { Countersign }: typeof Client = await import(`${'/index.js'}`)
        const { verification_token } = await new Countersign(options).verify(verification)
        try {
          new Countersign({ ...options, key: serverKey })
          return { verification_token, refusal: '' }
        } catch (error) {
          return { verification_token, refusal: String(error) }
        }
      },
      {
        key: PUBLISHABLE_KEY,
        baseUrl: countersign.url,
        verification: { otp_id, code: message.code },
        serverKey: SERVER_KEY,
      },
    )
    expect(result.verification_token).to.match(/^otp_vt_/)
    expect(result.refusal).to.match(/server key must not be in a web page/)
  })

  it('solves a challenge in slices where the Content-Security-Policy of the page allows no worker', async () => {
    const { context, countersign } = await open.stranger(await start({ bootstrap }))
    const page = await context.newPage()
    await page.goto(`http://localhost:${(site.address() as AddressInfo).port}/?strict`)
    expect((await send(page, countersign.url, '+15005550010')).otp_id).to.match(/^otp_/)
  })
})
