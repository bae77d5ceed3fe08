import { isIP } from 'node:net'
import { expect } from 'chai'
import { createTargetInspector } from '../../../../infra/outbound/target-inspector.ts'
import { applyBootstrap, BootstrapProblems, readBootstrap } from '../../../../services/domain/bootstrap/bootstrap.ts'
import type { CountersignStore } from '../../../../services/domain/collections.ts'
import { closeAdmins, createTenant, startAdmin } from '../../../support/admin-api.ts'
import { testClock } from '../../../support/clock.ts'
import { onEmbeddedStore } from '../../../support/stores.ts'
import { allTenancyDocs, testKeyring } from '../../../support/tenancy.ts'

const REFUSED = ['http://shop.example/hook', 'https://inside.example/hook', 'https://shop.example:0/hook']

onEmbeddedStore('an address of the bootstrap file', fresh => {
  let store: CountersignStore
  let inside: boolean
  beforeEach(async () => {
    store = await fresh()
    inside = true
  })
  afterEach(closeAdmins)

  const lookup = async (host: string) => {
    if (host === 'nowhere.example') throw new Error('ENOTFOUND')
    if (host === 'localhost') return ['127.0.0.1']
    return isIP(host) ? [host] : [host === 'inside.example' && inside ? '10.0.0.5' : '8.8.8.8']
  }
  const problemsOf = (app: object) => {
    const file = { companies: [{ id: 'cmp_a' }, { id: 'cmp_b', apps: [{ id: 'app_b', ...app }] }] }
    const inspect = createTargetInspector({ privateTargets: [], lookup })
    return applyBootstrap(readBootstrap(JSON.stringify(file)), {
      store,
      keyring: testKeyring(),
      clock: testClock(),
      inspect,
    }).then(
      () => [],
      refused => (refused instanceof BootstrapProblems ? refused.problems : Promise.reject(refused)),
    )
  }

  for (const url of REFUSED)
    it(`is refused by its path like in the admin API, with the operator's remedy, and nothing is applied: ${url}`, async () => {
      const problems = await problemsOf({ webhook: { url } })
      expect(problems.map(({ path }) => path)).to.deep.equal(['companies.1.apps.0.webhook.url'])
      expect(Object.values(await allTenancyDocs(store)).flat(), 'stored').to.deep.equal([])
      const admin = await startAdmin(store, { lookup })
      const { app } = await createTenant(admin)
      const answer = await admin.ask('PUT', `/apps/${app}/webhook`, { url })
      expect(answer.status).to.equal(422)
      const [message, remedy] = problems[0]?.message.split('. ') ?? []
      expect(answer.body.errors).to.deep.equal([{ path: 'url', message }])
      // No setting allows port 0.
      if (!url.includes(':0/')) expect(remedy).to.equal('To allow it, name its range in ALLOW_PRIVATE_TARGETS')
    })

  it('may have a name that does not resolve yet', async () => {
    expect(await problemsOf({ webhook: { url: 'https://nowhere.example/hook' } })).to.deep.equal([])
  })

  it('of a provider is checked too', async () => {
    const http = (name: string, url: string) => ({ name, channel: 'sms', type: 'http', config: { url } })
    const smtp = { name: 'mail', type: 'smtp', config: { host: '10.0.0.9', from: 'otp@shop.example' } }
    const providers = [http('good', 'https://gateway.example/'), http('bad', 'https://10.0.0.1/'), smtp]
    expect((await problemsOf({ providers })).map(({ path }) => path)).to.deep.equal([
      'companies.1.apps.0.providers.1.config.url',
      'companies.1.apps.0.providers.2.config.host',
    ])
  })

  it('does not prevent the next start once it is stored, even if its name then resolves to a private address', async () => {
    inside = false
    const url = 'https://inside.example/hook'
    const providers = [{ name: 'gateway', channel: 'sms', type: 'http', config: { url } }]
    expect(await problemsOf({ webhook: { url }, providers })).to.deep.equal([])
    inside = true
    expect(await problemsOf({ webhook: { url }, providers })).to.deep.equal([])
    const paths = (await problemsOf({ webhook: { url: `${url}s` }, providers })).map(({ path }) => path)
    expect(paths).to.deep.equal(['companies.1.apps.0.webhook.url'])
  })
})
