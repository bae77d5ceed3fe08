// Money in a real browser: credit, ledger, prices and reconciliation.
import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { MORE_ROWS } from '../../infra/csv.ts'
import { createCaller } from '../support/api-caller.ts'
import { describeInBrowserOnce, expectAccessible, exportCsv, LOOKS } from '../support/browser.ts'
import type { Countersign, StartCountersign } from '../support/countersign.ts'
import { eventually } from '../support/eventually.ts'

const LIVE_KEY = 'sk_live_0123456789abcdef'

/** The sandbox is a provider of live mode here, so that sends cost money and reach no phone. */
const startShop = (start: StartCountersign, bootstrap: object = {}): Promise<Countersign> =>
  start({
    bootstrap: {
      companies: [
        {
          id: 'cmp_acme',
          name: 'Acme',
          apps: [
            {
              id: 'app_shop',
              name: 'Shop',
              settings: { routing: { default: ['sms'] } },
              keys: [{ id: 'key_live', key: LIVE_KEY }],
              providers: [{ name: 'box', channel: 'sms', type: 'sandbox', config: {} }],
            },
          ],
        },
      ],
      ...bootstrap,
    },
  })

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
  const dialog = page.getByRole('dialog', { name: 'Credit Acme' })
  await dialog.getByLabel('Amount').fill(amount)
  await dialog.getByLabel('Note').fill(note)
  await dialog.getByRole('button', { name: 'Continue' }).click()
}

describeInBrowserOnce('the money of a company', (open, start) => {
  it('says that free messages and a balance of zero are as they should be', async () => {
    const { page } = await open.operator(await startShop(start))
    await openMoney(page)
    await page.getByText('Messages are free here').waitFor()
    await page.getByText('Every message is free.').waitFor()
    await page.getByText('The ledger is empty.').waitFor()
  })

  it('is credited after a look at the new balance, and stands in the ledger', async () => {
    const { page } = await open.operator(await startShop(start))
    await openMoney(page)
    await credit(page, '1,5')
    const dialog = page.getByRole('dialog', { name: 'Credit Acme' })
    await dialog.getByText('Use a point for decimals and no commas').waitFor()
    await dialog.getByLabel('Amount').fill('1250.5')
    await dialog.getByLabel('Note').fill('Invoice 17')
    await dialog.getByLabel('Note').press('Enter')
    await dialog.getByText('New balance').waitFor()
    expect(plain(await dialog.locator('strong').innerText())).to.equal('1 250.50')
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
    await page.route('**/companies/cmp_acme/ledger', (route, request) =>
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

  it('is credited once when the answer was lost and the viewer goes back', async () => {
    const { page, admin } = await open.operator(await startShop(start))
    await openMoney(page)
    await page.route('**/companies/cmp_acme/credit', async route => {
      await route.fetch()
      await route.abort()
    })
    await credit(page, '10', 'Invoice 17')
    const dialog = page.getByRole('dialog', { name: 'Credit Acme' })
    await dialog.getByRole('button', { name: 'Enter credit' }).click()
    await dialog.getByText('Countersign cannot be reached.').waitFor()
    await page.unrouteAll()
    await dialog.getByRole('button', { name: 'Back' }).click()
    await dialog.getByRole('button', { name: 'Continue' }).click()
    await dialog.getByRole('button', { name: 'Enter credit' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect((await admin('GET', '/companies/cmp_acme')).body.balance).to.equal(10_000_000)

    await credit(page, '10', 'Invoice 17')
    await dialog.getByRole('button', { name: 'Enter credit' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect((await admin('GET', '/companies/cmp_acme')).body.balance, 'another credit').to.equal(20_000_000)
  })

  it('is credited once when the answer was lost and the dialog is opened anew, also in a page that was loaded again', async () => {
    const { page, admin } = await open.operator(await startShop(start))
    const balance = async () => (await admin('GET', '/companies/cmp_acme')).body.balance
    const dialog = page.getByRole('dialog', { name: 'Credit Acme' })
    const loseAnswer = async (): Promise<void> => {
      await dialog.getByRole('button', { name: 'Enter credit' }).click()
      await dialog.getByText('Countersign cannot be reached.').waitFor()
      await dialog.getByRole('button', { name: 'Close' }).click()
    }
    await openMoney(page)
    await page.route('**/companies/cmp_acme/credit', async route => {
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

  it('is credited once when the answer was lost and the next try is refused before the server looks for the credit', async () => {
    const { page, admin } = await open.operator(await startShop(start))
    const dialog = page.getByRole('dialog', { name: 'Credit Acme' })
    const enter = dialog.getByRole('button', { name: 'Enter credit' })
    await openMoney(page)
    await page.route('**/companies/cmp_acme/credit', async route => {
      await route.fetch()
      await route.abort()
    })
    await credit(page, '10', 'Invoice 17')
    await enter.click()
    await dialog.getByText('Countersign cannot be reached.').waitFor()
    await page.unrouteAll()
    await page.route('**/companies/cmp_acme/credit', route =>
      route.fulfill({ status: 403, json: { type: 'StepUpRequiredError', detail: 'Prove it.', step_up: ['token'] } }),
    )
    await enter.click()
    await page.getByRole('dialog', { name: 'Is it still you?' }).getByRole('button', { name: 'Cancel' }).click()
    await dialog.getByText('You did not prove again who you are, so nothing was changed.').waitFor()
    await page.unrouteAll()
    await enter.click()
    await dialog.waitFor({ state: 'detached' })
    expect((await admin('GET', '/companies/cmp_acme')).body.balance).to.equal(10_000_000)
  })

  it('is forgotten when a refusal says that it was not entered', async () => {
    const { page } = await open.operator(await startShop(start))
    const dialog = page.getByRole('dialog', { name: 'Credit Acme' })
    const refusedWith = async (status: number): Promise<void> => {
      await page.unrouteAll()
      await page.route('**/companies/cmp_acme/credit', route =>
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
    const countersign = await startShop(start)
    const { page, admin } = await open.operator(countersign)
    await admin('POST', '/companies/cmp_acme/credit', { micros: 1_000_000, note: 'a transfer' })
    await openMoney(page)
    await page.getByRole('button', { name: 'Edit prices' }).click()
    await page.getByLabel('SMS, Every other country').fill('zero')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Enter an amount in digits').waitFor()
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

    const { status, body, text } = await createCaller(countersign.url, LIVE_KEY).send('+14155560001')
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
    await charged.getByRole('link', { name: 'Verification' }).click()
    await page.getByRole('heading', { level: 1, name: 'Verification', exact: true }).waitFor()
    expect(new URL(page.url()).pathname).to.equal(`/a/app_shop/verifications/${body.otp_id}`)
  })

  it('says of a message that was erased, and stays paid that it stays paid', async () => {
    const countersign = await startShop(start, { prices: [{ channel: 'sms', country: '*', micros: 40_000 }] })
    const { page, admin } = await open.operator(countersign)
    await admin('POST', '/companies/cmp_acme/credit', { micros: 1_000_000, note: 'a transfer' })
    const { body } = await createCaller(countersign.url, LIVE_KEY).send('+14155560001')
    await eventually(async () => {
      const { deliveries } = (await admin('GET', `/verifications/${body.otp_id}`)).body
      expect(deliveries[0].status).not.to.equal('queued')
    })
    await admin('POST', '/apps/app_shop/erase', { recipient: '+14155560001' })
    await openMoney(page)
    await ledgerRows(page)
      .filter({ hasText: 'Stays paid: the message was sent, and erased later' })
      .getByText('erased, and stays paid', { exact: true })
      .waitFor()
  })

  it('shows prices that are scheduled, has them withdrawn, and shows an owner who changed what', async () => {
    const countersign = await startShop(start)
    const { page, admin } = await open.operator(countersign)
    await admin('PUT', '/prices', { prices: [{ channel: 'sms', country: '*', micros: 90_000 }] })
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
    const { page, admin } = await open.operator(await startShop(start))
    const prices = async () => (await admin('GET', '/prices')).body.items
    await openMoney(page)
    await page.getByRole('button', { name: 'Edit prices' }).click()
    await page.getByLabel('SMS, Every other country').fill('0.09')
    await page.getByRole('button', { name: 'Save' }).click()
    const dialog = page.getByRole('dialog', { name: 'Cut off 1 company?' })
    await dialog.getByText('The balance of 1 of 1 company does not pay for messages at these prices.').waitFor()
    await expectAccessible(page)
    await dialog.getByRole('button', { name: 'Keep editing' }).click()
    expect(await prices()).to.deep.equal([])
    expect(await page.getByLabel('SMS, Every other country').inputValue()).to.equal('0.09')
    await page.getByRole('button', { name: 'Save' }).click()
    await dialog.getByRole('button', { name: 'Save prices' }).click()
    await page.getByText('The prices were saved.').waitFor()
    expect(await prices()).to.deep.equal([{ channel: 'sms', country: '*', micros: 90_000 }])
  })

  it('keeps edits of the prices: asks before a link is followed, and shows them again under another company', async () => {
    const { page, admin } = await open.operator(await startShop(start))
    await admin('POST', '/companies', { name: 'Globex' })
    await openMoney(page)
    await page.getByRole('button', { name: 'Edit prices' }).click()
    const field = page.getByLabel('SMS, Every other country')
    await field.fill('0.09')
    const question = page.getByRole('dialog', { name: 'Leave without saving?' })
    await page.getByRole('link', { name: 'Team', exact: true }).click()
    await question.getByRole('button', { name: 'Stay' }).click()
    expect(await field.inputValue()).to.equal('0.09')

    await page.getByRole('combobox', { name: 'Company' }).selectOption('Globex')
    await page.getByText('what Globex has left').waitFor()
    expect(await field.inputValue()).to.equal('0.09')
    await page.getByText('1 price changes').waitFor()

    await page.getByRole('link', { name: 'Team', exact: true }).click()
    await question.getByRole('button', { name: 'Leave without saving' }).click()
    await page.getByRole('heading', { level: 1, name: 'Team' }).waitFor()
    await openMoney(page)
    await page.getByText('Every message is free.').waitFor()
    expect(await field.count()).to.equal(0)
  })

  it('leaves once the prices are saved, also where they cut companies off', async () => {
    const { page, admin } = await open.operator(await startShop(start))
    await openMoney(page)
    await page.getByRole('button', { name: 'Edit prices' }).click()
    await page.getByLabel('SMS, Every other country').fill('0.09')
    await page.getByRole('link', { name: 'Team', exact: true }).click()
    await page.getByRole('button', { name: 'Save and leave' }).click()
    const dialog = page.getByRole('dialog', { name: 'Cut off 1 company?' })
    await dialog.getByRole('button', { name: 'Keep editing' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Team', exact: true }).click()
    await page.getByRole('button', { name: 'Save and leave' }).click()
    await dialog.getByRole('button', { name: 'Save prices' }).click()
    await page.getByRole('heading', { level: 1, name: 'Team' }).waitFor()
    expect((await admin('GET', '/prices')).body.items).to.deep.equal([{ channel: 'sms', country: '*', micros: 90_000 }])
  })

  it('names what differs when the books do not agree', async () => {
    const countersign = await startShop(start)
    const { page, admin } = await open.operator(countersign)
    await admin('POST', '/companies/cmp_acme/credit', { micros: 1_000_000, note: 'a transfer' })
    await countersign.engines.store
      .docs('companies')
      .update([{ ids: ['cmp_acme'], update: { $set: { balance: 2_500_000 } } }])
    await openMoney(page)
    await page.getByRole('button', { name: 'Check the books' }).click()
    await page.getByText('1 contradiction was found.').waitFor()
    await page.getByText('The balance is 2.50, and its entries come to 1.00.').waitFor()
  })

  it('does not overwrite prices that another operator has saved meanwhile', async () => {
    const prices = [
      { channel: 'sms', country: '*', micros: 90_000 },
      { channel: 'sms', country: 'GB', micros: 40_000 },
    ]
    const { page, admin } = await open.operator(await startShop(start, { prices }))
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

    // Another PUT is under way.
    await page.route('**/admin/v1/prices', (route, request) =>
      request.method() === 'PUT'
        ? route.fulfill({ status: 409, json: { type: 'HTTPException', title: 'Conflict', status: 409 } })
        : route.continue(),
    )
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Another change of the prices is under way, so nothing was saved.').waitFor()
    await page.unrouteAll()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The prices were saved.').waitFor()
    expect((await admin('GET', '/prices')).body.items).to.have.deep.members([
      ...theirs,
      { channel: 'sms', country: 'GB', micros: 50_000 },
    ])
  })

  it('does not overwrite prices that another operator has saved while the question was open', async () => {
    const { page, admin } = await open.operator(await startShop(start))
    await openMoney(page)
    await page.getByRole('button', { name: 'Edit prices' }).click()
    await page.getByLabel('SMS, Every other country').fill('0.09')
    await page.getByRole('button', { name: 'Save' }).click()
    const dialog = page.getByRole('dialog', { name: 'Cut off 1 company?' })
    await dialog.waitFor()
    const theirs = { channel: 'email', country: '*', micros: 1_000 }
    await admin('PUT', '/prices', { prices: [theirs] })
    await dialog.getByRole('button', { name: 'Save prices' }).click()
    await page.getByText('The prices have changed since you began').waitFor()
    await dialog.waitFor({ state: 'detached' })
    expect((await admin('GET', '/prices')).body.items).to.deep.equal([theirs])
    expect(await page.getByLabel('Email, Every other country').inputValue()).to.equal('0.001')
    expect(await page.getByLabel('SMS, Every other country').inputValue()).to.equal('0.09')

    await page.getByRole('button', { name: 'Save' }).click()
    await dialog.getByRole('button', { name: 'Save prices' }).click()
    await page.getByText('The prices were saved.').waitFor()
    const own = { channel: 'sms', country: '*', micros: 90_000 }
    expect((await admin('GET', '/prices')).body.items).to.have.deep.members([theirs, own])
  })

  it('is paged: the ledger has no end', async () => {
    const countersign = await startShop(start)
    const { page, admin } = await open.operator(countersign)
    for (let nth = 1; nth <= 55; nth += 1)
      await admin('POST', '/companies/cmp_acme/credit', { micros: 1_000_000, note: `Credit ${nth}` })
    await openMoney(page)
    await eventually(async () => expect(await ledgerRows(page).count()).to.equal(50))
    await page.getByRole('button', { name: 'Next page' }).click()
    await eventually(async () => expect(await ledgerRows(page).count()).to.equal(5))
    await page.getByRole('cell', { name: 'Credit 1', exact: true }).waitFor()
  })

  it('has a threshold, set and removed by an owner, below which owners are told', async () => {
    const { page } = await open.user(await startShop(start), 'cmp_acme', 'owner')
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

  it('is shown to a viewer, who may change nothing, and checked by an owner', async () => {
    const prices = [{ channel: 'sms', country: '*', micros: 90_000 }]
    const countersign = await startShop(start, { prices })
    const viewer = await open.user(countersign, 'cmp_acme', 'viewer')
    await openMoney(viewer.page)
    await viewer.page.getByText('The balance is used up').waitFor()
    await viewer.page.getByText('Only operators of this deployment can credit the company.').waitFor()
    await viewer.page.getByText('Only operators of this deployment can set prices.').waitFor()
    await viewer.page.getByText('Only owners of your company can run it').waitFor()
    const main = viewer.page.getByRole('main')
    expect(await main.getByRole('button').allTextContents()).to.deep.equal(['Print', 'Export statement', 'Export CSV'])

    const owner = await open.user(countersign, 'cmp_acme', 'owner')
    await openMoney(owner.page)
    await owner.page.getByRole('button', { name: 'Check the books' }).click()
    await owner.page.getByText('Everything adds up: nothing was ever charged or credited.').waitFor()
  })
})

describeInBrowserOnce('the money of a company, as it looks', (open, start) => {
  for (const { theme, size } of LOOKS)
    it(`is accessible in ${theme}, and fits a ${size}`, async () => {
      const prices = [
        { channel: 'sms', country: '*', micros: 90_000 },
        { channel: 'sms', country: 'GB', micros: 40_000 },
      ]
      const countersign = await startShop(start, { prices })
      const { page, admin } = await open.operator(countersign, { theme, size })
      await admin('POST', '/companies/cmp_acme/credit', { micros: 1_000_000, note: 'Invoice 17' })
      await openMoney(page)
      await page.getByText('Invoice 17').first().waitFor()
      await page.getByRole('button', { name: 'Check the books' }).click()
      await page.getByText('Everything adds up').waitFor()
      await expectAccessible(page)
      await page.getByRole('button', { name: 'Edit prices' }).click()
      await page.getByLabel('SMS, United Kingdom (GB)').fill('x')
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByText('Enter an amount in digits').waitFor()
      await expectAccessible(page)
      const overflow = await page.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      )
      expect(overflow, `on a ${size}`).to.be.at.most(0)
      await credit(page, '5')
      await page.getByText('New balance').waitFor()
      await expectAccessible(page)
    })
})
