// Verifications in a real browser: a support person finds why a code did not arrive.
import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { type Caller, createCaller } from '../support/api-caller.ts'
import { describeInBrowserOnce, expectAccessible, exportCsv, LOOKS, type OpenDashboard } from '../support/browser.ts'
import type { Countersign, StartCountersign } from '../support/countersign.ts'
import { eventually } from '../support/eventually.ts'
import { startTwilio, type Twilio, twilioError } from '../support/vendors/twilio.ts'

const LIVE_KEY = 'sk_live_0123456789abcdef'
const TEST_KEY = 'sk_test_0123456789abcdef'
const OTHER_KEY = 'sk_test_fedcba9876543210'
const RIVAL_KEY = 'sk_test_00112233445566778899'
const SETTINGS = {
  routing: { default: ['sms'] },
  limits: { app_without_client_ip: [{ max: 100_000, seconds: 60 }] },
}

interface Shop {
  countersign: Countersign
  main: Twilio
  backup: Twilio
  live: Caller
  test: Caller
  /** Of another app of the same company. */
  other: Caller
  /** Of another company. */
  rival: Caller
}

/** Call it in a suite. Answers a function that starts a company with two apps, whose providers are on loopback, and another company. */
function useShop(start: StartCountersign): () => Promise<Shop> {
  const vendors: Twilio[] = []
  afterEach(() => Promise.all(vendors.splice(0).map(vendor => vendor.close())))
  return async () => {
    // Receipts come to this address; where Countersign listens is known only after its start.
    const publicUrl = 'https://otp.example'
    let url = ''
    const route = (to: string): string => to.replace(publicUrl, url)
    const [main, backup] = [await startTwilio({ route }), await startTwilio({ route })]
    vendors.push(main, backup)
    const provider = (name: string, { account_sid, auth_token, url: base_url }: Twilio) => ({
      name,
      channel: 'sms',
      type: 'twilio',
      config: { account_sid, auth_token, base_url, from: '+15550001111' },
    })
    const shop = {
      id: 'app_shop',
      name: 'Shop',
      settings: SETTINGS,
      keys: [
        { id: 'key_live', key: LIVE_KEY },
        { id: 'key_test', key: TEST_KEY },
      ],
      providers: [provider('twilio-main', main), provider('twilio-backup', backup)],
    }
    const warehouse = {
      id: 'app_warehouse',
      name: 'Warehouse',
      settings: SETTINGS,
      keys: [{ id: 'key_c', key: OTHER_KEY }],
    }
    const rival = { id: 'app_rival', name: 'Rival', settings: SETTINGS, keys: [{ id: 'key_d', key: RIVAL_KEY }] }
    const countersign = await start({
      env: { ALLOW_PRIVATE_TARGETS: '127.0.0.0/8', CHANNEL_BACKOFF: '100', PUBLIC_URL: publicUrl },
      bootstrap: {
        companies: [
          { id: 'cmp_acme', name: 'Acme', apps: [shop, warehouse] },
          { id: 'cmp_rival', name: 'Rival', apps: [rival] },
        ],
      },
    })
    url = countersign.url
    const caller = (key: string): Caller => createCaller(url, key)
    return {
      countersign,
      main,
      backup,
      live: caller(LIVE_KEY),
      test: caller(TEST_KEY),
      other: caller(OTHER_KEY),
      rival: caller(RIVAL_KEY),
    }
  }
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

describeInBrowserOnce('the verifications', (open, start) => {
  const startShop = useShop(start)

  it('tell a newcomer why a code did not arrive, by the recipient typed with spaces', async () => {
    const { countersign, main, live } = await startShop()
    const message = "The 'To' number is not a valid phone number."
    main.next({ fault: { kind: 'answers', answer: twilioError(400, 21211, message) } })
    const otp_id = await send(live, '+14155560001')
    await waitForDelivery(live, otp_id, 'failed')

    const { page } = await open.operator(countersign)
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
    expect(new URL(page.url()).pathname).to.equal(`/a/app_shop/verifications/${otp_id}`)
    await page.getByRole('button', { name: 'Copy link' }).click()
    await page.getByText('Copied').waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).to.equal(page.url())
    await why.getByRole('link', { name: 'Open Routing' }).click()
    await page.getByRole('heading', { level: 1, name: 'Routing' }).waitFor()
  })

  it('tell that one provider failed and the next delivered', async () => {
    const { countersign, main, backup, live } = await startShop()
    main.next({ fault: { kind: 'busy' } })
    backup.next({ receipts: ['sent', 'delivered'] })
    const otp_id = await send(live, '+14155560002')
    await waitForDelivery(live, otp_id, 'delivered')

    const { page } = await open.operator(countersign)
    await openList(page)
    await searchField(page).fill(` ${otp_id} `)
    await page.getByRole('button', { name: 'Search', exact: true }).click()
    const why = page.getByRole('region', { name: 'Why' })
    await why.getByText('The code arrived').waitFor()
    await why
      .getByText(
        /^The provider twilio-main answered 429 after .*; the provider twilio-backup took it after .*; delivered .*\.$/,
      )
      .waitFor()
    await page.getByText('Message 1: twilio-backup took it').waitFor()
  })

  it('follow a pending verification until it ends', async () => {
    const { countersign, live } = await startShop()
    const otp_id = await send(live, '+14155560003')
    await waitForDelivery(live, otp_id, 'sent')
    const { page } = await open.operator(countersign)
    await page.goto(`/verifications/${otp_id}`)
    await page.getByText(/^The provider twilio-main took it .*no receipt has come yet\.$/).waitFor()
    await live.cancel(otp_id)
    await page.getByText('It was canceled.').waitFor()
    await page.getByRole('region', { name: 'Details' }).getByText('Code valid until', { exact: true }).waitFor()
  })

  it('are found by metadata, sent again and canceled, after a question', async () => {
    // Without a PUBLIC_URL, from whose pages alone a change may come.
    const settings = { ...SETTINGS, resend_cooldown_seconds: [0] }
    const shop = { id: 'app_shop', name: 'Shop', settings, keys: [{ id: 'key_test', key: TEST_KEY }] }
    const countersign = await start({ bootstrap: { companies: [{ id: 'cmp_acme', name: 'Acme', apps: [shop] }] } })
    const test = createCaller(countersign.url, TEST_KEY)
    await send(test, '+14155560021')
    const { body, headers } = await test.send('+14155560022', { metadata: { order: 'A-1042' } })

    const { page } = await open.operator(countersign)
    await openList(page)
    await expectRows(page, 2)
    await page.getByLabel('Metadata').fill('A-1042')
    await page.getByText('Write name=value.').waitFor()
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
    const { countersign, test } = await startShop()
    const otps = [await send(test, '+14155560004'), await send(test, '+14155560005'), await send(test, '+447400123456')]
    await test.cancel(otps[0] ?? '')
    const { page } = await open.operator(countersign)
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

    await page.getByLabel('Country').selectOption('GB')
    await expectRows(page, 1)
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.getByLabel('Until').fill('2020-01-31T10:00')
    await page.getByLabel('Until').press('Enter')
    await page.getByText('No verification matches the filters.').waitFor()
    // 10:00 in Berlin.
    expect(queryOf(page)).to.deep.equal({ until: '2020-01-31T09:00:00.000Z' })
    await page.getByRole('button', { name: 'Show all verifications' }).click()
    await expectRows(page, 3)

    await page.getByLabel('Metadata').fill('order=A-1042')
    await page.getByLabel('Until').fill('2020-01-31T10:00')
    await page.getByLabel('Until').press('Enter')
    await page.getByText('No verification matches the filters.').waitFor()
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await expectRows(page, 3)
    expect(queryOf(page)).to.deep.equal({})
    expect(await page.getByLabel('Until').inputValue()).to.equal('')
    expect(await page.getByLabel('Metadata').inputValue()).to.equal('')
  })

  it('page without an end in sight, and Back from a row returns to its page', async () => {
    const { countersign, test } = await startShop()
    const sendMany = (from: number, to: number) =>
      Promise.all(
        Array.from({ length: to - from }, (_, nth) => send(test, `+141555601${String(from + nth).padStart(2, '0')}`)),
      )
    await sendMany(0, 10)
    await sendMany(10, 60)
    const { page } = await open.operator(countersign)
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

  it('go on where a filter has found nothing yet', async () => {
    const { countersign } = await startShop()
    const { page } = await open.operator(countersign)
    let calls = 0
    await page.route(/\/admin\/v1\/verifications\?/, route => {
      calls += 1
      return route.fulfill({ json: { items: [], next_cursor: calls < 16 ? `c${calls}` : null } })
    })
    await openList(page, '/verifications?status=failed')
    await page.getByText('Nothing on this page yet, there may be more.').waitFor()
    await page.getByRole('button', { name: 'Next page' }).click()
    await page.getByText('Page 2').waitFor()
    await eventually(() => expect(calls).to.equal(16))
    await page.getByText('Nothing on this page yet').waitFor({ state: 'detached' })
  })

  it('of another app are found with the switch "All apps"', async () => {
    const { countersign, other, rival } = await startShop()
    const found = await send(other, '+14155560006')
    const foreign = await send(rival, '+14155560006')
    const { page } = await open.user(countersign, 'cmp_acme', 'viewer')
    await openList(page)
    await searchField(page).fill('+1 415 556 0006')
    await page.getByRole('button', { name: 'Search', exact: true }).click()
    await page.getByText('No verification of this recipient was found.').waitFor()
    await page.getByRole('button', { name: 'Search all apps' }).click()
    await expectRows(page, 1)
    await page.getByRole('cell', { name: 'Warehouse' }).waitFor()
    expect(await page.getByRole('switch', { name: 'All apps' }).isChecked()).to.equal(true)
    await page.getByRole('link', { name: '+1****06' }).click()
    await page.getByText('The code arrived').waitFor()
    expect(new URL(page.url()).pathname).to.equal(`/a/app_warehouse/verifications/${found}`)
    // A link that names another app of the company, or none, leads to the verification's own.
    for (const address of [`/a/app_shop/verifications/${found}?from=mail`, `/verifications/${found}?from=mail`]) {
      await page.goto(address)
      await page.waitForURL(`**/a/app_warehouse/verifications/${found}?from=mail`)
      await page.getByText('The code arrived').waitFor()
    }
    // Of another company.
    await page.goto(`/verifications/${foreign}`)
    await page.getByText('There is no verification with this id.').waitFor()
  })

  it('give way to the list when another company or app is chosen on the page of one', async () => {
    const { countersign, test, rival } = await startShop()
    const [own, theirs] = [await send(test, '+14155560006'), await send(rival, '+14155560006')]
    const { page } = await open.operator(countersign)
    const openOne = async (): Promise<void> => {
      await page.goto(`/verifications/${own}`)
      await page.getByText('The code arrived').waitFor()
    }
    await openOne()
    await page.getByLabel('Company').selectOption('cmp_rival')
    await page.locator(`a[href="/a/app_rival/verifications/${theirs}"]`).waitFor()
    await expectRows(page, 1)
    await page.getByLabel('Company').selectOption('cmp_acme')
    await page.locator(`a[href="/a/app_shop/verifications/${own}"]`).waitFor()

    await openOne()
    await page.getByLabel('App', { exact: true }).selectOption('app_warehouse')
    await page.getByText('No verification of Warehouse is on record.').waitFor()
    expect(new URL(page.url()).pathname).to.equal('/a/app_warehouse/verifications')
  })

  it('that were refused say why, and what to do', async () => {
    const { countersign, test } = await startShop()
    expect((await test.send('+15005550003')).body.type).to.equal('GeoBlockedError')
    expect((await test.send('+15005550006')).body.type).to.equal('RateLimitExceededError')
    const request_id = (await test.send('+15005550004')).headers.get('x-request-id') ?? ''
    const { page } = await open.operator(countersign)
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

describeInBrowserOnce('the verifications, as they look', (open, start) => {
  const startShop = useShop(start)

  for (const { theme, size } of LOOKS)
    it(`are accessible in ${theme}, and fit a ${size}`, async () => {
      const { countersign, live, test } = await startShop()
      const otp_id = await send(live, '+14155560007')
      await waitForDelivery(live, otp_id, 'sent')
      await test.send('+15005550011')
      await test.send('+15005550003')
      await expectAllAccessible(open, countersign, { theme, size, otp_id })
    })
})

async function expectAllAccessible(
  open: OpenDashboard,
  countersign: Countersign,
  { theme, size, otp_id }: { theme: 'light' | 'dark'; size: 'desktop' | 'phone'; otp_id: string },
): Promise<void> {
  const { page } = await open.operator(countersign, { theme, size })
  const screens = [
    ['/verifications', () => page.getByRole('link', { name: '+1****07' })],
    ['/verifications?tab=refusals', () => page.getByText('Country blocked.')],
    ['/verifications?recipient=none', () => page.getByText('No verification of this recipient')],
    [`/verifications/${otp_id}`, () => page.getByRole('region', { name: 'Why' })],
    ['/verifications/otp_none', () => page.getByText('There is no verification with this id.')],
  ] as const
  for (const [address, shown] of screens) {
    await page.goto(address)
    await shown().waitFor()
    await expectAccessible(page)
    const overflow = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
    expect(overflow, `${address} on a ${size}`).to.be.at.most(0)
  }
}
