import { expect } from 'chai'
import { ensureConsole } from '../../../../services/domain/bootstrap/console.ts'
import { CONSOLE_APP_ID } from '../../../../services/domain/tenancy/console.ts'
import type { Provider } from '../../../../services/domain/tenancy/documents.ts'
import { fingerprint } from '../../../../services/domain/tenancy/fingerprint.ts'
import { createTenancy } from '../../../../services/domain/tenancy/tenancy.ts'
import { closeAdmins, createTenant, errorPaths, startAdmin, type TestAdmin } from '../../../support/admin-api.ts'
import { onEmbeddedStore } from '../../../support/stores.ts'
import { testKeyring } from '../../../support/tenancy.ts'

const KEYRING = testKeyring()

const TOKEN = 'twilio-token-0123456789'
const TWILIO = { account_sid: 'AC11111111111111111111111111111111', auth_token: TOKEN, from: '+15005550006' }
const HTTP = {
  url: 'https://gateway.example/send?key=url-secret-0123',
  headers: { Authorization: 'Bearer header-secret-0123' },
  body: { to: '{{recipient}}', text: '{{text}}', api_key: 'body-secret-0123' },
  secret: 'callback-secret-0123',
}
const SMTP = {
  host: 'mail.example',
  user: 'ann',
  pass: 'smtp-secret-0123',
  from: 'Ann <ann@shop.example>',
  dkim: { domain: 'shop.example', selector: 's1', private_key: 'dkim-secret-0123' },
}
const SECRETS = [
  TOKEN,
  'url-secret-0123',
  'header-secret-0123',
  'body-secret-0123',
  'callback-secret-0123',
  'smtp-secret-0123',
  'dkim-secret-0123',
]

onEmbeddedStore('the providers of an app', fresh => {
  let admin: TestAdmin
  let app: string
  let company: string
  beforeEach(async () => {
    admin = await startAdmin(await fresh())
    const made = await createTenant(admin)
    app = made.app
    company = made.company
  })
  afterEach(closeAdmins)

  const at = (name: string) => `/apps/${app}/providers/${name}`
  const put = (name: string, body: unknown) => admin.ask('PUT', at(name), body)
  const records = async (action: string) =>
    (await admin.get('/audit')).body.items.filter((record: { action: string }) => record.action === action)
  const opened = async (name: string) => {
    const found = (await createTenancy(admin).providersOf(app)).providers.find(provider => provider.name === name)
    return found?.config as Record<string, unknown>
  }

  it('are created, and shown with their defaults and with fingerprints of their secrets', async () => {
    const { status, body } = await put('main', { type: 'twilio', config: TWILIO })
    expect(status).to.equal(201)
    expect(body).to.deep.equal({
      name: 'main',
      channel: 'sms',
      type: 'twilio',
      position: 0,
      paused: false,
      countries: null,
      cost_micros: {},
      config: {
        account_sid: 'AC11111111111111111111111111111111',
        auth_token: fingerprint(KEYRING, TOKEN),
        from: '+15005550006',
        messaging_service_sid: null,
        base_url: 'https://api.twilio.com',
      },
      breaker: null,
    })
    expect((await admin.get(at('main'))).body).to.deep.equal(body)
    expect(await opened('main')).to.include(TWILIO)
  })

  it('come before the one whose position they are given, and those that follow move by one', async () => {
    const places = async () =>
      (await admin.get(`/apps/${app}/providers`)).body.items.map(
        ({ name, position }: { name: string; position: number }) => `${name} ${position}`,
      )
    const sms = (name: string, position?: number) => put(name, { type: 'sandbox', channel: 'sms', position })
    await sms('a')
    await sms('b')
    await sms('c', 7)
    await put('mail', { type: 'sandbox', channel: 'email', position: 0 })
    expect((await sms('vonage', 0)).body.position).to.equal(0)
    expect(await places()).to.deep.equal(['mail 0', 'vonage 0', 'a 1', 'b 2', 'c 7'])
    const [created] = (await records('provider.create')).filter(
      ({ after }: { after: { moved?: unknown } }) => after.moved,
    )
    expect(created.after.moved).to.deep.equal([
      { name: 'a', position: 1 },
      { name: 'b', position: 2 },
    ])
    // The place that it leaves is a gap.
    await sms('b', 0)
    expect(await places()).to.deep.equal(['b 0', 'mail 0', 'vonage 1', 'a 2', 'c 7'])
    const before = await records('provider.change')
    await sms('b', 0)
    expect(await records('provider.change'), 'it has its place already').to.deep.equal(before)
    await admin.store.docs('providers').modify({ _id: `${app}:vonage` }, { $set: { position: 0 } })
    await sms('vonage', 0)
    expect(await places(), 'a tie that was stored').to.deep.equal(['mail 0', 'vonage 0', 'b 1', 'a 2', 'c 7'])
    await admin.store.docs('providers').modify({ _id: `${app}:b` }, { $set: { type: 'pigeon' } })
    await sms('new', 0)
    const around = ['mail 0', 'new 0', 'b 1', 'vonage 1', 'a 2', 'c 7']
    expect(await places(), 'around one of an unknown type').to.deep.equal(around)
  })

  it('are paused, and serve some countries, without their config', async () => {
    await put('main', { type: 'twilio', config: TWILIO })
    const { status, body } = await put('main', { type: 'twilio', paused: true, countries: ['IN', 'GB'] })
    expect(status).to.equal(200)
    expect(body).to.deep.include({ paused: true, countries: ['IN', 'GB'], position: 0 })
    expect((await put('main', { type: 'twilio', position: 3 })).body, 'what is left out stays').to.deep.include({
      paused: true,
      countries: ['IN', 'GB'],
    })
    // Records of the same millisecond are in no order.
    const change = (await records('provider.change')).find(({ before }: { before: Provider }) => 'paused' in before)
    expect([change.before, change.after].map(({ paused, countries }) => [paused, countries])).to.deep.equal([
      [false, null],
      [true, ['IN', 'GB']],
    ])
    expect((await put('main', { type: 'twilio', paused: false, countries: null })).body).to.deep.include({
      paused: false,
      countries: null,
    })
    expect(await opened('main')).to.include(TWILIO)
  })

  it('keep what the vendor charges, by country and for the rest', async () => {
    const cost_micros = { GB: 42_000, '*': 60_000 }
    await put('main', { type: 'twilio', config: TWILIO, cost_micros })
    expect((await put('main', { type: 'twilio', position: 3 })).body, 'what is left out stays').to.deep.include({
      cost_micros,
    })
    const [change] = await records('provider.change')
    expect(change.after).to.deep.equal({ position: 3 })
    expect((await put('main', { type: 'twilio', cost_micros: {} })).body.cost_micros).to.deep.equal({})
  })

  it("of the console's own app are neither paused nor deleted unasked if no other sends sign-in codes", async () => {
    await ensureConsole(admin)
    const of = (name: string) => `/apps/${CONSOLE_APP_ID}/providers/${name}`
    const mail = (name: string, more: object = {}) =>
      admin.ask('PUT', of(name), { type: 'sandbox', channel: 'email', ...more })
    for (const name of ['one', 'two', 'three', 'newer']) await mail(name)
    // One whose type this release does not know sends nothing.
    await admin.store.docs('providers').modify({ _id: `${CONSOLE_APP_ID}:newer` }, { $set: { type: 'pigeon' } })
    expect((await mail('two', { paused: true })).status, 'others are left').to.equal(200)
    expect((await admin.ask('DELETE', of('three'))).status, 'another is left').to.equal(204)
    expect(errorPaths(await mail('one', { paused: true }))).to.deep.equal(['paused'])
    expect(errorPaths(await admin.ask('DELETE', of('one')))).to.deep.equal(['confirm'])
    expect(errorPaths(await admin.ask('DELETE', `${of('one')}?confirm=yes`))).to.deep.equal(['confirm'])
    expect((await admin.ask('DELETE', of('newer'))).status, 'it sends nothing').to.equal(204)
    expect((await mail('one', { paused: true, confirm: true })).body.paused).to.equal(true)
    expect((await mail('one', { paused: true, position: 5 })).status, 'it is paused already').to.equal(200)
    expect((await admin.ask('DELETE', of('two'))).status, 'it is paused').to.equal(204)
    await mail('one', { paused: false })
    expect((await admin.ask('DELETE', `${of('one')}?confirm=true`)).status).to.equal(204)
  })

  it('are deleted, and then 404', async () => {
    await put('main', { type: 'twilio', config: TWILIO })
    expect((await admin.ask('DELETE', at('main'))).status).to.equal(204)
    expect((await admin.get(at('main'))).status).to.equal(404)
    expect((await admin.ask('DELETE', at('main'))).status).to.equal(404)
    expect(errorPaths(await put('X%20y', { type: 'sandbox', channel: 'sms' })), 'no name').to.deep.equal(['name'])
    expect((await records('provider.delete'))[0]).to.deep.include({
      target: `${app}:main`,
      after: null,
      outcome: 'done',
    })
  })

  it('have no secret in answers, the audit log or the log', async () => {
    for (const [name, body] of Object.entries({
      one: { type: 'twilio', config: TWILIO },
      two: { type: 'http', channel: 'sms', config: HTTP },
      three: { type: 'smtp', config: SMTP },
    })) {
      expect((await put(name, body)).status).to.equal(201)
      expect((await put(name, { ...body, position: 5 })).status).to.equal(200)
    }
    await admin.ask('DELETE', at('one'))
    const shown = [await admin.get(`/apps/${app}/providers`), await admin.get(at('two')), await admin.get('/audit')]
    const stored = await admin.store.docs('providers').find({ app_id: app }, { sort: { position: 1 }, limit: 10 })
    for (const secret of SECRETS) {
      expect(JSON.stringify(shown.map(({ body }) => body))).not.to.contain(secret)
      expect(JSON.stringify(stored)).not.to.contain(secret)
      expect(admin.captured.output()).not.to.contain(secret)
    }
  })

  it('are recorded in the audit log with before and after', async () => {
    await put('main', { type: 'twilio', config: TWILIO })
    for (const from of ['+15005550006', '+15005550009'])
      await put('main', { type: 'twilio', config: { ...TWILIO, from } })
    const [change, ...more] = await records('provider.change')
    expect(more, 'nothing differed').to.deep.equal([])
    expect(change).to.deep.include({ target: `${app}:main`, company_id: company, who: 'ada', outcome: 'done' })
    expect(change).to.deep.include({
      before: { config: { from: '+15005550006' } },
      after: { config: { from: '+15005550009' } },
    })
    const [creation] = await records('provider.create')
    expect(creation.after.config).to.deep.equal({ ...TWILIO, auth_token: fingerprint(KEYRING, TOKEN) })
  })

  it('are shown without a config that cannot be unsealed, and can be replaced', async () => {
    await put('main', { type: 'twilio', config: TWILIO })
    await admin.store.docs('providers').modify({ _id: `${app}:main` }, { $set: { config: 'v1.gone.x' } })
    const lost = await admin.get(at('main'))
    expect([lost.status, lost.body.config]).to.deep.equal([200, null])
    const { auth_token: _, ...rest } = TWILIO
    expect(errorPaths(await put('main', { type: 'twilio', config: rest }))).to.deep.equal(['config.auth_token'])
    expect((await put('main', { type: 'twilio', config: TWILIO })).status).to.equal(200)
    expect(await opened('main')).to.include(TWILIO)
  })

  it('keep their config when a PUT has none, also what a colleague has just changed', async () => {
    const shown = (await put('main', { type: 'twilio', config: TWILIO })).body
    await put('main', { type: 'twilio', config: { ...TWILIO, from: '+15005550009' } })
    const { type, channel } = shown
    const moved = await put('main', { type, channel, position: 7 })
    expect([moved.status, moved.body.position, moved.body.config.from]).to.deep.equal([200, 7, '+15005550009'])
    expect(await opened('main')).to.include({ auth_token: TOKEN, from: '+15005550009' })
    const before = await records('provider.change')
    expect((await put('main', { type, channel, position: 7 })).status).to.equal(200)
    expect(await records('provider.change')).to.deep.equal(before)
    expect(errorPaths(await put('main', { type: 'smtp', position: 7 }))).to.include('config.host')
    expect(errorPaths(await put('new', { type, position: 7 }))).to.include('config.auth_token')
    await admin.store.docs('providers').modify({ _id: `${app}:main` }, { $set: { config: 'v1.gone.x' } })
    expect((await put('main', { type, position: 8 })).body).to.include({ position: 8, config: null })
    expect((await admin.store.docs('providers').get([`${app}:main`])).get(`${app}:main`)?.config).to.equal('v1.gone.x')
  })

  it('are shown, replaced and deleted where a newer release has stored a type that this one does not know', async () => {
    const store = async (name: string) => {
      await put(name, { type: 'twilio', config: TWILIO })
      await admin.store.docs('providers').modify({ _id: `${app}:${name}` }, { $set: { type: 'pigeon' } })
    }
    await store('new')
    await put('spare', { type: 'sandbox', channel: 'sms' })
    const { status, body } = await admin.get(`/apps/${app}/providers`)
    expect(status).to.equal(200)
    expect(body.items.map(({ type, config }: Record<string, unknown>) => [type, config])).to.deep.equal([
      ['pigeon', null],
      ['sandbox', {}],
    ])
    expect((await admin.get(at('new'))).body).to.include({ type: 'pigeon', config: null })
    const tested = await admin.ask('POST', `${at('new')}/test`, { recipient: '+14155552671' })
    expect([tested.status, tested.body.detail]).to.deep.equal([
      409,
      'This release does not know the type of the provider.',
    ])
    expect((await put('new', { type: 'twilio', config: TWILIO })).body).to.include({ type: 'twilio', position: 0 })
    await store('new')
    expect((await admin.ask('DELETE', at('new'))).status).to.equal(204)
  })

  it('are added, and replace none, where the caller says that there was none', async () => {
    const add = (from: string) => put('own', { type: 'twilio', config: { ...TWILIO, from }, replaces: null })
    expect((await add('+15005550006')).status).to.equal(201)
    const refused = await add('+15005550007')
    expect([refused.status, refused.body.detail]).to.deep.equal([409, 'A provider of this name was added meanwhile.'])
    expect(await opened('own')).to.include({ from: '+15005550006' })
  })

  it('are not changed if other values are stored than the caller has read', async () => {
    const headers = { Authorization: HTTP.headers.Authorization }
    const config = { url: 'https://gateway.example/send', headers }
    const change = (replaces: object) => put('own', { type: 'http', channel: 'sms', cost_micros: { '*': 1 }, replaces })
    const read = (await put('own', { type: 'http', channel: 'sms', countries: ['GB'], config })).body
    await put('own', {
      type: 'http',
      channel: 'sms',
      config: { ...config, headers: { ...headers, 'x-tenant': 'shop' } },
    })
    const before = await records('provider.change')
    const refused = await change({ config: read.config })
    expect([refused.status, refused.body.detail]).to.deep.equal([
      409,
      'The provider was changed or deleted meanwhile. Read it again.',
    ])
    expect((await change({ countries: null })).status).to.equal(409)
    expect((await change({ countries: ['GB'], cost_micros: { '*': 2 } })).status).to.equal(409)
    expect(await records('provider.change')).to.deep.equal(before)
    expect(errorPaths(await change({ paused: false }))).to.deep.equal(['replaces.paused'])

    const { countries, cost_micros, config: now } = (await admin.get(at('own'))).body
    const changed = await change({ countries, cost_micros, config: now })
    expect([changed.status, changed.body.cost_micros]).to.deep.equal([200, { '*': 1 }])
    await admin.ask('DELETE', at('own'))
    expect((await change({})).status, 'deleted').to.equal(409)
  })

  it('are at most a hundred', async () => {
    const full = Array.from({ length: 100 }, (_, position) => ({
      _id: `${app}:p${position}`,
      app_id: app,
      name: `p${position}`,
      channel: 'sms' as const,
      type: 'sandbox' as const,
      position,
      config: 'v1.gone.x',
      rev: 0,
    }))
    await admin.store.docs('providers').insert(full)
    expect((await put('another', { type: 'twilio', config: TWILIO })).status).to.equal(422)
    expect((await put('another', { type: 'twilio', config: TWILIO, position: 3 })).status).to.equal(422)
    expect((await put('p3', { type: 'twilio', config: TWILIO })).status).to.equal(200)
  })

  it('keep all concurrent changes', async () => {
    const names = ['a', 'b', 'c', 'd']
    const made = await Promise.all(names.map(from => put('main', { type: 'twilio', config: { ...TWILIO, from } })))
    expect(made.filter(({ status }) => status === 201)).to.have.length(1)
    expect(made.every(({ status }) => status === 201 || status === 200)).to.equal(true)
    expect(await records('provider.change')).to.have.length(3)
  })
})
