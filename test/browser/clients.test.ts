// The TypeScript client in a real browser, in a page of another origin than the service, as its package is installed; and the example that
// uses both it and the element.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import process from 'node:process'
import { expect } from 'chai'
import type { Page } from 'playwright-core'
import type * as Client from '../../clients/typescript/src/index.ts'
import { describeInBrowser, newestCode, type ShopViewer } from '../support/browser.ts'
import { installTypescriptClient } from '../support/typescript-package.ts'

/** What a script in the page sees. */
interface InPage {
  client: typeof Client
  Worker: new (...of: unknown[]) => object
}
const PAGE = '<title>Shop</title><script type="module" src="/load.js"></script>'
const LOAD = "import * as client from './index.js'; globalThis.client = client"

describeInBrowser('the TypeScript client in a page of another origin', open => {
  let user: string
  let folder: string
  const site = createServer((request, response) => {
    const [path = '', query] = (request.url ?? '').split('?')
    const isModule = /^\/[\w-]+\.js$/.test(path)
    if (query === 'strict') response.setHeader('Content-Security-Policy', "default-src 'self'; connect-src *")
    response.setHeader('Content-Type', isModule ? 'text/javascript' : 'text/html')
    response.end(isModule ? (path === '/load.js' ? LOAD : readFileSync(join(folder, path))) : PAGE)
  })
  before(async () => {
    user = await installTypescriptClient()
    folder = join(user, 'node_modules/countersign/dist')
    await new Promise<void>(resolve => site.listen(0, resolve))
  })
  after(() => {
    site.closeAllConnections()
    site.close()
  })

  const RECIPIENT = '+15005550010'

  async function openShop(): Promise<ShopViewer> {
    const viewer = await open.shop()
    const settings = { publishable_challenge: 'always' }
    expect((await viewer.admin('PATCH', `/apps/${viewer.app}`, { settings })).status).to.equal(200)
    return viewer
  }

  /** Sends in the page. Out: the verification, and how many workers were started. */
  const send = (page: Page, { countersign, publishableKey }: ShopViewer) =>
    page.evaluate(
      async options => {
        const global = globalThis as unknown as InPage
        let workers = 0
        global.Worker = new Proxy(global.Worker, {
          construct(target, of) {
            workers += 1
            return new target(...of)
          },
        })
        const { otp_id } = await new global.client.Countersign(options).send({ recipient: options.recipient })
        return { otp_id, workers }
      },
      { key: publishableKey, baseUrl: countersign.url, recipient: RECIPIENT },
    )

  it('solves a challenge in a worker, and gets a token for the right code; it takes no server key', async () => {
    const viewer = await openShop()
    const page = await viewer.context.newPage()
    await page.goto(`http://localhost:${(site.address() as AddressInfo).port}/`)
    const { otp_id, workers } = await send(page, viewer)
    expect(workers).to.equal(1)
    const code = await newestCode(viewer, RECIPIENT)
    const result = await page.evaluate(
      async ({ serverKey, verification, ...options }) => {
        const { Countersign } = (globalThis as unknown as InPage).client
        const { verification_token } = await new Countersign(options).verify(verification)
        try {
          new Countersign({ ...options, key: serverKey })
          return { verification_token, refusal: '' }
        } catch (error) {
          return { verification_token, refusal: String(error) }
        }
      },
      {
        key: viewer.publishableKey,
        baseUrl: viewer.countersign.url,
        verification: { otp_id, code },
        serverKey: viewer.serverKey,
      },
    )
    expect(result.verification_token).to.match(/^otp_vt_/)
    expect(result.refusal).to.match(/server key must not be in a web page/)
  })

  it('solves a challenge in slices where the Content-Security-Policy of the page allows no worker', async () => {
    const viewer = await openShop()
    const page = await viewer.context.newPage()
    await page.goto(`http://localhost:${(site.address() as AddressInfo).port}/?strict`)
    expect((await send(page, viewer)).otp_id).to.match(/^otp_/)
  })

  it('is what docs/examples/signup needs on its backend, and the element on its page', async () => {
    const viewer = await openShop()
    const { page, countersign, serverKey, publishableKey } = viewer
    const recipient = 'delivered@magic.test'
    cpSync('docs/examples/signup', join(user, 'signup'), { recursive: true })
    const env = { COUNTERSIGN_URL: countersign.url, SERVER_KEY: serverKey, PUBLISHABLE_KEY: publishableKey, PORT: '0' }
    const backend = spawn(process.execPath, ['signup/server.mjs'], { cwd: user, env: { ...process.env, ...env } })
    const [started] = await once(backend.stdout, 'data')
    await page.goto(/http:\S+/.exec(String(started))?.[0] ?? '')
    await page.getByLabel('Phone number or email').fill(recipient)
    await page.getByRole('button', { name: 'Send code' }).click()
    await page.getByLabel('Code', { exact: true }).fill(await newestCode(viewer, recipient))
    await page.getByRole('button', { name: 'Verify' }).click()
    await page.getByText('Verified', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Sign up' }).click()
    await page.getByText('Welcome! You control delivered@magic.test.').waitFor()
    backend.kill()
  })
})
