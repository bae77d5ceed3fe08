// The audit log, in a real browser.
import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { describeInBrowserOnce, expectAccessible, LOOKS, type Viewer } from '../support/browser.ts'

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

const changeSettings = async ({ admin }: Viewer): Promise<void> => {
  const settings = { code: { length: 8 }, routing: { default: ['whatsapp', 'sms'] } }
  expect((await admin('PATCH', '/apps/app_demo', { settings })).status).to.equal(200)
  const again = { code: { length: 7 } }
  expect((await admin('PATCH', '/apps/app_demo', { settings: again })).status).to.equal(200)
}

describeInBrowserOnce('the Audit screen', (open, start) => {
  it('shows who changed what, newest first, and opens a record with the old and the new values', async () => {
    const viewer = await open.operator(await start())
    const { page } = viewer
    await changeSettings(viewer)
    await page.goto('/audit')
    const rows = page.getByRole('table', { name: 'audit records' }).getByRole('row')
    await rows.nth(1).getByText('Changed an app').waitFor()
    expect(await rows.nth(1).textContent())
      .to.include('operator')
      .and.to.include('app_demo')
      .and.to.include('Done')
    await openRecord(page, 'Changed an app')
    expect(await changes(page)).to.deep.equal([['settings.code.length', '8', '7']])
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Changed an app' }).nth(1).click()
    expect(await changes(page)).to.deep.equal([
      ['settings.code.length', '—', '8'],
      ['settings.routing.default', '—', 'whatsapp, sms'],
    ])
  })

  it('shows an operator the chosen company or all, and a user the own company by the masked address', async () => {
    const countersign = await start()
    const operator = await open.operator(countersign)
    const { page, admin } = operator
    const company = (await admin('POST', '/companies', { name: 'Acme' })).body.id
    await admin('PATCH', '/apps/app_demo', { name: 'Shop' })
    await page.goto('/audit')
    await page.getByRole('combobox', { name: 'Company' }).selectOption('cmp_demo')
    await page.getByRole('button', { name: 'Changed an app' }).waitFor()
    expect(await page.getByRole('button', { name: 'Created a company' }).count()).to.equal(0)
    await page.getByLabel('Records of').selectOption('All companies')
    await page.getByRole('row').filter({ hasText: company }).getByText('Acme').waitFor()
    await page.getByRole('button', { name: 'Signed in' }).first().waitFor()

    const user = await open.user(countersign, 'cmp_demo', 'developer')
    await user.page.goto('/team')
    await user.page.getByRole('button', { name: 'Create app' }).click()
    await user.page.getByRole('dialog').getByLabel('Name').fill('Second')
    await user.page.getByRole('dialog').getByRole('button', { name: 'Create', exact: true }).click()
    await user.page.getByRole('row').filter({ hasText: 'Second' }).waitFor()
    await user.page.getByRole('link', { name: 'Audit' }).click()
    const own = user.page.getByRole('row').filter({ hasText: user.user._id })
    await own.getByText('@shop.example').waitFor()
    expect(await user.page.getByText(company).count()).to.equal(0)
    expect(await user.page.getByLabel('Records of').count()).to.equal(0)
  })

  it('pages through a long log', async () => {
    const { page, admin } = await open.operator(await start())
    for (let at = 0; at < 60; at += 1) await admin('PATCH', '/apps/app_demo', { name: `Shop ${at}` })
    await page.goto('/audit')
    await page.getByRole('button', { name: 'Next page' }).click()
    await page.getByText('Page 2').waitFor()
    await page.getByRole('button', { name: 'Changed an app' }).last().click()
    expect(await changes(page)).to.deep.equal([['name', 'Demo', 'Shop 0']])
  })
})

describeInBrowserOnce('the look of the Audit screen', (open, start) => {
  for (const { theme, size } of LOOKS)
    it(`is accessible with an opened record, ${theme}, on a ${size}`, async () => {
      const viewer = await open.operator(await start(), { theme, size })
      const { page } = viewer
      await changeSettings(viewer)
      await page.goto('/audit')
      await page.getByRole('button', { name: 'Changed an app' }).first().waitFor()
      await expectAccessible(page)
      expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth'), 'sideways').to.equal(false)
      await openRecord(page, 'Changed an app')
      await expectAccessible(page)
    })
})
