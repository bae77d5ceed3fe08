import { expect } from 'chai'
import { getCountries } from 'libphonenumber-js/max'
import { closeAdmins, createTenant, errorPaths, startAdmin, type TestAdmin } from '../../../support/admin-api.ts'
import { onEmbeddedStore } from '../../../support/stores.ts'

onEmbeddedStore('the money of a company', fresh => {
  let admin: TestAdmin
  let company: string
  beforeEach(async () => {
    admin = await startAdmin(await fresh())
    company = (await admin.ask('POST', '/companies', { name: 'Acme' })).body.id
  })
  afterEach(closeAdmins)

  const credit = (body: unknown, key = '') =>
    admin.ask('POST', `/companies/${company}/credit`, body, { headers: key ? { 'idempotency-key': key } : {} })
  const actions = async () => (await admin.get('/audit')).body.items.map((item: { action: string }) => item.action)

  it('is credited, with a ledger entry and an audit record', async () => {
    expect((await credit({ micros: 500, note: 'invoice 17' })).body).to.deep.equal({ id: company, balance: 500 })
    const { items } = (await admin.get(`/companies/${company}/ledger`)).body
    expect(items).to.have.length(1)
    expect(items[0]).to.include({ kind: 'credit', micros: 500, balance_after: 500, note: 'invoice 17', by: 'ada' })
    const { items: audit } = (await admin.get('/audit')).body
    expect(audit.find(({ action }: { action: string }) => action === 'company.credit')).to.deep.include({
      action: 'company.credit',
      before: { balance: 0 },
      after: { micros: 500, note: 'invoice 17' },
      outcome: 'done',
    })
  })

  it('is credited once per idempotency key, with one audit record', async () => {
    const answers = [
      await credit({ micros: 5, note: 'a transfer' }, 'transfer-1'),
      await credit({ micros: 5, note: 'a transfer' }, 'transfer-1'),
    ]
    expect(answers.map(({ body }) => body.balance)).to.deep.equal([5, 5])
    expect((await actions()).filter((action: string) => action === 'company.credit')).to.have.length(1)
    expect((await credit({ micros: 6, note: 'another' }, 'transfer-1')).body).to.include({
      status: 409,
      type: 'IdempotencyConflictError',
    })
    expect((await admin.get(`/companies/${company}`)).body.balance, 'nothing was entered').to.equal(5)
    expect((await credit({ micros: 5, note: 'a transfer' }, 'x'.repeat(256))).body.type).to.equal(
      'InvalidIdempotencyKeyError',
    )
  })

  it('has prices that a PUT replaces, one for every country and channel', async () => {
    const prices = ['sms', 'whatsapp'].flatMap(channel =>
      getCountries().map(country => ({ channel, country, micros: 7 })),
    )
    expect(JSON.stringify(prices).length).to.be.greaterThan(16_384)
    expect((await admin.ask('PUT', '/prices', { prices })).status).to.equal(200)
    const small = [{ channel: 'sms', country: 'GB', micros: 40_000 }]
    expect((await admin.ask('PUT', '/prices', { prices: small })).status).to.equal(200)
    expect((await admin.get('/prices')).body).to.deep.equal({ items: small, next_cursor: null })
  })

  it('keeps prices that a PUT does not know, if it says which ones it replaces', async () => {
    const [gb, fr, all] = ['GB', 'FR', '*'].map(country => ({ channel: 'sms', country, micros: 40_000 }))
    const put = async (prices: unknown[], replaces: unknown[]) =>
      (await admin.ask('PUT', '/prices', { prices, replaces })).status
    expect(await put([gb, fr], [])).to.equal(200)
    for (const others of [[], [gb], [gb, fr, all], [gb, { ...fr, micros: 1 }]])
      expect(await put([all], others), JSON.stringify(others)).to.equal(409)
    expect((await admin.get('/prices')).body.items).to.have.deep.members([gb, fr])
    expect((await actions()).filter((action: string) => action === 'prices.replace')).to.have.length(1)
    expect(await put([all], [fr, gb]), 'in any order').to.equal(200)
  })

  it('has prices that hold from a later time on, until then replaced or left out by a PUT', async () => {
    const at = (ms: number) => new Date(admin.clock.now() + ms).toISOString()
    const put = (...prices: object[]) => admin.ask('PUT', '/prices', { prices })
    const listed = async () => (await admin.get('/prices')).body.items
    const now = { channel: 'sms', country: 'GB', micros: 40_000 }
    const [dearer, cheaper] = [
      { ...now, micros: 50_000, effective_at: at(60_000) },
      { ...now, micros: 30_000, effective_at: at(90_000) },
    ]
    expect((await put(cheaper, { ...now, effective_at: null }, dearer)).body.items).to.deep.equal([
      now,
      dearer,
      cheaper,
    ])
    expect((await admin.get('/prices?limit=2')).body.items).to.deep.equal([now, dearer])
    expect(errorPaths(await put(now, { ...dearer, effective_at: at(0) }))).to.deep.equal(['prices.1.effective_at'])
    expect(errorPaths(await put(now, dearer, { ...dearer, micros: 1 }))).to.deep.equal(['prices.2'])
    await admin.clock.advance(60_000)
    const begun = { ...now, micros: 50_000 }
    expect(await listed()).to.deep.equal([begun, cheaper])
    const replaces = [begun, cheaper]
    expect((await admin.ask('PUT', '/prices', { prices: [begun], replaces })).status).to.equal(200)
    await admin.clock.advance(60_000)
    expect(await listed()).to.deep.equal([begun])
  })

  it('counts whom a price that is scheduled would cut off', async () => {
    const { company: id, app } = await createTenant(admin)
    await admin.ask('POST', `/apps/${app}/keys`, { kind: 'server', mode: 'live' })
    await admin.ask('POST', `/companies/${id}/credit`, { micros: 100, note: 'a transfer' })
    const price = { channel: 'sms', country: '*', micros: 100 }
    const tried = async (...prices: object[]) => (await admin.ask('POST', '/prices/try', { prices })).body.cut_off
    const effective_at = new Date(admin.clock.now() + 60_000).toISOString()
    expect(await tried(price)).to.equal(0)
    expect(await tried(price, { ...price, micros: 101, effective_at })).to.equal(1)
  })

  it('enters a credit with an idempotency key once, even with concurrent requests to several dashboards', async () => {
    const other = await startAdmin(admin.store, { clock: admin.clock })
    const headers = { 'idempotency-key': 'invoice-17' }
    const creditOn = (nth: number) =>
      (nth % 2 === 0 ? admin : other).ask(
        'POST',
        `/companies/${company}/credit`,
        { micros: 10, note: `transfer ${nth}` },
        { headers },
      )
    const answers = await Promise.all(Array.from({ length: 20 }, (_, nth) => creditOn(nth)))
    expect(answers.map(({ status }) => status)).to.deep.equal(answers.map(() => 200))
    const { items } = (await admin.get(`/companies/${company}/ledger`)).body
    expect(items).to.have.length(1)
    const { items: audit } = (await admin.get('/audit?action=company.credit')).body
    expect(audit.filter(({ outcome }: { outcome: string }) => outcome === 'done')).to.have.length(1)
  })

  it('never takes back more than the balance, even with concurrent requests', async () => {
    await credit({ micros: 1_000, note: 'a transfer' })
    const take = () => admin.ask('POST', `/companies/${company}/credit`, { micros: -300, note: 'a transfer' })
    const answers = await Promise.all(Array.from({ length: 8 }, take))
    const taken = answers.filter(({ status }) => status === 200)
    expect(taken).to.have.length(3)
    for (const answer of answers) if (answer.status !== 200) expect(errorPaths(answer)).to.deep.equal(['micros'])
    expect((await admin.get(`/companies/${company}`)).body.balance).to.equal(100)
    expect((await admin.get(`/companies/${company}/reconciliation`)).body.problems).to.deep.equal([])
  })
})
