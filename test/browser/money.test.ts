// Money in a real browser: credit, ledger, prices and reconciliation.
import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { MORE_ROWS } from '../../infra/csv.ts'
import { createCaller } from '../support/api-caller.ts'
import {
  describeInBrowser,
  expectAccessibleInEveryLook,
  exportCsv,
  type OpenDashboard,
  type ShopViewer,
} from '../support/browser.ts'
import { eventually } from '../support/eventually.ts'

/** Prices are those of the deployment, which the tests share. */
async function openShop(open: OpenDashboard, prices: object[] = []): Promise<ShopViewer> {
  const viewer = await open.shop()
  await setPrices(viewer, prices)
  return viewer
}

const setPrices = async ({ admin }: Pick<ShopViewer, 'admin'>, prices: object[]): Promise<void> => {
  expect((await admin('PUT', '/prices', { prices })).status).to.equal(200)
}

const creditByApi = ({ admin, company }: ShopViewer) =>
  admin('POST', `/companies/${company}/credit`, { micros: 1_000_000, note: 'Invoice 17' })

/** The sandbox is a provider of live mode here, so that sends cost money and reach no phone. Answers a live key. */
async function goLive({ admin, app }: ShopViewer): Promise<string> {
  await admin('PUT', `/apps/${app}/providers/box`, { channel: 'sms', type: 'sandbox', config: {} })
  return (await admin('POST', `/apps/${app}/keys`, { kind: 'server', mode: 'live' })).body.key
}

async function openMoney(page: Page): Promise<void> {
  await page.goto('/money')
  await page.getByRole('region', { name: 'Balance' }).waitFor()
}

const ledgerRows = (page: Page) => page.getByRole('table', { name: 'Ledger' }).locator('tbody tr')

async function expectTimesIn(page: Page, timeZone: string): Promise<void> {
  await page.getByRole('columnheader', { name: `Time (${timeZone})` }).waitFor()
  const time = ledgerRows(page).locator('time').first()
  const options = { dateStyle: 'medium', timeStyle: 'medium', timeZone } as const
  const at = (await time.getAttribute('datetime')) ?? ''
  const shown = await page.evaluate(([at, options]) => new Date(at).toLocaleString(undefined, options), [
    at,
    options,
  ] as const)
  await eventually(async () => expect(await time.innerText()).to.equal(shown))
}
const plain = (text: string): string => text.replaceAll('\u202f', ' ')

async function credit(page: Page, amount: string, note = 'a transfer'): Promise<void> {
  await page.getByRole('button', { name: 'Credit', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Credit Demo' })
  await dialog.getByLabel('Amount').fill(amount)
  await dialog.getByLabel('Note').fill(note)
  await dialog.getByRole('button', { name: 'Continue' }).click()
}

describeInBrowser('the money of a company', open => {
  it('is credited after a look at the new balance, and stands in the ledger', async () => {
    const { page } = await openShop(open)
    await openMoney(page)
    await credit(page, '1,5')
    const dialog = page.getByRole('dialog', { name: 'Credit Demo' })
    await dialog.getByText('Use a point for decimals and no commas').waitFor()
    await dialog.getByLabel('Amount').fill('1250.5')
    await dialog.getByLabel('Note').fill('Invoice 17')
    await dialog.getByLabel('Note').press('Enter')
    await dialog.getByText('New balance').waitFor()
    expect(plain(await dialog.locator('strong').innerText())).to.equal('1 250.50')
    await expectAccessibleInEveryLook(page)
    await dialog.getByRole('button', { name: 'Enter credit' }).click()
    await dialog.waitFor({ state: 'detached' })
    const balance = page.getByRole('region', { name: 'Balance' })
    await eventually(async () => expect(plain(await balance.innerText())).to.include('1 250.50'))
    await eventually(async () => expect(plain(await ledgerRows(page).innerText())).to.match(/Credit\s+\+1 250\.50\s/))
    await ledgerRows(page).getByText('Invoice 17').waitFor()

    await credit(page, '-0.5')
    await dialog.getByRole('button', { name: 'Enter credit' }).click()
    await page.getByRole('cell', { name: 'Credit taken back' }).waitFor()
    const { name, items } = await exportCsv(page)
    expect(name).to.match(/^ledger-\d{4}-\d\d-\d\d\.csv$/)
    expect(items.map(({ micros, note }) => [micros, note])).to.deep.equal([
      ['-500000', 'a transfer'],
      ['1250500000', 'Invoice 17'],
    ])

    // As where the list is longer than a file.
    await page.route('**/companies/*/ledger', (route, request) =>
      request.headers().accept === 'text/csv' ? route.continue({ url: `${request.url()}?limit=1` }) : route.continue(),
    )
    const [newest, cut] = (await exportCsv(page)).items
    expect([newest?.micros, cut?.id]).to.deep.equal(['-500000', MORE_ROWS])
    await page.getByText('The list is longer than a file.').waitFor()
    const rest = await exportCsv(page, 'Next file')
    expect(rest.items.map(({ note }) => note)).to.deep.equal(['Invoice 17'])
    await page.getByRole('button', { name: 'Next file' }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Export CSV' }).and(page.locator(':focus')).waitFor()
    await page.unrouteAll()
    await credit(page, '-2000')
    await dialog.getByText('That is more than there is to take back.').waitFor()
  })

  it('is credited once when the answer was lost and the dialog is opened anew, also in a page that was loaded again', async () => {
    const { page, admin, company } = await openShop(open)
    const balance = async () => (await admin('GET', `/companies/${company}`)).body.balance
    const dialog = page.getByRole('dialog', { name: 'Credit Demo' })
    const loseAnswer = async (): Promise<void> => {
      await dialog.getByRole('button', { name: 'Enter credit' }).click()
      await dialog.getByText('Countersign cannot be reached.').waitFor()
      await dialog.getByRole('button', { name: 'Close' }).click()
    }
    await openMoney(page)
    await page.route('**/companies/*/credit', async route => {
      await route.fetch()
      await route.abort()
    })
    await credit(page, '10', 'Invoice 17')
    await loseAnswer()
    await credit(page, '10', 'Invoice 17')
    await loseAnswer()
    expect(await balance()).to.equal(10_000_000)

    await page.reload()
    await page.unrouteAll()
    await page.getByRole('button', { name: 'Credit', exact: true }).click()
    await dialog.getByText('its answer did not come').waitFor()
    expect(await dialog.getByLabel('Amount').inputValue()).to.equal('10.00')
    expect(await dialog.getByLabel('Note').inputValue()).to.equal('Invoice 17')
    await dialog.getByRole('button', { name: 'Continue' }).click()
    await dialog.getByRole('button', { name: 'Enter credit' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect(await balance()).to.equal(10_000_000)

    await page.getByRole('button', { name: 'Credit', exact: true }).click()
    expect(await dialog.getByLabel('Amount').inputValue(), 'the answer is known').to.equal('')
  })

  it('is forgotten when a refusal says that it was not entered', async () => {
    const { page } = await openShop(open)
    const dialog = page.getByRole('dialog', { name: 'Credit Demo' })
    const refusedWith = async (status: number): Promise<void> => {
      await page.unrouteAll()
      await page.route('**/companies/*/credit', route =>
        status === 0
          ? route.abort()
          : route.fulfill({ status, json: { type: 'ValidationError', detail: `No: ${status}` } }),
      )
      await dialog.getByRole('button', { name: 'Enter credit' }).click()
      await dialog.getByText(status === 0 ? 'Countersign cannot be reached.' : `No: ${status}`).waitFor()
    }
    await openMoney(page)
    await credit(page, '10')
    await refusedWith(429)
    await dialog.getByRole('button', { name: 'Back' }).click()
    expect(await dialog.getByText('its answer did not come').count(), 'the only call was refused').to.equal(0)
    await dialog.getByRole('button', { name: 'Continue' }).click()
    await refusedWith(0)
    await refusedWith(429)
    await dialog.getByRole('button', { name: 'Back' }).click()
    await dialog.getByText('its answer did not come').waitFor()
    await dialog.getByRole('button', { name: 'Continue' }).click()
    await refusedWith(422)
    await dialog.getByRole('button', { name: 'Back' }).click()
    expect(await dialog.getByText('its answer did not come').count(), 'the server looked for it').to.equal(0)
  })

  it('is charged by prices that an operator has just set, and the books agree', async () => {
    const viewer = await openShop(open)
    const { page, admin, app, countersign } = viewer
    await creditByApi(viewer)
    await admin('PATCH', `/apps/${app}`, { settings: { routing: { default: ['sms'] } } })
    const key = await goLive(viewer)
    await openMoney(page)
    await page.getByRole('button', { name: 'Edit prices' }).click()
    await page.getByLabel('SMS, Every other country').fill('zero')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Enter an amount in digits').waitFor()
    await expectAccessibleInEveryLook(page)
    await page.getByLabel('SMS, Every other country').fill('0.09')
    await page.getByLabel('Add a country').selectOption('US')
    await page.getByLabel('SMS, United States (US)').fill('0.0405')
    await page.getByText('2 prices change').waitFor()
    await page.getByLabel('Add a country').selectOption('GB')
    await page.getByRole('button', { name: 'Remove United Kingdom (GB)' }).click()
    await page.getByLabel('Add a country').and(page.locator(':focus')).waitFor()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The prices were saved.').waitFor()
    await page.getByRole('row', { name: /^United States \(US\)\s+0\.0405/ }).waitFor()
    await page.getByRole('button', { name: 'Edit prices' }).waitFor()

    const { status, body, text } = await createCaller(countersign.url, key).send('+14155560001')
    expect(status, text).to.equal(200)
    await page.reload()
    const charged = ledgerRows(page).filter({ hasText: 'Charged for a message' })
    await charged.getByText('−0.0405').waitFor()
    await charged.getByText('0.9595').waitFor()
    const statement = page.getByRole('region', { name: 'Statement' })
    await statement.getByRole('row', { name: /US.*0\.0405.*1: −0\.0405/ }).waitFor()
    // The browser is elsewhere than the company.
    await expectTimesIn(page, 'UTC')
    await statement.getByLabel('Time zone').selectOption('Pacific/Honolulu')
    await statement.getByText('in the time zone Pacific/Honolulu').waitFor()
    await expectTimesIn(page, 'Pacific/Honolulu')
    await page.getByRole('button', { name: 'Check the books' }).click()
    await page
      .getByText(
        'Everything adds up: 2 entries come to 0.9595, which is the balance, and 1 paid message has the right charge.',
      )
      .waitFor()
    await expectAccessibleInEveryLook(page)
    await charged.getByRole('link', { name: 'Verification' }).click()
    await page.getByRole('heading', { level: 1, name: 'Verification', exact: true }).waitFor()
    expect(new URL(page.url()).pathname).to.equal(`/a/${app}/verifications/${body.otp_id}`)
  })

  it('shows prices that are scheduled, has them withdrawn, and shows an owner who changed what', async () => {
    const { page, admin } = await openShop(open, [{ channel: 'sms', country: '*', micros: 90_000 }])
    await openMoney(page)
    await page.getByRole('button', { name: 'Edit prices' }).click()
    await page.getByLabel('SMS, Every other country').fill('0.08')
    await page.getByLabel('Changes hold from').fill('2020-01-01T00:00')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Choose a time in the future').waitFor()
    await page.getByLabel('Changes hold from').fill('2099-01-01T00:00')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The changes hold from the time that you chose.').waitFor()
    const scheduled = page.getByRole('table', { name: 'Scheduled prices' })
    await scheduled.getByRole('row', { name: /2099.*Every other country.*SMS.*0\.08/ }).waitFor()
    expect((await admin('GET', '/prices')).body.items).to.have.length(2)
    await page.getByRole('row', { name: /SMS, Every other country: none → 0\.08 from .*2099/ }).waitFor()

    await page.getByRole('button', { name: 'Edit prices' }).click()
    await page.getByRole('button', { name: 'Withdraw SMS, Every other country' }).click()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The prices were saved. They apply').waitFor()
    expect((await admin('GET', '/prices')).body.items).to.deep.equal([{ channel: 'sms', country: '*', micros: 90_000 }])
    await page.getByRole('row', { name: /SMS, Every other country: 0\.08 → none from .*2099/ }).waitFor()
  })

  it('asks before prices are saved that cut companies off, and says how many', async () => {
    const viewer = await openShop(open)
    const { page, admin } = viewer
    await goLive(viewer)
    const prices = async () => (await admin('GET', '/prices')).body.items
    await openMoney(page)
    await page.getByRole('button', { name: 'Edit prices' }).click()
    await page.getByLabel('SMS, Every other country').fill('0.09')
    await page.getByRole('button', { name: 'Save' }).click()
    const dialog = page.getByRole('dialog', { name: /^Cut off \d+ compan/ })
    await dialog.getByText(/^The balance of \d+ of \d+ compan.* not pay for messages at these prices\./).waitFor()
    await dialog.getByRole('button', { name: 'Keep editing' }).click()
    expect(await prices()).to.deep.equal([])
    expect(await page.getByLabel('SMS, Every other country').inputValue()).to.equal('0.09')
    await page.getByRole('button', { name: 'Save' }).click()
    await dialog.getByRole('button', { name: 'Save prices' }).click()
    await page.getByText('The prices were saved.').waitFor()
    expect(await prices()).to.deep.equal([{ channel: 'sms', country: '*', micros: 90_000 }])
  })

  it('keeps edits of the prices under another company, until they are left', async () => {
    const { page, admin } = await openShop(open)
    const other = (await admin('POST', '/companies', { name: 'Globex' })).body.id
    await openMoney(page)
    await page.getByRole('button', { name: 'Edit prices' }).click()
    const field = page.getByLabel('SMS, Every other country')
    await field.fill('0.09')
    await page.getByRole('combobox', { name: 'Company' }).selectOption(other)
    await page.getByText('what Globex has left').waitFor()
    expect(await field.inputValue()).to.equal('0.09')
    await page.getByText('1 price changes').waitFor()

    await page.getByRole('link', { name: 'Team', exact: true }).click()
    await page.getByRole('button', { name: 'Leave without saving' }).click()
    await page.getByRole('heading', { level: 1, name: 'Team' }).waitFor()
    await openMoney(page)
    await page.getByText('Every message is free.').waitFor()
    expect(await field.count()).to.equal(0)
  })

  it('does not overwrite prices that another operator has saved meanwhile', async () => {
    const prices = [
      { channel: 'sms', country: '*', micros: 90_000 },
      { channel: 'sms', country: 'GB', micros: 40_000 },
    ]
    const { page, admin } = await openShop(open, prices)
    await openMoney(page)
    await page.getByRole('button', { name: 'Edit prices' }).click()
    await page.getByLabel('SMS, United Kingdom (GB)').fill('0.05')
    const theirs = [
      { channel: 'sms', country: '*', micros: 80_000 },
      { channel: 'email', country: '*', micros: 1_000 },
    ]
    await admin('PUT', '/prices', { prices: theirs })
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The prices have changed since you began').waitFor()
    expect((await admin('GET', '/prices')).body.items).to.have.deep.members(theirs)
    expect(await page.getByLabel('SMS, Every other country').inputValue()).to.equal('0.08')
    expect(await page.getByLabel('SMS, United Kingdom (GB)').inputValue()).to.equal('0.05')

    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The prices were saved.').waitFor()
    expect((await admin('GET', '/prices')).body.items).to.have.deep.members([
      ...theirs,
      { channel: 'sms', country: 'GB', micros: 50_000 },
    ])
  })

  it('has a threshold, set and removed by an owner, below which owners are told', async () => {
    const { page } = await open.member('owner')
    await openMoney(page)
    await page.getByText('Nobody is told when the balance is low.').waitFor()
    const dialog = page.getByRole('dialog', { name: 'Low-balance notice' })
    const field = dialog.getByLabel('Tell owners below')
    const save = async (amount: string): Promise<void> => {
      await field.fill(amount)
      await dialog.getByRole('button', { name: 'Save' }).click()
    }
    const openDialog = () => page.getByRole('button', { name: 'Set low-balance notice' }).click()
    await openDialog()
    await save('0')
    await dialog.getByText('The amount must be above zero.').waitFor()
    await save('12.5')
    const balance = page.getByRole('region', { name: 'Balance' })
    await balance.getByText('Owners are told when the balance is below 12.50.').waitFor()
    await openDialog()
    expect(await field.inputValue()).to.equal('12.50')
    await save('')
    await balance.getByText('Nobody is told when the balance is low.').waitFor()
  })
})
