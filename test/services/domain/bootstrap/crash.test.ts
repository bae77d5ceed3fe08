import { expect } from 'chai'
import { Unavailable } from '../../../../infra/unavailable.ts'
import { applyBootstrap, readBootstrap } from '../../../../services/domain/bootstrap/bootstrap.ts'
import { createDemo } from '../../../../services/domain/bootstrap/demo.ts'
import type { BootstrapDeps } from '../../../../services/domain/bootstrap/write-to-store.ts'
import type { CountersignStore } from '../../../../services/domain/collections.ts'
import { hashApiKey } from '../../../../services/domain/tenancy/api-keys.ts'
import { createTenancy } from '../../../../services/domain/tenancy/tenancy.ts'
import { stableFieldsOf } from '../../../support/address-lists.ts'
import { fullBootstrapFile } from '../../../support/bootstrap.ts'
import { testClock } from '../../../support/clock.ts'
import { eachStore, onEmbeddedStore } from '../../../support/stores.ts'
import { allTenancyDocs, clearTenancy, interceptWrites, testKeyring } from '../../../support/tenancy.ts'

const keyring = testKeyring()
const clock = testClock()

const apply = (store: CountersignStore, file: unknown) =>
  applyBootstrap(readBootstrap(JSON.stringify(file)), { store, keyring, clock })

/** An earlier file that differs from the full one in every kind of member. */
const earlierFile = () => ({
  companies: [
    {
      id: 'cmp_acme',
      name: 'Before',
      balance: 5_000_000,
      apps: [
        {
          id: 'app_shop',
          settings: { locale: 'de' },
          keys: [{ id: 'key_a', key: 'sk_test_0123456789' }],
          webhook: { url: 'https://before.example/', secret: 'whsec_YmVmb3JlLWJlZm9yZQ==' },
          hooks: { supabase: { test: 'whsec_YmVmb3JlLWJlZm9yZS1iZWZvcmU=' } },
          providers: [
            { name: 'gone', channel: 'sms', type: 'sandbox' },
            { name: 'backup', channel: 'sms', type: 'sandbox' },
          ],
        },
      ],
    },
  ],
  prices: [
    { channel: 'sms', country: 'GB', micros: 1 },
    { channel: 'email', country: '*', micros: 2 },
  ],
  ip_lists: [
    { class: 'vpn', cidr: '11.0.0.0/8' },
    { class: 'abusive', cidr: '12.0.0.0/8' },
  ],
})

/** What the stored documents mean: secrets unsealed, and without random values and revisions. */
async function meaning(store: CountersignStore) {
  const { keys, webhooks, providers, ip_chunks: _, ...plain } = await allTenancyDocs(store)
  const reader = createTenancy({ store, keyring, clock })
  return {
    ...plain,
    ip_lists: await stableFieldsOf(store),
    companies: plain.companies.map(({ rev: _, ...company }) => company),
    apps: await Promise.all(
      plain.apps.map(async ({ rev: _, hook_secrets: __, ...app }) => ({
        ...app,
        hooks: await reader.hookSecrets(app._id, 'supabase'),
      })),
    ),
    keys: keys.map(({ hash, last4, ...key }) => (key._id === 'key_made' ? key : { ...key, hash, last4 })),
    providers: await Promise.all(
      [...new Set(providers.map(({ app_id }) => app_id))].map(async id => (await reader.providersOf(id)).providers),
    ),
    webhooks: await Promise.all(
      webhooks.map(async ({ _id }) => {
        const [endpoint] = await reader.webhooks(_id)
        const secrets = endpoint?.secrets.map(({ id: _, secret, ...one }) => ({
          ...one,
          secret: _id === 'app_other' ? 'made' : secret,
        }))
        return { ...endpoint, secrets }
      }),
    ),
  }
}

class Crash extends Error {}

onEmbeddedStore('an interrupted bootstrap', fresh => {
  it('is completed by the next start after a crash at any write', async () => {
    const store = await fresh()
    await apply(store, earlierFile())
    let writes = 0
    await apply(interceptWrites(store, { after: () => (writes += 1) }), fullBootstrapFile())
    const wanted = await meaning(store)
    expect(writes).to.be.at.least(15)

    for (let nth = 1; nth <= writes; nth += 1) {
      await clearTenancy(store)
      await apply(store, earlierFile())
      let count = 0
      const crash = () => {
        count += 1
        if (count === nth) throw new Crash()
      }
      const died = await apply(interceptWrites(store, { after: crash }), fullBootstrapFile()).catch(
        (error: unknown) => error,
      )
      expect(died).to.be.instanceOf(Crash)
      await apply(store, fullBootstrapFile())
      expect(await meaning(store), `write ${nth}`).to.deep.equal(wanted)
    }
  })

  it('leaves no key that was not shown, unless it crashes after the last write', async () => {
    const store = await fresh()
    const calls: string[] = []
    await apply(interceptWrites(store, { before: call => calls.push(call) }), fullBootstrapFile())
    expect(calls.at(-1)).to.equal('keys.insert')
    expect(calls.filter(call => call === 'keys.insert')).to.have.lengthOf(1)
  })
})

onEmbeddedStore('a bootstrap that is repeated because an answer of the store was lost', fresh => {
  /** Repeats the bootstrap until it succeeds. The answer to the nth write is lost. */
  async function trying<T>(
    nth: number,
    attempt: (to: BootstrapDeps) => Promise<T>,
    store: CountersignStore,
  ): Promise<T> {
    let writes = 0
    const losing = interceptWrites(store, {
      after() {
        writes += 1
        if (writes === nth) throw new Unavailable('the answer was lost')
      },
    })
    const to = { store: losing, keyring, clock, minted: new Map<string, string>() }
    return attempt(to).catch(error => {
      if (error instanceof Unavailable) return attempt(to)
      throw error
    })
  }

  it('still returns every key and secret it created, and only stored ones', async () => {
    const store = await fresh()
    let writes = 0
    await apply(interceptWrites(store, { after: () => (writes += 1) }), fullBootstrapFile())
    for (let nth = 1; nth <= writes; nth += 1) {
      await clearTenancy(store)
      const file = readBootstrap(JSON.stringify(fullBootstrapFile()))
      const { mintedKeys, mintedSecrets } = await trying(nth, to => applyBootstrap(file, to), store)
      expect(mintedKeys.map(({ id }) => id)).to.deep.equal(['key_made'])
      const [key] = await store
        .docs('keys')
        .find({ hash: hashApiKey(mintedKeys[0]?.key ?? '') }, { sort: {}, limit: 1 })
      expect(key?._id, `write ${nth}`).to.equal('key_made')
      const [endpoint] = await createTenancy({ store, keyring, clock }).webhooks('app_other')
      expect(mintedSecrets, `write ${nth}`).to.deep.equal([
        { app_id: 'app_other', secret: endpoint?.secrets[0]?.secret },
      ])
    }
  })

  it('still shows the demo keys', async () => {
    for (let nth = 1; nth <= 3; nth += 1) {
      const demo = await trying(nth, createDemo, await fresh())
      expect(demo?.server, `write ${nth}`).to.match(/^sk_test_/)
    }
  })
})

onEmbeddedStore('the demo', fresh => {
  it('is completed by the next start after a crash before its keys', async () => {
    for (const last of ['companies.insert', 'apps.insert']) {
      const store = await fresh()
      const crash = (call: string) => {
        if (call === last) throw new Crash()
      }
      const died = await createDemo({ store: interceptWrites(store, { after: crash }), keyring, clock }).catch(
        error => error,
      )
      expect(died).to.be.instanceOf(Crash)
      expect((await createDemo({ store, keyring, clock }))?.server, last).to.match(/^sk_test_/)
    }
  })

  it('is created once, and not beside another company', async () => {
    const store = await fresh()
    await createDemo({ store, keyring, clock })
    const before = await allTenancyDocs(store)
    expect(await createDemo({ store, keyring, clock })).to.equal(null)
    expect(await allTenancyDocs(store)).to.deep.equal(before)

    const taken = await fresh()
    await apply(taken, { companies: [{ id: 'cmp_own' }] })
    expect(await createDemo({ store: taken, keyring, clock })).to.equal(null)
    expect((await allTenancyDocs(taken)).apps).to.deep.equal([])
  })
})

eachStore('several processes that apply the same file at once', fresh => {
  for (const [what, before] of [
    ['to an empty store', {}],
    ['over an earlier file', earlierFile()],
  ] as const) {
    it(`leave the same as one process, ${what}`, async () => {
      const clean = await fresh()
      await apply(clean, before)
      await apply(clean, fullBootstrapFile())

      const store = await fresh()
      await apply(store, before)
      expect((await store.docs('keys').get(['key_made'])).size, 'left by an earlier test').to.equal(0)
      const results = await Promise.all(Array.from({ length: 5 }, () => apply(store, fullBootstrapFile())))
      expect(await meaning(store)).to.deep.equal(await meaning(clean))

      const mintedKeys = results.flatMap(result => result.mintedKeys)
      expect(
        mintedKeys.map(({ id }) => id),
        'returned by one process only',
      ).to.deep.equal(['key_made'])
      const secrets = results.flatMap(result => result.mintedSecrets)
      expect(secrets.map(({ app_id }) => app_id)).to.deep.equal(['app_other'])
      const [endpoint] = await createTenancy({ store, keyring, clock }).webhooks('app_other')
      expect(
        endpoint?.secrets.map(({ secret }) => secret),
        'the returned secret',
      ).to.deep.equal([secrets[0]?.secret])
    })
  }
})
