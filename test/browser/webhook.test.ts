// The webhook on the screen API Keys, in a real browser, with a real endpoint on loopback.
import { createHmac } from 'node:crypto'
import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { createCaller } from '../support/api-caller.ts'
import { describeInBrowser, expectAccessible, expectAccessibleInEveryLook, exportCsv } from '../support/browser.ts'
import { eventually } from '../support/eventually.ts'
import { CACHE_TTL_MS } from '../support/flow.ts'
import { type AnswerRequest, type ReceivedRequest, type Receiver, startReceiver } from '../support/receiver.ts'

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const text = (page: Page, words: string) => page.getByText(words, { exact: true })
const events = (page: Page) => page.getByRole('table', { name: 'Webhook events' })
const secrets = (page: Page) => page.getByRole('table', { name: 'Secrets that sign events now' })

const eventIn = ({ body }: ReceivedRequest): { id: string; type: string } => JSON.parse(body.toString())

/** Whether the request is signed with the secret, as the interface describes it. */
const isSignedWith = (secret: string, { headers, body }: ReceivedRequest): boolean =>
  createHmac('sha256', secret).update(`${headers['x-webhook-timestamp']}.${body}`).digest('hex') ===
  headers['x-webhook-signature']

interface Backend extends Receiver {
  url: string
  /** Sets how it answers from now on. */
  answers(status: number, body?: string): void
}

/** Starts endpoints, which are closed after each test. */
function backends(): () => Promise<Backend> {
  const started: Receiver[] = []
  afterEach(() => Promise.all(started.splice(0).map(receiver => receiver.close())))
  return async () => {
    let answer: AnswerRequest = (_, response) => void response.end('ok')
    const receiver = await startReceiver((request, response) => answer(request, response))
    started.push(receiver)
    return Object.assign(receiver, {
      url: `http://127.0.0.1:${receiver.port}/hooks`,
      answers(status: number, body = '') {
        answer = (_, response) => void response.writeHead(status).end(body)
      },
    })
  }
}

/** Sets the endpoint in the page. Answers the secret that is shown. */
async function setEndpoint(page: Page, url: string): Promise<string> {
  await page.goto('/api-keys')
  await page.getByLabel('Endpoint URL').fill(url)
  await button(page, 'Save').click()
  return page.getByLabel('Signing secret').inputValue()
}

/** Saves another address of the endpoint. The toast of an earlier save may still be there, so the answer is waited for. */
async function saveByKeyboard(page: Page): Promise<void> {
  const answered = page.waitForResponse(response => response.request().method() === 'PATCH')
  await page.getByLabel('Endpoint URL').press('Enter')
  expect((await answered).status()).to.equal(200)
  await page.getByRole('button', { name: 'Save', exact: true, disabled: false }).waitFor()
}

/** Lets a test event use up its attempts. */
async function letItPause(page: Page, backend: Backend): Promise<void> {
  backend.answers(503, 'the database is down')
  await button(page, 'Send test event').click()
  await text(page, 'Paused').waitFor()
}

describeInBrowser('the webhook in the dashboard', open => {
  const startBackend = backends()

  it('is set, gets a secret that is shown once, and receives a test event', async () => {
    const backend = await startBackend()
    const { page } = await open.shop()
    const secret = await setEndpoint(page, backend.url)
    expect(secret).to.match(/^whsec_/)
    await text(page, 'Active').waitFor()
    await button(page, 'Send test event').click()
    await page.getByText('Your endpoint took the test event. Answered 200').waitFor()
    const [received] = backend.received
    expect(received && eventIn(received).type).to.equal('webhook.test')
    expect(received && isSignedWith(secret, received)).to.equal(true)

    const row = events(page).getByRole('row').filter({ hasText: 'webhook.test' })
    await row.getByText('delivered').waitFor()
    await row.getByRole('button', { name: 'Details' }).click()
    await page.getByRole('heading', { name: '1 attempt' }).waitFor()
    await page.reload()
    await text(page, 'Active').waitFor()
    expect(await page.getByLabel('Signing secret').count(), 'shown once').to.equal(0)
  })

  it('sends an event again, and all events of a time', async () => {
    const backend = await startBackend()
    const { page } = await open.shop()
    await setEndpoint(page, backend.url)
    await button(page, 'Send test event').click()
    const row = events(page).getByRole('row').filter({ hasText: 'webhook.test' })
    await row.getByText('delivered').waitFor()
    await row.getByRole('button', { name: 'Replay', exact: true }).click()
    await eventually(() => expect(backend.received).to.have.length(2))

    await button(page, 'Send a time range again').click()
    await expectAccessibleInEveryLook(page)
    const until = page.getByRole('dialog').getByLabel('Until')
    await until.fill('2020-01-01T00:00')
    await button(page, 'Send again').click()
    await page.getByText('must be later than since').first().waitFor()
    await until.fill('')
    await button(page, 'Send again').click()
    await page.getByText('One event is sent again.').waitFor()
    await eventually(() => expect(backend.received).to.have.length(3))
    expect(new Set(backend.received.map(request => eventIn(request).id)).size, 'the same id').to.equal(1)
  })
})

describeInBrowser('the screen Webhooks', open => {
  const startBackend = backends()

  it('adds an endpoint with what it asks for, tests, edits and deletes it', async () => {
    const [shop, crm] = [await startBackend(), await startBackend()]
    const { page, app } = await open.shop()
    await setEndpoint(page, shop.url)
    await page.getByRole('link', { name: 'Webhooks', exact: true }).click()
    await page.waitForURL(`**/a/${app}/webhooks`)
    await button(page, 'Add endpoint').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Endpoint URL').fill(crm.url)
    await dialog.getByLabel('Name').fill('CRM')
    await dialog.getByLabel('otp.expired').check()
    await dialog.getByLabel('Full').check()
    await dialog.getByRole('button', { name: 'Add', exact: true }).click()
    const secret = await dialog.getByLabel('Signing secret').inputValue()
    await dialog.getByRole('button', { name: 'Done' }).click()

    await page.getByRole('heading', { level: 2, name: 'CRM' }).waitFor()
    const row = page.getByRole('table', { name: 'Endpoints of this app' }).getByRole('row').filter({ hasText: 'CRM' })
    await row.getByText('otp.expired').waitFor()
    await row.getByText('full').waitFor()
    await button(page, 'Send test event').click()
    await page.getByText('Your endpoint took the test event. Answered 200').waitFor()
    expect(crm.received.map(one => isSignedWith(secret, one))).to.deep.equal([true])
    expect(shop.received).to.deep.equal([])
    await events(page).getByText('webhook.test').waitFor()

    await row.getByRole('button', { name: 'Edit' }).click()
    await dialog.getByLabel('Name').fill('Sales')
    await expectAccessible(page)
    await dialog.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('heading', { level: 2, name: 'Sales' }).waitFor()
    const renamed = page.getByRole('row').filter({ hasText: 'Sales' })
    await renamed.getByRole('button', { name: 'Delete' }).click()
    await button(page, 'Delete endpoint').click()
    await page.getByText('Sales is deleted.').waitFor()
    await renamed.waitFor({ state: 'detached' })
    await page.getByRole('heading', { level: 2, name: new URL(shop.url).host }).waitFor()
  })

  it('keeps on edit what a colleague has saved meanwhile', async () => {
    const [old, moved] = [await startBackend(), await startBackend()]
    const { page, admin, app } = await open.shop()
    const { id } = (await admin('POST', `/apps/${app}/endpoints`, { url: old.url, name: 'CRM' })).body
    const dialog = page.getByRole('dialog')
    const edit = async (name: string, theirs: object, own: () => Promise<void>): Promise<void> => {
      await page.getByRole('row').filter({ hasText: name }).getByRole('button', { name: 'Edit' }).click()
      await dialog.getByLabel('Endpoint URL').waitFor()
      expect((await admin('PATCH', `/endpoints/${id}`, theirs)).status).to.equal(200)
      await own()
      await dialog.getByRole('button', { name: 'Save', exact: true }).click()
      await dialog.waitFor({ state: 'detached' })
    }
    await page.goto('/webhooks')
    const theirs = { url: moved.url, events: ['otp.expired'], payload: 'full' }
    await edit('CRM', theirs, () => dialog.getByLabel('Name').fill('Sales'))
    const saved = async () => (await admin('GET', `/endpoints/${id}`)).body
    expect(await saved()).to.deep.include({ ...theirs, name: 'Sales' })
  })
})

describeInBrowser('the webhook, as it is used', (open, start) => {
  const startBackend = backends()

  it('is paused by failures and re-enabled by the button; what was held arrives', async () => {
    const backend = await startBackend()
    const { page, countersign, serverKey } = await open.shop()
    await setEndpoint(page, backend.url)
    await letItPause(page, backend)
    await page.getByText('An event used up all its attempts').waitFor()
    const failures = page.getByRole('region', { name: 'Last failures' })
    await failures.getByText('Answered 503').first().waitFor()
    await failures.getByText('the database is down').first().waitFor()
    await page.getByText('How to verify a signature').click()
    await events(page).getByRole('button', { name: 'Details' }).first().click()
    await expectAccessibleInEveryLook(page)

    const { otp_id } = (await createCaller(countersign.url, serverKey).send('+15005550010')).body
    await page.getByLabel('Status').selectOption('held')
    const held = events(page).getByRole('row').filter({ hasText: 'delivery.delivered' })
    await held.getByText('held').waitFor()

    backend.answers(200)
    await button(page, 'Re-enable').click()
    await text(page, 'Active').waitFor()
    await page.getByLabel('Status').selectOption('Any')
    await held.getByText('delivered', { exact: true }).waitFor()
    await eventually(() => expect(backend.received.some(({ body }) => body.includes(otp_id))).to.equal(true))
    expect(await button(page, 'Re-enable').count()).to.equal(0)

    // The filters stand in the address, and the export has them.
    await page.goto(`/webhooks?id=${otp_id}`)
    await held.getByText('delivered', { exact: true }).waitFor()
    const { name, items } = await exportCsv(page)
    expect(name).to.match(/^events-/)
    expect(items.map(({ type, status }) => [type, status])).to.deep.equal([['delivery.delivered', 'delivered']])
  })

  it('gets a new secret, which is promoted, and another one at once', async () => {
    const backend = await startBackend()
    const { page, admin, app, clock } = await open.shop()
    const first = await setEndpoint(page, backend.url)
    await button(page, 'New signing secret').click()
    await secrets(page).getByRole('cell', { name: 'new', exact: true }).waitFor()
    const second = await page.getByLabel('Signing secret').inputValue()
    expect(second)
      .to.match(/^whsec_/)
      .and.not.to.equal(first)

    /** Processes keep an endpoint for five seconds. */
    const expectSignedWith = async (secret: string): Promise<void> => {
      await clock.advance(CACHE_TTL_MS)
      const { event_id } = (await admin('POST', `/apps/${app}/webhook/test`)).body
      const request = await eventually(() => {
        const found = backend.received.find(one => eventIn(one).id === event_id)
        if (!found) throw new Error(`${event_id} has not arrived`)
        return found
      })
      expect(isSignedWith(secret, request)).to.equal(true)
    }
    await expectSignedWith(first)
    await expectAccessibleInEveryLook(page)
    await button(page, 'New signing secret').click()
    await expectAccessibleInEveryLook(page)
    await button(page, 'Cancel').click()
    await button(page, 'Promote').click()
    await secrets(page).getByRole('cell', { name: 'old', exact: true }).waitFor()
    await expectSignedWith(second)
    expect(await button(page, 'Promote').count()).to.equal(0)

    await button(page, 'Replace at once').click()
    await expectAccessibleInEveryLook(page)
    await button(page, 'Replace now').click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    const third = await page.getByLabel('Signing secret').inputValue()
    expect([first, second]).not.to.include(third)
    await expectSignedWith(third)
  })

  it('says beside the field why an address is not called', async () => {
    const { page } = await open.operator(await start())
    await page.goto('/api-keys')
    const field = page.getByLabel('Endpoint URL')
    for (const [url, words] of [
      ['http://shop.example/hooks', 'plain http is not allowed'],
      ['https://10.0.0.7/hooks', 'not a public address'],
      ['shop.example', 'must be an http(s) URL'],
    ] as const) {
      await field.fill(url)
      await button(page, 'Save').click()
      await page.getByText(words).waitFor()
      const ids = ((await field.getAttribute('aria-describedby')) ?? '').split(' ')
      const described = await Promise.all(ids.map(id => page.locator(`[id="${id}"]`).textContent()))
      expect(described.join(' '), url).to.include(words)
    }
    expect(await page.getByLabel('Signing secret').count()).to.equal(0)
  })
})

describeInBrowser('the webhook that others change as well', open => {
  const startBackend = backends()

  it('keeps what is typed when another person changes the endpoint, and the focus when it is saved', async () => {
    const backend = await startBackend()
    const { page, admin, app } = await open.shop()
    await setEndpoint(page, backend.url)
    const field = page.getByLabel('Endpoint URL')
    await admin('PUT', `/apps/${app}/webhook`, { url: `${backend.url}/theirs` })
    await eventually(async () => expect(await field.inputValue(), 'not edited').to.equal(`${backend.url}/theirs`))
    await field.fill(`${backend.url}/mine`)
    await admin('PUT', `/apps/${app}/webhook`, { url: `${backend.url}/again` })
    await page.waitForResponse(
      async response => response.url().endsWith('/webhook') && (await response.text()).includes('/again'),
    )
    await page.waitForResponse(response => response.url().endsWith('/webhook'))
    expect(await field.inputValue(), 'edited').to.equal(`${backend.url}/mine`)
    await saveByKeyboard(page)
    await field.and(page.locator(':focus')).waitFor()
    expect((await admin('GET', `/apps/${app}/webhook`)).body.url).to.equal(`${backend.url}/mine`)
  })

  it('does not save what was typed for one endpoint into another one', async () => {
    const [shop, crm] = [await startBackend(), await startBackend()]
    const { page, admin, app } = await open.shop()
    await setEndpoint(page, shop.url)
    const { id } = (await admin('GET', `/apps/${app}/webhook`)).body
    const second = (await admin('POST', `/apps/${app}/endpoints`, { url: crm.url })).body.id
    const field = page.getByLabel('Endpoint URL')
    await field.fill(`${shop.url}/moved`)
    expect((await admin('DELETE', `/endpoints/${id}`)).status).to.equal(204)
    await eventually(async () => expect(await field.inputValue(), 'that of the other').to.equal(crm.url))
    await field.fill(`${crm.url}/moved`)
    await saveByKeyboard(page)
    const { items } = (await admin('GET', `/apps/${app}/endpoints`)).body
    expect(items.map((one: { id: string; url: string }) => [one.id, one.url])).to.deep.equal([
      [second, `${crm.url}/moved`],
    ])
  })

  it('does not replace the first endpoint, which another person has set meanwhile', async () => {
    const [theirs, own] = [await startBackend(), await startBackend()]
    const { page, admin, app } = await open.shop()
    await page.goto('/api-keys')
    await page.getByLabel('Endpoint URL').fill(own.url)
    await admin('PUT', `/apps/${app}/webhook`, { url: theirs.url })
    await button(page, 'Save').click()
    await page.getByRole('alert').getByText(`Yours was not saved: ${own.url}`).waitFor()
    expect(await page.getByLabel('Endpoint URL').inputValue()).to.equal(theirs.url)
    const { items } = (await admin('GET', `/apps/${app}/endpoints`)).body
    expect(items.map(({ url }: { url: string }) => url)).to.deep.equal([theirs.url])
  })

  it('can be paused by hand', async () => {
    const backend = await startBackend()
    const { page } = await open.shop()
    await setEndpoint(page, backend.url)
    await button(page, 'Pause').click()
    await text(page, 'Paused').waitFor()
    await page.getByText('Delivery was stopped by hand.').waitFor()
    await button(page, 'Send test event').click()
    await page.getByText('The test event is held until the endpoint is re-enabled.').waitFor()
    expect(backend.received).to.have.length(0)
    await button(page, 'Re-enable').click()
    await page.getByText('Your endpoint took the test event.').waitFor()
  })
})
