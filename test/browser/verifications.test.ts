// Verifications in a real browser: a support person finds why a code did not arrive.
import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { type Caller, createCaller } from '../support/api-caller.ts'
import {
  describeInBrowser,
  expectAccessibleInEveryLook,
  exportCsv,
  type OpenDashboard,
  type ShopViewer,
} from '../support/browser.ts'
import { eventually } from '../support/eventually.ts'
import { startTwilio, type Twilio, twilioError } from '../support/vendors/twilio.ts'

const SETTINGS = {
  routing: { default: ['sms'] },
  limits: { app_without_client_ip: [{ max: 100_000, seconds: 60 }] },
  resend_cooldown_seconds: [0],
}

interface Shop extends ShopViewer {
  vendor: Twilio
  live: Caller
  test: Caller
}

/** Call it in a suite. Answers a function that opens an app "Shop" whose provider is on loopback. */
function useShop(open: OpenDashboard): () => Promise<Shop> {
  const vendors: Twilio[] = []
  afterEach(() => Promise.all(vendors.splice(0).map(vendor => vendor.close())))
  return async () => {
    const viewer = await open.shop()
    const { admin, app, countersign, serverKey } = viewer
    const vendor = await startTwilio()
    vendors.push(vendor)
    const { account_sid, auth_token, url: base_url } = vendor
    const config = { account_sid, auth_token, base_url, from: '+15550001111' }
    const provider = { channel: 'sms', type: 'twilio', config }
    expect((await admin('PUT', `/apps/${app}/providers/twilio-main`, provider)).status).to.equal(201)
    expect((await admin('PATCH', `/apps/${app}`, { name: 'Shop', settings: SETTINGS })).status).to.equal(200)
    const { key } = (await admin('POST', `/apps/${app}/keys`, { kind: 'server', mode: 'live' })).body
    const [live, test] = [key, serverKey].map(one => createCaller(countersign.url, one)) as [Caller, Caller]
    return { ...viewer, vendor, live, test }
  }
}

/** Another app of the company. */
async function addWarehouse({ admin, company, countersign }: ShopViewer): Promise<{ app: string; caller: Caller }> {
  const app = (await admin('POST', `/companies/${company}/apps`, { name: 'Warehouse' })).body.id
  const { key } = (await admin('POST', `/apps/${app}/keys`, { kind: 'server', mode: 'test' })).body
  return { app, caller: createCaller(countersign.url, key) }
}

async function send(by: Caller, to: string): Promise<string> {
  const { status, body, text } = await by.send(to)
  expect(status, text).to.equal(200)
  return body.otp_id
}

/** Waits until the newest message of a verification has this status. */
const waitForDelivery = (by: Caller, otp_id: string, status: string): Promise<unknown> =>
  eventually(async () => expect((await by.status(otp_id)).body.deliveries.at(-1).status).to.equal(status))

const searchField = (page: Page) => page.getByLabel('Recipient or id')
const rowsOf = (page: Page) => page.getByRole('table', { name: 'Verifications' }).locator('tbody tr')
const queryOf = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams)

async function openList(page: Page, address = '/verifications'): Promise<void> {
  await page.goto(address)
  await page.getByRole('heading', { level: 1, name: 'Verifications' }).waitFor()
}

describeInBrowser('the verifications', open => {
  const openShop = useShop(open)

  it('tell a newcomer why a code did not arrive, by the recipient typed with spaces', async () => {
    const { page, app, vendor, live } = await openShop()
    const message = "The 'To' number is not a valid phone number."
    vendor.next({ fault: { kind: 'answers', answer: twilioError(400, 21211, message) } })
    const otp_id = await send(live, '+14155560001')
    await waitForDelivery(live, otp_id, 'failed')

    await page.goto('/overview')
    await page.getByRole('link', { name: 'Verifications', exact: true }).click()
    await searchField(page).fill('+1 (415) 556-0001')
    await searchField(page).press('Enter')
    await page.getByRole('cell', { name: 'Failed: the recipient cannot be reached' }).waitFor()
    expect(queryOf(page)).to.deep.equal({ recipient: '+1 (415) 556-0001' })
    await page.getByRole('link', { name: '+1****01' }).click()

    const why = page.getByRole('region', { name: 'Why' })
    await why.getByText('The code did not arrive').waitFor()
    await why.getByText(/^The number cannot be reached: the provider twilio-main answered 400 after \d+ ms/).waitFor()
    await why.getByText("saying “The 'To' number is not a valid phone number” (code 21211).").waitFor()
    await page.getByRole('region', { name: 'Timeline' }).getByText(`Code 21211: ${message}`).waitFor()
    expect(new URL(page.url()).pathname).to.equal(`/a/${app}/verifications/${otp_id}`)
    await page.getByRole('button', { name: 'Copy link' }).click()
    await page.getByText('Copied').waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).to.equal(page.url())
    await why.getByRole('link', { name: 'Open Routing' }).click()
    await page.getByRole('heading', { level: 1, name: 'Routing' }).waitFor()
  })

  it('follow a pending verification until it ends', async () => {
    const { page, live } = await openShop()
    const otp_id = await send(live, '+14155560003')
    await waitForDelivery(live, otp_id, 'sent')
    await page.goto(`/verifications/${otp_id}`)
    await page.getByText(/^The provider twilio-main took it .*no receipt has come yet\.$/).waitFor()
    await expectAccessibleInEveryLook(page)
    await live.cancel(otp_id)
    await page.getByText('It was canceled.').waitFor()
    await page.getByRole('region', { name: 'Details' }).getByText('Code valid until', { exact: true }).waitFor()
  })

  it('are found by metadata, sent again and canceled, after a question', async () => {
    const { page, test } = await openShop()
    await send(test, '+14155560021')
    const { body, headers } = await test.send('+14155560022', { metadata: { order: 'A-1042' } })
    await openList(page)
    await expectRows(page, 2)
    await page.getByLabel('Metadata').fill('A-1042')
    await page.getByText('Write name=value.').waitFor()
    await expectAccessibleInEveryLook(page)
    await page.getByLabel('Metadata').fill('order=A-1042')
    await page.getByLabel('Metadata').press('Enter')
    await expectRows(page, 1)
    expect(queryOf(page)).to.deep.equal({ metadata: 'order=A-1042' })
    await page.getByRole('link', { name: '+1****22' }).click()
    const details = page.getByRole('region', { name: 'Details' })
    await details.getByText('A-1042').waitFor()
    await details.getByText(headers.get('x-request-id') ?? '').waitFor()

    await page.getByRole('button', { name: 'Resend' }).click()
    await page.getByText('In test mode it costs nothing.').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Resend' }).click()
    await page.getByText('The code was sent again.').waitFor()
    await page.getByText('Message 2 accepted, by SMS').waitFor()
    await page.getByRole('button', { name: 'Cancel verification' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel verification' }).click()
    await page.getByText('It was canceled.').waitFor()
    expect(await page.getByRole('button', { name: 'Resend' }).count()).to.equal(0)
    expect((await test.status(body.otp_id)).body).to.include({ status: 'canceled' })
  })

  it('are filtered by the address: Back, reload and a shared link show the same list', async () => {
    const { page, test } = await openShop()
    const otps = [await send(test, '+14155560004'), await send(test, '+14155560005'), await send(test, '+447400123456')]
    await test.cancel(otps[0] ?? '')
    await openList(page)
    await expectRows(page, 3)
    await page.getByLabel('Status').selectOption('canceled')
    await expectRows(page, 1)
    await page.getByRole('link', { name: '+1****04' }).waitFor()
    expect(queryOf(page)).to.deep.equal({ status: 'canceled' })
    await page.reload()
    await expectRows(page, 1)
    expect(await page.getByLabel('Status').inputValue()).to.equal('canceled')
    const { name, items } = await exportCsv(page)
    expect(name).to.match(/^verifications-/)
    expect(items.map(({ otp_id, masked_recipient }) => [otp_id, masked_recipient])).to.deep.equal([
      [otps[0], "'+1****04"],
    ])
    await page.getByLabel('Channel').selectOption('Email')
    await page.getByText('No verification matches the filters.').waitFor()
    await page.goBack()
    await expectRows(page, 1)
    await page.goBack()
    await expectRows(page, 3)
    expect(await page.getByLabel('Status').inputValue()).to.equal('')

    await page.getByLabel('Until').fill('2020-01-31T10:00')
    await page.getByLabel('Until').press('Enter')
    await page.getByText('No verification matches the filters.').waitFor()
    // 10:00 in Berlin.
    expect(queryOf(page)).to.deep.equal({ until: '2020-01-31T09:00:00.000Z' })
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await expectRows(page, 3)
    expect(queryOf(page)).to.deep.equal({})
    expect(await page.getByLabel('Until').inputValue()).to.equal('')
  })

  it('page without an end in sight, and Back from a row returns to its page', async () => {
    const { page, test } = await openShop()
    const sendMany = (from: number, to: number) =>
      Promise.all(
        Array.from({ length: to - from }, (_, nth) => send(test, `+141555601${String(from + nth).padStart(2, '0')}`)),
      )
    await sendMany(0, 10)
    await sendMany(10, 60)
    await openList(page)
    await expectRows(page, 50)
    const next = page.getByRole('button', { name: 'Next page' })
    await next.focus()
    await page.keyboard.press('Enter')
    await expectRows(page, 10)
    await page.getByText('Page 2').waitFor()
    await page.getByRole('link', { name: '+1****00' }).click()
    await page.getByRole('heading', { level: 1, name: 'Verification', exact: true }).waitFor()
    await page.goBack()
    await page.getByText('Page 2').waitFor()
    await expectRows(page, 10)
    await page.getByRole('button', { name: 'Previous page' }).click()
    await expectRows(page, 50)
  })

  it('of another app are found with the switch "All apps"', async () => {
    const shop = await openShop()
    const other = await addWarehouse(shop)
    const found = await send(other.caller, '+14155560006')
    const foreign = await send((await openShop()).test, '+14155560006')
    const { page } = await open.user(shop.countersign, shop.company, 'viewer')
    await openList(page, `/a/${shop.app}/verifications`)
    await searchField(page).fill('+1 415 556 0006')
    await page.getByRole('button', { name: 'Search', exact: true }).click()
    await page.getByText('No verification of this recipient was found.').waitFor()
    await expectAccessibleInEveryLook(page)
    await page.getByRole('button', { name: 'Search all apps' }).click()
    await expectRows(page, 1)
    await page.getByRole('cell', { name: 'Warehouse' }).waitFor()
    expect(await page.getByRole('switch', { name: 'All apps' }).isChecked()).to.equal(true)
    await page.getByRole('link', { name: '+1****06' }).click()
    await page.getByText('The code arrived').waitFor()
    expect(new URL(page.url()).pathname).to.equal(`/a/${other.app}/verifications/${found}`)
    // A link that names another app of the company, or none, leads to the verification's own.
    for (const address of [`/a/${shop.app}/verifications/${found}?from=mail`, `/verifications/${found}?from=mail`]) {
      await page.goto(address)
      await page.waitForURL(`**/a/${other.app}/verifications/${found}?from=mail`)
      await page.getByText('The code arrived').waitFor()
    }
    // Of another company.
    await page.goto(`/verifications/${foreign}`)
    await page.getByText('There is no verification with this id.').waitFor()
    await expectAccessibleInEveryLook(page)
  })

  it('give way to the list when another company or app is chosen on the page of one', async () => {
    const rival = await openShop()
    const shop = await openShop()
    const { page, app, company, test } = shop
    const warehouse = (await addWarehouse(shop)).app
    const [own, theirs] = [await send(test, '+14155560006'), await send(rival.test, '+14155560006')]
    const openOne = async (): Promise<void> => {
      await page.goto(`/verifications/${own}`)
      await page.getByText('The code arrived').waitFor()
    }
    await openOne()
    await page.getByLabel('Company').selectOption(rival.company)
    await page.locator(`a[href="/a/${rival.app}/verifications/${theirs}"]`).waitFor()
    await expectRows(page, 1)
    await page.getByLabel('Company').selectOption(company)
    await page.locator(`a[href="/a/${app}/verifications/${own}"]`).waitFor()

    await openOne()
    await page.getByLabel('App', { exact: true }).selectOption(warehouse)
    await page.getByText('No verification of Warehouse is on record.').waitFor()
    expect(new URL(page.url()).pathname).to.equal(`/a/${warehouse}/verifications`)
  })

  it('that were refused say why, and what to do', async () => {
    const { page, test } = await openShop()
    expect((await test.send('+15005550003')).body.type).to.equal('GeoBlockedError')
    expect((await test.send('+15005550006')).body.type).to.equal('RateLimitExceededError')
    const request_id = (await test.send('+15005550004')).headers.get('x-request-id') ?? ''
    await openList(page)
    // A send that was refused is no verification: the search says where it is.
    await searchField(page).fill('+1 500 555 0003')
    await searchField(page).press('Enter')
    const refusals = page.getByRole('table', { name: 'Refusals' }).locator('tbody tr')
    await eventually(async () => {
      await page.reload()
      await page.getByRole('link', { name: 'See why' }).click({ timeout: 2_000 })
    })
    await refusals.getByText('Country blocked.').waitFor()
    expect(queryOf(page)).to.deep.equal({ tab: 'refusals', recipient: '+1 500 555 0003' })
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await eventually(async () => expect(await refusals.count()).to.equal(3))
    await expectAccessibleInEveryLook(page)
    await page.getByLabel('Type').selectOption('InsufficientFundsError')
    await eventually(async () => expect(await refusals.count()).to.equal(1))
    await refusals.getByRole('link', { name: 'Open Money' }).waitFor()
    await refusals.getByRole('button', { name: 'Copy' }).click()
    await page.getByText('Copied').waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).to.equal(request_id)

    await page.getByRole('tab', { name: 'Refusals' }).press('ArrowLeft')
    await page
      .getByRole('table', { name: 'Verifications' })
      .or(page.getByText('No verification of Shop is on record.'))
      .waitFor()
    expect(await page.getByRole('tab', { name: 'Verifications' }).getAttribute('aria-selected')).to.equal('true')
    await page.goBack()
    expect(await page.getByRole('tab', { name: 'Refusals' }).getAttribute('aria-selected')).to.equal('true')
  })
})

async function expectRows(page: Page, count: number): Promise<void> {
  await eventually(async () => expect(await rowsOf(page).count()).to.equal(count))
}
