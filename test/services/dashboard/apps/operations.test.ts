import { expect } from 'chai'
import { isId } from '../../../../infra/ids.ts'
import { resolveSettings } from '../../../../services/domain/tenancy/settings.ts'
import { twilioSid } from '../../../../services/domain/tenancy/twilio-sids.ts'
import { closeAdmins, createTenant, errorPaths, startAdmin, type TestAdmin } from '../../../support/admin-api.ts'
import { userBrowser } from '../../../support/dashboard-session.ts'
import { onEmbeddedStore } from '../../../support/stores.ts'
import { interceptWrites } from '../../../support/tenancy.ts'

/** A code of four digits allows ten guesses a day. */
const ONE_SEND = { recipient: [{ max: 1, seconds: 86_400 }] }

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

  it('are created with some settings, and only those are stored', async () => {
    const { app } = await createTenant(admin, { code: { length: 8 }, locale: null })
    expect((await admin.store.docs('apps').get([app])).get(app)?.settings).to.deep.equal({ code: { length: 8 } })
    expect((await admin.get(`/apps/${app}`)).body.settings.code).to.deep.equal({ length: 8, ttl_seconds: 600 })
  })

  it('take a mail of their own as long as it may be', async () => {
    const { app } = await createTenant(admin)
    const html = `{code}${'x'.repeat(49_000)}`
    const settings = { texts: { email: { en: { text: '{code}', html } } } }
    const { status, body } = await admin.ask('PATCH', `/apps/${app}`, { settings })
    expect(status).to.equal(200)
    expect(body.settings.texts.email.en.html).to.equal(html)
  })

  it('get no name that makes a link of an own text, and no text with half a character', async () => {
    const { app } = await createTenant(admin)
    const texts = { sms: { en: { text: '{code} at evil.{app}' } } }
    expect((await admin.ask('PATCH', `/apps/${app}`, { name: 'A', settings: { texts } })).status).to.equal(200)
    for (const name of ['com/x', 'http://evil.example'])
      expect(errorPaths(await admin.ask('PATCH', `/apps/${app}`, { name })), name).to.deep.equal([
        'settings.texts.sms.en.text',
      ])
    for (const [member, value] of Object.entries({ text: '{code} \ud83d', subject: '\udc00', html: '{code} \ud83d' })) {
      const settings = { texts: { email: { en: { text: '{code}', [member]: value } } } }
      expect(errorPaths(await admin.ask('PATCH', `/apps/${app}`, { settings })), member).to.deep.equal([
        `settings.texts.email.en.${member}`,
      ])
    }
    expect(
      (await admin.ask('PATCH', `/apps/${app}`, { name: 'Shop', settings: { text_links: true } })).status,
    ).to.equal(200)
    expect((await admin.ask('PATCH', `/apps/${app}`, { name: 'com/x' })).status).to.equal(200)
  })

  it('are changed in other things while a text breaks a rule that came after it', async () => {
    const { app } = await createTenant(admin)
    const texts = { sms: { en: { text: '{code} at evil.{app}' } } }
    await store.docs('apps').modify({ _id: app }, { $set: { name: 'com/x', 'settings.texts': texts } })
    expect((await admin.ask('PATCH', `/apps/${app}`, { settings: { verify_attempts: 4 } })).status).to.equal(200)
    expect((await admin.ask('PATCH', `/apps/${app}`, { closed: true })).status).to.equal(200)
    const settings = { texts: { sms: { de: { text: '{code} at evil.{app}' } } } }
    expect(errorPaths(await admin.ask('PATCH', `/apps/${app}`, { settings }))).to.deep.equal([
      'settings.texts.sms.de.text',
    ])
  })

  it('are not created with invalid settings', async () => {
    const { body: company } = await admin.ask('POST', '/companies', { name: 'Acme' })
    const settings = { code: { length: 3 }, colour: 'red' }
    const refused = await admin.ask('POST', `/companies/${company.id}/apps`, { name: 'Shop', settings })
    expect(errorPaths(refused)).to.have.members(['settings.code.length', 'settings.colour'])
    expect((await admin.get(`/companies/${company.id}/apps`)).body.items).to.deep.equal([])
    expect((await admin.get('/audit')).body.items).to.have.length(1)
  })

  it('are not created with an invalid name', async () => {
    const { app } = await createTenant(admin)
    for (const name of ['', 'Shop\n', 'Shop \ud83d', '\udc00'])
      expect(errorPaths(await admin.ask('PATCH', `/apps/${app}`, { name })), JSON.stringify(name)).to.deep.equal([
        'name',
      ])
    expect((await admin.ask('PATCH', `/apps/${app}`, { name: 'Shop \u{1f6d2}' })).status).to.equal(200)
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
    expect(errorPaths(await patch(app, { closed: 'yes' }))).to.deep.equal(['closed'])
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
    expect(errorPaths(await block({ code: { digits: 6 } }))).to.deep.equal(['replaces.code.digits'])
    expect(await stored()).to.deep.equal(['RU'])
    expect(errorPaths(await patch(app, { replaces: ['RU'] }))).to.deep.equal(['replaces'])

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

  it('show the mode of the fraud guard that holds, and store only one that was written', async () => {
    const { app } = await createTenant(admin)
    const modeAfter = async (settings: object) => (await patch(app, { settings })).body.settings.fraud_guard.mode
    const stored = async () => (await admin.store.docs('apps').get([app])).get(app)?.settings
    expect(await modeAfter({ publishable_send: true })).to.equal('on')
    expect((await admin.get(`/apps/${app}`)).body.settings.fraud_guard).to.deep.equal({ mode: 'on', action: 'refuse' })
    expect(await stored()).to.deep.equal({ publishable_send: true })
    expect(await modeAfter({ publishable_send: false })).to.equal('record')
    expect(await modeAfter({ publishable_send: true, fraud_guard: { mode: 'off' } })).to.equal('off')
    expect(await modeAfter({ fraud_guard: { mode: null } })).to.equal('on')
    expect(await stored()).to.deep.equal({ publishable_send: true })
  })

  it('are not changed by an invalid patch, whose problems are reported by path', async () => {
    const { app } = await createTenant(admin)
    const before = (await admin.get(`/apps/${app}`)).body
    const refusals: [unknown, string[]][] = [
      [{ settings: { code: { length: 11 } } }, ['settings.code.length']],
      [{ settings: null }, ['settings']],
      [{ settings: [] }, ['settings']],
      [{ name: null }, ['name']],
      [{ settings: { code: { length: 4 }, verify_attempts: 6, limits: ONE_SEND } }, ['settings.verify_attempts']],
      [{ settings: { code: { length: 4 } } }, ['settings.limits.recipient_verify']],
      [{ settings: { limits: { recipient_verify: [] } } }, ['settings.limits.recipient_verify']],
    ]
    for (const [body, paths] of refusals) {
      const refused = await patch(app, body)
      expect(refused.status, JSON.stringify(body)).to.equal(422)
      expect(errorPaths(refused)).to.deep.equal(paths)
    }
    expect((await admin.get(`/apps/${app}`)).body).to.deep.equal(before)
  })

  it('must keep rules between settings that were patched at different times', async () => {
    const { app } = await createTenant(admin, { verify_attempts: 10, code: { length: 6 }, limits: ONE_SEND })
    expect(errorPaths(await patch(app, { settings: { code: { length: 4 } } }))).to.deep.equal([
      'settings.verify_attempts',
    ])
  })

  it('must stay within the guesses that a code allows, when they are created, changed and reset', async () => {
    const paths = ['settings.limits.recipient_verify']
    const { app, company } = await createTenant(admin, { code: { length: 4 }, limits: ONE_SEND })
    const create = { name: 'Shop', settings: { code: { length: 4 } } }
    expect(errorPaths(await admin.ask('POST', `/companies/${company}/apps`, create))).to.deep.equal(paths)
    const more = { settings: { limits: { recipient: [{ max: 3, seconds: 86_400 }] } } }
    expect(errorPaths(await patch(app, more))).to.deep.equal(paths)
    expect(errorPaths(await patch(app, { settings: { limits: { recipient: null } } }))).to.deep.equal(paths)
    const refused = await patch(app, { settings: { limits: null } })
    expect([refused.status, errorPaths(refused)]).to.deep.equal([422, paths])
    expect((await patch(app, { settings: { limits: null, code: null } })).status).to.equal(200)
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
    const records = (await admin.get('/audit')).body.items.filter(
      (one: { action: string }) => one.action === 'app.change',
    )
    expect(records).to.have.length(2)
    const french = records.find(
      (one: { after: { settings: { locale: string } } }) => one.after.settings.locale === 'fr',
    )
    expect(french).to.deep.include({
      outcome: 'done',
      before: { settings: { locale: 'de' } },
      after: { settings: { locale: 'fr' } },
    })
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
