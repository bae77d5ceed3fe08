import { expect } from 'chai'
import { isId } from '../../../infra/ids.ts'
import { openAccount } from '../../../services/domain/money/batches.ts'
import { closeAdmins, createTenant, errorPaths, startAdmin, type TestAdmin } from '../../support/admin-api.ts'
import { userBrowser } from '../../support/dashboard-session.ts'
import { eachStore } from '../../support/stores.ts'

const NO_THRESHOLDS = [{ low_balance_micros: 0 }, { low_balance_micros: 1.5 }, { low_balance_micros: '5' }]

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

  it('show their balance', async () => {
    const company = { _id: 'cmp_demo', name: 'Demo', ...openAccount('cmp_demo', 1_500_000, 0), created_at: 0, rev: 3 }
    await admin.store.docs('companies').insert([company])
    expect((await admin.get('/companies/cmp_demo')).body).to.include({ id: 'cmp_demo', balance: 1_500_000 })
  })

  it('that are closed are changed by operators alone, and their users may only erase people and sign out', async () => {
    const { company, app } = await createTenant(admin)
    const { browser } = await userBrowser(admin, company, 'owner')
    await admin.ask('PATCH', `/companies/${company}`, { closed: true })
    const statusOf = async (...request: [string, string, object?]) => (await browser.ask(...request)).status
    for (const [method, path, body] of [
      ['PATCH', `/companies/${company}`, { name: 'Other' }],
      ['PATCH', `/apps/${app}`, { name: 'Other' }],
      ['POST', `/companies/${company}/apps`, { name: 'New' }],
      ['POST', `/apps/${app}/keys`, { kind: 'server', mode: 'test' }],
      ['PUT', `/apps/${app}/providers/box`, { type: 'sandbox', channel: 'sms' }],
      ['PUT', `/apps/${app}/webhook`, { url: 'https://shop.example/hook' }],
      ['POST', `/companies/${company}/users`, { email: 'ann@shop.example', role: 'viewer' }],
    ] as [string, string, object][])
      expect(await statusOf(method, path, body), `${method} ${path}`).to.equal(409)
    expect((await admin.get(`/apps/${app}`)).body.name).to.equal('Shop')
    expect(await statusOf('GET', `/apps/${app}`)).to.equal(200)
    expect(await statusOf('POST', `/apps/${app}/erase`, { recipient: '+447911123456' })).to.equal(200)
    expect(await statusOf('POST', `/companies/${company}/erase`, { recipient: '+447911123456' })).to.equal(200)
    for (const list of ['/verifications', '/refusals', '/sandbox/messages'])
      expect(await statusOf('GET', `${list}?recipient=%2B447911123456`), list).to.equal(200)
    expect((await admin.ask('PATCH', `/apps/${app}`, { name: 'Other' })).status).to.equal(200)
    await admin.ask('PATCH', `/companies/${company}`, { closed: false })
    expect(await statusOf('PATCH', `/apps/${app}`, { name: 'Shop' })).to.equal(200)
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
    expect(
      records.map(({ action, before, after }: Record<string, unknown>) => ({ action, before, after })),
    ).to.deep.equal([
      {
        action: 'company.change',
        before: { closed_at: '2030-01-01T00:01:00.000Z' },
        after: { closed_at: null },
      },
      {
        action: 'company.change',
        before: { closed_at: null },
        after: { closed_at: '2030-01-01T00:01:00.000Z' },
      },
      {
        action: 'company.change',
        before: { name: 'Acme' },
        after: { name: 'Acme Ltd' },
      },
      { action: 'company.create', before: null, after: { name: 'Acme' } },
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
    const { browser: developer } = await userBrowser(admin, company, 'developer')
    const refused = await developer.ask('PATCH', `/companies/${company}`, { low_balance_micros: 5 })
    expect(refused.status).to.equal(403)
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
    expect(errorPaths(await admin.ask('PATCH', `/companies/${company}`, { max_apps: 0 }))).to.deep.equal(['max_apps'])
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

  it('are not changed by a body that is not valid', async () => {
    const { body } = await admin.ask('POST', '/companies', { name: 'Acme' })
    const patch = (change: unknown) => admin.ask('PATCH', `/companies/${body.id}`, change)
    for (const change of [
      { name: null },
      { name: '' },
      { name: ' ' },
      { closed: 1 },
      { closed: null },
      { balance: 5 },
      ...NO_THRESHOLDS,
    ])
      expect(errorPaths(await patch(change)), JSON.stringify(change)).to.deep.equal(Object.keys(change))
    expect((await patch({})).body).to.deep.equal(body)
  })

  it('require a name, and refuse a balance', async () => {
    expect(errorPaths(await admin.ask('POST', '/companies', {}))).to.deep.equal(['name'])
    for (const name of ['', ' ', '\u3000', 'a\nb'])
      expect(errorPaths(await admin.ask('POST', '/companies', { name })), JSON.stringify(name)).to.deep.equal(['name'])
    expect(errorPaths(await admin.ask('POST', '/companies', { name: 'A', balance: 5 }))).to.deep.equal(['balance'])
  })
})
