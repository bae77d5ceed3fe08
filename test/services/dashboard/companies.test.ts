import { expect } from 'chai'
import { isId } from '../../../infra/ids.ts'
import { openAccount } from '../../../services/domain/money/batches.ts'
import { closeAdmins, errorPaths, startAdmin, type TestAdmin } from '../../support/admin-api.ts'
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
    expect(rest).to.deep.equal({ name: 'Acme', balance: 0, created_at: '2030-01-01T00:00:00.000Z' })
    expect((await admin.get(`/companies/${id}`)).body).to.deep.equal(created.body)
    expect((await admin.get('/companies')).body).to.deep.equal({ items: [created.body], next_cursor: null })
  })

  it('show their balance', async () => {
    const company = { _id: 'cmp_demo', name: 'Demo', ...openAccount('cmp_demo', 1_500_000, 0), created_at: 0, rev: 3 }
    await admin.store.docs('companies').insert([company])
    expect((await admin.get('/companies/cmp_demo')).body).to.include({ id: 'cmp_demo', balance: 1_500_000 })
  })

  it('require a name, and refuse a balance', async () => {
    expect(errorPaths(await admin.ask('POST', '/companies', {}))).to.deep.equal(['name'])
    expect(errorPaths(await admin.ask('POST', '/companies', { name: '' }))).to.deep.equal(['name'])
    expect(errorPaths(await admin.ask('POST', '/companies', { name: 'a\nb' }))).to.deep.equal(['name'])
    expect(errorPaths(await admin.ask('POST', '/companies', { name: 'A', balance: 5 }))).to.deep.equal(['balance'])
  })
})
