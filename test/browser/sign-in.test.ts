// The front door, in a real browser: the link of a start, the operator's token, an address and its code, and what ends a session.
import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { describeInBrowser, expectAccessibleInEveryLook, type Viewer } from '../support/browser.ts'
import type { Countersign } from '../support/countersign.ts'

const linkOf = ({ printed }: Countersign): string => /https?:\S+\/sign-in\?ticket=\S+/.exec(printed())?.[0] ?? ''

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true })

const pathOf = (page: Page): string => {
  const { pathname, search } = new URL(page.url())
  return pathname + search
}

/** As from another tab. */
async function endSession({ context, countersign }: Viewer): Promise<void> {
  const { session_id } = await (await context.request.get('/admin/v1/me')).json()
  expect(await countersign.engines.store.docs('sessions').remove({ _id: session_id }, 1)).to.equal(1)
}

describeInBrowser('the sign-in page', open => {
  it('takes the link of a start once: it leads to the first code, and leaves no ticket in the address', async () => {
    const countersign = await open.shared()
    const link = linkOf(countersign)
    const { page } = await open.stranger(countersign)
    await page.goto(link)
    await heading(page, 'Try it').waitFor()
    expect(pathOf(page)).to.equal('/a/app_demo/try')
    await page.goBack()
    expect(page.url()).not.to.include('ticket')

    const other = (await open.stranger(countersign)).page
    await other.goto(link)
    await other.getByRole('alert').getByText('was used before').waitFor()
    await expectAccessibleInEveryLook(other)
    expect(pathOf(other)).to.equal('/sign-in')
    await other.getByLabel('Operator token').fill(countersign.secrets.adminTokens[0]?.token ?? '')
    await other.getByRole('button', { name: 'Sign in' }).click()
    await heading(other, 'Try it').waitFor()
  })
})

describeInBrowser('the sign-in page, as it is used', open => {
  it('refuses a wrong token in words beside the field, and takes the right one', async () => {
    const { page, countersign } = await open.stranger(await open.shared())
    await page.goto('/sign-in')
    const token = page.getByLabel('Operator token')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('Enter the token.').waitFor()
    await token.fill('wrong-token')
    await token.press('Enter')
    await page.getByText('This is not an operator’s token here.').waitFor()
    expect(await token.getAttribute('aria-invalid')).to.equal('true')
    await token.fill(countersign.secrets.adminTokens[0]?.token ?? '')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await heading(page, 'Overview').waitFor()
    await page.goto('/sign-in?next=/audit')
    await heading(page, 'Audit').waitFor()
  })

  it('is where a page goes whose session was ended elsewhere, and it leads back', async () => {
    const viewer = await open.shop()
    const { page, company, countersign } = viewer
    await page.goto('/team')
    await page.getByText('This one').waitFor()
    await endSession(viewer)
    await page.getByRole('link', { name: 'Audit' }).click()
    await heading(page, 'Sign in to Countersign').waitFor()
    expect(pathOf(page)).to.equal(`/sign-in?next=%2Fc%2F${company}%2Faudit`)
    await page.getByLabel('Operator token').fill(countersign.secrets.adminTokens[0]?.token ?? '')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await heading(page, 'Audit').waitFor()
  })

  it('goes back from the code to the address, and to the token', async () => {
    const { page } = await open.stranger(await open.shared())
    await page.goto('/sign-in')
    await page.getByLabel('Email').fill('not an address')
    await page.getByLabel('Email').press('Enter')
    await page.getByText('Enter an email address, such as').waitFor()
    await page.getByLabel('Email').fill('stranger@shop.example')
    await page.getByLabel('Email').press('Enter')
    await page.getByLabel('Code').waitFor()
    expect(await page.getByLabel('Operator token').count()).to.equal(0)
    expect(await page.getByRole('button', { name: 'Sign in' }).count()).to.equal(1)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('Enter the code from the message.').waitFor()
    await expectAccessibleInEveryLook(page)
    await page.getByRole('button', { name: 'Send another code' }).click()
    await page.getByText('Asked again.').waitFor()
    await page.getByRole('button', { name: 'Use another address' }).click()
    expect(await page.getByLabel('Email').inputValue()).to.equal('stranger@shop.example')
    await page.getByRole('button', { name: 'Send code' }).click()
    await page.getByRole('button', { name: 'Use the operator token instead' }).click()
    await page.getByLabel('Operator token').and(page.locator(':focus')).waitFor()
    await page.keyboard.type('typed into the focused field')
    expect(await page.getByLabel('Operator token').inputValue()).to.equal('typed into the focused field')
  })

  it('is not shown when signing out fails, which is said; a session that has ended already is signed out', async () => {
    const viewer = await open.shop()
    const { page } = viewer
    await page.goto('/team')
    await page.getByText('This one').waitFor()
    await page.route('**/admin/v1/sign-out', route => route.abort())
    await page.locator('summary').filter({ hasText: 'operator' }).click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('alert').getByText('You are still signed in: Countersign cannot be reached.').waitFor()
    await page.unroute('**/admin/v1/sign-out')
    await endSession(viewer)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await heading(page, 'Sign in to Countersign').waitFor()
  })

  it('gives the tab to another person without what the one before left in it', async () => {
    const { page, context, countersign, company } = await open.shop()
    const left = () => page.evaluate(`sessionStorage.getItem('left behind')`)
    await page.goto('/team')
    await page.getByText('This one').waitFor()
    await page.evaluate(`sessionStorage.setItem('left behind', 'a test key')`)
    await page.reload()
    await page.getByText('This one').waitFor()
    expect(await left(), 'of the same person').to.equal('a test key')
    const other = await open.user(countersign, company, 'developer')
    await context.clearCookies()
    await context.addCookies(await other.context.cookies(`${countersign.url}/admin/v1/me`))
    await page.reload()
    await page.getByText('This one').waitFor()
    expect(await left(), 'of another person').to.equal(null)
  })

  it('is not needed for a change after signing in again in another tab, except as another person', async () => {
    const { page, context, countersign, company } = await open.shop()
    await page.goto('/team')
    await page.getByText('This one').waitFor()
    const data = { token: countersign.secrets.adminTokens[0]?.token }
    expect((await context.request.post('/admin/v1/sign-in', { data })).status()).to.equal(200)
    const invitation = page.getByRole('dialog')
    await page.getByRole('button', { name: 'Invite person' }).click()
    await invitation.getByLabel('Email').fill('grace@shop.example')
    await invitation.getByRole('button', { name: 'Invite', exact: true }).click()
    await invitation.getByRole('button', { name: 'Done' }).click()

    const other = await open.user(countersign, company, 'owner')
    await context.clearCookies()
    await context.addCookies(await other.context.cookies(`${countersign.url}/admin/v1/me`))
    await page.getByRole('button', { name: 'Invite person' }).click()
    await invitation.getByLabel('Email').fill('joan@shop.example')
    await invitation.getByRole('button', { name: 'Invite', exact: true }).click()
    await heading(page, 'Sign in to Countersign').waitFor()
  })

  it('is shown after signing out by the account menu, which Escape and a click elsewhere close', async () => {
    const { page } = await open.shop()
    await page.goto('/team')
    const signOut = page.getByRole('button', { name: 'Sign out' })
    const account = page.locator('summary').filter({ hasText: 'operator' })
    await account.click()
    await signOut.waitFor()
    await page.keyboard.press('Escape')
    await signOut.waitFor({ state: 'hidden' })
    await page.keyboard.press('Enter')
    await signOut.waitFor()
    await heading(page, 'Team').click()
    await signOut.waitFor({ state: 'hidden' })
    await account.click()
    await page.getByLabel('Theme').selectOption('dark')
    expect(await page.locator('html').getAttribute('data-theme')).to.equal('dark')
    await signOut.click()
    await heading(page, 'Sign in to Countersign').waitFor()
    await page.reload()
    await heading(page, 'Sign in to Countersign').waitFor()
    expect(await page.locator('html').getAttribute('data-theme'), 'the theme is kept').to.equal('dark')
  })
})
