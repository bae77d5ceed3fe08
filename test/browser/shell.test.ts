// The frame around the screens, in a real browser.
import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { addressIn, SCREENS } from '../../services/dashboard/screens.ts'
import { describeInBrowser, expectAccessible } from '../support/browser.ts'
import { eventually } from '../support/eventually.ts'
import { createGate } from '../support/gate.ts'

const pathOf = (page: Page): string => new URL(page.url()).pathname

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true })

const link = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name, exact: true })

const appChoice = (page: Page) => page.getByLabel('App', { exact: true })

/** Beside the Demo company with its one app. */
const TWO_COMPANIES = {
  bootstrap: {
    companies: [
      {
        id: 'cmp_acme',
        name: 'Acme',
        apps: [
          { id: 'app_shop', name: 'Shop' },
          { id: 'app_depot', name: 'Depot' },
        ],
      },
      { id: 'cmp_rival', name: 'Rival', apps: [{ id: 'app_rival', name: 'Rival app' }] },
    ],
  },
}

describeInBrowser('the shell of the dashboard', open => {
  it('opens every screen by its link, and again by its address', async () => {
    const { page, app, company } = await open.shop()
    await page.goto('/')
    for (const { name, path } of SCREENS) {
      await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name, exact: true }).click()
      await page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
      expect(pathOf(page)).to.equal(addressIn({ app_id: app, company_id: company }, path))
      await page.reload()
      await page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
    }
  })

  it('sends a stranger to the sign-in page, and back to the wanted screen afterwards', async () => {
    const { page, countersign } = await open.stranger(await open.shared())
    await page.goto('/c/cmp_console/money')
    await page.getByLabel('Operator token').fill(countersign.secrets.adminTokens[0]?.token ?? '')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await heading(page, 'Money').waitFor()
    expect(pathOf(page)).to.equal('/c/cmp_console/money')
  })
})

describeInBrowser('the app in the address', open => {
  it('is that of each tab, whatever another tab shows', async () => {
    const { page, context, admin } = await open.operator(await open.shared(TWO_COMPANIES))
    await page.goto('/a/app_shop/settings')
    await heading(page, 'Settings').waitFor()
    const other = await context.newPage()
    await other.goto('/a/app_rival/settings')
    await heading(other, 'Settings').waitFor()
    // What the tab loads, follows and saves is still its own.
    await link(page, 'Money').click()
    await page.getByText('what Acme has left').waitFor()
    expect(pathOf(page)).to.equal('/c/cmp_acme/money')
    await page.reload()
    await page.getByText('what Acme has left').waitFor()
    expect(await appChoice(page).inputValue()).to.equal('app_shop')
    await link(page, 'Settings').click()
    await page.getByLabel('Digits of a code').fill('8')
    expect(pathOf(page)).to.equal('/a/app_shop/settings')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await eventually(async () => expect((await admin('GET', '/apps/app_shop')).body.settings.code.length).to.equal(8))
    expect((await admin('GET', '/apps/app_rival')).body.settings.code.length).to.equal(6)
    await other.reload()
    await heading(other, 'Settings').waitFor()
    expect(await appChoice(other).inputValue()).to.equal('app_rival')
  })

  it('changes with the choice of an app or a company, and the screen and its filters stay', async () => {
    const { page } = await open.operator(await open.shared(TWO_COMPANIES))
    await page.goto('/a/app_shop/verifications?status=failed')
    await appChoice(page).selectOption('app_depot')
    await page.waitForURL('**/a/app_depot/verifications?status=failed')
    await page.getByLabel('Company').selectOption('cmp_rival')
    await page.waitForURL('**/a/app_rival/verifications?status=failed')
    await page.goBack()
    await page.waitForURL('**/a/app_depot/verifications?status=failed')
    await eventually(async () => expect(await appChoice(page).inputValue()).to.equal('app_depot'))
    // A screen of the company names an app once one is chosen there.
    const expectPrivacyOf = async (app: string): Promise<void> => {
      await page.getByRole('switch', { name: 'In all apps' }).uncheck()
      await page.getByText(`Only in the app ${app}.`).waitFor()
    }
    await link(page, 'Privacy').click()
    await expectPrivacyOf('Depot')
    await appChoice(page).selectOption('app_shop')
    await expectPrivacyOf('Shop')
    await page.waitForURL('**/c/cmp_acme/privacy?app=app_shop')
    await page.getByLabel('Company').selectOption('cmp_rival')
    await page.waitForURL('**/c/cmp_rival/privacy')
    await expectPrivacyOf('Rival app')
    await link(page, 'Queues').click()
    await heading(page, 'Queues').waitFor()
    expect(pathOf(page)).to.equal('/queues')
    await page.getByLabel('Company').selectOption('cmp_acme')
    await page.waitForURL('**/a/app_depot/overview')
  })

  it('may be left out: a path without it leads to the app used last', async () => {
    const { page, context } = await open.operator(await open.shared(TWO_COMPANIES))
    await page.goto('/a/app_depot/overview')
    await heading(page, 'Overview').waitFor()
    await appChoice(page).waitFor()
    const later = await context.newPage()
    for (const [old, address] of [
      ['/api-keys', '/a/app_depot/api-keys'],
      ['/verifications?status=failed&country=GB', '/a/app_depot/verifications?status=failed&country=GB'],
      ['/money', '/c/cmp_acme/money'],
      ['/', '/a/app_depot/overview'],
      ['/c/cmp_rival/limits', '/a/app_rival/limits'],
      ['/a/app_shop/team', '/c/cmp_acme/team'],
    ] as const) {
      await later.goto(old)
      await later.waitForURL(`**${address}`)
    }
    await heading(later, 'Team').waitFor()
    expect(await appChoice(later).inputValue()).to.equal('app_shop')
  })

  it('of another company, or of none, shows a message and nothing else', async () => {
    const { page, countersign } = await open.user(await open.shared(TWO_COMPANIES), 'cmp_acme', 'owner')
    const asked: string[] = []
    page.on('request', request => asked.push(new URL(request.url()).pathname))
    for (const [address, words] of [
      ['/a/app_rival/overview', 'There is no such app'],
      ['/a/app_none/verifications/otp_1', 'There is no such app'],
      ['/c/cmp_rival/team', 'There is no such company'],
      ['/c/cmp_none/overview', 'There is no such company'],
      ['/c/cmp_acme/privacy?app=app_rival', 'There is no such app'],
    ] as const) {
      await page.goto(address)
      await heading(page, words).waitFor()
      await page.getByText('that does not exist, or that you may not see').waitFor()
      expect(await page.getByRole('main').textContent()).not.to.match(/Shop|Depot|Rival app/)
      expect(page.url()).to.equal(`${countersign.url}${address}`)
    }
    await expectAccessible(page)
    expect(
      asked.filter(path => /\/(stats|users|keys|verifications|ledger)/.test(path) && path.startsWith('/admin')),
    ).to.deep.equal([])
    await page.getByRole('link', { name: 'Go to the app used last' }).click()
    await heading(page, 'Overview').waitFor()
    expect(pathOf(page)).to.equal('/a/app_depot/overview')
  })

  it('of a company without one is where its first app is created', async () => {
    const { page, admin, app } = await open.shop()
    const { body: company } = await admin('POST', '/companies', { name: 'New' })
    await page.goto(`/a/${app}/routing`)
    await page.getByLabel('Company').selectOption(company.id)
    await heading(page, 'Create your first app').waitFor()
    expect(pathOf(page)).to.equal(`/c/${company.id}/routing`)
    await page.getByLabel('Name').fill('First')
    await page.getByRole('button', { name: 'Create app' }).click()
    await page.waitForURL('**/a/app_*/routing')
    await heading(page, 'Routing').waitFor()
  })
})

describeInBrowser('a slow or failing server', open => {
  it('does not keep the screens of another company away when a save ends after it was chosen', async () => {
    const { page, admin, company: own } = await open.shop()
    const { body: company } = await admin('POST', '/companies', { name: 'Other' })
    const { status, text } = await admin('POST', `/companies/${company.id}/apps`, { name: 'Other app' })
    expect(status, text).to.equal(201)
    const { released, release } = createGate()
    await page.route('**/admin/v1/apps/*', async route => {
      if (route.request().method() === 'PATCH') await released
      await route.continue()
    })
    await page.goto('/settings')
    await page.getByLabel('Digits of a code').fill('8')
    const save = page.getByRole('button', { name: 'Save', exact: true })
    await save.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Save', exact: true, disabled: true }).waitFor()
    expect(await save.evaluate(element => element.matches(':focus')), 'a busy button keeps the focus').to.equal(true)
    await page.getByLabel('Company').selectOption(company.id)
    await page.getByLabel('App', { exact: true }).getByText('Other app').waitFor({ state: 'attached' })
    await page.getByLabel('Digits of a code').waitFor()
    const answer = page.waitForResponse(response => response.request().method() === 'PATCH')
    release()
    expect((await answer).status()).to.equal(200)
    await page.getByRole('link', { name: 'Money' }).click()
    await page.getByRole('heading', { level: 1, name: 'Money' }).waitFor()
    await page.getByLabel('Company').selectOption(own)
    await page.getByRole('link', { name: 'Settings' }).click()
    await page.getByLabel('App', { exact: true }).getByText('Demo').waitFor({ state: 'attached' })
    await eventually(async () => expect(await page.getByLabel('Digits of a code').inputValue()).to.equal('8'))
  })

  it('says that the file of a screen is missing, after it has loaded the page once more', async () => {
    const { page } = await open.shop()
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
    const { page, admin, company } = await open.shop()
    await admin('POST', `/companies/${company}/users`, { email: 'ada@shop.example', role: 'viewer', name: 'Ada' })
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

describeInBrowser('a dialog', open => {
  it('gives the focus back to what opened it, or to the content when that is gone', async () => {
    const { page } = await open.shop()
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

describeInBrowser('the command palette', open => {
  it('opens a screen with the keyboard alone', async () => {
    const { page } = await open.member('owner')
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

  it('finds a company for an operator, keeps the screen, and shows one of its apps', async () => {
    const { page } = await open.operator(await open.shared(TWO_COMPANIES))
    await page.goto('/a/app_shop/limits')
    await heading(page, 'Limits and fraud').waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Company, screen, app, recipient or id' }).fill('rival')
    await page.getByRole('option', { name: 'Rival Company' }).waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL('**/a/app_rival/limits')
    await heading(page, 'Limits and fraud').waitFor()
  })
})

describeInBrowser('the menu on a phone', open => {
  it('shows the navigation', async () => {
    const { page } = await open.shop({ size: 'phone' })
    await page.goto('/overview')
    await page.getByRole('button', { name: 'Menu' }).click()
    await expectAccessible(page)
    await page.getByRole('link', { name: 'Try it' }).click()
    await page.getByRole('heading', { level: 1, name: 'Try it' }).waitFor()
  })
})
