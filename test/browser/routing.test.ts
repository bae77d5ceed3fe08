// The routing screen, in a real browser, and what a saved change does to the next send.
import { expect } from 'chai'
import type { Locator, Page } from 'playwright-core'
import { createCaller } from '../support/api-caller.ts'
import {
  describeInBrowser,
  expectAccessible,
  expectAccessibleInEveryLook,
  type PageOptions,
  type ShopViewer,
  saveSettings,
} from '../support/browser.ts'
import { CACHE_TTL_MS } from '../support/flow.ts'
import { storeFacts } from '../support/route-facts.ts'

const BRAZILIAN = '+5511987654321'
const AMERICAN = '+14155552671'

const orderOf = (list: Locator): Promise<string[]> => list.locator('b').allTextContents()

const rowOf = (list: Locator, channel: string): Locator => list.getByRole('listitem').filter({ hasText: channel })

const defaultOrder = (page: Page): Locator => page.getByRole('list', { name: 'Default order', exact: true })

/** The channel of a send, once every process has the saved settings. */
async function channelOfSend({ clock, countersign, serverKey }: ShopViewer, recipient: string): Promise<string> {
  await clock.advance(CACHE_TTL_MS)
  const answer = await createCaller(countersign.url, serverKey).send(recipient)
  expect(answer.status, answer.text).to.equal(200)
  return answer.body.channel
}

describeInBrowser('the routing screen', open => {
  it('lets a newcomer put WhatsApp first in Brazil, and the next send there takes it', async () => {
    const viewer = await open.shop()
    const { page } = viewer
    await page.goto('/overview')
    await page.getByRole('link', { name: 'Routing' }).click()
    await page.getByRole('combobox', { name: 'Country', exact: true }).fill('brazil')
    await page.getByRole('button', { name: 'Add country' }).click()
    const list = page.getByRole('list', { name: 'Order for Brazil' })
    await rowOf(list, 'WhatsApp').getByRole('button', { name: 'Move up' }).click()
    await saveSettings(page)
    expect(await orderOf(list)).to.deep.equal(['WhatsApp', 'SMS', 'Telegram', 'Email'])
    await expectAccessibleInEveryLook(page)
    expect(await channelOfSend(viewer, BRAZILIAN)).to.equal('whatsapp')
    expect(await channelOfSend(viewer, AMERICAN)).to.equal('sms')
  })
})

describeInBrowser('the routing screen, as it is used', open => {
  it('moves a channel by keyboard alone, keeps the focus on it, and announces its place', async () => {
    const viewer = await open.shop()
    const { page } = viewer
    await page.goto('/routing')
    const list = defaultOrder(page)
    const row = rowOf(list, 'Telegram')
    await row.getByRole('button', { name: 'Move up' }).focus()
    await page.keyboard.press('Enter')
    expect(await row.getByRole('button', { name: 'Move up' }).evaluate(isFocused)).to.equal(true)
    await page.getByText('Telegram is now 2 of 4.').waitFor({ state: 'attached' })
    await page.keyboard.press('Enter')
    await page.getByText('Telegram is now 1 of 4.').waitFor({ state: 'attached' })
    // There is nothing above it, so its other button has the focus.
    expect(await row.getByRole('button', { name: 'Move down' }).evaluate(isFocused)).to.equal(true)
    expect(await row.getByRole('button', { name: 'Move up' }).isDisabled()).to.equal(true)
    await page.keyboard.press('Control+s')
    await page.getByText('Saved. Every process uses it within 5 seconds.').waitFor()
    expect(await orderOf(list)).to.deep.equal(['Telegram', 'SMS', 'WhatsApp', 'Email'])
    expect(await channelOfSend(viewer, AMERICAN)).to.equal('telegram')
    await page.reload()
    await rowOf(list, 'Telegram').waitFor()
    expect(await orderOf(list)).to.deep.equal(['Telegram', 'SMS', 'WhatsApp', 'Email'])
  })

  it('moves a channel by dragging, leaves one out, and takes it in again', async () => {
    const { page, admin, app } = await open.shop()
    await page.goto('/routing')
    const list = defaultOrder(page)
    await drag(page, rowOf(list, 'Email'), rowOf(list, 'SMS'))
    expect(await orderOf(list)).to.deep.equal(['Email', 'SMS', 'WhatsApp', 'Telegram'])
    await rowOf(list, 'SMS').getByRole('button', { name: 'Leave out' }).click()
    await page.getByRole('button', { name: 'Add SMS' }).press('Enter')
    expect(await orderOf(list)).to.deep.equal(['Email', 'WhatsApp', 'Telegram', 'SMS'])
    await saveSettings(page)
    const { body } = await admin('GET', `/apps/${app}`)
    expect(body.settings.routing.default).to.deep.equal(['email', 'whatsapp', 'telegram', 'sms'])
  })

  it('explains the saved routing: the channel, the provider, and why not the others', async () => {
    const { page, admin, app } = await open.shop()
    const config = { url: 'https://sms.example/send' }
    await admin('PUT', `/apps/${app}/providers/own-gateway`, { channel: 'sms', type: 'http', config })
    await page.goto('/routing')
    await page.getByLabel('Recipient').fill('+1 415-555-2671')
    await page.getByRole('button', { name: 'Explain' }).click()
    await page.getByText('The code goes by SMS.').waitFor()
    await page.getByText('Provider: own-gateway').waitFor()
    await page.getByText('It is a number of United States. The default order holds').waitFor()
    await page.getByText('The app has no provider for it.').first().waitFor()
    await page.getByText('Email reaches addresses, the other channels phone numbers.').waitFor()

    const business = page.getByLabel('Business number')
    await business.fill('12')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Nothing was saved.').waitFor()
    await expectAccessibleInEveryLook(page)
    await business.fill('')

    await page.getByRole('switch', { name: 'SMS' }).click()
    await page.getByText('This explains the saved routing.').waitFor()
    await page.getByText('The code goes by SMS.').waitFor()
    await saveSettings(page)
    await page.getByText('A send is refused: no channel of the order').waitFor()
    await page.getByText("It is switched off in the app's settings.").waitFor()
  })

  it('warns before unsaved changes are left, by a link, the back button and closing', async () => {
    const { page, admin, app } = await open.shop()
    await page.goto('/overview')
    await page.getByRole('link', { name: 'Routing' }).click()
    await page.getByRole('switch', { name: 'Automatic fallback' }).click()
    await page.getByRole('link', { name: 'Money' }).click()
    await page.getByRole('dialog', { name: 'Leave without saving?' }).waitFor()
    await page.getByRole('button', { name: 'Stay' }).click()
    // `goBack` would wait until the page has left.
    await page.evaluate('history.back()')
    await page.getByRole('dialog', { name: 'Leave without saving?' }).waitFor()
    expect(new URL(page.url()).pathname).to.equal(`/a/${app}/routing`)
    await page.keyboard.press('Escape')
    const asked = new Promise<string>(resolve =>
      page.once('dialog', dialog => {
        resolve(dialog.type())
        void dialog.accept()
      }),
    )
    await page.reload()
    expect(await asked).to.equal('beforeunload')
    // What was typed is still there.
    await page.getByText('Unsaved changes', { exact: true }).waitFor()
    expect(await page.getByRole('switch', { name: 'Automatic fallback' }).isChecked()).to.equal(true)
    await page.getByRole('link', { name: 'Money' }).click()
    await page.getByRole('button', { name: 'Leave without saving' }).click()
    await page.getByRole('heading', { level: 1, name: 'Money' }).waitFor()
    await page.getByRole('link', { name: 'Routing' }).click()
    await defaultOrder(page).waitFor()
    expect(await page.getByRole('switch', { name: 'Automatic fallback' }).isChecked()).to.equal(false)
    expect((await admin('GET', `/apps/${app}`)).body.settings.auto_fallback).to.equal(false)

    await page.getByRole('switch', { name: 'Automatic fallback' }).click()
    await page.getByRole('link', { name: 'Money' }).click()
    await page.getByRole('button', { name: 'Save and leave' }).click()
    await page.getByRole('heading', { level: 1, name: 'Money' }).waitFor()
    expect((await admin('GET', `/apps/${app}`)).body.settings.auto_fallback).to.equal(true)
  })

  it('asks before an empty default order is saved, which refuses every send', async () => {
    const { page, admin, app } = await open.shop()
    const saved = async () => (await admin('GET', `/apps/${app}`)).body.settings.routing.default
    const before = await saved()
    await page.goto('/routing')
    const list = defaultOrder(page)
    await rowOf(list, 'SMS').waitFor()
    while ((await orderOf(list)).length > 0) await list.getByRole('button', { name: 'Leave out' }).first().click()
    const dialog = page.getByRole('dialog', { name: 'Save an empty default order?' })
    await page.keyboard.press('Control+s')
    await dialog.getByText('every send is refused').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    expect(await saved()).to.deep.equal(before)

    await page.getByRole('link', { name: 'Team' }).click()
    await page.getByRole('button', { name: 'Save and leave' }).click()
    await dialog.getByRole('button', { name: 'Save empty order' }).click()
    await page.getByRole('heading', { level: 1, name: 'Team' }).waitFor()
    expect(await saved()).to.deep.equal([])
    // What is saved already is not asked again.
    await page.getByRole('link', { name: 'Routing' }).click()
    await page.getByRole('switch', { name: 'Automatic fallback' }).click()
    await saveSettings(page)
  })
})

const isFocused = (element: { matches(selector: string): boolean }): boolean => element.matches(':focus')

async function drag(page: Page, from: Locator, to: Locator): Promise<void> {
  await from.scrollIntoViewIfNeeded()
  const [start, end] = [await from.boundingBox(), await to.boundingBox()]
  if (!start || !end) throw new Error('a row is not visible')
  await page.mouse.move(start.x + 20, start.y + start.height / 2)
  await page.mouse.down()
  await page.mouse.move(end.x + 20, end.y + end.height / 2 - 10, { steps: 8 })
  await page.mouse.move(end.x + 20, end.y + 2)
  await page.mouse.up()
}

describeInBrowser('providers by country on the routing screen', open => {
  async function openWithFacts(look?: PageOptions): Promise<ShopViewer> {
    const viewer = await open.shop(look)
    const { app, countersign } = viewer
    for (const name of ['main', 'fast'])
      await viewer.admin('PUT', `/apps/${app}/providers/${name}`, {
        type: 'sandbox',
        channel: 'sms',
        cost_micros: { '*': 42_000 },
      })
    await storeFacts(countersign.engines.store, app, Date.now(), [
      { provider: 'main', country: 'GB', messages: 4_000, approved: 2_480 },
      { provider: 'fast', country: 'GB', messages: 400, approved: 324 },
      { provider: 'main', country: 'BR', messages: 300, approved: 6, silentSince: Date.now() },
      { provider: 'fast', country: 'BR', messages: 90, approved: 70 },
    ])
    await viewer.page.goto('/routing')
    return viewer
  }
  const rowIn = (page: Page, provider: string): Locator =>
    page
      .getByRole('table', { name: /^Providers of SMS/ })
      .getByRole('row')
      .filter({ hasText: provider })

  it('compares them with their intervals, and takes the suggested order', async () => {
    const { page, admin, app } = await openWithFacts()
    await page.getByRole('table', { name: 'Providers of SMS in United Kingdom' }).waitFor()
    const main = rowIn(page, 'main')
    await main.getByText('62%', { exact: true }).waitFor()
    await main.getByText(/^6\d% to 6\d%$/).waitFor()
    await main.getByText('It is the first in the list.').waitFor()
    await main.getByText('0.042').waitFor()
    await page.getByText('A better order for SMS: fast, main.').waitFor()
    await page.getByText(/Expected gain: \d+(\.\d)? more approvals of 100 messages/).waitFor()

    await page.getByLabel('Compare providers in').selectOption({ label: 'Brazil (390)' })
    await rowIn(page, 'main').getByText('Silent', { exact: true }).waitFor()
    await rowIn(page, 'main').getByText('hardly anyone types the code').waitFor()
    await expectAccessible(page)

    await page.getByRole('button', { name: 'Use this order' }).click()
    await page.getByText('fast is now the first provider of SMS.').waitFor()
    await page.getByText('A better order for SMS').waitFor({ state: 'detached' })
    const { items } = (await admin('GET', `/apps/${app}/providers`)).body
    expect(items.map(({ name }: { name: string }) => name)).to.deep.equal(['fast', 'main'])
  })

  it('lets the best come first, and weighs its cost', async () => {
    const { page, admin, app } = await openWithFacts({ theme: 'dark', size: 'phone' })
    await page.getByLabel('The best first').check()
    await page.getByLabel('What an approval is worth').fill('1.50')
    await saveSettings(page)
    const { routing } = (await admin('GET', `/apps/${app}`)).body.settings
    expect(routing).to.deep.include({ providers: 'best', worth_micros: 1_500_000 })
    await rowIn(page, 'fast').getByText('That is the best here').waitFor()
    expect(await page.getByText('A better order').count()).to.equal(0)
    await expectAccessible(page)
  })
})
