// The frame around the screens, in a real browser.
import { expect } from 'chai'
import { SCREENS } from '../../services/dashboard/screens.ts'
import { describeInBrowser, describeInBrowserOnce, expectAccessible } from '../support/browser.ts'

describeInBrowser('the shell of the dashboard', (open, start) => {
  it('opens every screen by its link, and again by its address', async () => {
    const { page } = await open.operator(await start())
    await page.goto('/')
    for (const { name, path } of SCREENS) {
      await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name, exact: true }).click()
      await page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
      expect(new URL(page.url()).pathname).to.equal(path)
      await page.reload()
      await page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
    }
  })

  it('sends a stranger to the sign-in page, and back to the wanted screen afterwards', async () => {
    const { page, countersign } = await open.stranger(await start())
    await page.goto('/money')
    await page.getByLabel('Operator token').fill(countersign.secrets.adminTokens[0]?.token ?? '')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { level: 1, name: 'Money' }).waitFor()
  })
})

describeInBrowserOnce('the command palette', (open, start) => {
  it('opens a screen with the keyboard alone', async () => {
    const { page } = await open.operator(await start())
    await page.goto('/overview')
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Screen, app, recipient or id' }).waitFor()
    await expectAccessible(page)
    await page.keyboard.type('mon')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Money' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.keyboard.press('Escape')
    expect(await page.getByRole('dialog').count()).to.equal(0)
  })
})

describeInBrowserOnce('the menu on a phone', (open, start) => {
  it('shows the navigation', async () => {
    const { page } = await open.operator(await start(), { size: 'phone' })
    await page.goto('/overview')
    await page.getByRole('button', { name: 'Menu' }).click()
    await expectAccessible(page)
    await page.getByRole('link', { name: 'Try it' }).click()
    await page.getByRole('heading', { level: 1, name: 'Try it' }).waitFor()
  })
})
