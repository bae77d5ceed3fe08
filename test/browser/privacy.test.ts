// Privacy, in a real browser: a person is erased, and the report says what there was.
import { readFile } from 'node:fs/promises'
import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { createCaller } from '../support/api-caller.ts'
import {
  describeInBrowser,
  expectAccessible,
  expectAccessibleInEveryLook,
  newestCode,
  type ShopViewer,
} from '../support/browser.ts'
import { eventually } from '../support/eventually.ts'
import { freshNumber } from '../support/flow.ts'

const field = (page: Page, name: string) => page.getByLabel(name, { exact: true })
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()

/** A number with one pending verification, whose message has arrived. */
async function person({ countersign, admin, serverKey }: ShopViewer): Promise<string> {
  const recipient = freshNumber()
  expect((await createCaller(countersign.url, serverKey).send(recipient)).status).to.equal(200)
  await newestCode({ admin }, recipient)
  return recipient
}

describeInBrowser('Privacy', open => {
  it('erases a person after a confirmation, and reports what was erased', async () => {
    const viewer = await open.shop()
    const { page, admin, app } = viewer
    const recipient = await person(viewer)
    const masked = `+1****${recipient.slice(-2)}`
    await page.goto('/privacy')
    await field(page, 'Recipient').fill(recipient)
    await field(page, 'Recipient').press('Enter')
    const dialog = page.getByRole('dialog', { name: `Erase ${recipient}?` })
    await dialog.getByText(`There is 1 verification of ${masked}.`).waitFor()
    await expectAccessibleInEveryLook(page)
    await dialog.getByRole('button', { name: 'Erase this person' }).click()
    await page.getByText(`${masked} was erased from all apps of Demo:`).waitFor()
    await page.getByText(/^1 verification with number or address.*1 was pending and was canceled first$/).waitFor()
    await page.getByText('1 message in the sandbox’s inbox').waitFor()
    await expectAccessibleInEveryLook(page)
    const query = `recipient=${encodeURIComponent(recipient)}`
    for (const list of [`/verifications?${query}`, `/apps/${app}/verifications?${query}`])
      expect((await admin('GET', list)).body.items).to.deep.equal([])

    await field(page, 'Recipient').fill(recipient)
    await page.getByRole('switch', { name: 'In all apps of Demo' }).uncheck()
    await press(page, 'Erase')
    await page.getByText(/^There is no verification of/).waitFor()
    await press(page, 'Erase this person')
    await page.getByText(/^Nothing was found of .* in the app Demo/).waitFor()
  })

  it('exports a person as one file: of one app, or a list of all apps', async () => {
    const viewer = await open.shop()
    const { page, admin, app, company } = viewer
    const recipient = await person(viewer)
    const other = (await admin('POST', `/companies/${company}/apps`, { name: 'Second' })).body.id
    await page.goto(`/c/${company}/privacy?app=${app}`)
    const exported = async () => {
      const [download] = await Promise.all([page.waitForEvent('download'), press(page, 'Export')])
      expect(download.suggestedFilename()).to.match(/^person-\d{4}-\d\d-\d\d\.json$/)
      return JSON.parse(await readFile(await download.path(), 'utf8'))
    }
    await field(page, 'Recipient').fill(recipient)
    const [own, ...others] = (await exported()).sort((one: { app_id: string }) => (one.app_id === app ? -1 : 1))
    expect(own).to.include({ app_id: app, recipient })
    expect(own.verifications).to.have.length(1)
    expect(others.map(({ app_id }: { app_id: string }) => app_id)).to.deep.equal([other])
    await page.getByRole('switch', { name: 'In all apps of Demo' }).uncheck()
    expect(await exported()).to.deep.include({ app_id: app, recipient })
    await field(page, 'Recipient').fill('020 7946 0801')
    await press(page, 'Export')
    await page.getByText('Write the number with its country code').waitFor()
  })

  it('asks before verifications are kept for a shorter time than is stored now', async () => {
    const { page, admin, app } = await open.shop()
    const stored = async () => (await admin('GET', `/apps/${app}`)).body.settings.retention_days
    const store = (retention_days: number) => admin('PATCH', `/apps/${app}`, { settings: { retention_days } })
    await page.goto('/overview')
    await page.getByRole('link', { name: 'Overview' }).waitFor()
    await store(90)
    await page.getByRole('link', { name: 'Privacy' }).click()
    await eventually(async () => expect(await field(page, 'Days').inputValue()).to.equal('90'))
    await field(page, 'Days').fill('0')
    await press(page, 'Save')
    await page.getByText('must be a whole number from 1 to 3650', { exact: true }).waitFor()
    await field(page, 'Days').fill('60')
    await press(page, 'Save')
    await page.getByText('Now they are kept for 90 days.').waitFor()
    await press(page, 'Cancel')
    expect(await stored()).to.equal(90)

    // A colleague keeps them for longer, so what is more than the page knows is less than is stored.
    await store(365)
    await field(page, 'Days').fill('100')
    await press(page, 'Save')
    await page.getByText('Another person has changed it to 365 days meanwhile, so nothing was saved.').waitFor()
    expect(await stored()).to.equal(365)
    await press(page, 'Save')
    await page.getByText('Now they are kept for 365 days.').waitFor()
    await press(page, 'Erase older ones')
    await page.getByText('The retention was saved.').waitFor()
    await page.getByText(/^From .* on, verifications are kept for 100 days only/).waitFor()
    expect(await stored()).to.equal(365)
    const pending = async () => (await admin('GET', `/apps/${app}`)).body.pending_retention
    expect(await pending()).to.include({ retention_days: 100 })
    await expectAccessible(page)
    await press(page, 'Keep them for 365 days')
    await page.getByText(/^From .* on, verifications are kept/).waitFor({ state: 'detached' })
    expect(await pending()).to.equal(null)
    await field(page, 'Days').fill('400')
    await press(page, 'Save')
    // The notice of the save before may still be there.
    await eventually(async () => expect(await stored()).to.equal(400))
  })
})

describeInBrowser('Privacy, as it is used', (open, start) => {
  it('shows operators the data keys and how far their rotation is', async () => {
    const key = (id: string, byte: number): string => `${id}:${Buffer.alloc(32, byte).toString('base64')}`
    const first = await start({ env: { DATA_KEYS: key('old', 1) } })
    const countersign = await first.restart({ env: { DATA_KEYS: `${key('new', 2)},${key('old', 1)}` } })
    const { page } = await open.operator(countersign)
    await page.goto('/privacy')
    const keys = page.getByRole('region', { name: 'Data keys' })
    await keys.getByText('current', { exact: true }).waitFor()
    await keys.getByText('older', { exact: true }).waitFor()
    await keys.getByText(/sealed with new|rotation to new/).waitFor()
    await expectAccessibleInEveryLook(page)
  })
})
