// How long an app keeps its verifications: who may make it shorter, from when that is in force, and how it is undone.
import { expect } from 'chai'
import { closeAdmins, createTenant, startAdmin, type TestAdmin } from '../../../support/admin-api.ts'
import { type Browser, userBrowser } from '../../../support/dashboard-session.ts'
import { onEmbeddedStore } from '../../../support/stores.ts'

const DAY_MS = 86_400_000

onEmbeddedStore('the retention of an app', fresh => {
  let admin: TestAdmin
  let path: string
  let [owner, developer] = [] as unknown as [Browser, Browser]
  beforeEach(async () => {
    admin = await startAdmin(await fresh())
    const { company, app } = await createTenant(admin)
    path = `/apps/${app}`
    owner = (await userBrowser(admin, company, 'owner')).browser
    developer = (await userBrowser(admin, company, 'developer')).browser
  })
  afterEach(closeAdmins)

  const set = (by: Pick<Browser | TestAdmin, 'ask'>, retention_days: number | null, more: object = {}) =>
    by.ask('PATCH', path, { settings: { retention_days, ...more } })
  const shown = async () => {
    const { settings, pending_retention } = (await admin.get(path)).body
    return [settings.retention_days, pending_retention]
  }
  const inADay = (retention_days: number) => ({
    retention_days,
    effective_at: new Date(admin.clock.now() + DAY_MS).toISOString(),
  })

  it('is made shorter by owners and operators alone; longer by developers too', async () => {
    const refused = await set(developer, 29)
    expect([refused.status, refused.body.detail]).to.deep.equal([403, 'This needs the role owner. Yours is developer.'])
    expect(await shown()).to.deep.equal([30, null])
    expect((await set(developer, 40)).status).to.equal(200)
    expect((await set(developer, null)).status, 'the default is shorter').to.equal(403)
    expect((await set(owner, 39)).body).to.deep.include({ pending_retention: inADay(39) })
    expect((await set(admin, 38)).body).to.deep.include({ pending_retention: inADay(38) })
    expect(await shown()).to.deep.equal([40, inADay(38)])
  })

  it('is recorded as what was asked for, and once', async () => {
    await set(owner, 7)
    await set(owner, 7)
    await admin.clock.advance(DAY_MS)
    expect(await shown()).to.deep.equal([7, null])
    expect((await admin.ask('PATCH', path, {})).status).to.equal(200)
    const { items } = (await admin.get('/audit')).body
    const changes = items.filter(({ action }: { action: string }) => action === 'app.change')
    expect(changes).to.have.length(1)
    expect(changes[0].after).to.deep.equal({
      pending_retention: { retention_days: 7, effective_at: new Date(admin.clock.now()).toISOString() },
    })
  })
})
