import { expect } from 'chai'
import { applyBootstrap, BootstrapProblems, readBootstrap } from '../../../../services/domain/bootstrap/bootstrap.ts'
import type { CountersignStore } from '../../../../services/domain/collections.ts'
import { hashApiKey } from '../../../../services/domain/tenancy/api-keys.ts'
import { providerContext } from '../../../../services/domain/tenancy/documents.ts'
import { createTenancy } from '../../../../services/domain/tenancy/tenancy.ts'
import { fullBootstrapFile } from '../../../support/bootstrap.ts'
import { testClock } from '../../../support/clock.ts'
import { onEmbeddedStore } from '../../../support/stores.ts'
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

onEmbeddedStore('a bootstrap file that contradicts the store is refused, and nothing written, for', fresh => {
  const key = (id: string, value: string) => ({ id, key: value })
  const inApp = (company: string, app: string, ...keys: object[]) => ({
    companies: [{ id: 'cmp_new' }, { id: company, apps: [{ id: app, keys }] }],
    prices: [{ channel: 'sms', country: 'GB', micros: 1 }],
  })

  for (const [what, file, path, message] of [
    ['an app of another company', inApp('cmp_other', 'app_shop'), 'id', 'is an app of cmp_acme already'],
    [
      'a key of another app',
      inApp('cmp_acme', 'app_blog', key('key_a', 'sk_test_0123456789')),
      'keys.0.id',
      'is a key of app_shop already',
    ],
    [
      'a value of another key',
      inApp('cmp_acme', 'app_blog', key('key_new', 'sk_test_0123456789')),
      'keys.0.key',
      'is the value of key_a already',
    ],
  ] as const)
    it(what, async () => {
      const store = await fresh()
      await apply(store, fullBootstrapFile())
      expect(await conflictsOf(store, file)).to.deep.equal([{ path: `companies.1.apps.0.${path}`, message }])
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

onEmbeddedStore('what was closed or revoked', fresh => {
  it('stays so, with a warning', async () => {
    const store = await fresh()
    await apply(store, fullBootstrapFile())
    const key = hashApiKey('sk_test_0123456789')
    const change = (name: 'companies' | 'apps' | 'keys', _id: string, $set: object) =>
      store.docs(name as 'apps').modify({ _id }, { $set })
    const closed_at = clock.now()
    await change('keys', 'key_a', { revoked_at: closed_at })
    expect(await createTenancy({ store, keyring, clock }).keyByHash(key), 'revoked').to.equal(null)
    await change('companies', 'cmp_other', { closed_at })
    const before = await allTenancyDocs(store)
    expect((await apply(store, fullBootstrapFile())).warnings).to.have.deep.members([
      { path: 'companies.1', message: 'cmp_other is closed, and stays so' },
      { path: 'companies.0.apps.0.keys.0', message: 'key_a was revoked, and stays so' },
    ])
    expect(await allTenancyDocs(store)).to.deep.equal(before)
    await change('keys', 'key_a', { revoked_at: null })
    await change('apps', 'app_shop', { closed_at })
    expect((await apply(store, fullBootstrapFile())).warnings).to.deep.include({
      path: 'companies.0.apps.0',
      message: 'app_shop is closed, and stays so',
    })
    expect(await createTenancy({ store, keyring, clock }).keyByHash(key), 'of a closed app').to.equal(null)
  })
})

onEmbeddedStore('a deleted company or app in the bootstrap file', fresh => {
  const gone = { company_id: 'cmp_acme', name: 'Shop', closed_at: 1, asked_at: 2, done_at: 3 }
  const warnings = [
    {
      path: 'companies.1',
      message: 'cmp_other was deleted, and stays so: take it out of the file, or give it another id',
    },
    {
      path: 'companies.0.apps.0',
      message: 'app_shop was deleted, and stays so: take it out of the file, or give it another id',
    },
  ]

  it('stays away, with a warning, and the rest of the file counts', async () => {
    const store = await fresh()
    await store.docs('deletions').insert([
      { _id: 'app_shop', ...gone },
      { ...gone, _id: 'cmp_other', company_id: 'cmp_other' },
    ])
    expect((await apply(store, fullBootstrapFile())).warnings).to.deep.equal(warnings)
    const { companies, apps, keys, providers, webhooks } = await allTenancyDocs(store)
    expect([companies, apps].map(docs => docs.map(({ _id }) => _id))).to.deep.equal([['cmp_acme'], ['app_blog']])
    expect([keys, providers, webhooks]).to.deep.equal([[], [], []])
  })

  it('is left alone while it is being deleted', async () => {
    const store = await fresh()
    await apply(store, fullBootstrapFile())
    const asked = { $set: { closed_at: clock.now(), deleted_at: clock.now() } }
    await store.docs('companies').modify({ _id: 'cmp_other' }, asked)
    await store.docs('apps').modify({ _id: 'app_shop' }, asked)
    await store.docs('keys').remove({ app_id: 'app_shop' }, 100)
    const before = await allTenancyDocs(store)
    expect((await apply(store, fullBootstrapFile())).warnings).to.deep.equal(warnings)
    expect(await allTenancyDocs(store)).to.deep.equal(before)
  })
})
