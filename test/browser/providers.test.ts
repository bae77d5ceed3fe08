// The screen Providers in a real browser, with a gateway on loopback in place of a vendor.
import { expect } from 'chai'
import type { Locator, Page } from 'playwright-core'
import {
  describeInBrowser,
  expectAccessibleInEveryLook,
  type OpenDashboard,
  type ShopViewer,
} from '../support/browser.ts'
import { eventually } from '../support/eventually.ts'
import { freshNumber } from '../support/flow.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'

const SECRET = 'Bearer of-a-test-gateway'

interface Gateway extends Receiver {
  url: string
  /** Whether it fails, with any secret. */
  broken: boolean
}

/** Accepts messages that come with the secret. */
async function startGateway(): Promise<Gateway> {
  const gateway: { broken: boolean } = { broken: false }
  const receiver = await startReceiver(({ headers }, response) => {
    response.setHeader('content-type', 'application/json')
    response.statusCode = gateway.broken ? 500 : headers.authorization === SECRET ? 202 : 401
    response.end(response.statusCode === 401 ? '{"error": "wrong API key"}' : '{}')
  })
  return Object.assign(gateway, receiver, { url: `http://127.0.0.1:${receiver.port}/send` })
}

const item = (page: Page, name: string) =>
  page.getByRole('listitem').filter({ has: page.getByRole('heading', { level: 3, name, exact: true }) })
const button = (page: Page, name: string, which: string) =>
  item(page, name).getByRole('button', { name: which, exact: true })
const addToChannel = (page: Page) => page.getByRole('list', { name: 'Channels without a provider' }).getByRole('button')
const dialogButton = (page: Page, name: string) => page.getByRole('dialog').getByRole('button', { name, exact: true })

/** A button that moved with its row gets the focus a moment later. */
const hasFocus = (of: Locator) =>
  eventually(async () =>
    expect(await of.evaluate(element => element === element.ownerDocument.activeElement)).to.equal(true),
  )

async function openScreen(page: Page): Promise<void> {
  await page.goto('/providers')
  await page.getByRole('heading', { level: 1, name: 'Providers' }).waitFor()
}

interface ProvidersViewer extends ShopViewer {
  /** Of the providers in the admin API. */
  path: string
}

async function openShop(open: OpenDashboard): Promise<ProvidersViewer> {
  const viewer = await open.shop()
  return { ...viewer, path: `/apps/${viewer.app}/providers` }
}

const addGateway = ({ admin, app }: Pick<ShopViewer, 'admin' | 'app'>, name: string, { url }: Gateway) =>
  admin('PUT', `/apps/${app}/providers/${name}`, {
    type: 'http',
    channel: 'sms',
    config: { url, headers: { authorization: SECRET } },
  })

async function test(page: Page, name: string, recipient: string): Promise<void> {
  await button(page, name, 'Test').click()
  await page.getByLabel('Recipient').fill(recipient)
  await dialogButton(page, 'Send test message').click()
}

function withGateway(): () => Gateway {
  let gateway: Gateway
  beforeEach(async () => {
    gateway = await startGateway()
  })
  afterEach(() => gateway.close())
  return () => gateway
}

describeInBrowser('the screen of providers', (open, start) => {
  const gateway = withGateway()

  it('adds the first provider, tests it, and tells in words why a test fails', async () => {
    const viewer = await openShop(open)
    const { page, admin } = viewer
    await openScreen(page)
    await page.getByText('Test keys need no provider; live keys do').waitFor()
    await expectAccessibleInEveryLook(page)
    await page.getByRole('button', { name: 'Add provider' }).click()
    await page.getByLabel('Type').selectOption({ label: 'Your own gateway (HTTP), any channel' })
    await page.getByLabel('Channel').selectOption('SMS')
    await page.getByLabel('Name', { exact: true }).fill('own')
    await page.getByText(`${viewer.countersign.url}/callbacks/${viewer.app}/own`).waitFor()
    await dialogButton(page, 'Add').click()
    await page.getByText('URL is required').waitFor()
    await page.getByLabel('URL', { exact: true }).fill(gateway().url)
    await dialogButton(page, 'Add header').click()
    await page.getByLabel('Header name').fill('authorization')
    await page.getByLabel('Header value').fill('Bearer wrong')
    await page.getByLabel('Body').fill('{ "to": "{{recipient}}", "text": "{{text}}" ')
    await dialogButton(page, 'Add').click()
    await page.getByText('Body is not JSON').waitFor()
    await expectAccessibleInEveryLook(page)
    await page.getByLabel('Body').fill('{ "to": "{{recipient}}", "text": "{{text}}" }')
    await dialogButton(page, 'Add').click()
    await page.getByText('own was added').waitFor()
    await item(page, 'own').getByText('Not used lately', { exact: true }).waitFor()

    await test(page, 'own', 'hello')
    await page.getByText('must be a valid phone number').first().waitFor()
    const recipient = freshNumber()
    await page.getByLabel('Recipient').fill(recipient)
    await dialogButton(page, 'Send test message').click()
    await page.getByText('The vendor refused the message').waitFor()
    const answer = page.getByRole('dialog')
    await answer.getByText('It says: “wrong API key”').waitFor()
    await answer.getByText('check the secrets of this provider').waitFor()
    await expectAccessibleInEveryLook(page)
    expect(await answer.getByRole('definition').allInnerTexts()).to.include.members(['refused', '401', 'wrong API key'])
    await page.keyboard.press('Escape')

    await button(page, 'own', 'Edit').click()
    await page.getByLabel('Header value').fill(SECRET)
    await dialogButton(page, 'Save').click()
    await page.getByText('own was saved').waitFor()
    await test(page, 'own', recipient)
    await page.getByText('The vendor accepted the message').waitFor()
    const sent = JSON.parse(String(gateway().received.at(-1)?.body))
    expect(sent.to).to.equal(recipient)
    expect(sent.text).to.match(/^\d{6} is your .* verification code\.$/)
    await expectAccessibleInEveryLook(page)
    const audit = (await admin('GET', '/audit')).body.items[0]
    expect(audit).to.deep.include({ action: 'provider.test', target: `${viewer.app}:own` })
    expect(audit.after).to.include({ recipient: `+1****${recipient.slice(-2)}`, outcome: 'accepted' })
  })

  it('keeps a secret on edit, and asks for it again when the address changes', async () => {
    const viewer = await openShop(open)
    const { page } = viewer
    await addGateway(viewer, 'own', gateway())
    await openScreen(page)
    await button(page, 'own', 'Edit').click()
    await page.getByText('Kept: hmac:').waitFor()
    expect(await page.getByLabel('Header value').inputValue()).to.equal('')
    await page.getByLabel('Method').selectOption('PUT')
    await dialogButton(page, 'Save').click()
    await page.getByText('own was saved').waitFor()
    await test(page, 'own', freshNumber())
    await page.getByText('The vendor accepted the message').waitFor()
    expect(gateway().received.at(-1)).to.deep.include({ method: 'PUT' })
    expect(gateway().received.at(-1)?.headers.authorization).to.equal(SECRET)
    await page.keyboard.press('Escape')

    await button(page, 'own', 'Edit').click()
    await page.getByLabel('URL', { exact: true }).fill(`${gateway().url}/elsewhere`)
    await page.getByText('Type it again: the address has changed.').waitFor()
    await dialogButton(page, 'Save').click()
    await page.getByText('authorization must be given again').waitFor()
    await page.getByLabel('Header value').fill(SECRET)
    await dialogButton(page, 'Save').click()
    await page.getByText('own was saved').first().waitFor()
    await item(page, 'own').getByText('/send/elsewhere').first().waitFor()
  })

  it('keeps a stored secret that is removed and taken back, and says that an address would not be called', async () => {
    const viewer = await openShop(open)
    const { page, admin, path } = viewer
    const config = { phone_number_id: '1', access_token: 'token', app_secret: 'secret' }
    await admin('PUT', `${path}/meta`, { type: 'whatsapp_cloud', paused: true, config })
    await addGateway(viewer, 'own', gateway())
    await openScreen(page)
    await button(page, 'meta', 'Edit').click()
    await page.getByText('Its fingerprint').first().waitFor()
    await expectAccessibleInEveryLook(page)
    await dialogButton(page, 'Remove App secret').click()
    await page.getByText('It is removed when you save').waitFor()
    await dialogButton(page, 'Keep App secret').click()
    await page.keyboard.press('Escape')
    await button(page, 'own', 'Edit').click()
    await page.getByLabel('URL', { exact: true }).fill('not an address')
    await dialogButton(page, 'Save').click()
    await page.getByText('URL would not be called: not a URL').waitFor()
  })

  it('replaces no provider that a colleague has added under the same name meanwhile', async () => {
    const viewer = await openShop(open)
    const { page, admin, path } = viewer
    await openScreen(page)
    await page.getByRole('button', { name: 'Add provider' }).click()
    await page.getByLabel('Type').selectOption({ label: 'Sandbox, any channel' })
    await page.getByLabel('Name', { exact: true }).fill('own')
    await addGateway(viewer, 'own', gateway())
    await dialogButton(page, 'Add').click()
    await page.getByText('Name is taken: this app has a provider with this name').waitFor()
    expect((await admin('GET', `${path}/own`)).body.type).to.equal('http')
    await page.getByLabel('Name', { exact: true }).fill('other')
    await dialogButton(page, 'Add').click()
    await page.getByText('other was added').waitFor()
  })

  it('shows a provider whose type this release does not know, beside the others', async () => {
    const viewer = await openShop(open)
    const { page, countersign, app } = viewer
    await addGateway(viewer, 'own', gateway())
    await addGateway(viewer, 'newer', gateway())
    await countersign.engines.store
      .docs('providers')
      .modify({ _id: `${app}:newer` }, { $set: { type: 'pigeon', channel: 'whatsapp' } })
    await openScreen(page)
    await item(page, 'newer').getByText('This release of Countersign does not know its type').waitFor()
    expect(await item(page, 'newer').getByRole('button').allInnerTexts()).to.deep.equal(['Delete'])
    await item(page, 'newer').getByText('Unknown type', { exact: true }).waitFor()
    expect(await item(page, 'newer').getByText('Send a test message').count()).to.equal(0)
    expect(await addToChannel(page).allInnerTexts(), 'it sends nothing').to.include('Add WhatsApp provider')
    await test(page, 'own', freshNumber())
    await page.getByText('The vendor accepted the message').waitFor()
  })

  it('keeps on edit what a colleague has saved meanwhile', async () => {
    const viewer = await openShop(open)
    const { page, admin, path } = viewer
    await addGateway(viewer, 'own', gateway())
    await openScreen(page)
    await button(page, 'own', 'Edit').click()
    const { url } = gateway()
    const config = { url, method: 'PUT', headers: { authorization: SECRET } }
    const theirs = { type: 'http', channel: 'sms', countries: ['GB'], config }
    expect((await admin('PUT', `${path}/own`, theirs)).status).to.equal(200)
    await dialogButton(page, 'Add cost everywhere else').click()
    await page.getByLabel('Each other country, a message').fill('0.06')
    await dialogButton(page, 'Save').click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })

    const saved = (await admin('GET', `${path}/own`)).body
    expect(saved).to.deep.include({ countries: ['GB'], cost_micros: { '*': 60_000 } })
    expect(saved.config.method).to.equal('PUT')
  })

  it('shows the config that a colleague has saved meanwhile, before it is replaced', async () => {
    const viewer = await openShop(open)
    const { page, admin, path } = viewer
    await addGateway(viewer, 'own', gateway())
    await openScreen(page)
    await button(page, 'own', 'Edit').click()
    await page.getByLabel('Method').selectOption('PUT')
    const body = { phone: '{{recipient}}', message: '{{text}}' }
    const config = { url: gateway().url, headers: { authorization: SECRET }, body }
    expect((await admin('PUT', `${path}/own`, { type: 'http', channel: 'sms', config })).status).to.equal(200)
    await dialogButton(page, 'Save').click()
    await page.getByText('Another person has changed this provider since you opened it').waitFor()
    expect(JSON.parse(await page.getByLabel('Body').inputValue()), 'theirs').to.deep.equal(body)
    expect(await page.getByLabel('Method').inputValue(), 'the own edit').to.equal('PUT')
    const saved = async () => (await admin('GET', `${path}/own`)).body.config
    expect((await saved()).method).to.equal('POST')
    await dialogButton(page, 'Save').click()
    await page.getByText('own was saved').waitFor()
    expect(await saved()).to.deep.include({ method: 'PUT', body })
  })

  it('changes the order, by keyboard too', async () => {
    const viewer = await openShop(open)
    const { page, admin, path } = viewer
    for (const name of ['one', 'two', 'three']) await addGateway(viewer, name, gateway())
    await openScreen(page)
    const list = page.getByRole('list', { name: 'SMS providers' })
    const shown = () => list.getByRole('heading', { level: 3 }).allInnerTexts()
    const stored = async () =>
      (await admin('GET', path)).body.items.map(({ name }: { name: string }) => name) as string[]
    await button(page, 'three', 'Move up').click()
    await page.getByText('three is now number 2 of 3 for SMS.').waitFor({ state: 'attached' })
    await eventually(async () => expect(await stored()).to.deep.equal(['one', 'three', 'two']))
    expect(await shown()).to.deep.equal(['one', 'three', 'two'])
    await hasFocus(button(page, 'three', 'Move up'))
    await page.keyboard.press('Enter')
    await eventually(async () => expect(await stored()).to.deep.equal(['three', 'one', 'two']))
    expect(await shown()).to.deep.equal(['three', 'one', 'two'])
    expect(await button(page, 'three', 'Move up').isDisabled()).to.equal(true)
    await hasFocus(button(page, 'three', 'Move down'))
  })

  it('shows a breaker that answers, one that was opened by failures, and deletes a provider', async () => {
    const viewer = await openShop(open)
    const { page, admin, app, path } = viewer
    await addGateway(viewer, 'own', gateway())
    const key = (await admin('POST', `/apps/${app}/keys`, { kind: 'server', mode: 'live' })).body.key
    await admin('PATCH', `/apps/${app}`, { settings: { routing: { default: ['sms'] } } })
    let sent = 0
    const send = () => {
      sent += 1
      const recipient = `+1415556${String(1000 + sent)}`
      return fetch(`${viewer.countersign.url}/api/v1/otp/send`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ recipient }),
      })
    }
    expect((await send()).status).to.equal(200)
    const breaker = async () => (await admin('GET', `${path}/own`)).body.breaker?.state
    await eventually(async () => expect(await breaker()).to.equal('closed'))
    await openScreen(page)
    await item(page, 'own').getByText('Not paused', { exact: true }).waitFor()

    gateway().broken = true
    for (let nth = 0; nth < 12; nth += 1) await send()
    await eventually(async () => expect(await breaker()).to.equal('open'))
    // The screen looks again by itself.
    await item(page, 'own').getByText('Paused after failures').waitFor()
    await item(page, 'own').getByText('since').waitFor()
    await item(page, 'own').getByText('No other provider sends for this channel').waitFor()

    await button(page, 'own', 'Delete').click()
    await page.getByText('live keys can no longer send by SMS').waitFor()
    await expectAccessibleInEveryLook(page)
    await dialogButton(page, 'Cancel').click()
    await button(page, 'own', 'Delete').click()
    await dialogButton(page, 'Delete provider').click()
    await page.getByText('own was deleted').waitFor()
    await page.getByText('Test keys need no provider; live keys do').waitFor()
    expect((await admin('GET', path)).body.items).to.deep.equal([])
  })

  it('pauses a provider, asks before the last one, and gives one provider a country in one click', async () => {
    const viewer = await openShop(open)
    const { page, admin, path } = viewer
    for (const name of ['twilio', 'vonage']) await addGateway(viewer, name, gateway())
    const stored = async (name: string) => (await admin('GET', `${path}/${name}`)).body
    await openScreen(page)
    await button(page, 'twilio', 'Pause').click()
    await page.getByText('twilio was paused').waitFor()
    await item(page, 'twilio').getByText('Paused', { exact: true }).waitFor()
    await button(page, 'vonage', 'Pause').click()
    await page.getByText('live keys can no longer send by SMS').waitFor()
    await dialogButton(page, 'Cancel').click()
    expect((await stored('vonage')).paused).to.equal(false)
    await button(page, 'twilio', 'Resume').click()
    await page.getByText('twilio was resumed').waitFor()

    await page.getByText('Use one provider for a country').click()
    await page.getByLabel('Provider', { exact: true }).selectOption('vonage')
    await page.getByLabel('Country', { exact: true }).fill('India')
    await page.getByRole('button', { name: 'Use it there' }).click()
    await page.getByText('Numbers of India go through vonage first.').waitFor()
    await item(page, 'vonage').getByText('Only for India').waitFor()
    await item(page, 'vonage').getByText('Settings').click()
    await expectAccessibleInEveryLook(page)
    const list = page.getByRole('list', { name: 'SMS providers' })
    expect(await list.getByRole('heading', { level: 3 }).allInnerTexts()).to.deep.equal(['vonage', 'twilio'])
    expect((await stored('vonage')).countries).to.deep.equal(['IN'])
    expect((await stored('twilio')).countries).to.equal(null)

    await button(page, 'vonage', 'Edit').click()
    await page.getByLabel('Serves only numbers of').fill('Bangladesh')
    await dialogButton(page, 'Add country').click()
    await dialogButton(page, 'Save').click()
    await item(page, 'vonage').getByText('Only for Bangladesh, India').waitFor()
  })

  it('asks before the last provider of the console is paused, also if the others were paused a moment ago', async () => {
    const { page, admin } = await open.operator(await start({ env: { ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' } }))
    const path = '/apps/app_console/providers'
    const put = (name: string, changed: object) => admin('PUT', `${path}/${name}`, { type: 'smtp', ...changed })
    const config = { host: '127.0.0.1', from: 'Console <codes@shop.example>' }
    for (const name of ['first', 'second']) expect((await put(name, { config })).status).to.equal(201)
    await page.goto('/a/app_console/providers')
    await button(page, 'first', 'Pause').waitFor()
    await page.route(`**${path}`, route => route.abort())
    expect((await put('second', { paused: true })).status).to.equal(200)
    await button(page, 'first', 'Pause').click()
    await page.getByText('people can no longer sign in to this dashboard with a code by email').waitFor()
    const isPaused = async () => (await admin('GET', `${path}/first`)).body.paused
    expect(await isPaused()).to.equal(false)
    await page.unrouteAll()
    await dialogButton(page, 'Pause provider').click()
    await page.getByText('first was paused').waitFor()
    expect(await isPaused()).to.equal(true)
    await page.getByText('Until it has an email provider that sends').waitFor()
  })
})
