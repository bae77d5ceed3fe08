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

  it('are listed in the order they are tried', async () => {
    await put('b', { type: 'twilio', config: TWILIO })
    await put('a', { type: 'sandbox', channel: 'sms' })
    const { body } = await put('first', { type: 'sandbox', channel: 'email', position: 0 })
    expect(body.position).to.equal(0)
    const list = (await admin.get(`/apps/${app}/providers`)).body
    expect(list.next_cursor).to.equal(null)
    expect(list.items.map(({ name, position }: { name: string; position: number }) => [name, position])).to.deep.equal([
      ['b', 0],
      ['first', 0],
      ['a', 1],
    ])
    await put('b', { type: 'twilio', config: TWILIO, position: 7 })
    const order = (await createTenancy(admin).providersOf(app)).providers.map(({ name }) => name)
    expect(order).to.deep.equal(['first', 'a', 'b'])
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
    expect(await places(), 'around one of an unknown type').to.deep.equal([
      'mail 0',
      'new 0',
      'b 1',
      'vonage 1',
      'a 2',
      'c 7',
    ])
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

  it('serve no country that there is not, none twice, and at least one', async () => {
    for (const [countries, path] of [
      [['XX'], 'countries.0'],
      [['GB', 'GB'], 'countries'],
      [[], 'countries'],
      ['GB', 'countries'],
    ] as const)
      expect(errorPaths(await put('main', { type: 'twilio', config: TWILIO, countries }))).to.deep.equal([path])
    expect(errorPaths(await put('main', { type: 'twilio', config: TWILIO, paused: 1 }))).to.deep.equal(['paused'])
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
    for (const [wrong, path] of [
      [{ XX: 1 }, 'cost_micros.XX'],
      [{ GB: -1 }, 'cost_micros.GB'],
      [{ GB: 0.5 }, 'cost_micros.GB'],
      [{ GB: '1' }, 'cost_micros.GB'],
      [1, 'cost_micros'],
    ] as const)
      expect(errorPaths(await put('main', { type: 'twilio', cost_micros: wrong }))).to.deep.equal([path])
  })

  it("of the console's own app are not paused unasked if no other sends sign-in codes", async () => {
    await ensureConsole(admin)
    const mail = (name: string, more: object = {}) =>
      admin.ask('PUT', `/apps/${CONSOLE_APP_ID}/providers/${name}`, { type: 'sandbox', channel: 'email', ...more })
    await mail('one')
    await mail('two')
    expect((await mail('one', { paused: true })).status, 'another is left').to.equal(200)
    expect(errorPaths(await mail('two', { paused: true }))).to.deep.equal(['paused'])
    expect((await mail('two', { paused: true, confirm: true })).body.paused).to.equal(true)
    expect((await mail('two', { paused: true, position: 5 })).status, 'it is paused already').to.equal(200)
  })

  it("of the console's own app are not deleted unasked if no other sends sign-in codes", async () => {
    await ensureConsole(admin)
    const of = (name: string) => `/apps/${CONSOLE_APP_ID}/providers/${name}`
    for (const name of ['one', 'two', 'three'])
      await admin.ask('PUT', of(name), { type: 'sandbox', channel: 'email', paused: name === 'two' })
    expect((await admin.ask('DELETE', of('three'))).status, 'another is left').to.equal(204)
    expect(errorPaths(await admin.ask('DELETE', of('one')))).to.deep.equal(['confirm'])
    expect(errorPaths(await admin.ask('DELETE', `${of('one')}?confirm=yes`))).to.deep.equal(['confirm'])
    expect((await admin.ask('DELETE', `${of('one')}?confirm=true`)).status).to.equal(204)
    expect((await admin.ask('DELETE', of('two'))).status, 'it is paused').to.equal(204)
  })

  it("of the console's own app send no sign-in codes if this release does not know their type", async () => {
    await ensureConsole(admin)
    const of = (name: string) => `/apps/${CONSOLE_APP_ID}/providers/${name}`
    for (const name of ['one', 'newer']) await admin.ask('PUT', of(name), { type: 'sandbox', channel: 'email' })
    await admin.store.docs('providers').modify({ _id: `${CONSOLE_APP_ID}:newer` }, { $set: { type: 'pigeon' } })
    expect(errorPaths(await admin.ask('DELETE', of('one')))).to.deep.equal(['confirm'])
    expect((await admin.ask('DELETE', of('newer'))).status, 'it sends nothing').to.equal(204)
  })

  it('are deleted, and then 404', async () => {
    await put('main', { type: 'twilio', config: TWILIO })
    expect((await admin.ask('DELETE', at('main'))).status).to.equal(204)
    expect((await admin.get(at('main'))).status).to.equal(404)
    expect((await admin.ask('DELETE', at('main'))).status).to.equal(404)
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
    await put('main', { type: 'twilio', config: { ...TWILIO, from: '+15005550009' } })
    const [change] = await records('provider.change')
    expect(change).to.deep.include({ target: `${app}:main`, company_id: company, who: 'ada', outcome: 'done' })
    expect(change).to.deep.include({
      before: { config: { from: '+15005550006' } },
      after: { config: { from: '+15005550009' } },
    })
    const [creation] = await records('provider.create')
    expect(creation.after.config).to.deep.equal({ ...TWILIO, auth_token: fingerprint(KEYRING, TOKEN) })
  })

  it('are neither changed nor recorded if nothing differs', async () => {
    await put('main', { type: 'twilio', config: TWILIO })
    expect((await put('main', { type: 'twilio', config: TWILIO })).status).to.equal(200)
    expect(await records('provider.change')).to.have.length(0)
  })

  describe('keep their secrets', () => {
    beforeEach(async () => {
      await put('sms', { type: 'twilio', config: TWILIO })
      await put('gate', { type: 'http', channel: 'sms', config: HTTP })
      await put('mail', { type: 'smtp', config: SMTP })
    })

    it('that a PUT omits', async () => {
      const { auth_token: _, ...rest } = TWILIO
      expect((await put('sms', { type: 'twilio', config: { ...rest, from: '+15005550009' } })).status).to.equal(200)
      expect(await opened('sms')).to.include({ auth_token: TOKEN, from: '+15005550009' })
      const { url, body } = HTTP
      expect(
        (await put('gate', { type: 'http', channel: 'sms', config: { url, body, method: 'PUT' } })).status,
      ).to.equal(200)
      expect(await opened('gate')).to.deep.include({ headers: HTTP.headers, secret: HTTP.secret, method: 'PUT' })
      const { pass: __, ...mail } = SMTP
      const dkim = { domain: 'shop.example', selector: 's2' }
      expect((await put('mail', { type: 'smtp', config: { ...mail, dkim } })).status).to.equal(200)
      expect(await opened('mail')).to.deep.include({ pass: SMTP.pass, dkim: { ...SMTP.dkim, selector: 's2' } })
    })

    it('that a PUT gives as the fingerprints that were shown', async () => {
      for (const [name, channel] of [
        ['sms', undefined],
        ['gate', 'sms'],
        ['mail', undefined],
      ]) {
        const before = await opened(name as string)
        const { type, config } = (await admin.get(at(name as string))).body
        const answer = await put(name as string, { type, config, ...(channel === undefined ? {} : { channel }) })
        expect(answer.status, JSON.stringify(answer.body)).to.equal(200)
        expect(await opened(name as string)).to.deep.equal(before)
      }
    })

    it('but not secrets that a PUT sets to nothing', async () => {
      const config = { ...HTTP, headers: {}, secret: null }
      expect((await put('gate', { type: 'http', channel: 'sms', config })).status).to.equal(200)
      expect(await opened('gate')).to.deep.include({ headers: {}, secret: null })
    })

    it('while the address is the same, also in another spelling', async () => {
      const { auth_token: _, ...rest } = TWILIO
      const config = { ...rest, base_url: 'https://api.twilio.com/' }
      expect((await put('sms', { type: 'twilio', config })).status).to.equal(200)
    })

    const SID = { account_sid: TWILIO.account_sid, from: '+1' }
    const NO_SECRETS = { ...SMTP, pass: undefined, dkim: null }
    const BODY = { to: '{{recipient}}', api_key: fingerprint(KEYRING, 'body-secret-0123') }
    const MOVED: [what: string, name: string, config: object, ...paths: string[]][] = [
      ['a base_url', 'sms', { ...SID, base_url: 'https://evil.example' }, 'auth_token'],
      ['a base_url on the same host', 'sms', { ...SID, base_url: 'https://api.twilio.com/x' }, 'auth_token'],
      [
        'a base_url with the fingerprint',
        'sms',
        { ...TWILIO, auth_token: fingerprint(KEYRING, TOKEN), base_url: 'https://evil.example' },
        'auth_token',
      ],
      ['a url', 'gate', { url: 'https://evil.example/', body: {} }, 'headers', 'secret'],
      ['the path of a url', 'gate', { url: 'https://gateway.example/evil', body: {} }, 'headers', 'secret'],
      [
        'a url, with fingerprints in the body',
        'gate',
        { ...HTTP, url: 'https://evil.example/', body: BODY },
        'body.api_key',
      ],
      ['a host', 'mail', { ...NO_SECRETS, host: 'evil.example' }, 'pass'],
      ['a port', 'mail', { ...NO_SECRETS, port: 2525 }, 'pass'],
      ['TLS', 'mail', { ...NO_SECRETS, port: 587, secure: true }, 'pass'],
    ]
    const TYPES: Record<string, object> = {
      sms: { type: 'twilio' },
      gate: { type: 'http', channel: 'sms' },
      mail: { type: 'smtp' },
    }
    for (const [what, name, config, ...paths] of MOVED)
      it(`but require them again when ${what} changes`, async () => {
        const before = await opened(name)
        const answer = await put(name, { ...TYPES[name], config })
        expect(answer.status).to.equal(422)
        expect(errorPaths(answer)).to.deep.equal(paths.map(path => `config.${path}`))
        expect(await opened(name)).to.deep.equal(before)
      })

    it('but accept another address together with the secrets', async () => {
      const config = { ...TWILIO, base_url: 'https://proxy.example' }
      expect((await put('sms', { type: 'twilio', config })).status).to.equal(200)
      expect(await opened('sms')).to.include(config)
    })

    it('but not for another type', async () => {
      const answer = await put('sms', { type: 'telegram_gateway', config: { base_url: 'https://evil.example' } })
      expect(errorPaths(answer)).to.deep.equal(['config.token'])
      const http = await put('sms', {
        type: 'http',
        channel: 'sms',
        config: { url: 'https://evil.example/', secret: fingerprint(KEYRING, TOKEN) },
      })
      expect(errorPaths(http)).to.deep.equal(['config.secret'])
    })
  })

  describe('are refused', () => {
    const twilio = (config: object) => ({ type: 'twilio', config: { ...TWILIO, ...config } })
    const smtp = (host: string) => ({ type: 'smtp', config: { ...SMTP, host } })
    const metadata = { url: 'https://169.254.169.254/' }
    const vonage = { application_id: 'a', private_key: 'hello', from: 'Shop' }
    const REFUSED: [what: string, body: unknown, ...paths: string[]][] = [
      ['without a type', {}, 'type'],
      ['of an unknown type', { type: 'pigeon' }, 'type'],
      ['for a channel they do not serve', { type: 'twilio', channel: 'email', config: TWILIO }, 'channel'],
      ['for no channel where there are several', { type: 'sandbox' }, 'channel'],
      [
        'without what the config needs',
        { type: 'twilio', config: { from: '+1' } },
        'config.account_sid',
        'config.auth_token',
      ],
      ['with an id of Twilio that is none', twilio({ messaging_service_sid: 'MG1' }), 'config.messaging_service_sid'],
      ['without a config that is needed', { type: 'telegram_gateway' }, 'config.token'],
      ['with a config that is a list', { type: 'telegram_gateway', config: [] }, 'config'],
      ['with a config that is null', { type: 'telegram_gateway', config: null }, 'config'],
      ['with a member there is not', twilio({ sid: '1' }), 'config.sid'],
      ['with a fingerprint for a secret', twilio({ auth_token: fingerprint(KEYRING, 'x') }), 'config.auth_token'],
      ['with a position that is none', { ...twilio({}), position: -1 }, 'position'],
      ['with a private base_url', twilio({ base_url: 'https://10.0.0.1' }), 'config.base_url'],
      ['with plain http', twilio({ base_url: 'http://api.twilio.com' }), 'config.base_url'],
      ['with metadata for a gateway', { type: 'http', channel: 'sms', config: metadata }, 'config.url'],
      ['with this machine for a mail server', smtp('127.0.0.1'), 'config.host'],
      ['with a Vonage key that cannot be read', { type: 'vonage', config: vonage }, 'config.private_key'],
    ]
    for (const [what, body, ...paths] of REFUSED)
      it(what, async () => {
        const answer = await put('x', body)
        expect(answer.status).to.equal(422)
        expect(errorPaths(answer)).to.deep.equal(paths)
        expect((await admin.get(`/apps/${app}/providers`)).body.items).to.deep.equal([])
        expect(await records('provider.create')).to.deep.equal([])
      })

    it('with a name that is none', async () => {
      expect(errorPaths(await put('X%20y', { type: 'sandbox', channel: 'sms' }))).to.deep.equal(['name'])
    })

    it('with a member named __proto__', async () => {
      const raw = `{"type":"twilio","config":{"account_sid":"AC11111111111111111111111111111111","auth_token":"b","from":"c","__proto__":{"x":1}}}`
      const answer = await admin.ask('PUT', at('x'), undefined, { raw })
      expect([answer.status, errorPaths(answer)]).to.deep.equal([422, ['config.__proto__']])
    })
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
