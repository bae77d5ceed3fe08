// A web page of another origin calls the client API from a real browser: what it may read.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { describeInBrowser } from '../support/browser.ts'
import { CACHE_TTL_MS } from '../support/flow.ts'

describeInBrowser('a page of another origin', open => {
  const site = createServer(
    (_, response) => void response.setHeader('Content-Type', 'text/html').end('<title>Shop</title>'),
  )
  let port: number
  before(async () => {
    await new Promise<void>(resolve => site.listen(0, resolve))
    port = (site.address() as AddressInfo).port
  })
  after(() => {
    site.closeAllConnections()
    site.close()
  })

  /** What the page gets to read of a send; "unreadable" where the browser keeps the answer from it. */
  const send = (page: Page, api: string, key: string): Promise<string> =>
    page.evaluate(
      async ([url, bearer]) => {
        try {
          const response = await fetch(`${url}/api/v1/otp/send`, {
            method: 'POST',
            headers: { Authorization: `Bearer ${bearer}`, 'Content-Type': 'application/json' },
            body: JSON.stringify({ recipient: '+15005550010' }),
          })
          const body = (await response.json()) as { type?: string; status: string | number }
          return `${response.status} ${body.type ?? body.status}`
        } catch {
          return 'unreadable'
        }
      },
      [api, key] as const,
    )

  it('reads that the app does not list it, and nothing else until it does', async () => {
    const { context, admin, app, countersign, clock, serverKey, publishableKey } = await open.shop()
    const list = async (allowed_origins: string[]): Promise<void> => {
      expect((await admin('PATCH', `/apps/${app}`, { settings: { allowed_origins } })).status).to.equal(200)
      await clock.advance(CACHE_TTL_MS)
    }
    await list(['https://shop.example'])
    const shop = await context.newPage()
    await shop.goto(`http://localhost:${port}/`)
    expect(await send(shop, countersign.url, publishableKey)).to.equal('403 OriginNotAllowedError')
    expect(await send(shop, countersign.url, serverKey), 'a server key in a page').to.equal('unreadable')

    await list(['https://shop.example', `http://localhost:${port}`])
    expect(await send(shop, countersign.url, publishableKey)).to.equal('200 pending')
    expect(await send(shop, countersign.url, serverKey)).to.equal('unreadable')

    const other = await context.newPage()
    await other.goto(`http://127.0.0.1:${port}/`)
    expect(await send(other, countersign.url, publishableKey)).to.equal('403 OriginNotAllowedError')
  })
})
