import { expect } from 'chai'
import { isId } from '../../../infra/ids.ts'
import { hashApiKey, parseApiKey } from '../../../services/domain/tenancy/api-keys.ts'
import { createTenancy } from '../../../services/domain/tenancy/tenancy.ts'
import { closeAdmins, createTenant, startAdmin, type TestAdmin } from '../../support/admin-api.ts'
import { eachStore } from '../../support/stores.ts'

eachStore('API keys', fresh => {
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

  const create = (kind: string, mode: string) => admin.ask('POST', `/apps/${app}/keys`, { kind, mode })
  const records = async () => (await admin.get('/audit')).body.items

  it('are created for each kind and mode, and are found by their hash', async () => {
    for (const kind of ['server', 'publishable'] as const)
      for (const mode of ['live', 'test'] as const) {
        const { status, body } = await create(kind, mode)
        expect(status).to.equal(201)
        expect(isId('key', body.id)).to.equal(true)
        expect(body).to.include({ app_id: app, kind, mode, created_at: '2030-01-01T00:00:00.000Z', revoked_at: null })
        expect(parseApiKey(body.key)).to.deep.equal({ kind, mode })
        const found = await createTenancy(admin).keyByHash(hashApiKey(body.key))
        expect(found).to.include({ _id: body.id, app_id: app, company_id: company, kind, mode })
      }
  })

  it('are listed without the key or its hash', async () => {
    const { body: made } = await create('server', 'test')
    const { key, ...shown } = made
    const { body: list } = await admin.get(`/apps/${app}/keys`)
    expect(list).to.deep.equal({ items: [shown], next_cursor: null })
    expect(JSON.stringify(list)).not.to.contain(key).and.not.contain(hashApiKey(key))
  })

  it('have their value in the answer to the POST only: not in the store, the audit log or the log', async () => {
    const { key, id } = (await create('server', 'live')).body
    const stored = (await admin.store.docs('keys').get([id])).get(id)
    expect(JSON.stringify(stored)).not.to.contain(key)
    const audit = JSON.stringify(await records())
    expect(audit).to.contain(id).and.not.contain(key).and.not.contain(hashApiKey(key))
    expect(admin.captured.output()).not.to.contain(key)
  })

  it('are revoked for good', async () => {
    const { key, id } = (await create('server', 'test')).body
    await admin.clock.advance(60_000)
    const revoked = await admin.ask('DELETE', `/keys/${id}`)
    expect(revoked.status).to.equal(204)
    expect(revoked.body).to.equal(null)
    expect(await createTenancy(admin).keyByHash(hashApiKey(key))).to.equal(null)
    const [shown] = (await admin.get(`/apps/${app}/keys`)).body.items
    expect(shown).to.include({ id, revoked_at: '2030-01-01T00:01:00.000Z' })
  })

  it('keep their first time of revocation when revoked again, without a second audit record', async () => {
    const { id } = (await create('server', 'test')).body
    await admin.ask('DELETE', `/keys/${id}`)
    const before = await records()
    await admin.clock.advance(60_000)
    expect((await admin.ask('DELETE', `/keys/${id}`)).status).to.equal(204)
    expect((await admin.get(`/apps/${app}/keys`)).body.items[0].revoked_at).to.equal('2030-01-01T00:00:00.000Z')
    expect(await records()).to.deep.equal(before)
  })

  it('are revoked by one of several concurrent requests', async () => {
    const { id } = (await create('server', 'test')).body
    const answers = await Promise.all([1, 2, 3, 4].map(() => admin.ask('DELETE', `/keys/${id}`)))
    expect(answers.map(({ status }) => status)).to.deep.equal([204, 204, 204, 204])
    const done = (await records()).filter(
      ({ action, outcome }: Record<string, string>) => action === 'key.revoke' && outcome === 'done',
    )
    expect(done).to.have.length(1)
  })
})
