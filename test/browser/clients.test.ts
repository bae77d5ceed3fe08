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

/** What a script in the page sees. */
interface InPage {
  client: typeof Client
  Worker: new (...of: unknown[]) => object
}
const PAGE = '<title>Shop</title><script type="module" src="/load.js"></script>'
const LOAD = "import * as client from './index.js'; globalThis.client = client"

describeInBrowserOnce('the TypeScript client in a page of another origin', (open, start) => {
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

  /** Sends in the page. Out: the verification, and how many workers were started. */
  const send = (page: Page, baseUrl: string, recipient: string) =>
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

  it('is what docs/examples/signup needs on its backend, and the element on its page', async () => {
    const { page, admin, countersign } = await open.stranger(await start({ bootstrap }))
    cpSync('docs/examples/signup', join(user, 'signup'), { recursive: true })
    const env = { COUNTERSIGN_URL: countersign.url, SERVER_KEY, PUBLISHABLE_KEY, PORT: '0' }
    const backend = spawn(process.execPath, ['signup/server.mjs'], { cwd: user, env: { ...process.env, ...env } })
    const [started] = await once(backend.stdout, 'data')
    await page.goto(/http:\S+/.exec(String(started))?.[0] ?? '')
    await page.getByLabel('Phone number or email').fill('+15005550010')
    await page.getByRole('button', { name: 'Send code' }).click()
    const field = page.getByLabel('Code', { exact: true })
    await field.waitFor()
    const [message] = (await admin('GET', '/sandbox/messages?recipient=%2B15005550010')).body
    await field.fill(message.code)
    await page.getByRole('button', { name: 'Verify' }).click()
    await page.getByText('Verified', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Sign up' }).click()
    await page.getByText('Welcome! You control +15005550010.').waitFor()
    backend.kill()
  })
})
