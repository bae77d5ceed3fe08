import { expect } from 'chai'
import { isId } from '../../../infra/ids.ts'
import { hashApiKey, kindAndModeOf } from '../../../services/domain/tenancy/api-keys.ts'
import { createTenancy } from '../../../services/domain/tenancy/tenancy.ts'
import { closeAdmins, createTenant, startAdmin, type TestAdmin } from '../../support/admin-api.ts'
import { eachStore } from '../../support/stores.ts'

const SERVER_TEST = { kind: 'server', mode: 'test' }

interface Renaming {
  action: string
  outcome: string
  before: { name: string | null }
  after: { name: string | null }
}

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
  const rename = (id: string, name: string | null) => admin.ask('PATCH', `/keys/${id}`, { name })
  const records = async () => (await admin.get('/audit')).body.items

  it('are created for each kind and mode, and are found by their hash', async () => {
    for (const kind of ['server', 'publishable'] as const)
      for (const mode of ['live', 'test'] as const) {
        const { status, body } = await create(kind, mode)
        expect(status).to.equal(201)
        expect(isId('key', body.id)).to.equal(true)
        expect(body).to.include({ app_id: app, kind, mode, created_at: '2030-01-01T00:00:00.000Z', revoked_at: null })
        expect(kindAndModeOf(body.key)).to.deep.equal({ kind, mode })
        const found = await createTenancy(admin).keyByHash(hashApiKey(body.key))
        expect(found).to.include({ _id: body.id, app_id: app, company_id: company, kind, mode })
      }
  })

  it('are listed with the newest first, so that it is on the first page', async () => {
    const made: string[] = []
    for (const mode of ['test', 'live', 'test']) {
      made.unshift((await create('server', mode)).body.id)
      await admin.clock.advance(1)
    }
    const first = (await admin.get(`/apps/${app}/keys?limit=2`)).body
    const second = (await admin.get(`/apps/${app}/keys?limit=2&cursor=${encodeURIComponent(first.next_cursor)}`)).body
    expect([...first.items, ...second.items].map(({ id }) => id)).to.deep.equal(made)
  })

  it('have their value in the answer to the POST only: not in the list, the store, the audit log or the log', async () => {
    const { key, ...shown } = (await create('server', 'live')).body
    const { body: list } = await admin.get(`/apps/${app}/keys`)
    expect(list).to.deep.equal({ items: [shown], next_cursor: null })
    const stored = (await admin.store.docs('keys').get([shown.id])).get(shown.id)
    expect(JSON.stringify([stored, list])).not.to.contain(key)
    const audit = JSON.stringify([await records(), list])
    expect(audit).to.contain(shown.id).and.not.contain(key).and.not.contain(hashApiKey(key))
    expect(admin.captured.output()).not.to.contain(key)
  })

  it('have a name, the end of their value and the time of their last use', async () => {
    const { status, body } = await admin.ask('POST', `/apps/${app}/keys`, { ...SERVER_TEST, name: 'Checkout' })
    expect(status).to.equal(201)
    expect(body).to.include({ name: 'Checkout', last4: body.key.slice(-4), last_used_at: null })
    const used = Date.UTC(2030, 0, 1, 0, 7)
    await admin.store.docs('keys').update([{ ids: [body.id], update: { $max: { last_used_at: used } } }])
    const { key, ...made } = body
    const shown = { ...made, last_used_at: '2030-01-01T00:07:00.000Z' }
    expect((await admin.get(`/apps/${app}/keys`)).body.items).to.deep.equal([shown])
    expect((await create('server', 'test')).body.name).to.equal(null)
  })

  it('are renamed, and null removes the name, each with an audit record', async () => {
    const { key, ...made } = (await create('server', 'test')).body
    await admin.clock.advance(1)
    const renamed = await rename(made.id, 'Checkout')
    expect(renamed.status).to.equal(200)
    expect(renamed.body).to.deep.equal({ ...made, name: 'Checkout' })
    expect((await rename(made.id, 'Checkout')).body).to.deep.equal(renamed.body)
    await admin.clock.advance(1)
    expect((await rename(made.id, null)).body).to.deep.equal(made)
    expect((await admin.ask('PATCH', `/keys/${made.id}`, {})).body).to.deep.equal(made)
    const changes = (await records()).slice(0, -3)
    expect(changes.map(({ action, before, after }: Renaming) => [action, before.name, after.name])).to.deep.equal([
      ['key.rename', 'Checkout', null],
      ['key.rename', null, 'Checkout'],
    ])
    expect(JSON.stringify(changes)).not.to.contain(key)
  })

  it('keep one name of several that are given at once, and their last use meanwhile', async () => {
    const { id } = (await create('server', 'test')).body
    const names = ['a', 'b', 'c', 'd']
    const used = Date.UTC(2030, 0, 1, 0, 7)
    const [, ...answers] = await Promise.all([
      admin.store.docs('keys').update([{ ids: [id], update: { $max: { last_used_at: used } } }]),
      ...names.map(name => rename(id, name)),
    ])
    expect(answers.map(({ body }) => body.name)).to.deep.equal(names)
    const [shown] = (await admin.get(`/apps/${app}/keys`)).body.items
    expect(names).to.include(shown.name)
    expect(shown.last_used_at).to.equal('2030-01-01T00:07:00.000Z')
    const done = (await records()).filter(
      ({ action, outcome }: Renaming) => action === 'key.rename' && outcome === 'done',
    )
    // Each record begins with the name that the one before it gave.
    const pairs = new Map(done.map(({ before, after }: Renaming) => [before.name, after.name]))
    const chain: (string | null)[] = [null]
    while (pairs.has(chain.at(-1))) chain.push(pairs.get(chain.at(-1)) as string)
    expect(chain).to.have.length(names.length + 1)
    expect(chain.at(-1)).to.equal(shown.name)
  })

  it('are revoked for good, and keep their first time of revocation when revoked again, without a second audit record', async () => {
    const { key, id } = (await create('server', 'test')).body
    expect((await admin.ask('DELETE', `/keys/${id}`)).status).to.equal(204)
    expect(await createTenancy(admin).keyByHash(hashApiKey(key))).to.equal(null)
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
