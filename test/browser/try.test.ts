// Try it, in a real browser: a verification from send to proof, with keys that the screen makes itself.
import { expect } from 'chai'
import type { Locator, Page } from 'playwright-core'
import { createCaller } from '../support/api-caller.ts'
import {
  describeInBrowser,
  expectAccessibleInEveryLook,
  type OpenDashboard,
  type ShopViewer,
} from '../support/browser.ts'
import { eventually } from '../support/eventually.ts'
import { wrongCode } from '../support/flow.ts'
import { createGate } from '../support/gate.ts'
import { startReceiver } from '../support/receiver.ts'

const card = (page: Page, name: string) => page.getByRole('region', { name, exact: true })
const field = (page: Page, name: string) => page.getByLabel(name, { exact: true })
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
const approved = (page: Page) => page.getByText('approved', { exact: true })

const waitForFocus = (place: Locator) =>
  eventually(async () => expect(await place.evaluate(element => element.matches(':focus'))).to.equal(true))

/** Sends to the recipient in the field, and waits for the message. */
async function send(page: Page): Promise<string> {
  await press(page, 'Send code')
  return readArrived(page)
}

async function readArrived(page: Page): Promise<string> {
  await card(page, 'Inbox').getByRole('button', { name: 'Use this code' }).waitFor()
  return readCode(page)
}

const readCode = async (page: Page): Promise<string> =>
  /\d{6}/.exec(await card(page, 'Inbox').getByText('verification code').first().innerText())?.[0] ?? ''

interface HeldRequest {
  /** Until the page has made it. */
  asked: Promise<unknown>
  /** Answers it. Later requests are not held. */
  letGo(): Promise<void>
}

async function heldRequest(page: Page, url: string): Promise<HeldRequest> {
  const { released, release } = createGate()
  await page.route(
    url,
    async route => {
      await released
      await route.continue()
    },
    { times: 1 },
  )
  return {
    asked: page.waitForRequest(url),
    async letGo() {
      const answer = page.waitForResponse(url)
      release()
      await (await answer).finished()
    },
  }
}

/** Opens the screen for an app of its own. */
async function openTry(open: OpenDashboard, settings: object = {}): Promise<ShopViewer> {
  const viewer = await open.shop()
  const { status, text } = await viewer.admin('PATCH', `/apps/${viewer.app}`, { settings })
  expect(status, text).to.equal(200)
  await viewer.page.goto('/try')
  return viewer
}

describeInBrowser('Try it', open => {
  it('sends a code, shows it in the inbox, and verifies it, by keyboard alone', async () => {
    const { page, admin, app } = await openTry(open)
    await field(page, 'Recipient').press('Enter')
    await card(page, 'Inbox').getByRole('button', { name: 'Use this code' }).waitFor()
    await waitForFocus(field(page, 'Code'))
    await expectAccessibleInEveryLook(page)
    await field(page, 'Code').focus()
    await page.keyboard.type(await readCode(page))
    await page.keyboard.press('Enter')
    await approved(page).waitFor()
    await card(page, 'Inbox').getByText('delivered', { exact: true }).waitFor()
    const events = card(page, 'Webhook')
    for (const type of ['otp.approved', 'delivery.delivered']) await events.getByText(type, { exact: true }).waitFor()
    await events.getByRole('link', { name: 'Webhooks' }).waitFor()
    const { items } = (await admin('GET', `/apps/${app}/keys`)).body
    const made = items.filter(({ name }: { name: string | null }) => name === 'Try it')
    expect(made, 'one key for both calls').to.have.length(1)
    expect(made[0]).to.include({ kind: 'server', mode: 'test' })
  })
})

describeInBrowser('Try it, in every way', open => {
  it('counts the attempts after a wrong code, and ends with the last one', async () => {
    const { page } = await openTry(open, { verify_attempts: 2 })
    const code = await send(page)
    await press(page, 'Verify')
    await page.getByText('Enter the code from the message.').waitFor()
    await field(page, 'Code').fill(wrongCode(code))
    await press(page, 'Verify')
    await page.getByText('The code is wrong. 1 attempt is left.').waitFor()
    await field(page, 'Code').press('Enter')
    await page.getByText('The code is wrong. No attempts are left.').waitFor()
    await page.getByText('failed', { exact: true }).waitFor()
    await card(page, 'Webhook').getByText('otp.failed', { exact: true }).waitFor()
    await field(page, 'Code').fill(code)
    await press(page, 'Verify')
    await card(page, 'Request').getByText('"type": "OtpNotPendingError"').waitFor()
    expect(await approved(page).count()).to.equal(0)
  })

  it('verifies as a device with a publishable key, and exchanges the token with a server key', async () => {
    const { page, admin, app } = await openTry(open)
    await page.getByRole('switch', { name: 'As a device' }).click()
    await field(page, 'Recipient').fill('+14155550123')
    await send(page)
    await press(page, 'Use this code')
    await page.keyboard.press('Enter')
    await approved(page).waitFor()
    await card(page, 'Your app')
      .getByText(/otp_vt_/)
      .waitFor()
    await waitForFocus(page.getByRole('button', { name: 'Exchange' }))
    await page.keyboard.press('Enter')
    await page.getByText('Proved: +14155550123 by SMS.').waitFor()
    await card(page, 'Request').getByText('"recipient_type": "phone"').waitFor()
    await card(page, 'Webhook').getByText('otp.approved', { exact: true }).waitFor()
    await expectAccessibleInEveryLook(page)
    const { items } = (await admin('GET', `/apps/${app}/keys`)).body
    const kinds = items.filter(({ name }: { name: string | null }) => name === 'Try it')
    expect(kinds.map(({ kind }: { kind: string }) => kind).sort()).to.deep.equal(['publishable', 'server'])
  })

  it('solves the challenges of a device, and shows each call', async () => {
    const { page } = await openTry(open, { publishable_challenge: 'always', resend_cooldown_seconds: [0] })
    await page.getByRole('switch', { name: 'As a device' }).click()
    const second = await heldRequest(page, '**/*challenge-worker*')
    await press(page, 'Send code')
    await second.asked
    await card(page, 'Your app').getByText('Solving a challenge of 16 bits…').waitFor()
    expect(await page.getByRole('button', { name: 'Send code' }).isDisabled(), 'it is busy').to.equal(true)
    await second.letGo()
    const first = await readArrived(page)
    expect(await card(page, 'Your app').getByText('Solving a challenge').count()).to.equal(0)
    const request = card(page, 'Request')
    await request.getByText('challenge-solution: ').first().waitFor()
    await request.locator('summary').click()
    await request.getByText('"type": "ChallengeRequiredError"').waitFor()
    await press(page, 'Resend')
    await card(page, 'Inbox').getByText('WhatsApp', { exact: true }).waitFor()
    await field(page, 'Code').fill(first)
    await press(page, 'Verify')
    await approved(page).waitFor()
  })

  it('resends the same code on the next channel, and a fresh one on a named channel', async () => {
    const { page } = await openTry(open, { resend_cooldown_seconds: [0], routing: { default: ['sms', 'telegram'] } })
    const first = await send(page)
    await press(page, 'Resend')
    const inbox = card(page, 'Inbox')
    await inbox.getByText('Telegram', { exact: true }).waitFor()
    expect(await readCode(page)).to.equal(first)
    await press(page, 'Resend by WhatsApp')
    await inbox.getByText('WhatsApp', { exact: true }).waitFor()
    const fresh = await readCode(page)
    expect(fresh).not.to.equal(first)
    await press(page, 'Read status')
    await card(page, 'Request').getByText('"deliveries": [').waitFor()
    await press(page, 'Use this code')
    await press(page, 'Verify')
    await approved(page).waitFor()
  })

  it("plays the user's message in the link modes of WhatsApp", async () => {
    const whatsapp = { enabled: true, mode: 'link_inbound', business_number: '+15550001111' }
    const { page } = await openTry(open, { routing: { default: ['whatsapp'] }, channels: { whatsapp } })
    await press(page, 'Send code')
    await card(page, 'Inbox')
      .getByRole('link', { name: /wa\.me/ })
      .waitFor()
    expect(await field(page, 'Code').count(), 'nothing is typed').to.equal(0)
    await press(page, 'Play this message')
    await approved(page).waitFor()
  })

  it('names the endpoint of each webhook, and says of an event that none asked for it', async () => {
    const backend = await startReceiver((_, response) => void response.writeHead(204).end())
    try {
      const { page, admin, app } = await open.shop()
      for (const name of ['Shop', 'CRM']) {
        const url = `http://127.0.0.1:${backend.port}/${name}`
        const { status } = await admin('POST', `/apps/${app}/endpoints`, { name, url, events: ['otp.approved'] })
        expect(status).to.equal(201)
      }
      await page.goto('/try')
      await send(page)
      await press(page, 'Use this code')
      await press(page, 'Verify')
      await approved(page).waitFor()
      const events = card(page, 'Webhook').getByRole('listitem')
      for (const name of ['Shop', 'CRM'])
        await events.filter({ hasText: 'otp.approved' }).getByText(`to ${name}`, { exact: true }).waitFor()
      expect(await events.filter({ hasText: 'otp.approved' }).count()).to.equal(2)
      await events.filter({ hasText: 'delivery.delivered' }).getByText('No endpoint asked for it').waitFor()
      await events
        .getByText(/Your endpoint answered 204/)
        .nth(1)
        .waitFor()
    } finally {
      await backend.close()
    }
  })
})

describeInBrowser('Try it, as it is used', open => {
  it('shows each request with its key hidden, and copies a command that works', async () => {
    const { page, countersign } = await openTry(open)
    await send(page)
    const request = card(page, 'Request')
    expect(await request.innerText())
      .to.contain('Bearer sk_test_…')
      .and.not.to.match(/sk_test_\w/)
    await request.getByRole('button', { name: 'Copy' }).first().click()
    const command = await page.evaluate<string>('navigator.clipboard.readText()')
    const key = /Bearer (sk_test_\w+)/.exec(command)?.[1] ?? ''
    expect(command).to.contain(`curl -s '${countersign.url}/api/v1/otp/send'`)
    expect((await createCaller(countersign.url, key).send('+15005550010')).status).to.equal(200)
    await press(page, 'Show key')
    await request.getByText(key).waitFor()
    await press(page, 'Python')
    await request.getByText('from countersign import').waitFor()
    const stored = await page.evaluate('JSON.stringify(localStorage)')
    expect(stored).not.to.contain('sk_test_')
  })

  it('finds the messages that a backend sent', async () => {
    const { page, serverKey, countersign } = await open.shop()
    await createCaller(countersign.url, serverKey).send('ada@shop.example')
    await page.goto('/try')
    const inbox = page.getByRole('region', { name: 'Sandbox messages' })
    await inbox.getByLabel('Messages to').fill('ada@shop.example')
    await eventually(async () => {
      await inbox.getByRole('button', { name: 'Show messages' }).click()
      expect(await inbox.getByRole('cell', { name: 'ada@shop.example' }).count()).to.equal(1)
    })
  })

  it('drops the answer of an earlier verification', async () => {
    const { page } = await openTry(open)
    await send(page)
    await press(page, 'Use this code')
    const verify = await heldRequest(page, '**/api/v1/otp/verify')
    await press(page, 'Verify')
    await verify.asked
    await field(page, 'Recipient').fill('+14155550123')
    await press(page, 'Send code')
    await card(page, 'Inbox').getByText('+14155550123').waitFor()
    await card(page, 'Inbox').getByRole('button', { name: 'Use this code' }).waitFor()
    await verify.letGo()
    await page.getByRole('button', { name: 'Verify', disabled: false }).waitFor()
    expect(await approved(page).count()).to.equal(0)
    expect(await card(page, 'Request').getByText('/api/v1/otp/verify').count()).to.equal(0)
    await press(page, 'Use this code')
    await press(page, 'Verify')
    await page.getByText('The person controls +14155550123.').waitFor()
  })

  it('needs one key for all tabs, replaces its own, and revokes no other of its name', async () => {
    const { page, admin, app } = await open.shop()
    await admin('POST', `/apps/${app}/keys`, { kind: 'server', mode: 'test', name: 'Try it' })
    const keysInUse = async () =>
      (await admin('GET', `/apps/${app}/keys?limit=100`)).body.items
        .filter((key: { name: string; revoked_at: string | null }) => key.name === 'Try it' && key.revoked_at === null)
        .map(({ id }: { id: string }) => id)
    const foreign = await keysInUse()
    expect(foreign).to.have.length(1)
    await page.goto('/try')
    await send(page)
    const withOwn = await keysInUse()
    expect(withOwn).to.have.length(2)

    const tab = await page.context().newPage()
    await tab.goto('/try')
    await send(tab)
    expect(await keysInUse(), 'the tab has asked the other one').to.have.members(withOwn)

    // Neither tab has it any more, as after the browser was closed.
    await page.goto('/docs')
    await tab.evaluate('sessionStorage.clear()')
    await tab.reload()
    await send(tab)
    await eventually(async () => {
      const now = await keysInUse()
      expect(now).to.have.length(2).and.to.include(foreign[0])
      expect(now, 'the earlier one is revoked').not.to.have.members(withOwn)
    })
    const replaced = await keysInUse()
    // The first tab still holds the revoked key. A process knows it within five seconds; until then the old key works.
    await page.goto('/try')
    await eventually(async () => {
      await send(page)
      const keyIn = (one: Page) =>
        one.evaluate('Object.entries({ ...sessionStorage }).find(([name]) => name.startsWith("try it: server"))?.[1]')
      expect(await keyIn(page)).to.equal(await keyIn(tab))
    })
    expect(await keysInUse(), 'no further key was made').to.have.members(replaced)
  })

  it('says why a page that the app does not list may not act as a device', async () => {
    const { page } = await openTry(open, { allowed_origins: ['https://shop.example'] })
    await page.getByRole('switch', { name: 'As a device' }).click()
    await page.getByText('is not among them').waitFor()
    await press(page, 'Send code')
    await card(page, 'Request').getByText('"type": "OriginNotAllowedError"').waitFor()
    await page.getByRole('link', { name: 'Open Settings' }).click()
    await page.getByLabel('Allowed origins').waitFor()
  })

  it('forgets its keys on signing out', async () => {
    const { page } = await open.member('developer')
    await page.goto('/try')
    await send(page)
    expect(await page.evaluate('JSON.stringify({ ...sessionStorage })')).to.match(/try it: server key/)
    await page.locator('summary').getByText('Ada Lovelace', { exact: true }).click()
    await press(page, 'Sign out')
    await field(page, 'Operator token').waitFor()
    expect(await page.evaluate('sessionStorage.length')).to.equal(0)
  })
})
