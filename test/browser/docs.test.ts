// The API reference in a real browser.
import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { describeInBrowserOnce, expectAccessible, type OpenDashboard, SIZES } from '../support/browser.ts'
import type { Countersign } from '../support/countersign.ts'
import { eventually } from '../support/eventually.ts'

const SERVER_KEY = 'sk_test_0123456789abcdefghijklmn'
const PUBLISHABLE_KEY = 'pk_test_0123456789abcdefghijklmn'

const bootstrap = {
  companies: [
    {
      id: 'cmp_acme',
      apps: [
        {
          id: 'app_shop',
          keys: [
            { id: 'key_a', kind: 'server', mode: 'test', key: SERVER_KEY },
            { id: 'key_b', kind: 'publishable', mode: 'test', key: PUBLISHABLE_KEY },
          ],
        },
      ],
    },
  ],
}

const operation = (page: Page, name: string) => page.getByRole('region', { name, exact: true })

/** Leaves what is around the text, which another test has checked. */
const removeSections = (page: Page) =>
  page.evaluate("for (const one of document.querySelectorAll('main > section')) one.remove()")

/** axe takes long for so many elements, so it gets some of each kind. */
const keepSomeOfEachKind = (page: Page) =>
  page.evaluate(`for (const group of document.querySelectorAll('main > section'))
    for (const one of [...group.querySelectorAll(':scope > section')].slice(6)) one.remove()`)

/** The form of an operation, opened. */
async function openForm(page: Page, name: string) {
  const section = operation(page, name)
  await section.locator('summary', { hasText: 'Try it' }).click()
  return section
}

describeInBrowserOnce('trying a call in the reference', (open, start) => {
  async function openReference() {
    const countersign = await start({ bootstrap })
    const viewer = await open.stranger(countersign)
    await viewer.page.goto('/docs')
    const codeFor = (recipient: string): Promise<string> =>
      eventually(async () => {
        const { body } = await viewer.admin('GET', `/sandbox/messages?recipient=${encodeURIComponent(recipient)}`)
        const [message] = body as unknown as { code: string }[]
        expect(message).to.be.an('object')
        return message?.code ?? ''
      })
    return { ...viewer, codeFor }
  }

  it('sends a code with a test key, and verifies it', async () => {
    const { page, codeFor } = await openReference()
    const send = await openForm(page, 'Start a verification')
    await send.getByLabel('Test key').fill(SERVER_KEY)
    expect(await send.getByLabel('recipient').inputValue()).to.equal('+15005550010')
    await send.getByRole('button', { name: 'Send request' }).click()
    await send.getByRole('status').filter({ hasText: '200 OK' }).waitFor()
    const answer = JSON.parse((await send.locator('.result pre').textContent()) ?? '')
    expect(answer).to.include({ status: 'pending', masked_recipient: '+1****10' })
    expect(await send.locator('.result dl').textContent()).to.match(/x-request-id/)

    const verify = await openForm(page, 'Check a code')
    expect(await verify.getByLabel('Test key').inputValue()).to.equal(SERVER_KEY)
    expect(await verify.getByLabel('otp_id').inputValue()).to.equal(answer.otp_id)
    await verify.getByLabel('code', { exact: true }).fill(await codeFor('+15005550010'))
    await verify.getByRole('button', { name: 'Send request' }).click()
    await verify.locator('.result pre', { hasText: '"approved"' }).waitFor()

    const status = await openForm(page, 'Look a verification up')
    await status.getByRole('button', { name: 'Send request' }).click()
    await status.locator('.result pre', { hasText: '"approved"' }).waitFor()
  })

  it('goes the way of a device: a publishable key gets a token, a server key exchanges it', async () => {
    const { page, codeFor } = await openReference()
    const exchange = await openForm(page, 'Exchange a verification token')
    await exchange.getByLabel('Test key').fill(SERVER_KEY)
    await exchange.getByLabel('Test key').press('Tab')
    const send = await openForm(page, 'Start a verification')
    await send.getByLabel('Test key').fill(PUBLISHABLE_KEY)
    await send.getByLabel('recipient').fill('delivered@magic.test')
    await send.getByLabel('recipient').press('Enter')
    await send.getByRole('status').filter({ hasText: '200 OK' }).waitFor()
    const verify = await openForm(page, 'Check a code')
    await verify.getByLabel('code', { exact: true }).fill(await codeFor('delivered@magic.test'))
    await verify.getByRole('button', { name: 'Send request' }).click()
    await verify.locator('.result pre', { hasText: 'otp_vt_' }).waitFor()
    expect(await exchange.getByLabel('Test key').inputValue()).to.equal(SERVER_KEY)
    await exchange.getByRole('button', { name: 'Send request' }).click()
    await exchange.locator('.result pre', { hasText: 'delivered@magic.test' }).waitFor()
  })

  it('shows a refusal as it came, with its status', async () => {
    const { page } = await openReference()
    const send = await openForm(page, 'Start a verification')
    await send.getByLabel('Test key').fill(SERVER_KEY)
    await send.getByLabel('recipient').fill('+15005550006')
    await send.getByRole('button', { name: 'Send request' }).click()
    await send.getByRole('status').filter({ hasText: '429' }).waitFor()
    await send.locator('.result pre', { hasText: 'RateLimitExceededError' }).waitFor()
    expect(await send.locator('.result dl').textContent()).to.match(/retry-after/)
  })
})

describeInBrowserOnce('the reference in a browser', (open, start) => {
  const openReference = async (
    path = '/docs',
    options: Parameters<OpenDashboard['stranger']>[1] = {},
    countersign?: Countersign,
  ) => {
    const viewer = await open.stranger(countersign ?? (await start({ bootstrap })), options)
    await viewer.page.goto(path)
    return viewer
  }

  it('refuses a live key, sends nothing and forgets it', async () => {
    const { page } = await openReference()
    const calls: string[] = []
    page.on('request', request => request.url().includes('/api/') && calls.push(request.url()))
    const send = await openForm(page, 'Start a verification')
    await send.getByLabel('Test key').fill('sk_live_0123456789abcdefghijklmn')
    await send.getByRole('button', { name: 'Send request' }).click()
    await send.getByRole('status').filter({ hasText: 'This is a live key' }).waitFor()
    expect(calls).to.deep.equal([])
    expect(await page.evaluate('JSON.stringify([{ ...sessionStorage }, { ...localStorage }])')).not.to.match(/live/)
    const exchange = await openForm(page, 'Exchange a verification token')
    await exchange.getByLabel('Test key').fill(PUBLISHABLE_KEY)
    await exchange.getByRole('button', { name: 'Send request' }).click()
    await exchange.getByRole('status').filter({ hasText: 'needs a server key' }).waitFor()
    expect(calls).to.deep.equal([])
  })

  it('remembers a test key until the tab is closed', async () => {
    const { page, context } = await openReference()
    const send = await openForm(page, 'Start a verification')
    await send.getByLabel('Test key').fill(SERVER_KEY)
    await send.getByLabel('Test key').press('Tab')
    await page.reload()
    expect(await (await openForm(page, 'Check a code')).getByLabel('Test key').inputValue()).to.equal(SERVER_KEY)
    const other = await context.newPage()
    await other.goto('/docs')
    expect(await (await openForm(other, 'Check a code')).getByLabel('Test key').inputValue()).to.equal('')
  })

  it('finds calls, members and errors, by mouse and by keyboard', async () => {
    const { page } = await openReference()
    await page.getByRole('button', { name: 'Search' }).click()
    const field = page.getByRole('searchbox', { name: 'Search the reference' })
    await field.fill('verification_token')
    await page.getByRole('dialog').getByRole('link').first().waitFor()
    await page.keyboard.press('Escape')
    await field.waitFor({ state: 'hidden' })

    await page.keyboard.press('/')
    await field.fill('cooldown error')
    await page
      .getByRole('dialog')
      .getByRole('link', { name: /ResendCooldownError/ })
      .first()
      .click()
    await page.waitForURL(/#error-ResendCooldownError$/)
    expect(await page.locator('#error-ResendCooldownError').isVisible()).to.equal(true)

    await page.keyboard.press('Control+k')
    await field.fill('rotate secret')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForURL(/#rotateWebhookSecret$/)
    expect(await page.evaluate('document.activeElement?.id')).to.equal('rotateWebhookSecret')

    await page.keyboard.press('/')
    await field.fill('recipient_messages')
    await page.keyboard.press('Enter')
    await field.waitFor({ state: 'hidden' })
    expect(page.url()).to.match(/recipient_messages$/)

    await page.keyboard.press('/')
    await field.fill('no such thing at all')
    await page.getByRole('dialog').getByText('Nothing has “no such thing at all” in it.').waitFor()
  })

  it('shows all samples in the chosen language, and remembers it', async () => {
    const { page } = await openReference()
    const [send, verify] = [operation(page, 'Start a verification'), operation(page, 'Check a code')]
    await send.getByRole('tab', { name: 'Python' }).click()
    await send.getByText('import requests').waitFor()
    await verify.getByText('import requests').waitFor()
    expect(await send.getByRole('tab', { name: 'Python', selected: true }).count()).to.equal(1)
    await page.keyboard.press('ArrowRight')
    await send.getByText('package main').waitFor()
    expect(await send.getByText('import requests').isVisible()).to.equal(false)
    await page.reload()
    await operation(page, 'Create a company').getByText('package main').waitFor()
    expect(await page.getByRole('radio', { name: 'Go', exact: true }).isChecked()).to.equal(true)
    await page.getByRole('radio', { name: 'PHP' }).check()
    await operation(page, 'Create a company').getByText('curl_init').waitFor()
  })

  it('keeps the tab in its place when samples above it grow', async () => {
    const { page } = await openReference('/docs#verify')
    const tab = operation(page, 'Check a code').getByRole('tab', { name: 'Go' })
    const before = await tab.boundingBox()
    await tab.click()
    expect(Math.abs(((await tab.boundingBox())?.y ?? 0) - (before?.y ?? 0))).to.be.lessThan(2)
  })

  it('copies a sample as it is shown, with the address that the reader sees', async () => {
    const { page, countersign } = await openReference()
    const send = operation(page, 'Start a verification')
    await send.getByRole('button', { name: 'Copy: POST /api/v1/otp/send' }).click()
    await send.getByText('Copied').first().waitFor()
    const copied = await page.evaluate('navigator.clipboard.readText()')
    expect(copied).to.match(new RegExp(`^curl -X POST '${countersign.url}/api/v1/otp/send' \\\\\\n`))
    expect(copied).to.match(/"client_ip": "203\.0\.113\.7"\n {2}\}'$/)
  })

  it('shows the PUBLIC_URL where there is one', async () => {
    const countersign = await start({ bootstrap, env: { PUBLIC_URL: 'https://otp.example' } })
    const { page } = await openReference('/docs', {}, countersign)
    await operation(page, 'Start a verification').getByText("'https://otp.example/api/v1/otp/send'").first().waitFor()
    expect(await page.locator('main').textContent()).not.to.contain(countersign.url)
  })

  it('marks the section that is being read', async () => {
    const { page } = await openReference('/docs#webhooks')
    const contents = page.getByRole('navigation', { name: 'Contents' })
    await contents.locator('[aria-current]', { hasText: 'Webhooks' }).waitFor()
    await contents.getByText('Queues', { exact: true }).click()
    await contents.getByRole('link', { name: 'Drop dead letters' }).click()
    await contents.locator('[aria-current]', { hasText: 'Drop dead letters' }).waitFor()
    expect(await contents.locator('[aria-current]').count()).to.equal(1)
  })

  it('opens what is folded around the target of a link', async () => {
    const { page } = await openReference('/docs#changeApp.settings.code.length')
    const member = page.locator('[id="changeApp.settings.code.length"]')
    await member.waitFor({ state: 'visible' })
    expect(await member.evaluate(element => element.getBoundingClientRect().top)).to.be.within(50, 400)
  })

  it('can be read without JavaScript, and its language chosen', async () => {
    const countersign = await start({ bootstrap })
    const { context } = await open.stranger(countersign)
    const browser = context.browser()
    const plain = await browser?.newContext({ javaScriptEnabled: false, baseURL: countersign.url })
    const page = await plain?.newPage()
    if (page === undefined) throw new Error('no page')
    await page.goto('/docs#send')
    await page.getByRole('heading', { name: 'Start a verification' }).waitFor()
    await page.getByText('curl -X POST').first().waitFor()
    expect(await page.getByRole('button').count()).to.equal(0)
    expect(await page.getByText('Try it', { exact: true }).first().isVisible()).to.equal(false)
    await page.getByRole('radio', { name: 'TypeScript' }).check()
    await operation(page, 'Start a verification').getByText('const response = await fetch').waitFor()
    await page.getByRole('navigation', { name: 'Contents' }).getByRole('link', { name: 'Errors' }).click()
    await page.waitForURL(/#errors$/)
    await plain?.close()
  })

  it('follows the theme that the dashboard stored', async () => {
    const { page } = await openReference()
    const paper = () => page.evaluate('getComputedStyle(document.body).backgroundColor')
    expect(await paper()).to.equal('rgb(255, 255, 255)')
    await page.evaluate("localStorage.setItem('theme', 'dark')")
    await page.reload()
    expect(await paper()).to.equal('rgb(20, 24, 29)')
  })

  for (const theme of ['light', 'dark'] as const)
    it(`has no serious violation of accessibility, ${theme}`, async () => {
      const { page } = await openReference('/docs', { theme })
      const send = await openForm(page, 'Start a verification')
      await send.getByLabel('Test key').fill(SERVER_KEY)
      await send.getByRole('button', { name: 'Send request' }).click()
      await send.getByRole('status').filter({ hasText: '200 OK' }).waitFor()
      await keepSomeOfEachKind(page)
      await expectAccessible(page)
      await page.keyboard.press('Control+k')
      await page.getByRole('searchbox').fill('send')
      await page.getByRole('dialog').getByRole('link').first().waitFor()
      await removeSections(page)
      await expectAccessible(page)
    })

  it('fits a phone, where the contents are behind a button', async () => {
    const { page } = await openReference('/docs', { size: 'phone' })
    expect(await page.evaluate('document.documentElement.scrollWidth')).to.equal(SIZES.phone.width)
    const contents = page.getByRole('navigation', { name: 'Contents' })
    expect(await contents.isVisible()).to.equal(false)
    await page.getByRole('button', { name: 'Contents' }).click()
    await contents.getByRole('link', { name: 'Magic recipients' }).click()
    await page.waitForURL(/#magic$/)
    await contents.waitFor({ state: 'hidden' })
    await page.getByText('delivered@magic.test').first().waitFor()
    await page.getByRole('button', { name: 'Contents' }).click()
    await removeSections(page)
    await expectAccessible(page)
  })
})
