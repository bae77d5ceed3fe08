// Asking for the deletion of an app or a company: who may, from when on, and what is found of it from then on. What the sweeper then deletes
// is tested in test/services/sweeper/deletions.test.ts.
import { expect } from 'chai'
import { DAY_MS } from '../../../infra/time.ts'
import { ensureConsole } from '../../../services/domain/bootstrap/console.ts'
import { createAccounts } from '../../../services/domain/money/accounts.ts'
import { hashApiKey } from '../../../services/domain/tenancy/api-keys.ts'
import { CONSOLE_APP_ID, CONSOLE_COMPANY_ID } from '../../../services/domain/tenancy/console.ts'
import { createTenancy } from '../../../services/domain/tenancy/tenancy.ts'
import { createDeletionSweeps, DELETE_AFTER_MS } from '../../../services/sweeper/deletions.ts'
import { closeAdmins, createTenant, startAdmin, type TestAdmin } from '../../support/admin-api.ts'
import { type Browser, userBrowser } from '../../support/dashboard-session.ts'
import { eachStore } from '../../support/stores.ts'

const THIRTY_DAYS_MS = 30 * DAY_MS

eachStore('deleting an app or a company', fresh => {
  let admin: TestAdmin
  let company: string
  let app: string
  beforeEach(async () => {
    admin = await startAdmin(await fresh())
    const tenant = await createTenant(admin)
    company = tenant.company
    app = tenant.app
  })
  afterEach(closeAdmins)

  const close = (path: string, closed = true) => admin.ask('PATCH', path, { closed })
  const remove = (path: string, by: Pick<Browser, 'ask'> | TestAdmin = admin) => by.ask('DELETE', path)
  const ownerOf = async (id = company) => (await userBrowser(admin, id, 'owner')).browser

  async function closeLongAgo(path: string): Promise<void> {
    await close(path)
    await admin.clock.advance(THIRTY_DAYS_MS)
  }

  async function sweepAll(): Promise<void> {
    const { store, clock, captured } = admin
    const accounts = createAccounts({ store, clock, log: captured.log })
    const { deletions } = createDeletionSweeps({ store, accounts, clock, log: captured.log })
    for (let run = 0; run < 5; run += 1) {
      await clock.advance(DELETE_AFTER_MS)
      await deletions?.([0])
    }
  }

  for (const what of ['app', 'company'] as const) {
    const path = () => (what === 'app' ? `/apps/${app}` : `/companies/${company}`)

    it(`is refused while the ${what} is open, and until 30 days after it was closed last`, async () => {
      const open = await remove(path())
      expect(open.status).to.equal(409)
      expect(open.body.type).to.equal('HTTPException')
      expect(open.body.detail).to.match(/is open\. Close it: 30 days later it can be deleted/)
      await closeLongAgo(path())
      await close(path(), false)
      const again = await close(path())
      const from = new Date(admin.clock.now() + THIRTY_DAYS_MS).toISOString()
      expect(again.body.deletable_at).to.equal(from)
      await admin.clock.advance(THIRTY_DAYS_MS - 1)
      const early = await remove(path())
      expect([early.status, early.body.type]).to.deep.equal([409, 'HTTPException'])
      expect(early.body.detail).to.include(from)
      expect((await admin.get(path())).status).to.equal(200)
      await admin.clock.advance(1)
      expect((await remove(path())).status).to.equal(204)
    })

    it(`leaves nothing of the ${what} to be found, and a record of who did it`, async () => {
      await closeLongAgo(path())
      const list = what === 'app' ? `/companies/${company}/apps` : '/companies'
      expect((await admin.get(list)).body.items.map(({ id }: { id: string }) => id)).to.include(
        what === 'app' ? app : company,
      )
      expect((await remove(path())).status).to.equal(204)
      expect((await admin.get(path())).status).to.equal(404)
      expect((await remove(path())).status).to.equal(404)
      expect((await close(path(), false)).status, 'reopened').to.equal(404)
      const created =
        what === 'app'
          ? await admin.ask('POST', `/apps/${app}/keys`, { kind: 'server', mode: 'live' })
          : await admin.ask('POST', `/companies/${company}/apps`, { name: 'New' })
      expect(created.status).to.equal(404)
      expect((await admin.get(list)).body.items.map(({ id }: { id: string }) => id)).not.to.include(
        what === 'app' ? app : company,
      )
      const [record] = (await admin.get(`/audit?company_id=${company}&action=${what}.delete`)).body.items
      expect(record).to.include({ who: 'ada', target: what === 'app' ? app : company, after: null, outcome: 'done' })
      expect(record.before).to.include({ name: what === 'app' ? 'Shop' : 'Acme' })
      await sweepAll()
      expect((await admin.get(path())).status).to.equal(404)
      expect((await admin.get(`/audit?company_id=${company}&action=${what}.delete`)).body.items).to.have.length(1)
    })
  }

  it('is allowed to the owners of a closed company', async () => {
    const owner = await ownerOf()
    await close(`/apps/${app}`)
    await closeLongAgo(`/companies/${company}`)
    const fresh = await ownerOf()
    expect((await owner.ask('GET', `/apps/${app}`)).status, 'a session of thirty days ago').to.equal(401)
    expect((await remove(`/apps/${app}`, fresh)).status).to.equal(204)
    expect((await remove(`/companies/${company}`, fresh)).status).to.equal(204)
  })

  it('ends the sessions of the company at once, with its people, and no others', async () => {
    await closeLongAgo(`/companies/${company}`)
    const other = (await createTenant(admin)).company
    const { user, browser: owner } = await userBrowser(admin, company, 'owner', 'ada@shop.example')
    const { user: invited } = await userBrowser(admin, company, 'invited')
    const { user: elsewhere, browser } = await userBrowser(admin, other, 'viewer', 'ada@shop.example')
    expect((await remove(`/companies/${company}`, owner)).status).to.equal(204)
    expect((await owner.ask('GET', '/me')).status).to.equal(401)
    const left = await admin.store.docs('users').get([user._id, invited._id, elsewhere._id])
    expect([...left.keys()]).to.deep.equal([elsewhere._id])
    const me = await browser.ask('GET', '/me')
    expect(me.body.memberships).to.have.length(1)
    expect(me.body.company_id).to.equal(other)
    expect(
      await admin.store.docs('sessions').find({ user_id: user._id }, { sort: { _id: 1 }, limit: 9 }),
    ).to.deep.equal([])
  })

  it('keeps the keys of every app of a company refused, before and after the sweep', async () => {
    const { key } = (await admin.ask('POST', `/apps/${app}/keys`, { kind: 'server', mode: 'live' })).body
    const tenancy = createTenancy({ store: admin.store, keyring: admin.keyring, clock: admin.clock })
    expect(await tenancy.keyByHash(hashApiKey(key))).to.include({ app_id: app })
    await closeLongAgo(`/companies/${company}`)
    expect(await tenancy.keyByHash(hashApiKey(key))).to.equal(null)
    await remove(`/companies/${company}`)
    expect(await tenancy.keyByHash(hashApiKey(key))).to.equal(null)
    await sweepAll()
    expect(await tenancy.keyByHash(hashApiKey(key))).to.equal(null)
    expect(await admin.store.docs('keys').count({ app_id: app })).to.equal(0)
  })

  it('hides the apps of a company from the answer on', async () => {
    await closeLongAgo(`/companies/${company}`)
    expect((await admin.get(`/apps/${app}`)).status).to.equal(200)
    await remove(`/companies/${company}`)
    expect((await admin.get(`/apps/${app}`)).status).to.equal(404)
  })

  it('leaves the ledger and the statement to operators, while it goes on and after it', async () => {
    await admin.ask('POST', `/companies/${company}/credit`, { micros: 500, note: 'a transfer' })
    const month = new Date(admin.clock.now()).toISOString().slice(0, 7)
    await closeLongAgo(`/companies/${company}`)
    const stranger = await ownerOf((await createTenant(admin)).company)
    await remove(`/companies/${company}`)
    for (const sweep of [async () => {}, sweepAll]) {
      await sweep()
      const { body: ledger } = await admin.get(`/companies/${company}/ledger`)
      expect(ledger.items).to.have.length(1)
      expect(ledger.items[0]).to.include({ kind: 'credit', micros: 500, note: 'a transfer' })
      const { status, body } = await admin.get(`/companies/${company}/statement?month=${month}`)
      expect(status).to.equal(200)
      expect(body).to.include({ credits_micros: 500, closing_micros: 500 })
    }
    for (const path of ['ledger', 'statement'])
      expect((await stranger.ask('GET', `/companies/${company}/${path}`)).status).to.equal(404)
    expect((await admin.ask('POST', `/companies/${company}/credit`, { micros: 5, note: 'x' })).status).to.equal(404)
  })

  it('is refused to the console, which lets people sign in', async () => {
    await ensureConsole(admin)
    for (const path of [`/apps/${CONSOLE_APP_ID}`, `/companies/${CONSOLE_COMPANY_ID}`]) {
      await admin.ask('PATCH', path, { closed: true })
      await admin.clock.advance(THIRTY_DAYS_MS)
      const refused = await remove(path)
      expect([refused.status, refused.body.detail]).to.deep.equal([
        409,
        'The console cannot be deleted: it sends the codes with which people sign in.',
      ])
    }
  })
})
