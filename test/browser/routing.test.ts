// The routing screen, in a real browser, and what a saved change does to the next send.
import { expect } from 'chai'
import type { Locator, Page } from 'playwright-core'
import { createCaller } from '../support/api-caller.ts'
import { describeInBrowserOnce, expectAccessible, LOOKS, SIZES, type Viewer } from '../support/browser.ts'
import type { TestClock } from '../support/clock.ts'
import { CACHE_TTL_MS } from '../support/flow.ts'
import { createGate } from '../support/gate.ts'
import { storeFacts } from '../support/route-facts.ts'
import { createRunningClock } from '../support/running-clock.ts'

const [COMPANY, APP] = ['cmp_demo', 'app_demo']
const BRAZILIAN = '+5511987654321'
const AMERICAN = '+14155552671'

const orderOf = (list: Locator): Promise<string[]> => list.locator('b').allTextContents()

const rowOf = (list: Locator, channel: string): Locator => list.getByRole('listitem').filter({ hasText: channel })

const defaultOrder = (page: Page): Locator => page.getByRole('list', { name: 'Default order', exact: true })

async function save(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('Saved. Every process uses it within 5 seconds.').last().waitFor()
  await page.getByRole('region', { name: 'Unsaved changes' }).waitFor({ state: 'detached' })
}

/** The channel of a send with a new test key, once every process has the saved settings. */
async function channelOfSend({ admin, countersign }: Viewer, clock: TestClock, recipient: string): Promise<string> {
  await clock.advance(CACHE_TTL_MS)
  const { body } = await admin('POST', `/apps/${APP}/keys`, { kind: 'server', mode: 'test' })
  const answer = await createCaller(countersign.url, body.key).send(recipient)
  expect(answer.status, answer.text).to.equal(200)
  return answer.body.channel
}

describeInBrowserOnce('the routing screen', (open, start) => {
  it('lets a newcomer put WhatsApp first in Brazil, and the next send there takes it', async () => {
    const clock = createRunningClock()
    const viewer = await open.operator(await start({ clock }))
    const { page } = viewer
    await page.goto('/overview')
    await page.getByRole('link', { name: 'Routing' }).click()
    await page.getByRole('combobox', { name: 'Country', exact: true }).fill('brazil')
    await page.getByRole('button', { name: 'Add country' }).click()
    const list = page.getByRole('list', { name: 'Order for Brazil' })
    await rowOf(list, 'WhatsApp').getByRole('button', { name: 'Move up' }).click()
    await save(page)
    expect(await orderOf(list)).to.deep.equal(['WhatsApp', 'SMS', 'Telegram', 'Email'])
    expect(await channelOfSend(viewer, clock, BRAZILIAN)).to.equal('whatsapp')
    expect(await channelOfSend(viewer, clock, AMERICAN)).to.equal('sms')
  })
})

describeInBrowserOnce('the routing screen, as it is used', (open, start) => {
  it('moves a channel by keyboard alone, keeps the focus on it, and announces its place', async () => {
    const clock = createRunningClock()
    const viewer = await open.operator(await start({ clock }))
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
    expect(await channelOfSend(viewer, clock, AMERICAN)).to.equal('telegram')
    await page.reload()
    await rowOf(list, 'Telegram').waitFor()
    expect(await orderOf(list)).to.deep.equal(['Telegram', 'SMS', 'WhatsApp', 'Email'])
  })

  it('tells the buttons of the rows apart by their descriptions', async () => {
    const { page } = await open.operator(await start())
    await page.goto('/routing')
    const buttons = defaultOrder(page).getByRole('button', { name: 'Move up', exact: true })
    await buttons.first().waitFor()
    const described = await buttons.evaluateAll(all => all.map(button => button.getAttribute('aria-describedby')))
    const texts = await Promise.all(described.map(id => page.locator(`[id="${id}"]`).textContent()))
    expect(texts).to.deep.equal(['SMS', 'WhatsApp', 'Telegram', 'Email'])
  })

  it('moves a channel by dragging, leaves one out, and takes it in again', async () => {
    const { page, admin } = await open.operator(await start())
    await page.goto('/routing')
    const list = defaultOrder(page)
    await drag(page, rowOf(list, 'Email'), rowOf(list, 'SMS'))
    expect(await orderOf(list)).to.deep.equal(['Email', 'SMS', 'WhatsApp', 'Telegram'])
    await rowOf(list, 'SMS').getByRole('button', { name: 'Leave out' }).click()
    await page.getByRole('button', { name: 'Add SMS' }).press('Enter')
    expect(await orderOf(list)).to.deep.equal(['Email', 'WhatsApp', 'Telegram', 'SMS'])
    await save(page)
    const { body } = await admin('GET', `/apps/${APP}`)
    expect(body.settings.routing.default).to.deep.equal(['email', 'whatsapp', 'telegram', 'sms'])
  })

  it('explains the saved routing: the channel, the provider, and why not the others', async () => {
    const { page, admin } = await open.operator(await start())
    const config = { url: 'https://sms.example/send' }
    await admin('PUT', `/apps/${APP}/providers/own-gateway`, { channel: 'sms', type: 'http', config })
    await page.goto('/routing')
    await page.getByLabel('Recipient').fill('+1 415-555-2671')
    await page.getByRole('button', { name: 'Explain' }).click()
    await page.getByText('The code goes by SMS.').waitFor()
    await page.getByText('Provider: own-gateway').waitFor()
    await page.getByText('It is a number of United States. The default order holds').waitFor()
    await page.getByText('The app has no provider for it.').first().waitFor()
    await page.getByText('Email reaches addresses, the other channels phone numbers.').waitFor()

    await page.getByRole('switch', { name: 'SMS' }).click()
    await page.getByText('This explains the saved routing.').waitFor()
    await page.getByText('The code goes by SMS.').waitFor()
    await save(page)
    await page.getByText('A send is refused: no channel of the order').waitFor()
    await page.getByText("It is switched off in the app's settings.").waitFor()
  })

  it('says a refusal beside its field, and loses nothing else', async () => {
    const { page, admin } = await open.operator(await start())
    const whatsapp = async () => (await admin('GET', `/apps/${APP}`)).body.settings.channels.whatsapp
    await page.goto('/routing')
    await page.getByRole('switch', { name: 'Automatic fallback' }).click()
    await page.getByLabel('Link, then the code').check()
    const number = page.getByLabel('Business number')
    await number.fill('555 0001111')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('This is not a phone number with its country code, such as +15550001111.').waitFor()
    expect((await admin('GET', `/apps/${APP}`)).body.settings.auto_fallback).to.equal(false)
    expect(await number.evaluate(isFocused), 'the first refused field').to.equal(true)
    await number.fill('+15550001111')
    await save(page)
    expect((await admin('GET', `/apps/${APP}`)).body.settings.auto_fallback).to.equal(true)
    expect(await whatsapp()).to.deep.include({ mode: 'link_code', business_number: '+15550001111' })

    await page.getByRole('radio', { name: 'Template' }).check()
    await number.fill('')
    await save(page)
    expect(await whatsapp(), 'an emptied field is no number').to.deep.include({
      mode: 'template',
      business_number: null,
    })
  })

  it('warns before unsaved changes are left, by a link, the back button and closing', async () => {
    const { page, admin } = await open.operator(await start())
    await page.goto('/overview')
    await page.getByRole('link', { name: 'Routing' }).click()
    await page.getByRole('switch', { name: 'Automatic fallback' }).click()
    await page.getByRole('link', { name: 'Money' }).click()
    await page.getByRole('dialog', { name: 'Leave without saving?' }).waitFor()
    await page.getByRole('button', { name: 'Stay' }).click()
    // `goBack` would wait until the page has left.
    await page.evaluate('history.back()')
    await page.getByRole('dialog', { name: 'Leave without saving?' }).waitFor()
    expect(new URL(page.url()).pathname).to.equal('/a/app_demo/routing')
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
    expect((await admin('GET', `/apps/${APP}`)).body.settings.auto_fallback).to.equal(false)

    await page.getByRole('switch', { name: 'Automatic fallback' }).click()
    await page.getByRole('link', { name: 'Money' }).click()
    await page.getByRole('button', { name: 'Save and leave' }).click()
    await page.getByRole('heading', { level: 1, name: 'Money' }).waitFor()
    expect((await admin('GET', `/apps/${APP}`)).body.settings.auto_fallback).to.equal(true)
  })

  it('takes no other choice while changes are saved to leave', async () => {
    const { page } = await open.operator(await start())
    await page.goto('/routing')
    await page.getByRole('switch', { name: 'Automatic fallback' }).click()
    const { released, release } = createGate()
    await page.route('**/admin/v1/apps/*', async (route, request) => {
      if (request.method() === 'PATCH') await released
      await route.continue()
    })
    await page.getByRole('link', { name: 'Money' }).click()
    const question = page.getByRole('dialog', { name: 'Leave without saving?' })
    const asked = page.waitForRequest(request => request.method() === 'PATCH')
    await question.getByRole('button', { name: 'Save and leave' }).click()
    await asked
    for (let nth = 1; nth <= 3; nth += 1) await page.keyboard.press('Escape')
    await question.getByRole('button', { name: 'Close' }).click()
    for (const name of ['Leave without saving', 'Stay'])
      expect(await question.getByRole('button', { name }).isDisabled(), name).to.equal(true)
    release()
    await page.getByRole('heading', { level: 1, name: 'Money' }).waitFor()
  })

  it('shows a viewer everything and lets a viewer change nothing', async () => {
    const { page } = await open.user(await start(), COMPANY, 'viewer')
    await page.goto('/routing')
    await page.getByText('Only developers and owners of your company can change the routing.').waitFor()
    const list = defaultOrder(page)
    for (const button of await list.getByRole('button').all()) expect(await button.isDisabled()).to.equal(true)
    await drag(page, rowOf(list, 'Email'), rowOf(list, 'SMS'))
    expect(await orderOf(list)).to.deep.equal(['SMS', 'WhatsApp', 'Telegram', 'Email'])
    expect(await page.getByRole('switch', { name: 'WhatsApp' }).isDisabled()).to.equal(true)
    await page.getByLabel('Recipient').fill('ada@example.com')
    await page.getByLabel('Sent with').selectOption('Test server key')
    await page.getByRole('button', { name: 'Explain' }).click()
    await page.getByText('The code goes by Email.').waitFor()
    await page.getByLabel('Sent with').selectOption('Live server key')
    await page.getByRole('button', { name: 'Explain' }).click()
    await page.getByText('The app has no provider for it.').first().waitFor()
    expect(await page.getByRole('link', { name: 'Add a provider' }).count(), 'a viewer cannot add one').to.equal(0)
  })

  it('asks before an empty default order is saved, which refuses every send', async () => {
    const { page, admin } = await open.operator(await start())
    const saved = async () => (await admin('GET', `/apps/${APP}`)).body.settings.routing.default
    const before = await saved()
    await page.goto('/routing')
    const list = defaultOrder(page)
    await rowOf(list, 'SMS').waitFor()
    while ((await orderOf(list)).length > 0) await list.getByRole('button', { name: 'Leave out' }).first().click()
    const dialog = page.getByRole('dialog', { name: 'Save an empty default order?' })
    await page.keyboard.press('Control+s')
    await dialog.getByText('every send is refused').waitFor()
    await expectAccessible(page)
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
    await save(page)
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

describeInBrowserOnce('the looks of the routing screen', (open, start) => {
  for (const { theme, size } of LOOKS)
    it(`are accessible with data, ${theme}, on a ${size}, without sideways scrolling`, async () => {
      const { page, admin } = await open.operator(await start(), { theme, size })
      await admin('PATCH', `/apps/${APP}`, {
        settings: { routing: { countries: { BR: ['whatsapp', 'sms'] } }, channels: { telegram: { enabled: false } } },
      })
      await page.goto('/routing')
      await page.getByLabel('Recipient').fill(BRAZILIAN)
      await page.getByLabel('Sent with').selectOption('Test server key')
      await page.getByRole('button', { name: 'Explain' }).click()
      await page.getByText('The code goes by WhatsApp.').waitFor()
      await page.getByLabel('Business number').fill('12')
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      await page.getByText('Nothing was saved.').waitFor()
      await expectAccessible(page)
      const width = await page.locator('html').evaluate(({ scrollWidth }) => scrollWidth)
      expect(width).to.be.at.most(SIZES[size].width)
    })
})

describeInBrowserOnce('providers by country on the routing screen', (open, start) => {
  const PROVIDERS = `/apps/${APP}/providers`
  async function openWithFacts(look: { theme?: 'light' | 'dark'; size?: 'desktop' | 'phone' } = {}): Promise<Viewer> {
    const countersign = await start()
    const viewer = await open.operator(countersign, look)
    const { store } = countersign.engines
    for (const name of ['main', 'fast'])
      await viewer.admin('PUT', `${PROVIDERS}/${name}`, {
        type: 'sandbox',
        channel: 'sms',
        cost_micros: { '*': 42_000 },
      })
    await storeFacts(store, APP, Date.now(), [
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
    const { page, admin } = await openWithFacts()
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
    const { items } = (await admin('GET', PROVIDERS)).body
    expect(items.map(({ name }: { name: string }) => name)).to.deep.equal(['fast', 'main'])
  })

  it('tells what a cheaper order is worth, its approvals and its cost apart, and which provider has moved', async () => {
    const { page, admin, countersign } = await openWithFacts()
    const costs = { main: 42_000, fast: 50_000, third: 1_000 }
    for (const [name, micros] of Object.entries(costs))
      await admin('PUT', `${PROVIDERS}/${name}`, { type: 'sandbox', channel: 'sms', cost_micros: { '*': micros } })
    await admin('PUT', `${PROVIDERS}/main`, { type: 'sandbox', channel: 'sms', paused: true })
    await admin('PATCH', `/apps/${APP}`, { settings: { routing: { worth_micros: 100_000 } } })
    await storeFacts(countersign.engines.store, APP, Date.now(), [
      { provider: 'fast', messages: 5_000, approved: 4_500 },
      { provider: 'third', messages: 5_000, approved: 4_000 },
    ])
    await page.reload()
    await page.getByText('A better order for SMS: main, third, fast.').waitFor()
    await page
      .getByText(
        'Expected gain: worth 39 more approvals of 100 messages, over all countries: 10 fewer approvals, and 4.90 less to pay.',
      )
      .waitFor()
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Use this order' }).click()
    await page.getByText('third is now number 2 of the providers of SMS, behind main.').waitFor()
    const { items } = (await admin('GET', PROVIDERS)).body
    expect(items.map(({ name }: { name: string }) => name)).to.deep.equal(['main', 'third', 'fast'])
  })

  it('takes the suggested order around a provider whose type this release does not know, and explains it without', async () => {
    const { page, admin, countersign } = await openWithFacts()
    const newer = { type: 'sandbox', channel: 'sms', position: 1 }
    expect((await admin('PUT', `${PROVIDERS}/newer`, newer)).status).to.equal(201)
    await countersign.engines.store.docs('providers').modify({ _id: `${APP}:newer` }, { $set: { type: 'pigeon' } })
    await page.reload()
    await page.getByRole('button', { name: 'Use this order' }).click()
    await page.getByText('fast is now the first provider of SMS.').waitFor()
    const { items } = (await admin('GET', PROVIDERS)).body
    const names = items.map(({ name }: { name: string }) => name)
    expect(names.filter((name: string) => name !== 'newer')).to.deep.equal(['fast', 'main'])
    await page.getByLabel('Recipient').fill(AMERICAN)
    await page.getByRole('button', { name: 'Explain' }).click()
    await page.getByText('Provider: fast; if it fails main', { exact: true }).waitFor()
  })

  it('notes no provider for a channel whose only one is of a type that this release does not know', async () => {
    const { page, admin, countersign } = await openWithFacts()
    const newer = { type: 'sandbox', channel: 'telegram' }
    expect((await admin('PUT', `${PROVIDERS}/newer`, newer)).status).to.equal(201)
    const note = rowOf(defaultOrder(page), 'Telegram').getByText('No provider')
    await page.reload()
    await rowOf(defaultOrder(page), 'WhatsApp').getByText('No provider').waitFor()
    expect(await note.count()).to.equal(0)
    await countersign.engines.store.docs('providers').modify({ _id: `${APP}:newer` }, { $set: { type: 'pigeon' } })
    await page.reload()
    await note.waitFor()
  })

  it('lets the best come first, and weighs its cost', async () => {
    const { page, admin } = await openWithFacts({ theme: 'dark', size: 'phone' })
    await page.getByLabel('The best first').check()
    await page.getByLabel('What an approval is worth').fill('1.50')
    await save(page)
    const { routing } = (await admin('GET', `/apps/${APP}`)).body.settings
    expect(routing).to.deep.include({ providers: 'best', worth_micros: 1_500_000 })
    await rowIn(page, 'fast').getByText('That is the best here').waitFor()
    expect(await page.getByText('A better order').count()).to.equal(0)
    await expectAccessible(page)
    const width = await page.evaluate<number>('document.documentElement.scrollWidth')
    expect(width).to.be.at.most(SIZES.phone.width)
  })

  it('says what it needs while there is nothing to compare', async () => {
    const { page } = await open.operator(await start())
    await page.goto('/routing')
    await page.getByText('Nothing to compare yet.').waitFor()
  })
})
