// The keys on the screen API Keys, in a real browser.
import { expect } from 'chai'
import type { Locator, Page } from 'playwright-core'
import { twilioSid } from '../../services/domain/tenancy/twilio-sids.ts'
import { createCaller } from '../support/api-caller.ts'
import { describeInBrowser, expectAccessibleInEveryLook, SIZES } from '../support/browser.ts'
import { eventually } from '../support/eventually.ts'
import { createGate } from '../support/gate.ts'

const RECIPIENT = '+15005550010'

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

/** The row of one key. */
const rowOf = (page: Page, name: string) =>
  page.getByRole('table', { name: 'API keys of this app' }).getByRole('row').filter({ hasText: name })

async function openKeys(page: Page): Promise<void> {
  await page.goto('/api-keys')
  await page.getByRole('table', { name: 'API keys of this app' }).waitFor()
}

/** Creates a key in the dialog, which stays open. Answers the key. */
async function createKey(page: Page, { name = '', kind = 'Server', mode = 'Test' } = {}): Promise<string> {
  await button(page, 'Create key').click()
  await page.getByLabel('Name').fill(name)
  await page.getByLabel('Kind').selectOption(kind)
  await page.getByLabel('Mode').selectOption(mode)
  await button(page, 'Create').click()
  return page.getByLabel('New key').inputValue()
}

const isSeenWhole = (field: Locator): Promise<boolean> =>
  field.evaluate(one => one.scrollWidth <= one.clientWidth && one.scrollHeight <= one.clientHeight)

describeInBrowser('API keys in the dashboard', open => {
  it('are created, shown once, used, and refused after they are revoked', async () => {
    const { page, countersign } = await open.shop()
    await openKeys(page)
    const key = await createKey(page, { name: 'checkout' })
    expect(key).to.match(/^sk_test_[0-9A-Za-z]{40,}$/)
    expect(await page.getByLabel('New key').getAttribute('readonly')).not.to.equal(null)
    expect(await isSeenWhole(page.getByLabel('New key')), 'none of it is hidden').to.equal(true)
    await button(page, 'Copy').click()
    await page.getByText('Copied').waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).to.equal(key)
    await button(page, 'Done').click()
    expect(await page.content(), 'the key is nowhere any more').not.to.include(key)

    const row = rowOf(page, 'checkout')
    await row.getByText(`sk_test_…${key.slice(-4)}`).waitFor()
    await row.getByText('never').waitFor()
    const caller = createCaller(countersign.url, key)
    expect((await caller.send(RECIPIENT)).status).to.equal(200)
    await row.getByText('never').waitFor({ state: 'detached' })

    await row.getByRole('button', { name: 'Revoke', exact: true }).click()
    await button(page, 'Revoke key').click()
    await row.waitFor({ state: 'detached' })
    await eventually(async () => expect((await caller.send(RECIPIENT)).status).to.equal(401))
    await page.getByRole('switch', { name: 'Show revoked keys' }).click()
    await row.getByText('Revoked').waitFor()
    expect(await row.getByRole('button', { name: 'Revoke', exact: true }).count()).to.equal(0)
  })

  it('are renamed, and a name that is too long is refused in words beside its field', async () => {
    const { page } = await open.shop()
    await openKeys(page)
    await createKey(page, { name: 'checkout', kind: 'Publishable', mode: 'Live' })
    await button(page, 'Done').click()
    await rowOf(page, 'checkout').getByRole('button', { name: 'Rename', exact: true }).click()
    const name = page.getByRole('textbox', { name: 'Name' })
    await name.fill('x'.repeat(101))
    await page.keyboard.press('Enter')
    await page.locator('[aria-invalid="true"]').waitFor()
    await name.fill('till')
    await page.keyboard.press('Enter')
    const row = rowOf(page, 'till')
    await row.getByText('pk_live_…').waitFor()
    for (const name of ['Publishable', 'Live']) await row.getByRole('cell', { name, exact: true }).waitFor()
    expect(await rowOf(page, 'checkout').count()).to.equal(0)
  })
})

describeInBrowser('the screen API Keys', open => {
  it("shows the app's SIDs in Twilio's API, with a sample that holds them and can be copied", async () => {
    const { page, countersign, app, company } = await open.shop()
    await openKeys(page)
    const card = page.getByRole('region', { name: 'Twilio Verify' })
    const service = twilioSid('app', app)
    await card.getByText(service, { exact: true }).waitFor()
    await card.getByText(twilioSid('cmp', company), { exact: true }).waitFor()
    await card.getByRole('button', { name: 'Copy Service SID' }).click()
    await card.getByText('Copied').waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).to.equal(service)
    await card.getByText("Use Twilio's library").click()
    const sample = await card.getByRole('figure').filter({ hasText: 'Node.js' }).locator('code').textContent()
    for (const part of [service, twilioSid('cmp', company), `${countersign.url}/compat/twilio`])
      expect(sample).to.include(part)
  })

  it('keeps the dialog open while a key is created and shown, so that the key is not lost', async () => {
    const { page } = await open.shop()
    await openKeys(page)
    const { released, release } = createGate()
    await page.route('**/admin/v1/apps/*/keys', async (route, request) => {
      if (request.method() === 'POST') await released
      await route.continue()
    })
    await button(page, 'Create key').click()
    const asked = page.waitForRequest(request => request.method() === 'POST')
    await button(page, 'Create').click()
    await asked
    for (let nth = 1; nth <= 3; nth += 1) await page.keyboard.press('Escape')
    await button(page, 'Close').click()
    expect(await button(page, 'Cancel').isDisabled()).to.equal(true)
    release()
    const key = page.getByLabel('New key')
    expect(await key.inputValue()).to.match(/^sk_test_/)
    for (let nth = 1; nth <= 3; nth += 1) await page.keyboard.press('Escape')
    await page.mouse.click(5, 5)
    expect(await key.isVisible()).to.equal(true)
    await button(page, 'Close').click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  })

  it('keeps a question open until its change has ended, and says there why it was refused', async () => {
    const { page } = await open.shop()
    await openKeys(page)
    await createKey(page, { name: 'checkout' })
    await button(page, 'Done').click()
    const { released, release } = createGate()
    await page.route('**/admin/v1/keys/*', async route => {
      await released
      await route.abort()
    })
    await rowOf(page, 'checkout').getByRole('button', { name: 'Revoke', exact: true }).click()
    const asked = page.waitForRequest(request => request.method() === 'DELETE')
    await button(page, 'Revoke key').click()
    await asked
    for (let nth = 1; nth <= 3; nth += 1) await page.keyboard.press('Escape')
    await button(page, 'Close').click()
    expect(await button(page, 'Cancel').isDisabled()).to.equal(true)
    release()
    await page.getByRole('dialog').getByText('Countersign cannot be reached.').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  })

  it('keeps a key that is not acknowledged, whatever the browser does', async () => {
    const { page } = await open.shop()
    await page.goto('/routing')
    await page.getByRole('link', { name: 'API Keys', exact: true }).click()
    const key = await createKey(page)
    await page.goBack()
    await page.getByRole('heading', { name: 'Routing', level: 1 }).waitFor()
    const asked = page.waitForEvent('dialog')
    await page.close({ runBeforeUnload: true })
    const question = await asked
    expect(question.type()).to.equal('beforeunload')
    await question.dismiss()
    await page.goForward()
    expect(await page.getByLabel('New key').inputValue()).to.equal(key)
    await button(page, 'Done').click()
    await page.goBack()
    await page.goForward()
    await rowOf(page, `…${key.slice(-4)}`).waitFor()
    expect(await page.getByRole('dialog').count()).to.equal(0)
    expect(await page.content(), 'the key is nowhere any more').not.to.include(key)
  })

  it('is accessible and fits, with dialogs open as well', async () => {
    const { page } = await open.shop()
    await openKeys(page)
    await button(page, 'Create key').click()
    await page.getByLabel('Kind').selectOption('Publishable')
    await page.getByLabel('Mode').selectOption('Live')
    await page.getByText('This key can verify, but not send').waitFor()
    await expectAccessibleInEveryLook(page)
    await button(page, 'Create').click()
    await page.getByText('Use it with curl').click()
    await expectAccessibleInEveryLook(page)
    await page.setViewportSize(SIZES.phone)
    expect(await isSeenWhole(page.getByLabel('New key'))).to.equal(true)
    expect(await page.getByRole('dialog').evaluate(dialog => dialog.scrollWidth > dialog.clientWidth)).to.equal(false)
    await page.setViewportSize(SIZES.desktop)
    await button(page, 'Done').click()
    await rowOf(page, 'pk_live_').getByRole('button', { name: 'Revoke', exact: true }).click()
    await expectAccessibleInEveryLook(page)
    await button(page, 'Revoke key').click()
    await page.getByRole('switch', { name: 'Show revoked keys' }).click()
    await rowOf(page, 'Revoked').waitFor()
    await expectAccessibleInEveryLook(page)
  })
})
