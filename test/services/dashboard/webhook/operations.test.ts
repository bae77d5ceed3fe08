import { expect } from 'chai'
import { fingerprint } from '../../../../services/domain/tenancy/fingerprint.ts'
import { createTenancy } from '../../../../services/domain/tenancy/tenancy.ts'
import { type AdminOptions, closeAdmins, createTenant, startAdmin, type TestAdmin } from '../../../support/admin-api.ts'
import { onEmbeddedStore } from '../../../support/stores.ts'
import { testKeyring } from '../../../support/tenancy.ts'

const KEYRING = testKeyring()

const URL_ = 'https://shop.example/hooks'

onEmbeddedStore('the webhook endpoint of an app', fresh => {
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

  const put = (body: unknown) => admin.ask('PUT', `/apps/${app}/webhook`, body)
  const post = (path: string, body?: unknown) => admin.ask('POST', `/apps/${app}/webhook/${path}`, body)
  const get = () => admin.get(`/apps/${app}/webhook`)
  const records = async () => (await admin.get('/audit')).body.items
  const recordsOf = async (action: string) =>
    (await records()).filter((record: { action: string }) => record.action === action)
  const signers = async () =>
    (await createTenancy(admin).webhooks(app))[0]?.secrets.map(({ state, secret }) => [state, secret])

  it('is created with a secret that is shown once', async () => {
    const { status, body } = await put({ url: URL_ })
    expect(status).to.equal(201)
    const { secret, ...rest } = body
    expect(secret).to.match(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(rest).to.deep.include({
      app_id: app,
      url: URL_,
      status: 'active',
      failures: 0,
      failing_since: null,
      last_success_at: null,
      paused: null,
    })
    expect(rest.secrets).to.have.length(1)
    expect(rest.secrets[0]).to.include({
      state: 'current',
      fingerprint: fingerprint(KEYRING, secret),
      expires_at: null,
    })
    expect((await get()).body).to.deep.equal(rest)
    expect(await signers()).to.deep.equal([['current', secret]])
  })

  it('takes a given secret, and does not show it', async () => {
    const answer = await put({ url: URL_, secret: 'correct horse' })
    expect(answer.status).to.equal(201)
    expect(JSON.stringify(answer.body)).not.to.contain('correct horse')
    expect(await signers()).to.deep.equal([['current', 'correct horse']])
    const before = await records()
    expect((await put({ url: URL_, secret: 'correct horse', status: 'active' })).status).to.equal(200)
    expect(await records(), 'nothing differs').to.deep.equal(before)
    await put({ url: URL_, secret: 'battery staple' })
    expect(await signers()).to.deep.equal([
      ['current', 'battery staple'],
      ['old', 'correct horse'],
    ])
  })

  it('keeps its secret when its URL changes', async () => {
    const { secret } = (await put({ url: URL_ })).body
    const { status, body } = await put({ url: 'https://shop.example/other' })
    expect(status).to.equal(200)
    expect(body.url).to.equal('https://shop.example/other')
    expect(body).not.to.have.property('secret')
    expect(await signers()).to.deep.equal([['current', secret]])
  })

  it('may be private if ALLOW_PRIVATE_TARGETS allows it, also by its name, and have a name that does not resolve yet', async () => {
    const inside = async (options: AdminOptions, url = URL_) =>
      (await startAdmin(admin.store, options)).ask('PUT', `/apps/${app}/webhook`, { url })
    const refused = await inside({ lookup: async () => ['10.0.0.1'] })
    expect(refused.body.errors).to.deep.equal([{ path: 'url', message: 'would not be called: not a public address' }])
    expect((await inside({ privateTargets: ['10.0.0.0/8'] }, 'http://10.0.0.1/')).status).to.equal(201)
    expect((await inside({ lookup: () => Promise.reject(new Error('ENOTFOUND')) })).status).to.equal(200)
  })

  it('is 404 until it is created', async () => {
    for (const path of ['rotate', 'promote', 'enable', 'test']) expect((await post(path)).status).to.equal(404)
  })

  describe('has its secret replaced', () => {
    let first: string
    beforeEach(async () => {
      first = (await put({ url: URL_ })).body.secret
    })

    it('in two steps: the new secret signs beside the old one, then in its place', async () => {
      const rotated = await post('rotate')
      expect(rotated.status).to.equal(200)
      const { secret } = rotated.body
      expect(secret)
        .to.match(/^whsec_/)
        .and.not.equal(first)
      expect(await signers()).to.deep.equal([
        ['current', first],
        ['next', secret],
      ])
      const promoted = await post('promote')
      expect(promoted.status).to.equal(200)
      expect(promoted.body).not.to.have.property('secret')
      expect(await signers()).to.deep.equal([
        ['current', secret],
        ['old', first],
      ])
      const [, old] = promoted.body.secrets
      expect(old).to.include({ state: 'old', expires_at: '2030-01-02T00:00:00.000Z' })
    })

    it('only after a rotation', async () => {
      const answer = await post('promote')
      expect(answer.status).to.equal(409)
      expect(answer.body.detail).to.contain('rotate')
    })

    it('with an audit record of every step, with fingerprints', async () => {
      const { secret } = (await post('rotate')).body
      await post('promote')
      const found = await records()
      const [promotion] = await recordsOf('webhook.promote')
      expect(await recordsOf('webhook.create')).to.have.length(1)
      expect(await recordsOf('webhook.rotate')).to.have.length(1)
      const states = (side: { secrets: { state: string; fingerprint: string }[] }) =>
        side.secrets.map(({ state, fingerprint }) => [state, fingerprint])
      expect(states(promotion.before)).to.deep.equal([
        ['current', fingerprint(KEYRING, first)],
        ['next', fingerprint(KEYRING, secret)],
      ])
      expect(states(promotion.after)).to.deep.equal([
        ['current', fingerprint(KEYRING, secret)],
        ['old', fingerprint(KEYRING, first)],
      ])
      for (const value of [first, secret]) {
        expect(JSON.stringify(found)).not.to.contain(value)
        expect(admin.captured.output()).not.to.contain(value)
        const stored = (await admin.store.docs('webhooks').get([app])).get(app)
        expect(JSON.stringify(stored)).not.to.contain(value)
      }
    })
  })

  it('is paused and enabled again, with one audit record each', async () => {
    await put({ url: URL_ })
    expect((await put({ url: URL_, status: 'paused' })).body).to.deep.include({
      status: 'paused',
      paused: { at: '2030-01-01T00:00:00.000Z', reason: 'operator' },
    })
    const enabled = await post('enable')
    expect([enabled.status, enabled.body.status, enabled.body.paused]).to.deep.equal([200, 'active', null])
    expect((await post('enable', {})).status).to.equal(200)
    const enables = await recordsOf('webhook.enable')
    expect(enables).to.have.length(1)
    expect(enables[0]).to.deep.include({
      action: 'webhook.enable',
      target: app,
      company_id: company,
      outcome: 'done',
      before: { status: 'paused', reason: 'operator' },
      after: { status: 'active' },
    })
    expect((await recordsOf('webhook.pause'))[0]).to.include({ target: app, outcome: 'done' })
  })

  it('is enabled while it is active if an event waits for a retry', async () => {
    await put({ url: URL_ })
    const tested = (await post('test')).body
    const { items } = (await admin.get(`/apps/${app}/events`)).body
    expect(items[0]).to.include({ id: tested.event_id, type: 'webhook.test', status: 'pending' })
    const before = await admin.store.docs('webhooks').get([app])
    expect(before.get(app)).not.to.have.property('retry_all_before')
    await put({ url: URL_, status: 'active' })
    const saved = await admin.store.docs('webhooks').get([app])
    expect(saved.get(app), 'saving it again').not.to.have.property('retry_all_before')
    expect((await post('enable')).body.status).to.equal('active')
    expect((await admin.store.docs('webhooks').get([app])).get(app)?.retry_all_before).to.be.above(0)
    expect(await recordsOf('webhook.enable')).to.have.length(1)
  })

  it('keeps all concurrent changes', async () => {
    await put({ url: URL_ })
    const answers = await Promise.all([1, 2, 3, 4].map(() => post('rotate', { immediate: true })))
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200])
    const made = answers.map(({ body }) => body.secret)
    const current = (await signers())?.filter(([state]) => state === 'current')
    expect(current).to.have.length(1)
    expect(made).to.include(current?.[0]?.[1])
    expect(await signers()).to.have.length(5)
  })
})
