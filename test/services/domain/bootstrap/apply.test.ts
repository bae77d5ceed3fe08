import { expect } from 'chai'
import { applyBootstrap, readBootstrap } from '../../../../services/domain/bootstrap/bootstrap.ts'
import type { CountersignStore } from '../../../../services/domain/collections.ts'
import { openAccount } from '../../../../services/domain/money/batches.ts'
import { hashApiKey } from '../../../../services/domain/tenancy/api-keys.ts'
import { createTenancy } from '../../../../services/domain/tenancy/tenancy.ts'
import { classesIn } from '../../../support/address-lists.ts'
import { fullBootstrapFile } from '../../../support/bootstrap.ts'
import { testClock } from '../../../support/clock.ts'
import { onEmbeddedStore } from '../../../support/stores.ts'
import { allTenancyDocs, interceptWrites, testKeyring } from '../../../support/tenancy.ts'

const keyring = testKeyring()
const clock = testClock()

const apply = (store: CountersignStore, file: unknown) =>
  applyBootstrap(readBootstrap(JSON.stringify(file)), { store, keyring, clock })

const withApp = (app: object) => ({ companies: [{ id: 'cmp_acme', apps: [{ id: 'app_shop', ...app }] }] })

onEmbeddedStore('applying the bootstrap file', fresh => {
  let store: CountersignStore
  beforeEach(async () => {
    store = await fresh()
  })

  it('creates everything in the file', async () => {
    const { mintedKeys, mintedSecrets, warnings } = await apply(store, fullBootstrapFile())
    const { companies, apps, keys, webhooks, providers, prices, ip_lists } = await allTenancyDocs(store)

    expect(companies).to.deep.equal([
      {
        _id: 'cmp_acme',
        name: 'Acme',
        ...openAccount('cmp_acme', 5_000_000, clock.now()),
        created_at: clock.now(),
        rev: 0,
      },
      {
        _id: 'cmp_other',
        name: 'cmp_other',
        ...openAccount('cmp_other', 0, clock.now()),
        created_at: clock.now(),
        rev: 0,
      },
    ])
    expect(apps.map(app => [app._id, app.company_id, app.name, app.settings])).to.deep.equal([
      ['app_blog', 'cmp_acme', 'app_blog', {}],
      ['app_other', 'cmp_other', 'app_other', {}],
      ['app_shop', 'cmp_acme', 'Shop', { code: { length: 8 }, routing: { countries: { BR: ['whatsapp', 'sms'] } } }],
    ])
    expect(keys.map(({ _id, app_id, kind, mode }) => [_id, app_id, kind, mode])).to.deep.equal([
      ['key_a', 'app_shop', 'server', 'test'],
      ['key_b', 'app_shop', 'publishable', 'live'],
      ['key_made', 'app_shop', 'server', 'live'],
    ])
    for (const { company_id, revoked_at } of keys) expect([company_id, revoked_at]).to.deep.equal(['cmp_acme', null])
    expect(providers.map(({ _id, channel, type, position }) => [_id, channel, type, position])).to.deep.equal([
      ['app_shop:backup', 'sms', 'http', 2],
      ['app_shop:mail', 'email', 'smtp', 1],
      ['app_shop:twilio-main', 'sms', 'twilio', 0],
    ])
    expect(webhooks.map(({ _id, url, status }) => [_id, url, status])).to.deep.equal([
      ['app_other', 'https://other.example/', 'active'],
      ['app_shop', 'https://shop.example/hooks', 'active'],
    ])
    expect(prices.flatMap(one => one.prices)).to.deep.equal([
      { channel: 'whatsapp', kind: 'reply', country: '*', micros: 5_000 },
      { channel: 'sms', country: '*', micros: 90_000 },
      { channel: 'sms', country: 'GB', micros: 40_000 },
    ])
    expect(ip_lists.map(({ _id, counts }) => [_id, counts?.ranges, counts?.ignored])).to.deep.equal([
      ['abusive:bootstrap', 1, 0],
      ['tor:bootstrap', 0, 1],
    ])
    expect(await classesIn(store, ['45.95.147.255', '45.95.148.0'])).to.deep.equal(['abusive', null])
    expect(mintedKeys.map(({ id }) => id)).to.deep.equal(['key_made'])
    expect(mintedSecrets.map(({ app_id }) => app_id)).to.deep.equal(['app_other'])
    expect(warnings).to.deep.equal([])
  })

  it('names keys, and leaves a name that it does not name', async () => {
    const keys = (name: string) => [
      { id: 'key_a', key: 'sk_test_0123456789', name },
      { id: 'key_b', kind: 'server', mode: 'test' },
    ]
    await apply(store, withApp({ keys: keys('Checkout') }))
    await store.docs('keys').modify({ _id: 'key_b' }, { $set: { name: 'Given by hand' } })
    await apply(store, withApp({ keys: keys('Shop') }))
    const [first, second] = (await allTenancyDocs(store)).keys
    expect([first?.name, first?.last4, second?.name]).to.deep.equal(['Shop', '6789', 'Given by hand'])
  })

  it('creates keys and signing secrets without a value in the file, and returns them once', async () => {
    const first = await apply(store, fullBootstrapFile())
    const [made] = first.mintedKeys
    expect(made?.key).to.match(/^sk_live_\w{40,}$/)
    expect(await createTenancy({ store, keyring, clock }).keyByHash(hashApiKey(String(made?.key)))).to.deep.include({
      _id: 'key_made',
    })
    const [secret] = first.mintedSecrets
    expect(secret?.secret).to.match(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect((await createTenancy({ store, keyring, clock }).webhooks('app_other'))[0]?.secrets)
      .to.have.lengthOf(1)
      .with.nested.property('[0].secret', secret?.secret)

    expect(await apply(store, fullBootstrapFile())).to.deep.equal({ mintedKeys: [], mintedSecrets: [], warnings: [] })
  })

  it('stores no readable key, secret or credential', async () => {
    const { mintedKeys, mintedSecrets } = await apply(store, fullBootstrapFile())
    const stored = JSON.stringify(await allTenancyDocs(store))
    for (const secret of [
      'sk_test_0123456789',
      'pk_live_0123456789',
      'whsec_c2Vj',
      'twilio-auth-token',
      'gateway.example',
      mintedKeys[0]?.key,
      mintedSecrets[0]?.secret,
    ]) {
      expect(stored).to.not.include(String(secret))
    }
  })

  it('writes nothing when it is applied again', async () => {
    await apply(store, fullBootstrapFile())
    const before = await allTenancyDocs(store)
    await clock.advance(1000)
    await apply(interceptWrites(store, { before: call => expect.fail(`wrote: ${call}`) }), fullBootstrapFile())
    expect(await allTenancyDocs(store)).to.deep.equal(before)
  })

  it('does not change what the file does not mention', async () => {
    await apply(store, fullBootstrapFile())
    const before = await allTenancyDocs(store)
    await apply(store, {})
    await apply(store, { companies: [{ id: 'cmp_acme', balance: 1, apps: [{ id: 'app_shop', keys: [] }] }] })
    expect(await allTenancyDocs(store)).to.deep.equal(before)
  })

  it('renames companies, and never changes their balance again', async () => {
    await apply(store, { companies: [{ id: 'cmp_acme', balance: 7 }] })
    await store.docs('companies').modify({ _id: 'cmp_acme' }, { $inc: { balance: -3 } })
    await apply(store, { companies: [{ id: 'cmp_acme', name: 'Acme Ltd', balance: 100 }] })
    const [company] = (await allTenancyDocs(store)).companies
    expect(company).to.deep.include({ name: 'Acme Ltd', balance: 4, rev: 1 })
  })

  it('sets the balance below which owners are told, leaves it where it is not named, and removes it with null', async () => {
    const withThreshold = (low_balance_micros?: number | null) => ({
      companies: [{ id: 'cmp_acme', ...(low_balance_micros === undefined ? {} : { low_balance_micros }) }],
    })
    const stored = async () => {
      const [company] = (await allTenancyDocs(store)).companies
      return [company?.low_balance_micros, company?.low_balance_watch, company?.rev]
    }
    await apply(store, withThreshold(2_000))
    expect(await stored()).to.deep.equal([2_000, 1, 0])
    await apply(store, withThreshold())
    expect(await stored()).to.deep.equal([2_000, 1, 0])
    await apply(store, withThreshold(5_000))
    expect(await stored()).to.deep.equal([5_000, 1, 1])
    await apply(store, withThreshold(null))
    expect(await stored()).to.deep.equal([undefined, undefined, 2])
    await apply(store, withThreshold(3_000))
    expect(await stored()).to.deep.equal([3_000, 1, 3])
  })

  it('replaces settings as a whole', async () => {
    await apply(store, withApp({ name: 'Shop', settings: { send_attempts: 3, locale: 'de' } }))
    await apply(store, withApp({ settings: { locale: 'fr' } }))
    const app = await createTenancy({ store, keyring, clock }).app('app_shop')
    expect(app).to.deep.include({ name: 'Shop' })
    expect(app?.settings).to.include({ locale: 'fr', send_attempts: 5 })
    await apply(store, withApp({ settings: {} }))
    expect((await allTenancyDocs(store)).apps[0]?.settings).to.deep.equal({})
  })

  it('shortens the retention of a stored app in a day, however often the service starts', async () => {
    await apply(store, withApp({ settings: { retention_days: 20 } }))
    const pending_retention = { retention_days: 9, effective_at: clock.now() + 86_400_000 }
    for (const start of [1, 2]) {
      await apply(store, withApp({ settings: { retention_days: 9 } }))
      const [app] = (await allTenancyDocs(store)).apps
      expect(app, `start ${start}`).to.deep.include({ settings: { retention_days: 20 }, pending_retention, rev: 1 })
      await clock.advance(1_000)
    }
  })

  it('sets, keeps and removes the secrets of the Supabase hook', async () => {
    const secrets = async () =>
      (await createTenancy({ store, keyring, clock }).hookSecrets('app_shop', 'supabase'))?.secrets
    const [first, second] = ['whsec_c2VjcmV0LW9mLXN1cGFiYXNl', 'whsec_YW5vdGhlci1vZi1zdXBhYmFzZQ==']
    await apply(store, withApp({ hooks: { supabase: { test: `v1,${first}|v1,${second}`, live: [second] } } }))
    expect(await secrets()).to.have.deep.members([
      { mode: 'test', secret: first },
      { mode: 'test', secret: second },
      { mode: 'live', secret: second },
    ])
    await apply(store, withApp({ hooks: { supabase: { test: second } } }))
    await apply(store, withApp({}))
    expect(await secrets()).to.have.deep.members([
      { mode: 'test', secret: second },
      { mode: 'live', secret: second },
    ])
    await apply(store, withApp({ hooks: { supabase: { live: null } } }))
    expect(await secrets()).to.deep.equal([{ mode: 'test', secret: second }])
  })

  it('leaves exactly the listed providers, in that order', async () => {
    const sandbox = (name: string) => ({ name, type: 'sandbox', channel: 'sms' })
    const names = async () =>
      (await createTenancy({ store, keyring, clock }).providersOf('app_shop')).providers.map(({ name }) => name)
    await apply(store, withApp({ providers: ['a', 'b', 'c', 'd'].map(sandbox) }))
    expect(await names()).to.deep.equal(['a', 'b', 'c', 'd'])
    const { providers: before } = await allTenancyDocs(store)
    await apply(store, withApp({ providers: ['d', 'e', 'c', 'b'].map(sandbox) }))
    expect(await names()).to.deep.equal(['d', 'e', 'c', 'b'])
    const { providers: after } = await allTenancyDocs(store)
    const c = (list: typeof after) => list.find(({ name }) => name === 'c')
    expect(c(after), 'the one that stayed in its place').to.deep.equal(c(before))
    const b = (list: typeof after) => list.find(({ name }) => name === 'b')
    expect(b(after), 'the one that moved, its config as it was sealed').to.deep.equal({
      ...b(before),
      position: 3,
      rev: 1,
    })
    await apply(store, withApp({ providers: [] }))
    expect(await names()).to.deep.equal([])
  })

  it('changes the type, channel and config of a provider that keeps its name', async () => {
    await apply(store, withApp({ providers: [{ name: 'main', type: 'sandbox', channel: 'sms' }] }))
    const config = { token: 'tg-token' }
    await apply(
      store,
      withApp({ providers: [{ name: 'main', type: 'telegram_gateway', config: { token: 'before' } }] }),
    )
    await apply(store, withApp({ providers: [{ name: 'main', type: 'telegram_gateway', config }] }))
    const { providers } = await createTenancy({ store, keyring, clock }).providersOf('app_shop')
    expect(providers.map(({ name, type, channel }) => [name, type, channel])).to.deep.equal([
      ['main', 'telegram_gateway', 'telegram'],
    ])
    expect(providers[0]?.config).to.deep.include(config)
  })

  it('counts the segments of own texts with the name of the app, the stored one too', async () => {
    const texts = { sms: { en: { text: `{code} {app}${'x'.repeat(290)}` } } }
    await apply(store, withApp({ name: 'Shop', settings: { texts } }))
    const problem = await apply(store, withApp({ name: 'A shop with a long name' })).then(
      () => 'none',
      (error: Error) => error.message,
    )
    expect(problem).to.contain('companies.0.apps.0.settings.texts.sms.en.text').and.to.contain('3 SMS segments')
  })

  it('leaves a pause, and countries and costs that it does not name, as they are stored', async () => {
    const file = (more: object) => withApp({ providers: [{ name: 'main', type: 'sandbox', channel: 'sms', ...more }] })
    const scope = async () => {
      const [provider] = (await createTenancy({ store, keyring, clock }).providersOf('app_shop')).providers
      return [provider?.paused, provider?.countries, provider?.cost_micros]
    }
    await apply(store, file({ countries: ['IN'], cost_micros: { '*': 5 } }))
    expect(await scope()).to.deep.equal([false, ['IN'], { '*': 5 }])
    await store.docs('providers').modify({ _id: 'app_shop:main' }, { $set: { paused: true } })
    await apply(store, file({}))
    expect(await scope()).to.deep.equal([true, ['IN'], { '*': 5 }])
    await apply(store, file({ countries: ['GB'], cost_micros: { GB: 4 } }))
    expect(await scope()).to.deep.equal([true, ['GB'], { GB: 4 }])
    await apply(store, file({ countries: null }))
    expect(await scope()).to.deep.equal([true, null, { GB: 4 }])
  })

  it('applies its change after a lost race with another change', async () => {
    await apply(store, withApp({ settings: { locale: 'de' } }))
    let overtaken = 0
    const overtake = async (call: string) => {
      if (call !== 'apps.change' || overtaken++ > 0) return
      await store.docs('apps').modify({ _id: 'app_shop' }, { $set: { name: 'Renamed' }, $inc: { rev: 1 } })
    }
    await apply(interceptWrites(store, { before: overtake }), withApp({ settings: { locale: 'fr' } }))
    const [app] = (await allTenancyDocs(store)).apps
    expect(app).to.deep.include({ name: 'Renamed', settings: { locale: 'fr' }, rev: 2 })
  })

  it('leaves exactly the listed prices and address lists', async () => {
    const price = (country: string, micros: number) => ({ channel: 'sms', country, micros })
    const range = (cidr: string) => ({ class: 'tor', cidr })
    await apply(store, {
      prices: [price('GB', 1), price('DE', 2), price('*', 3)],
      ip_lists: ['11.0.0.0/8', '11.0.0.1'].map(range),
    })
    await apply(store, {
      prices: [price('DE', 5), price('FR', 4), price('*', 3)],
      ip_lists: ['11.0.0.5', '11.0.0.1'].map(range),
    })
    const { prices } = await allTenancyDocs(store)
    expect(prices.map(one => one.prices)).to.deep.equal([[price('*', 3), price('DE', 5), price('FR', 4)]])
    const asked = ['11.0.0.1', '11.0.0.2', '11.0.0.5']
    expect(await classesIn(store, asked)).to.deep.equal(['tor', null, 'tor'])
    await apply(store, { prices: [], ip_lists: [] })
    const emptied = await allTenancyDocs(store)
    expect(emptied).to.deep.include({ ip_lists: [], ip_chunks: [] })
    expect(emptied.prices.flatMap(one => one.prices)).to.deep.equal([])
  })

  it('signs with the webhook secret of the file, and with the old one for a day', async () => {
    const url = 'https://shop.example/hooks'
    const secrets = async () =>
      (await createTenancy({ store, keyring, clock }).webhooks('app_shop'))[0]?.secrets.map(one => [
        one.secret,
        one.state,
      ])
    await apply(store, withApp({ webhook: { url, secret: 'secret-one' } }))
    await store.docs('webhooks').modify({ _id: 'app_shop' }, { $set: { status: 'paused' } })

    await apply(store, withApp({ webhook: { url, secret: 'secret-two' } }))
    expect(await secrets()).to.deep.equal([
      ['secret-two', 'current'],
      ['secret-one', 'old'],
    ])
    const [endpoint] = (await allTenancyDocs(store)).webhooks
    expect(endpoint?.status).to.equal('paused')
    expect(endpoint?.secrets[1]?.expires_at).to.equal(clock.now() + 86_400_000)

    await apply(store, withApp({ webhook: { url: 'https://other.example/' } }))
    expect((await secrets())?.[0]).to.deep.equal(['secret-two', 'current'])
    expect((await allTenancyDocs(store)).webhooks[0]?.url).to.equal('https://other.example/')

    await apply(store, withApp({ webhook: { url, secret: 'secret-one' } }))
    expect(await secrets()).to.deep.equal([
      ['secret-one', 'current'],
      ['secret-two', 'old'],
    ])
  })
})
