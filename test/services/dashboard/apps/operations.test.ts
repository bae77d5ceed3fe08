import { expect } from 'chai'
import { isId } from '../../../../infra/ids.ts'
import { resolveSettings } from '../../../../services/domain/tenancy/settings.ts'
import { twilioSid } from '../../../../services/domain/tenancy/twilio-sids.ts'
import { closeAdmins, createTenant, errorPaths, startAdmin, type TestAdmin } from '../../../support/admin-api.ts'
import { userBrowser } from '../../../support/dashboard-session.ts'
import { onEmbeddedStore } from '../../../support/stores.ts'
import { interceptWrites } from '../../../support/tenancy.ts'

onEmbeddedStore('apps', fresh => {
  let admin: TestAdmin
  let store: Awaited<ReturnType<typeof fresh>>
  beforeEach(async () => {
    store = await fresh()
    admin = await startAdmin(store)
  })
  afterEach(closeAdmins)

  const patch = (app: string, body: unknown) => admin.ask('PATCH', `/apps/${app}`, body)

  it('are created in their company, with every setting at its default', async () => {
    const { body: company } = await admin.ask('POST', '/companies', { name: 'Acme' })
    const { body: other } = await admin.ask('POST', '/companies', { name: 'Other' })
    const created = await admin.ask('POST', `/companies/${company.id}/apps`, { name: 'Shop' })
    expect(created.status).to.equal(201)
    const { id, ...rest } = created.body
    expect(isId('app', id)).to.equal(true)
    const settings = resolveSettings({})
    const created_at = '2030-01-01T00:00:00.000Z'
    expect(rest).to.deep.equal({
      company_id: company.id,
      name: 'Shop',
      settings,
      pending_retention: null,
      warnings: [],
      twilio: { account_sid: twilioSid('cmp', company.id), service_sid: twilioSid('app', id) },
      created_at,
      closed_at: null,
      deletable_at: null,
    })
    expect((await admin.get(`/apps/${id}`)).body).to.deep.equal(created.body)
    expect((await admin.get(`/companies/${company.id}/apps`)).body.items).to.deep.equal([created.body])
    expect((await admin.get(`/companies/${other.id}/apps`)).body.items).to.deep.equal([])
  })

  it('take a mail of their own as long as it may be', async () => {
    const html = `{code}${'x'.repeat(49_000)}`
    const { app } = await createTenant(admin, { texts: { email: { en: { text: '{code}', html } } } })
    expect((await admin.get(`/apps/${app}`)).body.settings.texts.email.en.html).to.equal(html)
  })

  it('get no name that makes a link of an own text, unless links are allowed', async () => {
    const { app } = await createTenant(admin)
    const texts = { sms: { en: { text: '{code} at evil.{app}' } } }
    expect((await patch(app, { name: 'A', settings: { texts } })).status).to.equal(200)
    expect(errorPaths(await patch(app, { name: 'com/x' }))).to.deep.equal(['settings.texts.sms.en.text'])
    expect((await patch(app, { name: 'Shop', settings: { text_links: true } })).status).to.equal(200)
    expect((await patch(app, { name: 'com/x' })).status).to.equal(200)
  })

  it('are changed in other things while a text breaks a rule that came after it', async () => {
    const { app } = await createTenant(admin)
    const texts = { sms: { en: { text: '{code} at evil.{app}' } } }
    await store.docs('apps').modify({ _id: app }, { $set: { name: 'com/x', 'settings.texts': texts } })
    expect((await patch(app, { settings: { verify_attempts: 4 } })).status).to.equal(200)
    expect((await patch(app, { closed: true })).status).to.equal(200)
    const settings = { texts: { sms: { de: { text: '{code} at evil.{app}' } } } }
    expect(errorPaths(await patch(app, { settings }))).to.deep.equal(['settings.texts.sms.de.text'])
  })

  it('are reopened by an operator alone if an operator closed them', async () => {
    const { company, app } = await createTenant(admin)
    const { browser } = await userBrowser(admin, company, 'developer')
    const byUser = async (closed: boolean) => (await browser.ask('PATCH', `/apps/${app}`, { closed })).status
    const byOperator = async (closed: boolean) => (await admin.ask('PATCH', `/apps/${app}`, { closed })).status
    expect([await byUser(true), await byUser(false)]).to.deep.equal([200, 200])
    // The user has closed it first: the operator's word counts all the same.
    expect([await byUser(true), await byOperator(true), await byUser(false)]).to.deep.equal([200, 200, 403])
    expect((await admin.get(`/apps/${app}`)).body.closed_at).to.be.a('string')
    expect([await byOperator(false), await byUser(true), await byUser(false)]).to.deep.equal([200, 200, 200])
  })

  it('are closed and reopened without a change of their settings', async () => {
    const { app } = await createTenant(admin, { locale: 'de' })
    const { body: open } = await admin.get(`/apps/${app}`)
    await admin.clock.advance(1_000)
    const closed = await patch(app, { closed: true, name: 'Old shop' })
    expect(closed.status).to.equal(200)
    expect(closed.body).to.deep.equal({
      ...open,
      name: 'Old shop',
      closed_at: '2030-01-01T00:00:01.000Z',
      deletable_at: '2030-01-31T00:00:01.000Z',
    })
    expect((await admin.get(`/apps/${app}`)).body).to.deep.equal(closed.body)
    const [record] = (await admin.get('/audit')).body.items
    expect(record).to.deep.include({
      action: 'app.change',
      before: { name: 'Shop', closed_at: null },
      after: { name: 'Old shop', closed_at: '2030-01-01T00:00:01.000Z' },
    })
    expect((await patch(app, { closed: false, name: 'Shop' })).body).to.deep.equal(open)
  })

  it('are not changed if other settings are stored than the caller has read', async () => {
    const { app } = await createTenant(admin, { blocked_countries: ['RU'], routing: { countries: { BR: ['sms'] } } })
    const block = (replaces: object) => patch(app, { settings: { blocked_countries: ['US'] }, replaces })
    const stored = async () => (await admin.get(`/apps/${app}`)).body.settings.blocked_countries
    const refused = await block({ blocked_countries: [], code: { length: 6 }, routing: { countries: { BR: null } } })
    expect([refused.status, refused.body.detail]).to.deep.equal([
      409,
      'Settings were changed meanwhile: blocked_countries, routing.countries.BR. Read them again.',
    ])
    expect(await stored()).to.deep.equal(['RU'])

    const read = { blocked_countries: ['RU'], allowed_countries: null, routing: { countries: { GB: null } } }
    expect((await block(read)).status).to.equal(200)
    expect(await stored()).to.deep.equal(['US'])
    expect((await block(read)).status, 'read before').to.equal(409)
  })

  it('are changed by one of two who have read the same settings', async () => {
    const { app } = await createTenant(admin)
    const answers = await Promise.all(
      ['RU', 'US'].map(country =>
        patch(app, { settings: { blocked_countries: [country] }, replaces: { blocked_countries: [] } }),
      ),
    )
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 409])
  })

  it('may empty the default order, with a warning until it has a channel again', async () => {
    const { app } = await createTenant(admin)
    const emptied = await patch(app, { settings: { routing: { default: [] } } })
    expect(emptied.status).to.equal(200)
    expect(emptied.body.warnings).to.have.length(1)
    expect(emptied.body.warnings[0]).to.have.property('path', 'routing.default')
    expect((await admin.get(`/apps/${app}`)).body.warnings).to.deep.equal(emptied.body.warnings)
    expect((await patch(app, { settings: { routing: { default: ['sms'] } } })).body.warnings).to.deep.equal([])
  })

  it('keep all of many concurrent changes', async () => {
    const { app } = await createTenant(admin, { retention_days: 5 })
    const members = ['verify_attempts', 'send_attempts', 'token_ttl_seconds', 'retention_days']
    const answers = await Promise.all(members.map(name => patch(app, { settings: { [name]: 7 } })))
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200])
    const { settings } = (await admin.get(`/apps/${app}`)).body
    for (const name of members) expect(settings[name], name).to.equal(7)
  })

  it('record the state that a change really replaced, after a lost race', async () => {
    const { app } = await createTenant(admin)
    let interfered = false
    const store = interceptWrites(admin.store, {
      async before(call) {
        if (call !== 'apps.change' || interfered) return
        interfered = true
        await patch(app, { settings: { locale: 'de' } })
      },
    })
    const slowAdmin = await startAdmin(store)
    await slowAdmin.ask('PATCH', `/apps/${app}`, { settings: { locale: 'fr' } })
    const records = (await admin.get('/audit?action=app.change')).body.items
    const [before, after] = ['de', 'fr'].map(locale => ({ settings: { locale } }))
    expect(records).to.have.length(2)
    expect(
      records.find((one: { before: unknown }) => JSON.stringify(one.before) === JSON.stringify(before)),
    ).to.deep.include({ outcome: 'done', before, after })
  })

  it('are changed and recorded only if something differs', async () => {
    const { app } = await createTenant(admin, { locale: 'de' })
    const records = async () => (await admin.get('/audit')).body.items.length
    const before = await records()
    for (const body of [{}, { name: 'Shop' }, { settings: {} }, { settings: { locale: 'de', code: null } }])
      expect((await patch(app, body)).status).to.equal(200)
    expect(await records()).to.equal(before)
    expect((await admin.store.docs('apps').get([app])).get(app)?.rev).to.equal(0)
  })
})
