// Team, in a real browser: people, their roles, sessions, apps and companies.
import { expect } from 'chai'
import type { Locator, Page } from 'playwright-core'
import { createKeyring } from '../../infra/crypto/keyring.ts'
import { newId } from '../../infra/ids.ts'
import type { NoticeDoc } from '../../services/domain/notices/documents.ts'
import type { UserDoc, UserRole } from '../../services/domain/users/documents.ts'
import {
  describeInBrowser,
  expectAccessible,
  expectAccessibleInEveryLook,
  forgetProof,
  newestCode,
  type ShopViewer,
  type Viewer,
} from '../support/browser.ts'
import { eventually } from '../support/eventually.ts'
import { wrongCode } from '../support/flow.ts'
import { addUser } from '../support/users.ts'

const card = (page: Page, name: string): Locator => page.getByRole('region', { name, exact: true })
const row = (place: Page | Locator, text: string): Locator => place.getByRole('row').filter({ hasText: text })
const button = (place: Page | Locator, name: string): Locator => place.getByRole('button', { name, exact: true })

/** What a screen reader says after the name of a button. */
async function descriptionOf(page: Page, of: Locator): Promise<string> {
  const ids = ((await of.getAttribute('aria-describedby')) ?? '').split(' ')
  return (await Promise.all(ids.map(id => page.locator(`[id="${id}"]`).textContent()))).join(' ')
}

const inviteByApi = async (
  { admin, company }: ShopViewer,
  email: string,
  role: string,
  name: string,
): Promise<void> => {
  expect((await admin('POST', `/companies/${company}/users`, { email, role, name })).status).to.equal(201)
}

/** A user who has accepted before. */
function addMember(
  { countersign: { engines, secrets }, company }: Pick<ShopViewer, 'countersign' | 'company'>,
  email: string,
  role: UserRole,
): Promise<UserDoc> {
  const keyring = createKeyring({ dataKeys: secrets.data, codeSecrets: secrets.code })
  return addUser(engines.store, company, role, keyring, email)
}

const emailOf = async ({ context }: Viewer): Promise<string> =>
  (await (await context.request.get('/admin/v1/me')).json()).email

async function openTeam(viewer: Viewer): Promise<void> {
  await viewer.page.goto('/team')
  await card(viewer.page, 'Your sessions').getByText('This one').waitFor()
}

/** Gives the page an authenticator whose owner always agrees. */
async function addAuthenticator({ context, page }: Viewer): Promise<void> {
  const devtools = await context.newCDPSession(page)
  await devtools.send('WebAuthn.enable')
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
}

describeInBrowser('the Team screen', (open, start) => {
  it('adds a passkey, signs in with it, proves with it who changes a role, and removes it', async () => {
    const countersign = await start({ env: { PUBLIC_URL: 'http://localhost:PORT' } })
    const viewer = await open.user(countersign, 'cmp_demo', 'owner')
    const { page, context } = viewer
    const url = countersign.config.http.publicUrl
    const cookies = await context.cookies()
    await context.addCookies(cookies.map(cookie => ({ ...cookie, domain: 'localhost' })))
    await addAuthenticator(viewer)
    await page.goto(`${url}/team`)
    const own = card(page, 'Your passkeys')
    await own.getByText('You have no passkey yet.').waitFor()
    await button(own, 'Add a passkey').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Work laptop')
    await button(dialog, 'Add').click()
    await row(own, 'Work laptop').getByText('Never').waitFor()

    await context.clearCookies()
    await page.goto(`${url}/sign-in?next=/team`)
    await expectAccessible(page)
    await button(page, 'Sign in with a passkey').click()
    await card(page, 'Your sessions').getByText('This one').waitFor()

    await forgetProof(viewer)
    await button(page, 'Invite person').click()
    await dialog.getByLabel('Email').fill('grace@shop.example')
    await button(dialog, 'Invite').click()
    const proof = page.getByRole('dialog', { name: 'Is it still you?' })
    await expectAccessible(page)
    await button(proof, 'Cancel').click()
    await dialog.getByText('You did not prove again who you are, so nothing was changed.').waitFor()
    expect(await dialog.getByLabel('Email').inputValue()).to.equal('grace@shop.example')
    await button(dialog, 'Invite').click()
    await button(proof, 'Use a passkey').click()
    await dialog.getByText('grace@shop.example').waitFor()
    await button(dialog, 'Done').click()

    await button(own, 'Remove Work laptop').click()
    await button(dialog, 'Remove passkey').click()
    await own.getByText('You have no passkey yet.').waitFor()
  })

  it('proves with a code who makes a change', async () => {
    const owner = await open.member('owner')
    await openTeam(owner)
    expect(await card(owner.page, 'Your passkeys').count()).to.equal(0)
    await owner.page.route('**/admin/v1/me/passkeys', route => route.abort())
    await openTeam(owner)
    await card(owner.page, 'Your passkeys').getByText('Countersign cannot be reached.').waitFor()
    await owner.page.unrouteAll()
    await button(card(owner.page, 'Your passkeys'), 'Try again').click()
    await card(owner.page, 'Your passkeys').waitFor({ state: 'detached' })
    const { page } = owner
    const proof = page.getByRole('dialog', { name: 'Is it still you?' })
    await forgetProof(owner)
    await button(page, 'Invite person').click()
    await page.getByRole('dialog').getByLabel('Email').fill('grace@shop.example')
    await button(page.getByRole('dialog'), 'Invite').click()
    await button(proof, 'Send a code').click()
    await proof.getByLabel('Code').and(page.locator(':focus')).waitFor()
    const email = await emailOf(owner)
    const wrong = wrongCode(await newestCode(owner, email))
    await page.keyboard.type(wrong)
    await page.keyboard.press('Enter')
    await proof.getByText('Ask for a new one.').waitFor()
    const selected = await page.evaluate('document.activeElement.selectionEnd - document.activeElement.selectionStart')
    expect(selected, 'digits of the refused code').to.equal(wrong.length)
    await button(proof, 'Send another code').click()
    await proof.getByText('Asked again.').waitFor()
    await proof.getByLabel('Code').and(page.locator(':focus')).waitFor()
    await page.keyboard.type(await newestCode(owner, email, 2))
    await button(proof, 'Confirm').click()
    await button(page.getByRole('dialog'), 'Done').click()
  })

  it('invites a person, who signs in with a code and accepts', async () => {
    const owner = await open.member('owner')
    const { page, countersign } = owner
    await openTeam(owner)
    await button(page, 'Invite person').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Email').fill('nobody')
    await button(dialog, 'Invite').click()
    await dialog.getByText('must be an email address').first().waitFor()
    await dialog.getByLabel('Email').fill('hopper@shop.example')
    await dialog.getByLabel('Name').fill('Grace Hopper')
    await dialog.getByRole('radio', { name: 'Viewer' }).check()
    await button(dialog, 'Invite').click()
    expect(await dialog.getByLabel('Sign-in address').inputValue()).to.equal(`${countersign.url}/sign-in`)
    await button(dialog, 'Done').click()
    await row(page, 'Grace Hopper').getByText('Viewer').waitFor()
    await row(page, 'Grace Hopper').getByText('never').waitFor()
    await row(page, 'Grace Hopper').getByText('Invited', { exact: true }).waitFor()

    const invited = await open.stranger(countersign)
    await invited.page.goto('/sign-in?next=/team')
    await invited.page.getByLabel('Email').fill('hopper@shop.example')
    await button(invited.page, 'Send code').click()
    await invited.page.getByText('An operator finds it on the screen Try it').waitFor()
    const code = await newestCode(owner, 'hopper@shop.example')
    await invited.page.getByLabel('Code').fill(wrongCode(code))
    await button(invited.page, 'Sign in').click()
    await invited.page.getByText('The code is wrong').waitFor()
    await invited.page.getByLabel('Code').fill(`${code.slice(0, 3)} ${code.slice(3)}`)
    await button(invited.page, 'Sign in').click()
    await invited.page.getByRole('heading', { level: 1, name: 'Your invitations' }).waitFor()
    await expectAccessible(invited.page)
    await button(invited.page, 'Accept').click()
    await invited.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await invited.page.getByRole('link', { name: 'Team' }).click()
    await row(invited.page, 'Grace Hopper').getByText('You').waitFor()
    await page.reload()
    await row(page, 'Grace Hopper').getByText('Viewer').waitFor()
    expect(await row(page, 'Grace Hopper').getByText('never').count()).to.equal(0)
    expect(await row(page, 'Grace Hopper').getByText('Invited', { exact: true }).count()).to.equal(0)
  })

  it('shows invitations of other companies, to accept or decline, and a choice of company', async () => {
    const owner = await open.member('owner')
    const { page, admin, company } = owner
    const email = await emailOf(owner)
    for (const name of ['Acme', 'Globex']) {
      const { id } = (await admin('POST', '/companies', { name })).body
      await admin('POST', `/companies/${id}/users`, { email, role: 'developer' })
    }
    await openTeam(owner)
    const notice = (company: string) => page.getByRole('status').filter({ hasText: `${company} invites you` })
    await button(notice('Globex'), 'Decline').click()
    await notice('Globex').waitFor({ state: 'detached' })
    await button(notice('Acme'), 'Accept').click()
    await page.getByRole('heading', { level: 1, name: 'Create your first app' }).waitFor()
    const choice = page.getByRole('combobox', { name: 'Company' })
    expect(await choice.locator('option').allTextContents()).to.have.members(['Demo', 'Acme'])
    await choice.selectOption(company)
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await page.reload()
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    expect(await choice.inputValue()).to.equal(company)
  })

  it('keeps a draft when another company is chosen, for the same person alone', async () => {
    const owner = await open.member('owner')
    const { page, admin, context, countersign, company } = owner
    const acme = (await admin('POST', '/companies', { name: 'Acme' })).body.id
    await addMember({ countersign, company: acme }, await emailOf(owner), 'developer')
    const link = (name: string) => page.getByRole('link', { name, exact: true })
    const digits = page.getByLabel('Digits of a code')
    await page.goto('/overview')
    await link('Settings').click()
    await digits.fill('8')

    const choice = page.getByRole('combobox', { name: 'Company' })
    await choice.selectOption(acme)
    await page.getByRole('heading', { level: 1, name: 'Create your first app' }).waitFor()
    await choice.selectOption(company)
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await link('Settings').click()
    expect(await digits.inputValue()).to.equal('8')
    await page.getByRole('region', { name: 'Unsaved changes' }).waitFor()

    const other = await open.user(countersign, company, 'owner')
    await context.clearCookies()
    await context.addCookies(await other.context.cookies(`${countersign.url}/admin/v1/me`))
    await page.reload()
    expect(await digits.inputValue(), 'of another person').to.equal('6')
  })

  it('changes a role, removes a person, and keeps the last owner', async () => {
    const owner = await open.member('owner')
    const { page } = owner
    await addMember(owner, 'grace@shop.example', 'viewer')
    await openTeam(owner)
    await button(row(page, 'grace@shop.example'), 'Change role').click()
    await page.getByRole('radio', { name: 'Developer' }).check()
    await button(page, 'Save').click()
    await row(page, 'grace@shop.example').getByText('Developer').waitFor()

    await button(row(page, 'You'), 'Change role').click()
    await page.getByRole('radio', { name: 'Viewer' }).check()
    await page.getByText('only another owner can make you an owner again').waitFor()
    await button(page, 'Save').click()
    await page.getByRole('alert').getByText('keeps at least one owner').waitFor()
    await button(page, 'Cancel').click()

    await button(row(page, 'grace@shop.example'), 'Remove').click()
    await button(page, 'Cancel').click()
    await button(row(page, 'grace@shop.example'), 'Remove').click()
    await button(page, 'Remove person').click()
    await row(page, 'grace@shop.example').waitFor({ state: 'detached' })
    expect((await owner.admin('GET', `/companies/${owner.company}/users`)).body.items).to.have.length(1)
  })

  it('ends another session, all others, and all', async () => {
    const viewer = await open.operator(await start())
    const { page, countersign } = viewer
    const other = await open.operator(countersign)
    await open.operator(countersign)
    await open.operator(countersign)
    await openTeam(other)
    await openTeam(viewer)
    const sessions = card(page, 'Your sessions')
    const ends = sessions.getByRole('button', { name: 'End', exact: true })
    expect(await ends.count()).to.equal(3)
    expect(await descriptionOf(page, ends.first())).to.match(/^\w+ on Linux .*\d:\d\d/)
    await ends.first().click()
    await page.getByText('was ended.').waitFor()
    await eventually(async () => expect(await ends.count()).to.equal(2))
    const table = page.getByRole('table', { name: 'your sessions' })
    await page.locator(':focus').filter({ has: table }).waitFor()
    await button(sessions, 'End all others').click()
    await button(page, 'End other sessions').click()
    await eventually(async () => expect(await ends.count()).to.equal(0))
    await other.page.getByRole('link', { name: 'Audit' }).click()
    await other.page.getByRole('heading', { level: 1, name: 'Sign in to Countersign' }).waitFor()
    await button(sessions, 'End all').click()
    await button(page, 'End all sessions').click()
    await page.getByRole('heading', { level: 1, name: 'Sign in to Countersign' }).waitFor()
  })

  it('creates, renames, closes and reopens an app, and shows it in the choice of apps', async () => {
    const { page, admin, app, company } = await open.member('developer')
    await page.goto('/team')
    const apps = card(page, 'Apps')
    const choice = page.getByRole('combobox', { name: 'App' })
    await button(apps, 'Create app').click()
    await page.getByRole('dialog').getByLabel('Name').and(page.locator(':focus')).waitFor()
    await page.keyboard.type('Shop')
    await page.keyboard.press('Enter')
    await row(apps, 'Shop').waitFor()
    for (const name of ['Show this app', 'Rename', 'Close app'])
      expect(await descriptionOf(page, button(row(apps, 'Shop'), name))).to.equal('Shop')
    await button(row(apps, 'Shop'), 'Rename').click()
    await page.getByRole('dialog').getByLabel('Name').fill('Warehouse')
    await button(page.getByRole('dialog'), 'Rename').click()
    await button(row(apps, 'Warehouse'), 'Close app').click()
    await button(page, 'Close this app').click()
    await row(apps, 'Warehouse').getByText('Closed').waitFor()
    expect(await choice.textContent()).to.include('Warehouse (closed)')
    const { items } = (await admin('GET', `/companies/${company}/apps`)).body
    expect(items.filter(({ closed_at }: { closed_at: string | null }) => closed_at !== null)).to.have.length(1)
    await button(row(apps, 'Warehouse'), 'Reopen app').click()
    await button(row(apps, 'Warehouse'), 'Close app').waitFor()
    expect(await choice.inputValue(), 'a new app does not take the place of the shown one').to.equal(app)
    await row(apps, 'Warehouse').getByRole('button', { name: 'Show this app' }).click()
    await row(apps, 'Warehouse').getByText('Shown now').waitFor()
    expect(await choice.inputValue()).to.equal(items.find(({ name }: { name: string }) => name === 'Warehouse').id)
  })

  it('deletes a closed app and a closed company when their time has come and their names are typed', async () => {
    const owner = await open.member('owner')
    const { page, admin, countersign, company: companyId } = owner
    const { store } = countersign.engines
    const { id } = (await admin('POST', `/companies/${companyId}/apps`, { name: 'Old shop' })).body
    const closedDaysAgo = async (days: number) => {
      const $set = { closed_at: Date.now() - days * 86_400_000 }
      await store.docs('apps').modify({ _id: id }, { $set })
      await store.docs('companies').modify({ _id: companyId }, { $set })
    }
    await closedDaysAgo(29)
    await openTeam(owner)
    const [apps, company] = [card(page, 'Apps'), card(page, 'Company')]
    await row(apps, 'Old shop').getByText('Can be deleted from').waitFor()
    await company.getByText('Deletable').waitFor()
    for (const name of ['Delete app', 'Delete company']) expect(await button(page, name).count(), name).to.equal(0)

    await closedDaysAgo(31)
    await openTeam(owner)
    await button(row(apps, 'Old shop'), 'Delete app').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Nothing brings them back').waitFor()
    await dialog.getByLabel('Its name').fill('Old')
    expect(await button(dialog, 'Delete this app').isDisabled()).to.equal(true)
    await expectAccessible(page)
    await dialog.getByLabel('Its name').fill('Old shop')
    await button(dialog, 'Delete this app').click()
    await row(apps, 'Old shop').waitFor({ state: 'detached' })
    expect((await admin('GET', `/apps/${id}`)).status).to.equal(404)

    await button(company, 'Delete company').click()
    await dialog.getByText('You are signed out at once').waitFor()
    await expectAccessible(page)
    const { name } = (await admin('GET', `/companies/${companyId}`)).body
    await dialog.getByLabel('Its name').fill(name)
    await button(dialog, 'Delete this company').click()
    await page.getByLabel('Email').waitFor()
    expect((await admin('GET', `/companies/${companyId}`)).status).to.equal(404)
  })

  it('finds one of many companies by a search, also behind the first hundred', async () => {
    const countersign = await start()
    const { page, admin } = await open.operator(countersign)
    for (let at = 0; at < 105; at += 1) await admin('POST', '/companies', { name: `Customer ${at}` })
    await page.goto('/team')
    await page.getByRole('combobox', { name: 'Company' }).click()
    await page.getByRole('searchbox', { name: 'Search' }).fill('demo')
    await page.getByText('1 found.').waitFor()
    await page.keyboard.press('Enter')
    await card(page, 'Company').getByText('cmp_demo').waitFor()
    await page.reload()
    await card(page, 'Company').getByText('cmp_demo').waitFor()
    expect(await page.getByRole('combobox', { name: 'Company' }).textContent()).to.equal('Demo')
  })
})

async function addNotices({ countersign, company, app }: ShopViewer): Promise<void> {
  const { store } = countersign.engines
  // First, so that the sweeper does not find that the balance is right.
  const watched = { low_balance_micros: 1, low_balance_watch: 1 }
  await store.docs('companies').modify({ _id: company }, { $set: watched })
  const at = Date.now()
  const times = { at, seen_at: at, purge_at: new Date(at + 60_000), tries: 1, rev: 0 }
  const [sent, unsent] = ['one', 'two'].map(name => ({ user_id: `usr_${name}`, mail_id: `dlv_${name}` }))
  const mails = [{ ...sent, sent_at: at }, unsent] as NoticeDoc['mails']
  const low = { type: 'ops.balance_low' as const, subject: company, mails: [] }
  const failing = { type: 'ops.provider_open' as const, subject: 'twilio', app_id: app, mails }
  await store.docs('notices').insert(
    [{ ...low, open_since: at }, failing].map(one => ({
      ...one,
      ...times,
      _id: newId('ntc', at),
      incident: `${one.type}:${app}:${one.subject}`,
      company_id: company,
    })),
  )
}

describeInBrowser('the look of the Team screen', open => {
  it('shows what owners were told, and is accessible with its dialogs', async () => {
    const owner = await open.member('owner')
    const { page } = owner
    await addNotices(owner)
    await inviteByApi(owner, 'grace.hopper@a-long-subsidiary-name.shop.example', 'developer', 'Grace Hopper')
    await openTeam(owner)
    await row(page, 'Balance low').getByText('Ongoing').waitFor()
    await row(page, 'Provider failing').getByText('twilio of Demo').waitFor()
    await row(page, 'Provider failing').getByText('1 of 2 sent').waitFor()
    await page.getByText('this deployment has no email provider of its own').waitFor()
    await expectAccessibleInEveryLook(page)
    await button(page, 'Invite person').click()
    await expectAccessibleInEveryLook(page)
    await page.keyboard.press('Escape')
    await button(row(page, 'Grace'), 'Revoke').click()
    await expectAccessibleInEveryLook(page)
  })
})
