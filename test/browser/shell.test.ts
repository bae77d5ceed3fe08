// The frame around the screens, in a real browser.
import { expect } from 'chai'
import { SCREENS } from '../../services/dashboard/screens.ts'
import { describeInBrowserOnce, expectAccessible } from '../support/browser.ts'
import { eventually } from '../support/eventually.ts'

describeInBrowserOnce('the shell of the dashboard', (open, start) => {
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

describeInBrowserOnce('a slow or failing server', (open, start) => {
  it('does not keep the screens of another company away when a save ends after it was chosen', async () => {
    const { page, admin } = await open.operator(await start())
    const { body: company } = await admin('POST', '/companies', { name: 'Other' })
    const { status, text } = await admin('POST', `/companies/${company.id}/apps`, { name: 'Other app' })
    expect(status, text).to.equal(201)
    let release = (): void => {}
    const isReleased = new Promise<void>(resolve => {
      release = resolve
    })
    await page.route('**/admin/v1/apps/*', async route => {
      if (route.request().method() === 'PATCH') await isReleased
      await route.continue()
    })
    await page.goto('/routing')
    await page.getByLabel('Company').selectOption('cmp_demo')
    await page.getByLabel('App', { exact: true }).getByText('Demo').waitFor({ state: 'attached' })
    await page.getByLabel('Digits of a code').fill('8')
    const save = page.getByRole('button', { name: 'Save', exact: true })
    await save.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Save', exact: true, disabled: true }).waitFor()
    expect(await save.evaluate(element => element.matches(':focus')), 'a busy button keeps the focus').to.equal(true)
    await page.getByLabel('Company').selectOption({ label: 'Other' })
    await page.getByLabel('App', { exact: true }).getByText('Other app').waitFor({ state: 'attached' })
    await page.getByLabel('Digits of a code').waitFor()
    const answer = page.waitForResponse(response => response.request().method() === 'PATCH')
    release()
    expect((await answer).status()).to.equal(200)
    await page.getByRole('link', { name: 'Money' }).click()
    await page.getByRole('heading', { level: 1, name: 'Money' }).waitFor()
    await page.getByLabel('Company').selectOption('cmp_demo')
    await page.getByRole('link', { name: 'Routing' }).click()
    await page.getByLabel('App', { exact: true }).getByText('Demo').waitFor({ state: 'attached' })
    await eventually(async () => expect(await page.getByLabel('Digits of a code').inputValue()).to.equal('8'))
  })

  it('says that the file of a screen is missing, after it has loaded the page once more', async () => {
    const { page } = await open.operator(await start())
    await page.goto('/overview')
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    let loads = 0
    page.on('load', () => {
      loads += 1
    })
    const files = '**/dashboard-assets/money*.js'
    await page.route(files, route => route.fulfill({ status: 404 }))
    await page.getByRole('link', { name: 'Money' }).click()
    await page.getByRole('alert').getByText('This screen could not be loaded.').waitFor()
    expect(loads).to.equal(1)
    await page.unroute(files)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('heading', { level: 1, name: 'Money' }).waitFor()
  })

  it('keeps a table when it cannot be read again, and says so above it', async () => {
    const { page, admin } = await open.operator(await start())
    await admin('POST', '/companies/cmp_demo/users', { email: 'ada@shop.example', role: 'viewer', name: 'Ada' })
    await page.goto('/team')
    const ada = page.getByRole('row').filter({ hasText: 'ada@shop.example' })
    await ada.waitFor()
    await page.route('**/admin/v1/companies/*/users*', route =>
      route.request().method() === 'GET' ? route.abort() : route.continue(),
    )
    await page.getByRole('button', { name: 'Invite person' }).click()
    await page.getByRole('dialog').getByLabel('Email').fill('grace@shop.example')
    await page.getByRole('dialog').getByRole('button', { name: 'Invite', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Done' }).click()
    await page.getByRole('alert').getByText('Countersign cannot be reached.').waitFor()
    expect(await ada.count()).to.equal(1)
  })
})

describeInBrowserOnce('a dialog', (open, start) => {
  it('gives the focus back to what opened it, or to the content when that is gone', async () => {
    const { page } = await open.operator(await start())
    await page.goto('/team')
    const opener = page.getByRole('button', { name: 'Invite person' })
    await opener.click()
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await opener.evaluate(element => element.matches(':focus'))).to.equal(true)
    await opener.click()
    await page.getByRole('dialog').waitFor()
    await opener.evaluate(element => {
      element.style.display = 'none'
    })
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await page.getByRole('main').evaluate(element => element.matches(':focus'))).to.equal(true)
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
    await page.getByRole('combobox', { name: 'Screen, app, recipient or id' }).and(page.locator(':focus')).waitFor()
    await page.keyboard.type('mon')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Money' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
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
