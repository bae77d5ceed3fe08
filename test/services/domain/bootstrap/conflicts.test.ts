import { expect } from 'chai'
import { applyBootstrap, BootstrapProblems, readBootstrap } from '../../../../services/domain/bootstrap/bootstrap.ts'
import type { CountersignStore } from '../../../../services/domain/collections.ts'
import { hashApiKey } from '../../../../services/domain/tenancy/api-keys.ts'
import { providerContext } from '../../../../services/domain/tenancy/documents.ts'
import { createTenancy } from '../../../../services/domain/tenancy/tenancy.ts'
import { fullBootstrapFile } from '../../../support/bootstrap.ts'
import { testClock } from '../../../support/clock.ts'
import { eachStore } from '../../../support/stores.ts'
import { allTenancyDocs, testKeyring } from '../../../support/tenancy.ts'

const keyring = testKeyring()
const clock = testClock()

const apply = (store: CountersignStore, file: unknown) =>
  applyBootstrap(readBootstrap(JSON.stringify(file)), { store, keyring, clock })

const conflictsOf = async (store: CountersignStore, file: unknown) => {
  const before = await allTenancyDocs(store)
  const problems = await apply(store, file).then(
    () => [],
    refused => (refused instanceof BootstrapProblems ? refused.problems : Promise.reject(refused)),
  )
  expect(await allTenancyDocs(store), 'what is stored').to.deep.equal(before)
  return problems
}

eachStore('a bootstrap file that contradicts the store is refused, and nothing written, for', fresh => {
  const key = (id: string, value: string) => ({ id, key: value })
  const inApp = (company: string, app: string, ...keys: object[]) => ({
    companies: [{ id: 'cmp_new' }, { id: company, apps: [{ id: app, keys }] }],
    prices: [{ channel: 'sms', country: 'GB', micros: 1 }],
  })

  it('an app of another company', async () => {
    const store = await fresh()
    await apply(store, fullBootstrapFile())
    expect(await conflictsOf(store, inApp('cmp_other', 'app_shop'))).to.deep.equal([
      { path: 'companies.1.apps.0.id', message: 'is an app of cmp_acme already' },
    ])
  })

  it('settings that allow too many guesses, unless an earlier release stored the same', async () => {
    const store = await fresh()
    await apply(store, inApp('cmp_acme', 'app_shop'))
    // Eight guesses a day as earlier releases counted, sixteen now; a code of four digits allows ten.
    const settings = { code: { length: 4 }, limits: { recipient_verify: [{ max: 8, seconds: 86_400 }] } }
    const file = (more: object) => ({
      companies: [{ id: 'cmp_acme', apps: [{ id: 'app_shop', settings: { ...settings, ...more } }] }],
    })
    const path = 'companies.0.apps.0.settings.limits.recipient_verify'
    expect((await conflictsOf(store, file({}))).map(problem => problem.path)).to.deep.equal([path])
    await store.docs('apps').modify({ _id: 'app_shop' }, { $set: { settings } })
    await apply(store, file({ locale: 'de' }))
    expect((await conflictsOf(store, file({ verify_attempts: 4 }))).map(problem => problem.path)).to.deep.equal([path])
  })

  it('a new key without a value in production, where it would have to be printed', async () => {
    const store = await fresh()
    const file = inApp('cmp_acme', 'app_shop', { id: 'key_a', kind: 'server', mode: 'live' })
    const applyInProduction = () =>
      applyBootstrap(readBootstrap(JSON.stringify(file)), { store, keyring, clock, mayMint: false })
    const refused = await applyInProduction().catch(error => error)
    expect(refused).to.be.instanceOf(BootstrapProblems)
    expect(refused.problems.map(({ path }: { path: string }) => path)).to.deep.equal(['companies.1.apps.0.keys.0.key'])
    expect(await store.docs('companies').get(['cmp_new'])).to.have.property('size', 0)
    await apply(store, file)
    expect((await applyInProduction()).mintedKeys, 'its id is stored').to.deep.equal([])
  })

  it('a new receipt secret of fewer than 16 characters, unless an earlier release stored it', async () => {
    const store = await fresh()
    const file = (secret: string) => {
      const config = { url: 'https://gate.example', body: { text: '{{text}}' }, secret }
      const providers = [{ name: 'gate', type: 'http', channel: 'sms', config }]
      return { companies: [{ id: 'cmp_acme', apps: [{ id: 'app_shop', providers }] }] }
    }
    const path = 'companies.0.apps.0.providers.0.config.secret'
    expect((await conflictsOf(store, file('fifteen letters'))).map(problem => problem.path)).to.deep.equal([path])
    await apply(store, file('sixteen letters!'))
    const sealed = keyring.seal(
      JSON.stringify(file('short').companies[0]?.apps[0]?.providers[0]?.config),
      providerContext('app_shop:gate'),
    )
    await store.docs('providers').modify({ _id: 'app_shop:gate' }, { $set: { config: sealed } })
    await apply(store, file('short'))
    expect((await conflictsOf(store, file('other'))).map(problem => problem.path)).to.deep.equal([path])
  })

  it('a key of another app', async () => {
    const store = await fresh()
    await apply(store, fullBootstrapFile())
    const file = inApp('cmp_acme', 'app_blog', key('key_a', 'sk_test_0123456789'))
    expect(await conflictsOf(store, file)).to.deep.equal([
      { path: 'companies.1.apps.0.keys.0.id', message: 'is a key of app_shop already' },
    ])
  })

  it('a value of another key', async () => {
    const store = await fresh()
    await apply(store, fullBootstrapFile())
    const file = inApp('cmp_acme', 'app_blog', key('key_new', 'sk_test_0123456789'))
    expect(await conflictsOf(store, file)).to.deep.equal([
      { path: 'companies.1.apps.0.keys.0.key', message: 'is the value of key_a already' },
    ])
  })

  it('another value, kind or mode of a stored key', async () => {
    const store = await fresh()
    await apply(store, fullBootstrapFile())
    const file = inApp(
      'cmp_acme',
      'app_shop',
      key('key_a', 'pk_live_9876543210'),
      key('key_made', 'sk_live_9876543210'),
    )
    expect((await conflictsOf(store, file)).map(({ path }) => path)).to.have.members([
      'companies.1.apps.0.keys.0.kind',
      'companies.1.apps.0.keys.0.mode',
      'companies.1.apps.0.keys.0.key',
      'companies.1.apps.0.keys.1.key',
    ])
  })
})

eachStore('a closed company or app in the bootstrap file', fresh => {
  it('stays closed, with a warning', async () => {
    const store = await fresh()
    await apply(store, fullBootstrapFile())
    await store.docs('companies').modify({ _id: 'cmp_other' }, { $set: { closed_at: clock.now() } })
    await store.docs('apps').modify({ _id: 'app_shop' }, { $set: { closed_at: clock.now() } })
    const before = await allTenancyDocs(store)
    expect((await apply(store, fullBootstrapFile())).warnings).to.deep.equal([
      { path: 'companies.1', message: 'cmp_other is closed, and stays so' },
      { path: 'companies.0.apps.0', message: 'app_shop is closed, and stays so' },
    ])
    expect(await allTenancyDocs(store)).to.deep.equal(before)
    expect(await createTenancy({ store, keyring }).keyByHash(hashApiKey('sk_test_0123456789'))).to.equal(null)
  })
})

eachStore('a revoked key in the bootstrap file', fresh => {
  it('stays revoked, with a warning', async () => {
    const store = await fresh()
    await apply(store, fullBootstrapFile())
    await store.docs('keys').modify({ _id: 'key_a' }, { $set: { revoked_at: clock.now() } })
    const before = await allTenancyDocs(store)
    expect((await apply(store, fullBootstrapFile())).warnings).to.deep.equal([
      { path: 'companies.0.apps.0.keys.0', message: 'key_a was revoked, and stays so' },
    ])
    expect(await allTenancyDocs(store)).to.deep.equal(before)
    expect(await createTenancy({ store, keyring }).keyByHash(hashApiKey('sk_test_0123456789'))).to.equal(null)
  })
})
