import { expect } from 'chai'
import { isId } from '../../../infra/ids.ts'
import { closeAdmins, createTenant, startAdmin, type TestAdmin } from '../../support/admin-api.ts'
import { userBrowser } from '../../support/dashboard-session.ts'
import { eachStore } from '../../support/stores.ts'

eachStore('companies', fresh => {
  let admin: TestAdmin
  beforeEach(async () => {
    admin = await startAdmin(await fresh())
  })
  afterEach(closeAdmins)

  it('are created with a balance of 0, and read back', async () => {
    const created = await admin.ask('POST', '/companies', { name: 'Acme' })
    expect(created.status).to.equal(201)
    const { id, ...rest } = created.body
    expect(isId('cmp', id)).to.equal(true)
    expect(rest).to.deep.equal({
      name: 'Acme',
      balance: 0,
      max_apps: 100,
      max_users: 200,
      low_balance_micros: null,
      timezone: 'UTC',
      created_at: '2030-01-01T00:00:00.000Z',
      closed_at: null,
      deletable_at: null,
    })
    expect((await admin.get(`/companies/${id}`)).body).to.deep.equal(created.body)
    expect((await admin.get('/companies')).body).to.deep.equal({ items: [created.body], next_cursor: null })
  })

  it('are renamed, closed and reopened, each with an audit record', async () => {
    const { id, ...made } = (await admin.ask('POST', '/companies', { name: 'Acme' })).body
    await admin.clock.advance(1)
    const renamed = await admin.ask('PATCH', `/companies/${id}`, { name: 'Acme Ltd' })
    expect(renamed.status).to.equal(200)
    expect(renamed.body).to.deep.equal({ ...made, id, name: 'Acme Ltd' })
    await admin.clock.advance(59_999)
    const closed = await admin.ask('PATCH', `/companies/${id}`, { closed: true })
    expect(closed.body).to.deep.equal({
      ...renamed.body,
      closed_at: '2030-01-01T00:01:00.000Z',
      deletable_at: '2030-01-31T00:01:00.000Z',
    })
    expect((await admin.get(`/companies/${id}`)).body).to.deep.equal(closed.body)
    await admin.clock.advance(60_000)
    expect((await admin.ask('PATCH', `/companies/${id}`, { closed: true })).body).to.deep.equal(closed.body)
    expect((await admin.ask('PATCH', `/companies/${id}`, { closed: false })).body).to.deep.equal(renamed.body)
    const records = (await admin.get(`/audit?company_id=${id}`)).body.items
    expect(records.map(({ action, before, after }: Record<string, unknown>) => [action, before, after])).to.deep.equal([
      ['company.change', { closed_at: '2030-01-01T00:01:00.000Z' }, { closed_at: null }],
      ['company.change', { closed_at: null }, { closed_at: '2030-01-01T00:01:00.000Z' }],
      ['company.change', { name: 'Acme' }, { name: 'Acme Ltd' }],
      ['company.create', null, { name: 'Acme' }],
    ])
  })

  it('take a threshold of their balance from an owner, keep it, and drop it', async () => {
    const { company } = await createTenant(admin)
    const { browser } = await userBrowser(admin, company, 'owner')
    const patch = async (change: object) => (await browser.ask('PATCH', `/companies/${company}`, change)).body
    expect(await patch({ low_balance_micros: 5 })).to.include({ low_balance_micros: 5 })
    expect(await patch({ name: 'Other' })).to.include({ low_balance_micros: 5, name: 'Other' })
    expect((await admin.get(`/companies/${company}`)).body).to.include({ low_balance_micros: 5, name: 'Other' })
    expect(await patch({ low_balance_micros: null })).to.include({ low_balance_micros: null })
    const [stored] = (await admin.store.docs('companies').get([company])).values()
    expect(stored).not.to.have.any.keys('low_balance_micros', 'low_balance_watch')
  })

  it('have as many apps and users as an operator lets them have', async () => {
    const { company } = await createTenant(admin)
    const { browser: owner } = await userBrowser(admin, company, 'owner')
    expect((await admin.get(`/companies/${company}`)).body).to.include({ max_apps: 100, max_users: 200 })
    for (const change of [{ max_apps: 2 }, { max_users: 2 }])
      expect((await owner.ask('PATCH', `/companies/${company}`, change)).status).to.equal(403)
    const { body } = await admin.ask('PATCH', `/companies/${company}`, { max_apps: 2, max_users: 2 })
    expect(body).to.include({ max_apps: 2, max_users: 2 })
    // One place is left of each, and several want it at once.
    const five = [...'abcde']
    const apps = five.map(name => owner.ask('POST', `/companies/${company}/apps`, { name }))
    const statusesOf = async (asked: Promise<{ status: number }>[]) =>
      (await Promise.all(asked)).map(({ status }) => status).sort()
    expect(await statusesOf(apps)).to.deep.equal([201, 409, 409, 409, 409])
    const invite = (name: string) => ({ email: `${name}@shop.example`, role: 'viewer' })
    const users = five.map(name => owner.ask('POST', `/companies/${company}/users`, invite(name)))
    expect(await statusesOf(users)).to.deep.equal([201, 409, 409, 409, 409])
    await admin.ask('PATCH', `/companies/${company}`, { max_apps: 3, max_users: 3 })
    expect((await owner.ask('POST', `/companies/${company}/apps`, { name: 'f' })).status).to.equal(201)
    expect((await owner.ask('POST', `/companies/${company}/users`, invite('f'))).status).to.equal(201)
  })

  it('take concurrent changes of their name and their state, and both hold', async () => {
    const { id } = (await admin.ask('POST', '/companies', { name: 'Acme' })).body
    await Promise.all([
      admin.ask('PATCH', `/companies/${id}`, { closed: true }),
      admin.ask('PATCH', `/companies/${id}`, { name: 'Other' }),
      admin.ask('POST', `/companies/${id}/credit`, { micros: 5, note: 'a transfer' }),
    ])
    const closed_at = '2030-01-01T00:00:00.000Z'
    expect((await admin.get(`/companies/${id}`)).body).to.include({ name: 'Other', closed_at, balance: 5 })
  })
})
