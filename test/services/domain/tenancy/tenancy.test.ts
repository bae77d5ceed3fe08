import { expect } from 'chai'
import type { Channel } from '../../../../machines/channels.ts'
import { applyBootstrap, readBootstrap } from '../../../../services/domain/bootstrap/bootstrap.ts'
import type { CountersignStore } from '../../../../services/domain/collections.ts'
import { createTenancy } from '../../../../services/domain/tenancy/tenancy.ts'
import { fullBootstrapFile } from '../../../support/bootstrap.ts'
import { createCapturedLog } from '../../../support/captured-log.ts'
import { testClock } from '../../../support/clock.ts'
import { onEmbeddedStore } from '../../../support/stores.ts'
import { testKeyring } from '../../../support/tenancy.ts'

const keyring = testKeyring()
const clock = testClock()

onEmbeddedStore('tenancy', fresh => {
  let store: CountersignStore

  beforeEach(async () => {
    store = await fresh()
    await applyBootstrap(readBootstrap(JSON.stringify(fullBootstrapFile())), { store, keyring, clock })
  })

  it('reads an app, and null where there is none', async () => {
    const { app } = createTenancy({ store, keyring, clock })
    expect((await app('app_shop'))?.settings.code).to.include({ length: 8 })
    expect(await app('app_none')).to.equal(null)
  })

  it('unseals the providers of an app or of one of its channels, in order', async () => {
    const { providersOf } = createTenancy({ store, keyring, clock })
    const providers = async (app: string, channel?: Channel) => (await providersOf(app, channel)).providers
    expect((await providers('app_shop')).map(({ name }) => name)).to.deep.equal(['twilio-main', 'mail', 'backup'])
    const [mail, ...others] = await providers('app_shop', 'email')
    expect(mail).to.include({ app_id: 'app_shop', name: 'mail', channel: 'email', paused: false, type: 'smtp' })
    expect(mail?.config).to.include({ host: 'mail.example.com', port: 587, from: 'no-reply@example.com', pass: null })
    expect(others).to.deep.equal([])
    expect((await providers('app_shop', 'sms')).map(({ name }) => name)).to.deep.equal(['twilio-main', 'backup'])
    expect(await providers('app_shop', 'telegram')).to.deep.equal([])
    expect(await providers('app_blog')).to.deep.equal([])
  })

  it('leaves out a config or secret that was copied into another document, and a provider that was moved to another app', async () => {
    const providers = store.docs('providers')
    const backup = (await providers.get(['app_shop:backup'])).get('app_shop:backup')
    await providers.modify({ _id: 'app_shop:twilio-main' }, { $set: { config: backup?.config } })
    const webhooks = store.docs('webhooks')
    const shop = (await webhooks.get(['app_shop'])).get('app_shop')
    await webhooks.modify({ _id: 'app_other' }, { $set: { secrets: shop?.secrets } })
    const reader = createTenancy({ store, keyring, clock })
    expect((await reader.providersOf('app_shop')).providers.map(({ name }) => name)).to.deep.equal(['mail', 'backup'])
    expect((await reader.webhooks('app_other'))[0]?.secrets).to.deep.equal([])
    const { providersOf } = createTenancy({ store, keyring, clock })
    await store.docs('providers').modify({ _id: 'app_shop:backup' }, { $set: { app_id: 'app_other', position: -1 } })
    expect((await providersOf('app_other')).providers).to.deep.equal([])
    await store.docs('providers').modify({ _id: 'app_shop:backup' }, { $set: { app_id: 'app_shop', name: 'mail' } })
    expect((await providersOf('app_shop')).providers.filter(({ name }) => name === 'mail')).to.have.length(1)
  })

  it('leaves out a provider of a type that this release does not know, and logs it once', async () => {
    const captured = createCapturedLog()
    const { providersOf } = createTenancy({ store, keyring, clock, log: captured.log })
    await store.docs('providers').modify({ _id: 'app_shop:twilio-main' }, { $set: { type: 'pigeon' } })
    const namesOf = async () => (await providersOf('app_shop')).providers.map(({ name }) => name)
    expect([await namesOf(), await namesOf()]).to.deep.equal([
      ['mail', 'backup'],
      ['mail', 'backup'],
    ])
    const logged = captured.lines().filter(({ msg }) => msg === 'provider.type_unknown')
    expect(logged).to.have.length(1)
    expect(logged[0]).to.include({ app_id: 'app_shop', provider: 'twilio-main', provider_type: 'pigeon' })
  })

  it('leaves out what was sealed with a data key that is no longer configured', async () => {
    const reader = createTenancy({ store, keyring: testKeyring(9), clock })
    const { providers, unreadable } = await reader.providersOf('app_shop')
    expect(providers).to.deep.equal([])
    expect(unreadable.map(({ name, channel }) => [name, channel])).to.deep.equal([
      ['twilio-main', 'sms'],
      ['mail', 'email'],
      ['backup', 'sms'],
    ])
    expect((await reader.providersOf('app_shop', 'email')).unreadable).to.have.length(1)
    expect((await reader.webhooks('app_shop'))[0]?.secrets).to.deep.equal([])
  })
})
