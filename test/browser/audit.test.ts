// The audit log, in a real browser.
import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { describeInBrowser, expectAccessibleInEveryLook, exportCsv, type ShopViewer } from '../support/browser.ts'
import { createGate } from '../support/gate.ts'

const openRecord = async (page: Page, name: string): Promise<void> =>
  page.getByRole('button', { name, exact: true }).first().click()

/** The values of the opened record's table, by row. */
const changes = async (page: Page): Promise<string[][]> => {
  const table = page.getByRole('dialog').getByRole('table', { name: 'What changed' })
  await table.waitFor()
  const cells = await Promise.all(
    (await table.getByRole('row').all()).map(row => row.getByRole('cell').allTextContents()),
  )
  return cells.filter(({ length }) => length > 0)
}

const changeSettings = async ({ admin, app }: ShopViewer): Promise<void> => {
  const settings = { code: { length: 8 }, routing: { default: ['whatsapp', 'sms'] } }
  expect((await admin('PATCH', `/apps/${app}`, { settings })).status).to.equal(200)
  const again = { code: { length: 7 } }
  expect((await admin('PATCH', `/apps/${app}`, { settings: again })).status).to.equal(200)
}

describeInBrowser('the Audit screen', open => {
  it('shows who changed what, newest first, and opens a record with the old and the new values', async () => {
    const viewer = await open.shop()
    const { page } = viewer
    await changeSettings(viewer)
    await page.goto('/audit')
    const rows = page.getByRole('table', { name: 'audit records' }).getByRole('row')
    await rows.nth(1).getByText('Changed an app').waitFor()
    expect(await rows.nth(1).textContent())
      .to.include('operator')
      .and.to.include(viewer.app)
      .and.to.include('Done')
    await openRecord(page, 'Changed an app')
    expect(await changes(page)).to.deep.equal([['settings.code.length', '8', '7']])
    await expectAccessibleInEveryLook(page)
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Changed an app' }).nth(1).click()
    expect(await changes(page)).to.deep.equal([
      ['settings.code.length', '—', '8'],
      ['settings.routing.default', '—', 'whatsapp, sms'],
    ])
  })

  it('shows an operator the chosen company or all, and a user the own company by the masked address', async () => {
    const { page, admin, app, company: own, countersign } = await open.shop()
    const company = (await admin('POST', '/companies', { name: 'Acme' })).body.id
    await admin('PATCH', `/apps/${app}`, { name: 'Shop' })
    await page.goto('/audit')
    await page.getByRole('button', { name: 'Changed an app' }).waitFor()
    expect(await page.getByRole('row').filter({ hasText: company }).count()).to.equal(0)
    await page.getByLabel('Records of').selectOption('All companies')
    await page.getByRole('row').filter({ hasText: company }).getByText('Acme').waitFor()
    await page.getByRole('button', { name: 'Signed in' }).first().waitFor()

    const user = await open.user(countersign, own, 'developer')
    await user.page.goto('/team')
    await user.page.getByRole('button', { name: 'Create app' }).click()
    await user.page.getByRole('dialog').getByLabel('Name').fill('Second')
    await user.page.getByRole('dialog').getByRole('button', { name: 'Create', exact: true }).click()
    await user.page.getByRole('row').filter({ hasText: 'Second' }).waitFor()
    await user.page.getByRole('link', { name: 'Audit' }).click()
    const done = user.page.getByRole('row').filter({ hasText: user.user._id })
    await done.getByText('@shop.example').waitFor()
    expect(await user.page.getByText(company).count()).to.equal(0)
    expect(await user.page.getByLabel('Records of').count()).to.equal(0)
  })

  it('is filtered by the address: Back, reload and a shared link show the same records, and so does the export', async () => {
    const viewer = await open.shop()
    const { page, app } = viewer
    await changeSettings(viewer)
    await page.goto('/audit')
    await page.getByRole('button', { name: 'Created a key' }).first().waitFor()
    await page.getByLabel('Action').selectOption('app.change')
    await page.getByRole('button', { name: 'Created a key' }).first().waitFor({ state: 'detached' })
    await page.getByLabel('Since').fill('2020-01-31T10:00')
    await page.getByLabel('Since').press('Enter')
    await page.waitForURL('**/audit?action=app.change&since=*')
    await page.reload()
    await page.getByRole('button', { name: 'Changed an app' }).nth(1).waitFor()
    expect(await page.getByLabel('Action').inputValue()).to.equal('app.change')
    expect(await page.getByLabel('Since').inputValue()).to.equal('2020-01-31T10:00')
    const { name, items } = await exportCsv(page)
    expect(name).to.match(/^audit-/)
    expect(items.map(({ action, target }) => [action, target])).to.deep.equal([
      ['app.change', app],
      ['app.change', app],
    ])
    await page.goto('/audit?who=nobody&scope=all')
    await page.getByText('No record matches the filters.').waitFor()
    expect(await page.getByLabel('Records of').inputValue()).to.equal('all')
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.getByRole('button', { name: 'Signed in' }).first().waitFor()
  })

  it('leaves the focus in a filter when an export ends', async () => {
    const { page } = await open.shop()
    await page.goto('/audit')
    const { released, release } = createGate()
    await page.route('**/admin/v1/audit**', async (route, request) => {
      if (request.headers().accept === 'text/csv') await released
      await route.continue()
    })
    const saved = page.waitForEvent('download')
    const button = page.getByRole('button', { name: 'Export CSV' })
    await button.click()
    await page.getByLabel('Since').focus()
    release()
    await saved
    await button.and(page.locator('[aria-busy="false"]')).waitFor()
    expect(await page.getByLabel('Since').evaluate(field => field.matches(':focus'))).to.equal(true)
  })
})
