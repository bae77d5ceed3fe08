// The API reference in a real browser.
import { expect } from 'chai'
import type { Page } from 'playwright-core'
import {
  describeInBrowser,
  expectAccessible,
  expectAccessibleInEveryLook,
  newestCode,
  type PageOptions,
  SIZES,
} from '../support/browser.ts'
import { eventually } from '../support/eventually.ts'

const operation = (page: Page, id: string) => page.locator(`section[aria-labelledby="${id}"]`)
const contentsOf = (page: Page) => page.locator('nav[aria-label="Contents"]')

/** The form of an operation, opened. */
async function openForm(page: Page, id: string) {
  const section = operation(page, id)
  await section.locator('summary', { hasText: 'Try it' }).click()
  return section
}

describeInBrowser('the reference in a browser', (open, start) => {
  const openReference = async (path = '/docs/client-api', options: PageOptions = {}) => {
    const viewer = await open.shop(options)
    await viewer.page.goto(path)
    return viewer
  }

  it('tries calls with a test key, shows a refusal as it came, and refuses a live key', async () => {
    const viewer = await openReference()
    const { page, serverKey, publishableKey } = viewer
    const calls: string[] = []
    page.on('request', request => request.url().includes('/api/') && calls.push(request.url()))
    await page.getByRole('region', { name: 'Start a verification', exact: true }).waitFor()
    const send = await openForm(page, 'send')
    const [key, recipient] = [send.getByLabel('Test key'), send.getByLabel('recipient')]
    const sendRequest = send.getByRole('button', { name: 'Send request' })
    const status = send.getByRole('status')

    // A live key: nothing is sent, and it is forgotten.
    await key.fill('sk_live_0123456789abcdefghijklmn')
    await sendRequest.click()
    await status.filter({ hasText: 'This is a live key' }).waitFor()
    expect(await page.evaluate('JSON.stringify([{ ...sessionStorage }, { ...localStorage }])')).not.to.match(/live/)
    const exchange = await openForm(page, 'exchange')
    await exchange.getByLabel('Test key').fill(publishableKey)
    await exchange.getByRole('button', { name: 'Send request' }).click()
    await exchange.getByRole('status').filter({ hasText: 'needs a server key' }).waitFor()
    expect(calls).to.deep.equal([])

    // A server key sends a code, verifies it and looks it up.
    await key.fill(serverKey)
    expect(await recipient.inputValue()).to.equal('+15005550010')
    await sendRequest.click()
    await status.filter({ hasText: '200 OK' }).waitFor()
    const answer = JSON.parse((await send.locator('.result pre').textContent()) ?? '')
    expect(answer).to.include({ status: 'pending', masked_recipient: '+1****10' })
    expect(await send.locator('.result dl').textContent()).to.match(/x-request-id/)
    await expectAccessibleInEveryLook(page)
    const verify = await openForm(page, 'verify')
    const verifyRequest = verify.getByRole('button', { name: 'Send request' })
    expect(await verify.getByLabel('Test key').inputValue()).to.equal(serverKey)
    expect(await verify.getByLabel('otp_id').inputValue()).to.equal(answer.otp_id)
    await verify.getByLabel('code', { exact: true }).fill(await newestCode(viewer, '+15005550010'))
    await verifyRequest.click()
    await verify.locator('.result pre', { hasText: '"approved"' }).waitFor()
    const lookup = await openForm(page, 'status')
    await lookup.getByRole('button', { name: 'Send request' }).click()
    await lookup.locator('.result pre', { hasText: '"approved"' }).waitFor()

    // A refusal, with its status.
    await recipient.fill('+15005550006')
    await sendRequest.click()
    await status.filter({ hasText: '429' }).waitFor()
    await send.locator('.result pre', { hasText: 'RateLimitExceededError' }).waitFor()
    expect(await send.locator('.result dl').textContent()).to.match(/retry-after/)

    // The way of a device: a publishable key gets a token, a server key exchanges it.
    await exchange.getByLabel('Test key').fill(serverKey)
    await exchange.getByLabel('Test key').press('Tab')
    await key.fill(publishableKey)
    await recipient.fill('delivered@magic.test')
    await recipient.press('Enter')
    await status.filter({ hasText: '200 OK' }).waitFor()
    await verify.getByLabel('code', { exact: true }).fill(await newestCode(viewer, 'delivered@magic.test'))
    await verifyRequest.click()
    await verify.locator('.result pre', { hasText: 'otp_vt_' }).waitFor()
    expect(await exchange.getByLabel('Test key').inputValue()).to.equal(serverKey)
    await exchange.getByRole('button', { name: 'Send request' }).click()
    await exchange.locator('.result pre', { hasText: 'delivered@magic.test' }).waitFor()
  })

  it('finds calls and errors, by mouse and by keyboard', async () => {
    const { page } = await openReference()
    const field = page.getByRole('searchbox', { name: 'Search the reference' })
    await page.keyboard.press('/')
    await field.fill('cooldown error')
    await page
      .getByRole('dialog')
      .getByRole('link', { name: /ResendCooldownError/ })
      .first()
      .click()
    await page.waitForURL(/\/docs\/errors#error-ResendCooldownError$/)
    await page.locator('#error-ResendCooldownError').waitFor()

    await page.keyboard.press('Control+k')
    await field.fill('rotate secret')
    await page.getByRole('dialog').getByRole('link').first().waitFor()
    await expectAccessibleInEveryLook(page)
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForURL(/#rotateWebhookSecret$/)
    await page.waitForFunction("document.activeElement?.id === 'rotateWebhookSecret'")
  })

  it('copies samples as they are shown, and remembers their language, the test key and the theme', async () => {
    const { page, context, countersign, serverKey } = await openReference()
    const [send, verify] = [operation(page, 'send'), operation(page, 'verify')]
    const paper = () => page.evaluate('getComputedStyle(document.body).backgroundColor')
    const keyIn = async (tab: Page) => (await openForm(tab, 'verify')).getByLabel('Test key').inputValue()

    // With the address that the reader sees.
    await send.getByRole('button', { name: 'Copy: POST /api/v1/otp/send' }).click()
    await send.getByText('Copied').first().waitFor()
    const copied = await page.evaluate('navigator.clipboard.readText()')
    expect(copied).to.match(new RegExp(`^curl -X POST '${countersign.url}/api/v1/otp/send' \\\\\\n`))
    expect(copied).to.match(/"client_ip": "203\.0\.113\.7"\n {2}\}'$/)

    // One choice counts for all samples.
    await send.getByRole('tab', { name: 'Python' }).click()
    await send.getByText('from countersign import').waitFor()
    await verify.getByText('from countersign import').waitFor()
    expect(await send.getByRole('tab', { name: 'Python', selected: true }).count()).to.equal(1)
    await page.keyboard.press('ArrowRight')
    await send.getByText('package main').waitFor()
    expect(await send.getByText('from countersign import').isVisible()).to.equal(false)

    await openForm(page, 'send')
    await send.getByLabel('Test key').fill(serverKey)
    await send.getByLabel('Test key').press('Tab')
    expect(await paper()).to.equal('rgb(255, 255, 255)')
    // As the dashboard stores it.
    await page.evaluate("localStorage.setItem('theme', 'dark')")
    await page.reload()
    expect(await paper()).to.equal('rgb(20, 24, 29)')
    expect(await keyIn(page)).to.equal(serverKey)
    await page.goto('/docs/admin-companies')
    await operation(page, 'createCompany').getByText('package main').waitFor()

    const other = await context.newPage()
    await other.goto('/docs/client-api')
    expect(await keyIn(other), 'the key of a tab that was closed').to.equal('')
  })

  it('leads old anchors to their pages, opens what is folded around them, and marks what is read', async () => {
    const { page } = await openReference('/docs#changeApp.settings.code.length')
    await page.waitForURL(/\/docs\/admin-apps#changeApp\.settings\.code\.length$/)
    const member = page.locator('[id="changeApp.settings.code.length"]')
    await member.waitFor({ state: 'visible' })
    await eventually(async () =>
      expect(await member.evaluate(element => element.getBoundingClientRect().top)).to.be.within(50, 400),
    )
    await page.goto('/docs#schema-App')
    await page.waitForURL('**/docs/admin-objects#schema-App')
    await expectAccessibleInEveryLook(page)

    await page.goto('/docs/admin-queues')
    const contents = contentsOf(page)
    expect(await contents.locator('[aria-current="page"]').textContent()).to.equal('Queues')
    await contents.getByRole('link', { name: 'Drop dead letters' }).click()
    await contents.locator('[aria-current="location"]', { hasText: 'Drop dead letters' }).waitFor()
    expect(await contents.locator('[aria-current="location"]').count()).to.equal(1)
    await contents.getByRole('link', { name: 'Client API', exact: true }).click()
    await page.waitForURL(/\/docs\/client-api$/)

    // Samples above it grow.
    await contents.getByRole('link', { name: 'Check a code' }).click()
    const tab = operation(page, 'verify').getByRole('tab', { name: 'Go' })
    const before = await tab.boundingBox()
    await tab.click()
    expect(Math.abs(((await tab.boundingBox())?.y ?? 0) - (before?.y ?? 0))).to.be.lessThan(2)
  })

  it('can be read without JavaScript, its language chosen, and shows the PUBLIC_URL where there is one', async () => {
    const countersign = await start({ env: { PUBLIC_URL: 'https://otp.example' } })
    const viewer = await open.stranger(countersign)
    const plain = await viewer.context.browser()?.newContext({ javaScriptEnabled: false, baseURL: countersign.url })
    const page = await plain?.newPage()
    if (page === undefined) throw new Error('no page')
    await page.goto('/docs#send')
    await page.getByRole('link', { name: 'Start a verification' }).click()
    await page.waitForURL(/\/docs\/client-api#send$/)
    await page.getByRole('heading', { name: 'Start a verification' }).waitFor()
    const send = operation(page, 'send')
    await send.getByText("curl -X POST 'https://otp.example/api/v1/otp/send'").first().waitFor()
    expect(await page.locator('main').textContent()).not.to.contain(countersign.url)
    expect(await page.getByRole('button').count()).to.equal(0)
    expect(await page.locator('.try').first().isVisible()).to.equal(false)
    await page.getByRole('radio', { name: 'TypeScript' }).check()
    await send.getByText('await countersign.send').waitFor()
    await plain?.close()

    // With JavaScript it keeps that address.
    await viewer.page.goto('/docs/client-api')
    await operation(viewer.page, 'send').getByText("'https://otp.example/api/v1/otp/send'").first().waitFor()
    expect(await viewer.page.locator('main').textContent()).not.to.contain(countersign.url)
  })

  it('is accessible and fits', async () => {
    const { page } = await openReference('/docs')
    for (const path of ['/docs', '/docs/publishable-keys', '/docs/errors', '/docs/admin-audit']) {
      await page.goto(path)
      await expectAccessibleInEveryLook(page)
    }
  })

  it('has its contents behind a button on a phone', async () => {
    const { page } = await openReference('/docs', { size: 'phone' })
    const contents = contentsOf(page)
    expect(await contents.isVisible()).to.equal(false)
    await page.getByRole('button', { name: 'Contents' }).click()
    await expectAccessible(page)
    await contents.getByRole('link', { name: 'Magic recipients' }).click()
    await page.waitForURL(/\/docs\/magic$/)
    expect(await contents.isVisible()).to.equal(false)
    await page.goto('/docs/admin-apps')
    expect(await page.evaluate('document.documentElement.scrollWidth'), 'its long tables').to.equal(SIZES.phone.width)
  })
})
