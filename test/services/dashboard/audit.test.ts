// The audit log. The rule under test: there is no change without a record, even if a write fails or the process crashes.
import { expect } from 'chai'
import { isId } from '../../../infra/ids.ts'
import { Unavailable } from '../../../infra/unavailable.ts'
import { closeAdmins, createTenant, startAdmin, type TestAdmin, TOKENS } from '../../support/admin-api.ts'
import { userBrowser } from '../../support/dashboard-session.ts'
import { eachStore } from '../../support/stores.ts'
import { interceptWrites } from '../../support/tenancy.ts'

eachStore('the audit log', fresh => {
  let admin: TestAdmin
  beforeEach(async () => {
    admin = await startAdmin(await fresh())
  })
  afterEach(closeAdmins)

  const records = async (path = '/audit') => (await admin.get(path)).body.items

  it('names the operator and the action, with before and after', async () => {
    const { company, app } = await createTenant(admin)
    await admin.clock.advance(1_000)
    await admin.ask('PATCH', `/apps/${app}`, { settings: { locale: 'fr' } }, { token: TOKENS[1]?.token ?? '' })
    const { id, ...rest } = (await records())[0]
    expect(isId('aud', id)).to.equal(true)
    expect(rest).to.deep.equal({
      at: '2030-01-01T00:00:01.000Z',
      who: 'bob',
      company_id: company,
      action: 'app.change',
      target: app,
      before: { settings: {} },
      after: { settings: { locale: 'fr' } },
      outcome: 'done',
    })
  })

  it('is filtered by who did it, by what was done and by time, and these together', async () => {
    const { app } = await createTenant(admin)
    await admin.clock.advance(120_000)
    const bob = { token: TOKENS[1]?.token ?? '' }
    await admin.ask('PATCH', `/apps/${app}`, { name: 'Bank' }, bob)
    await admin.ask('POST', `/apps/${app}/keys`, { kind: 'server', mode: 'test' }, bob)
    const actions = async (query: string) =>
      (await records(`/audit?${query}`)).map(({ action }: { action: string }) => action)
    expect(await actions('who=bob')).to.have.members(['app.change', 'key.create'])
    expect(await actions('who=bo')).to.deep.equal([])
    expect(await actions('action=app.create')).to.deep.equal(['app.create'])
    expect(await actions('since=2030-01-01T00:02:00Z')).to.have.members(['app.change', 'key.create'])
    expect(await actions('until=2030-01-01T00:02:00Z')).to.have.members(['company.create', 'app.create'])
    expect(await actions('since=2030-01-01T00:02:00.001Z')).to.deep.equal([])
    expect(await actions('who=bob&action=key.create&since=2030-01-01T00:01:00Z')).to.deep.equal(['key.create'])
    const { body } = await admin.get('/audit?who=bob&limit=1')
    const rest = await actions(`who=bob&cursor=${encodeURIComponent(body.next_cursor)}`)
    expect([body.items[0].action, ...rest]).to.have.members(['app.change', 'key.create'])
  })

  it('shows every company what holds for all of them, and nothing of another company', async () => {
    const [{ company }, other] = [await createTenant(admin), await createTenant(admin)]
    const price = { channel: 'sms', country: '*', micros: 90_000 }
    await admin.ask('PUT', '/prices', { prices: [price] })
    await admin.clock.advance(1)
    await admin.ask('PUT', '/prices', { prices: [{ ...price, micros: 80_000 }] })
    const { browser } = await userBrowser(admin, company, 'owner')
    const seen = (await browser.ask('GET', '/audit')).body.items
    const companies = seen.map(({ company_id }: { company_id: string }) => company_id)
    expect(companies).to.include(company).and.not.to.include(other.company)
    expect(seen.filter(({ action }: { action: string }) => action === 'prices.replace')[0]).to.deep.include({
      who: 'ada',
      company_id: '*',
      before: [price],
      after: [{ ...price, micros: 80_000 }],
    })
    const ofAll = (await browser.ask('GET', '/audit?company_id=*')).body.items
    expect(ofAll.map(({ action }: { action: string }) => action)).to.deep.equal(['prices.replace', 'prices.replace'])
    expect((await browser.ask('GET', `/audit?company_id=${other.company}`)).status).to.equal(404)
    const ofOther: { target: string }[] = await records(`/audit?company_id=${other.company}`)
    const targets = ofOther.map(({ target }) => target)
    expect(targets).to.include.members([other.company, other.app]).and.not.to.include(company)
    expect((await browser.ask('PATCH', `/companies/${company}`, { name: 'Bank' })).status).to.equal(200)
    const found = await records(`/audit?who=${browser.me.id}&action=company.change`)
    expect(found.map(({ who }: { who: string }) => who.split(' ')[0])).to.deep.equal([browser.me.id])
  })

  it('prevents a change that it cannot record', async () => {
    const { app } = await createTenant(admin)
    const store = interceptWrites(admin.store, {
      before: call => {
        if (call === 'audit.modify') throw new Unavailable('down')
      },
    })
    const brokenAdmin = await startAdmin(store)
    expect((await brokenAdmin.ask('POST', '/companies', { name: 'Ghost' })).status).to.equal(503)
    expect((await brokenAdmin.ask('PATCH', `/apps/${app}`, { name: 'Ghost' })).status).to.equal(503)
    expect((await admin.get('/companies')).body.items).to.have.length(1)
    expect((await admin.get(`/apps/${app}`)).body.name).to.equal('Shop')
  })

  it('leaves an interrupted change as begun', async () => {
    const { app } = await createTenant(admin)
    const store = interceptWrites(admin.store, {
      after: call => {
        if (call === 'apps.change') throw new Unavailable('the reply was lost')
      },
    })
    const brokenAdmin = await startAdmin(store)
    await admin.clock.advance(1)
    expect((await brokenAdmin.ask('PATCH', `/apps/${app}`, { name: 'Store' })).status).to.equal(503)
    expect((await admin.get(`/apps/${app}`)).body.name).to.equal('Store')
    const records = (await admin.get('/audit')).body.items
    const change = records.find(({ action }: { action: string }) => action === 'app.change')
    expect(change).to.deep.include({ outcome: 'begun', after: { name: 'Store' } })
  })

  it('lets a change succeed whose record cannot be completed', async () => {
    const { app } = await createTenant(admin)
    let writes = 0
    const store = interceptWrites(admin.store, {
      before: call => {
        if (call !== 'audit.modify') return
        writes += 1
        if (writes === 2) throw new Unavailable('down')
      },
    })
    const brokenAdmin = await startAdmin(store)
    const made = await brokenAdmin.ask('POST', `/apps/${app}/keys`, { kind: 'server', mode: 'test' })
    expect(made.status).to.equal(201)
    expect(made.body.key).to.match(/^sk_test_/)
    const record = (await records()).find(({ target }: { target: string }) => target === made.body.id)
    expect(record).to.include({ action: 'key.create', outcome: 'begun' })
    expect(brokenAdmin.captured.output()).to.contain('audit.completion_failed')
  })

  it('marks a change as undone that another request made first', async () => {
    const { app } = await createTenant(admin)
    const { id } = (await admin.ask('POST', `/apps/${app}/keys`, { kind: 'server', mode: 'test' })).body
    const store = interceptWrites(admin.store, {
      async before(call) {
        if (call === 'keys.modify') await admin.ask('DELETE', `/keys/${id}`)
      },
    })
    const slowAdmin = await startAdmin(store)
    expect((await slowAdmin.ask('DELETE', `/keys/${id}`)).status).to.equal(204)
    const outcomes = (await records())
      .filter(({ action }: { action: string }) => action === 'key.revoke')
      .map(({ outcome }: { outcome: string }) => outcome)
    expect(outcomes).to.have.members(['done', 'undone'])
  })

  it('gives up on a document that other requests keep changing, with a record that is undone', async () => {
    const { app } = await createTenant(admin)
    let version = 0
    const store = interceptWrites(admin.store, {
      async before(call) {
        if (call !== 'apps.change') return
        version += 1
        await admin.ask('PATCH', `/apps/${app}`, { name: `v${version}` })
      },
    })
    const slowAdmin = await startAdmin(store)
    expect((await slowAdmin.ask('PATCH', `/apps/${app}`, { settings: { locale: 'fr' } })).status).to.equal(503)
    expect((await admin.get(`/apps/${app}`)).body.settings.locale).to.equal('en')
    const undone = (await records('/audit?limit=100')).filter(
      ({ outcome }: { outcome: string }) => outcome === 'undone',
    )
    expect(undone).to.have.length(1)
  })
})
