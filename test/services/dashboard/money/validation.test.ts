// Invalid input about money is refused with the problems in the usual shape, and nothing changes.
import { expect } from 'chai'
import { type Answer, closeAdmins, createTenant, startAdmin, type TestAdmin } from '../../../support/admin-api.ts'
import { createRunningClock } from '../../../support/running-clock.ts'
import { onEmbeddedStore } from '../../../support/stores.ts'
import { allTenancyDocs } from '../../../support/tenancy.ts'

const OPENING = 1_000

const BAD_MICROS = [
  '"5"',
  '"1e3"',
  '1.5',
  '-0',
  '0',
  '-0.0',
  '1e-9',
  '1e16',
  '-1e16',
  '1e400',
  '9007199254740993',
  '-1001',
  'null',
  'true',
  '[5]',
  '{"$inc":5}',
  '9007199254740991',
]
const BAD_NOTES = ['""', '"  "', '5', '"\\u0000"', '"\\ud800"', `"${'x'.repeat(201)}"`, '{"a":1}']
const UNKNOWN_MEMBERS = ['"balance":5', '"__proto__":{"micros":5}', '"kind":"hold"']
const CREDITS = [
  '',
  'null',
  '[]',
  '"5"',
  '5',
  '{}',
  '{"micros":5',
  '\ufeff{"micros":5}x',
  '{"micros":5}',
  ...BAD_MICROS.map(micros => `{"micros":${micros},"note":"a"}`),
  ...BAD_NOTES.map(note => `{"micros":5,"note":${note}}`),
  ...UNKNOWN_MEMBERS.map(member => `{"micros":5,"note":"a",${member}}`),
]

const PRICE = { channel: 'sms', country: 'GB', micros: 5 }
const BAD_CHANNELS = ['pigeon', 'SMS', '', null, 5, 'sms ']
const BAD_COUNTRIES = ['gb', 'UK', 'ZZ', 'GBR', '', ' GB', '**', null, 44]
const BAD_PRICES = [-1, 0.5, 1e16, '5', null, true]
const REPLY = { channel: 'whatsapp', kind: 'reply', country: 'GB', micros: 5 }
const PRICES: unknown[] = [
  [{ ...PRICE, kind: 'reply' }],
  [{ ...REPLY, kind: 'template' }],
  [REPLY, { ...REPLY, micros: 6 }],
  ...BAD_CHANNELS.map(channel => [{ ...PRICE, channel }]),
  ...BAD_COUNTRIES.map(country => [{ ...PRICE, country }]),
  ...BAD_PRICES.map(micros => [{ ...PRICE, micros }]),
  {},
  [null],
  [[]],
  ['sms'],
  [{ ...PRICE, currency: 'EUR' }],
  [PRICE, { ...PRICE, micros: 6 }],
  null,
  'free',
  Array.from({ length: 2_001 }, () => PRICE),
]

const CAPS = [
  { GB: -1 },
  { GB: 0.5 },
  { GB: '5' },
  { GB: 1e16 },
  { UK: 5 },
  { gb: 5 },
  { '': 5 },
  [],
  'all',
  5,
  { GB: [] },
]
const COUNTRIES = ['GB', ['gb'], ['UK'], ['*'], [null], [44], { GB: true }, ['GB', 'ZZ']]

onEmbeddedStore('validation of money and countries', fresh => {
  let [admin, company, app] = [] as unknown as [TestAdmin, string, string]
  beforeEach(async () => {
    admin = await startAdmin(await fresh(), { clock: createRunningClock() })
    ;({ company, app } = await createTenant(admin))
    await admin.ask('POST', `/companies/${company}/credit`, { micros: OPENING, note: 'a transfer' })
    await admin.ask('PUT', '/prices', { prices: [PRICE] })
    await admin.get(`/companies/${company}/ledger`)
  })
  afterEach(closeAdmins)

  function expectRefused({ status, body }: Answer, what: string): void {
    expect(status, `${what}: ${JSON.stringify(body)}`).to.be.oneOf([400, 413, 422])
    expect(body, what).to.include.all.keys('type', 'title', 'status', 'detail', 'request_id')
    expect(body.type, what).to.equal(status === 422 ? 'ValidationError' : 'HTTPException')
    if (status !== 422) return
    expect(body.errors, what).to.be.an('array').that.is.not.empty
    for (const { path, message } of body.errors)
      expect([typeof path, typeof message]).to.deep.equal(['string', 'string'])
  }
  async function refusesAll(asks: [what: string, ask: () => Promise<Answer>][]): Promise<void> {
    const before = [await allTenancyDocs(admin.store), (await admin.get('/audit?limit=100')).body.items.length]
    for (const [what, ask] of asks) expectRefused(await ask(), what)
    expect([await allTenancyDocs(admin.store), (await admin.get('/audit?limit=100')).body.items.length]).to.deep.equal(
      before,
    )
  }

  it('refuses invalid credits', () =>
    refusesAll(CREDITS.map(raw => [raw, () => admin.ask('POST', `/companies/${company}/credit`, undefined, { raw })])))

  it('refuses invalid prices', () =>
    refusesAll(
      PRICES.map(prices => [JSON.stringify(prices).slice(0, 80), () => admin.ask('PUT', '/prices', { prices })]),
    ))

  it('refuses invalid spend caps and unknown countries', () => {
    const patch = (settings: object) => () => admin.ask('PATCH', `/apps/${app}`, { settings })
    return refusesAll([
      ...CAPS.map((spend_caps): [string, () => Promise<Answer>] => [JSON.stringify(spend_caps), patch({ spend_caps })]),
      ...COUNTRIES.flatMap((countries): [string, () => Promise<Answer>][] => [
        [`blocked ${JSON.stringify(countries)}`, patch({ blocked_countries: countries })],
        [`allowed ${JSON.stringify(countries)}`, patch({ allowed_countries: countries })],
      ]),
    ])
  })

  it('enters a credit with an idempotency key once, even with concurrent requests to several dashboards', async () => {
    const other = await startAdmin(admin.store, { clock: createRunningClock() })
    const headers = { 'idempotency-key': 'invoice-17' }
    const credit = (nth: number) =>
      (nth % 2 === 0 ? admin : other).ask(
        'POST',
        `/companies/${company}/credit`,
        { micros: 10, note: `transfer ${nth}` },
        { headers },
      )
    const answers = await Promise.all(Array.from({ length: 20 }, (_, nth) => credit(nth)))
    expect(answers.map(({ status }) => status)).to.deep.equal(answers.map(() => 200))
    const { items } = (await admin.get(`/companies/${company}/ledger`)).body
    expect(items).to.have.length(2)
    expect(items[0].balance_after).to.equal(OPENING + items[0].micros)
    const { items: audit } = (await admin.get('/audit?limit=100')).body
    const done = audit.filter((one: { action: string; outcome: string }) => one.outcome === 'done')
    expect(done.filter((one: { action: string }) => one.action === 'company.credit')).to.have.length(2)
  })

  it('never takes back more than the balance, even with concurrent requests', async () => {
    const take = () => admin.ask('POST', `/companies/${company}/credit`, { micros: -300, note: 'a transfer' })
    const answers = await Promise.all(Array.from({ length: 8 }, take))
    const taken = answers.filter(({ status }) => status === 200)
    expect(taken).to.have.length(3)
    for (const answer of answers) if (answer.status !== 200) expectRefused(answer, 'too much')
    expect((await admin.get(`/companies/${company}`)).body.balance).to.equal(100)
    expect((await admin.get(`/companies/${company}/reconciliation`)).body.problems).to.deep.equal([])
  })
})
