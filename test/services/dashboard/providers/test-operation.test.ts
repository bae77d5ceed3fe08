import { expect } from 'chai'
import { CallFailed, CallTimeout, type Depth, type Message } from '../../../../infra/broker/broker.ts'
import { Unavailable } from '../../../../infra/unavailable.ts'
import {
  type ProviderTestAnswer,
  type ProviderTestCall,
  testRecipientContext,
} from '../../../../services/domain/tenancy/provider-test.ts'
import { type AdminOptions, closeAdmins, createTenant, startAdmin, type TestAdmin } from '../../../support/admin-api.ts'
import { eventually } from '../../../support/eventually.ts'
import { onEmbeddedStore } from '../../../support/stores.ts'

const RECIPIENT = '+14155552671'
const REFUSED = {
  outcome: 'refused',
  http_status: 401,
  vendor_code: '20003',
  vendor_text: 'Authenticate',
  ms: 12,
} as const
const RUNNING: Depth = { ready: 0, consumers: 1, dead: 0, oldestMs: null, brokerName: null }
const TWILIO = {
  type: 'twilio',
  config: { account_sid: 'AC11111111111111111111111111111111', auth_token: 'token', from: '+15005550006' },
}
const SMTP = { type: 'smtp', config: { host: 'mail.example', from: 'a@shop.example' } }

onEmbeddedStore('POST /apps/{id}/providers/{name}/test', fresh => {
  let admin: TestAdmin
  let app: string
  let company: string
  let requests: { queue: string; message: Message; budgetMs: number }[]
  let answer: () => Promise<ProviderTestAnswer>
  const broker = {
    depth: async () => RUNNING,
    request: async (queue: string, message: Message, budgetMs: number) => {
      requests.push({ queue, message, budgetMs })
      return answer()
    },
  }

  async function open(options: AdminOptions = {}): Promise<void> {
    requests = []
    answer = async () => ({ kind: 'called', ...REFUSED })
    admin = await startAdmin(await fresh(), { broker, ...options })
    const made = await createTenant(admin)
    app = made.app
    company = made.company
    await admin.ask('PUT', `/apps/${app}/providers/main`, TWILIO)
    await admin.ask('PUT', `/apps/${app}/providers/mail`, SMTP)
  }
  beforeEach(() => open())
  afterEach(closeAdmins)

  const test = (name: string, body: unknown = { recipient: RECIPIENT }, of = app) =>
    admin.ask('POST', `/apps/${of}/providers/${name}/test`, body)
  const numbered = (nth: number) => ({ recipient: `+1415555${String(3000 + nth)}` })
  const records = async () =>
    (await admin.get('/audit')).body.items.filter(({ action }: { action: string }) => action === 'provider.test')

  it("calls a process of the provider's channel, with the recipient sealed, and answers what the vendor said", async () => {
    const { status, body } = await test('main')
    expect(status).to.equal(200)
    expect(body).to.deep.equal(REFUSED)
    const [request] = requests
    expect(request).to.include({ queue: 'channel.sms.calls', budgetMs: 10_000 })
    const call = request?.message.body as ProviderTestCall
    expect(JSON.stringify(request)).not.to.include(RECIPIENT.slice(1))
    expect(call).to.include({ type: 'provider.test', app_id: app, provider: 'main' })
    expect(admin.keyring.unseal(call.sealed_recipient, testRecipientContext(app, 'main'))).to.equal(RECIPIENT)
    await test('mail', { recipient: 'Ann@Shop.example' })
    expect(requests[1]?.queue).to.equal('channel.email.calls')
  })

  it('is in the audit log with the masked recipient and the outcome', async () => {
    await test('main')
    const [record] = await records()
    expect(record).to.deep.include({ target: `${app}:main`, company_id: company, who: 'ada', outcome: 'done' })
    expect(record.after).to.deep.equal({
      recipient: '+1****71',
      outcome: 'refused',
      http_status: 401,
      vendor_code: '20003',
    })
    expect(admin.captured.output()).not.to.include(RECIPIENT.slice(1))
  })

  it('may be made ten times a minute by each app', async () => {
    for (let nth = 0; nth < 10; nth += 1) expect((await test('main', numbered(nth))).status).to.equal(200)
    await admin.clock.advance(20_000)
    const refused = await test('mail', { recipient: 'ann@shop.example' })
    expect(refused.status).to.equal(429)
    expect(refused.body).to.include({ type: 'RateLimitExceededError', scope: 'provider_test', retry_after: 40 })
    expect(requests).to.have.length(10)
    expect((await test('none')).status, 'there is no such provider').to.equal(404)
    const other = await createTenant(admin)
    await admin.ask('PUT', `/apps/${other.app}/providers/main`, TWILIO)
    expect((await test('main', undefined, other.app)).status).to.equal(200)
    await admin.clock.advance(40_000)
    expect((await test('main')).status).to.equal(200)
  })

  const anotherApp = async (): Promise<string> => {
    const made = (await admin.ask('POST', `/companies/${company}/apps`, { name: 'Other' })).body.id
    await admin.ask('PUT', `/apps/${made}/providers/main`, TWILIO)
    return made
  }

  describe('where messages have a price', () => {
    const PRICE = 40
    const ACCEPTED = { ...REFUSED, outcome: 'accepted', vendor_code: null, vendor_text: null } as const
    beforeEach(async () => {
      await admin.ask('PUT', '/prices', {
        prices: [
          { channel: 'sms', country: 'US', micros: PRICE },
          { channel: 'sms', country: '*', micros: 3 * PRICE },
        ],
      })
      answer = async () => ({ kind: 'called', ...ACCEPTED })
    })
    const credit = (micros: number) => admin.ask('POST', `/companies/${company}/credit`, { micros, note: 'a transfer' })
    const ledger = async () => {
      const { items } = (await admin.get(`/companies/${company}/ledger`)).body
      expect((await admin.get(`/companies/${company}/reconciliation`)).body.problems).to.deep.equal([])
      return items.map(({ kind, micros, note }: { kind: string; micros: number; note: string | null }) =>
        [kind, micros, note].join(' '),
      )
    }

    it('is charged like a message, and refused when the balance is too low', async () => {
      await credit(PRICE)
      expect((await test('main')).status).to.equal(200)
      const charged = [`hold -${PRICE} test of the provider main`, `credit ${PRICE} a transfer`]
      expect(await ledger()).to.deep.equal(charged)
      const refused = await test('main', numbered(1))
      expect([refused.status, refused.body.type]).to.deep.equal([402, 'InsufficientFundsError'])
      expect(requests).to.have.length(1)
      const outcomes = (await records()).map(({ outcome }: { outcome: string }) => outcome)
      expect(outcomes).to.have.members(['done', 'undone'])
      await credit(3 * PRICE)
      expect((await test('main', { recipient: '+447911123456' })).status, 'of another country').to.equal(200)
      expect((await admin.get(`/companies/${company}`)).body.balance).to.equal(0)
    })

    it('is given back when the vendor does not take it or nothing was sent, and stays charged when that is not known', async () => {
      await credit(PRICE)
      const balance = async () => (await admin.get(`/companies/${company}`)).body.balance
      for (const [given, left] of [
        [async () => ({ kind: 'called', ...REFUSED }), PRICE],
        [async () => ({ kind: 'missing_key' }), PRICE],
        [() => Promise.reject(new CallTimeout('late')), 0],
      ] as [() => Promise<ProviderTestAnswer>, number][]) {
        answer = given
        await test('main', numbered(left))
        expect(await balance()).to.equal(left)
      }
      const kinds = (await ledger()).map((line: string) => line.split(' ')[0])
      expect(kinds).to.deep.equal(['hold', 'refund', 'hold', 'refund', 'hold', 'credit'])
    })

    it("obeys the app's kinds of numbers, countries and spend caps", async () => {
      await credit(100 * PRICE)
      const spend_caps = { US: PRICE }
      await admin.ask('PATCH', `/apps/${app}`, { settings: { blocked_countries: ['FR'], spend_caps } })
      const blocked = await test('main', { recipient: '+33612345678' })
      expect([blocked.status, blocked.body.type]).to.deep.equal([403, 'GeoBlockedError'])
      expect((await test('main', { recipient: '+19002345678' })).body.errors).to.deep.equal([
        { path: 'recipient', message: 'is of the kind premium_rate, and the app sends to no such numbers' },
      ])
      expect((await test('main')).status).to.equal(200)
      const capped = await test('main', numbered(1))
      expect([capped.status, capped.body.scope]).to.deep.equal([429, 'spend_cap'])
      expect(requests).to.have.length(1)
      answer = async () => ({ kind: 'called', ...REFUSED })
      await admin.ask('PATCH', `/apps/${app}`, { settings: { spend_caps: { US: 2 * PRICE } } })
      for (let nth = 2; nth < 5; nth += 1) expect((await test('main', numbered(nth))).status).to.equal(200)
      expect((await ledger()).length, 'what was given back does not count against the cap').to.equal(8)
    })

    it('costs nothing where nothing is sent', async () => {
      await admin.ask('PUT', `/apps/${app}/providers/box`, { type: 'sandbox', channel: 'sms' })
      expect((await test('box')).status).to.equal(200)
      expect(await ledger()).to.deep.equal([])
    })
  })

  it('reaches a recipient three times in ten minutes, from all companies together', async () => {
    const other = await createTenant(admin)
    await admin.ask('PUT', `/apps/${other.app}/providers/main`, TWILIO)
    for (const of of [app, app, other.app]) expect((await test('main', undefined, of)).status).to.equal(200)
    for (const of of [app, other.app]) {
      const refused = await test('main', undefined, of)
      expect(refused.status).to.equal(429)
      expect(refused.body).to.include({ scope: 'provider_test', retry_after: 600 })
    }
    expect((await test('main', numbered(1))).status).to.equal(200)
    await admin.clock.advance(600_000)
    expect((await test('main')).status).to.equal(200)
  })

  it('is made twice at once by each company', async () => {
    const ends: (() => void)[] = []
    answer = () => new Promise(resolve => ends.push(() => resolve({ kind: 'called', ...REFUSED })))
    const second = await anotherApp()
    const running = [test('main', numbered(1)), test('main', numbered(2), second)]
    await eventually(async () => expect(ends).to.have.length(2))
    const refused = await test('main', numbered(3))
    expect(refused.status).to.equal(429)
    expect(refused.body).to.include({ scope: 'provider_test', retry_after: 1 })
    const other = await createTenant(admin)
    await admin.ask('PUT', `/apps/${other.app}/providers/main`, TWILIO)
    running.push(test('main', numbered(3), other.app))
    await eventually(async () => expect(ends).to.have.length(3))
    for (const end of ends) end()
    for (const { status } of await Promise.all(running)) expect(status).to.equal(200)
    answer = () => Promise.reject(new CallTimeout('late'))
    for (let nth = 4; nth < 8; nth += 1) expect((await test('main', numbered(nth))).status).to.equal(503)
  })

  it('is 409 when the app or its company is closed', async () => {
    for (const path of [`/apps/${app}`, `/companies/${company}`]) {
      await admin.ask('PATCH', path, { closed: true })
      const refused = await test('main')
      expect(refused.status, path).to.equal(409)
      expect(refused.body.detail).to.include('is closed')
      await admin.ask('PATCH', path, { closed: false })
    }
    expect(requests).to.deep.equal([])
    expect(await records()).to.deep.equal([])
    expect((await test('main')).status).to.equal(200)
  })

  it('is 503 at once when no process of the channel runs, and is not counted', async () => {
    await open({ broker: {} })
    for (let nth = 0; nth < 11; nth += 1) {
      const { status, headers, body } = await test('main')
      expect(status).to.equal(503)
      expect(headers.get('retry-after')).to.equal('1')
      expect(body.detail).to.include('the role channel:sms is running').and.include('Nothing was sent')
    }
    expect(await records()).to.deep.equal([])
  })

  const FAILURES: [string, () => Promise<ProviderTestAnswer>, number, string, 'begun' | 'undone'][] = [
    ['no process answers in time', () => Promise.reject(new CallTimeout('late')), 503, 'It may be busy', 'begun'],
    ['the broker is away', () => Promise.reject(new Unavailable('away')), 503, 'broker is unavailable', 'begun'],
    ['the process cannot read the config', async () => ({ kind: 'missing_key' }), 503, 'data key', 'undone'],
    ['the process has no store', async () => ({ kind: 'unavailable' }), 503, 'store is unavailable', 'undone'],
    ['the process is older', async () => ({ kind: 'not_understood' }), 503, 'another version', 'undone'],
    ['the provider is gone', async () => ({ kind: 'no_such_provider' }), 404, '', 'undone'],
    ['the process has a bug', () => Promise.reject(new CallFailed('TypeError')), 500, '', 'begun'],
  ]
  for (const [when, given, status, words, outcome] of FAILURES)
    it(`is ${status} when ${when}, and is in the audit log as ${outcome}`, async () => {
      answer = given
      const refused = await test('main')
      expect(refused.status).to.equal(status)
      expect(refused.body.detail ?? '').to.include(words)
      expect((await records())[0]).to.deep.include({ outcome, after: { recipient: '+1****71' } })
    })

  it('is 409 when its config cannot be unsealed', async () => {
    const { store } = admin
    await store.docs('providers').update([{ ids: [`${app}:main`], update: { $set: { config: 'v1.gone.AAAA' } } }])
    const refused = await test('main')
    expect(refused.status, JSON.stringify(refused.body)).to.equal(409)
    expect(requests).to.deep.equal([])
  })
})
