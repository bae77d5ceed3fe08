// What each operation of the admin API refuses in its body and in its query: the paths of the problems, one shape for all, and nothing is
// changed. A new operation with a body of its own needs rows here.
import { expect } from 'chai'
import { OPERATIONS } from '../../../services/dashboard/admin-api.ts'
import { fingerprint } from '../../../services/domain/tenancy/fingerprint.ts'
import { type Answer, closeAdmins, errorPaths } from '../../support/admin-api.ts'
import { createWorld, DECLARED, requestLineOf, requestOf, type World } from '../../support/operation-examples.ts'
import { type CollectionName, collectionNames, rawDocuments } from '../../support/raw-documents.ts'
import { onEmbeddedStore } from '../../support/stores.ts'
import { testKeyring } from '../../support/tenancy.ts'

/** A body, or its text, and the paths of its problems. */
type Row = [given: unknown, ...paths: string[]]

/** One row for each value of a member. */
const eachOf = (values: readonly unknown[], body: (value: unknown) => unknown, ...paths: string[]): Row[] =>
  values.map(value => [body(value), ...paths])
/** The same for values that are written as JSON. */
const eachText = (texts: readonly string[], body: (text: string) => string, ...paths: string[]): Row[] =>
  texts.map(text => [body(text), ...paths])

const NO_NAMES = ['', ' ', '\u3000', 'a\nb', 'Shop \ud83d', '\udc00', null, 5]
const NO_ADDRESSES = [
  'ada',
  '+14155550123',
  'ada@shop.example\r\nBcc: eve@evil.example',
  '"ada\\r\\n"@shop.example',
  'Ada <ada@shop.example>',
  'ada@shop.example,eve@evil.example',
  'ada\u200b@shop.example',
  'ada\u0000@shop.example',
  'ada@127.0.0.1',
  7,
]
const NO_RECIPIENT: Row[] = [
  [{}, 'recipient'],
  [{ recipient: '' }, 'recipient'],
  [{ recipient: 7 }, 'recipient'],
]

const NO_CREDITS = '"5" "1e3" 1.5 -0 0 -0.0 1e-9 1e16 -1e16 1e400 9007199254740993 -1 null true [5] {"$inc":5}'.split(
  ' ',
)
const NO_NOTES = ['""', '"  "', '5', '"\\u0000"', '"\\ud800"', `"${'x'.repeat(201)}"`, '{"a":1}']
const PRICE = { channel: 'sms', country: 'GB', micros: 5 }
const REPLY = { channel: 'whatsapp', kind: 'reply', country: 'GB', micros: 5 }
const prices = (price: object): unknown => ({ prices: [price] })
const AT = '2029-12-31T23:59:59Z'
const NO_PRICES: Row[] = [
  [{ prices: {} }, 'prices'],
  [{ prices: null }, 'prices'],
  [{ prices: Array(2_001).fill(PRICE) }, 'prices'],
  ...eachOf([null, [], 'sms'], price => ({ prices: [price] }), 'prices.0'),
  ...eachOf(['pigeon', 'SMS', '', null, 5, 'sms '], channel => prices({ ...PRICE, channel }), 'prices.0.channel'),
  ...eachOf('gb UK ZZ GBR ** 44'.split(' '), country => prices({ ...PRICE, country }), 'prices.0.country'),
  ...eachOf(['', ' GB', null], country => prices({ ...PRICE, country }), 'prices.0.country'),
  ...eachOf([-1, 0.5, 1e16, '5', null, true], micros => prices({ ...PRICE, micros }), 'prices.0.micros'),
  [prices({ ...PRICE, kind: 'reply' }), 'prices.0.kind'],
  [prices({ ...REPLY, kind: 'template' }), 'prices.0.kind'],
  [prices({ ...PRICE, currency: 'EUR' }), 'prices.0.currency'],
  [{ prices: [PRICE, { ...PRICE, micros: 6 }] }, 'prices.1'],
  [{ prices: [REPLY, { ...REPLY, micros: 6 }] }, 'prices.1'],
  ...eachOf(
    [AT, '2030-01-01', 'tomorrow', 1.9e12],
    at => prices({ ...PRICE, effective_at: at }),
    'prices.0.effective_at',
  ),
]

const list = (...members: object[]): unknown => ({ lists: members })
const VPN = { class: 'vpn', cidrs: [] }
const NO_LISTS: Row[] = [
  [list({ cidrs: [] }), 'lists.0.class'],
  [list({ class: 'evil', cidrs: [] }), 'lists.0.class'],
  [list({ class: 'vpn', cidrs: ['8.8.8.8', '8.8.8.8/33'] }), 'lists.0.cidrs.1'],
  [list({ ...VPN, name: 'a/b' }), 'lists.0.name'],
  [list({ ...VPN, name: 'bootstrap' }), 'lists.0.name'],
  [list(VPN, { class: 'vpn', text: '' }), 'lists.1.name'],
  [list({ ...VPN, url: 'https://a.example/' }), 'lists.0'],
  [list(VPN, { class: 'tor' }), 'lists.1'],
  [list({ class: 'vpn', text: '', refresh_seconds: 600 }), 'lists.0.refresh_seconds'],
  [list({ class: 'vpn', url: 'https://a.example/', refresh_seconds: 1 }), 'lists.0.refresh_seconds'],
  [list({ class: 'vpn', url: 'file:///etc/passwd' }), 'lists.0.url'],
  [list({ class: 'vpn', url: 'https://169.254.169.254/latest' }), 'lists.0.url'],
  [list({ class: 'vpn', url: 'http://8.8.8.8/' }), 'lists.0.url'],
  [list({ class: 'vpn', url: 'https://a.example/', confirm: true }), 'lists.0.confirm'],
  [list({ ...VPN, file: '/etc/hosts' }), 'lists.0.file'],
  [list(...Array.from({ length: 101 }, (_, nth) => ({ ...VPN, name: `n${nth}` }))), 'lists'],
]

const app = (settings: unknown): unknown => ({ settings })
const NO_SETTINGS: Row[] = [
  [app({ code: { length: 3 }, colour: 'red' }), 'settings.code.length', 'settings.colour'],
  [app([]), 'settings'],
  [app({ code: { length: 4 } }), 'settings.limits.recipient_verify'],
]

const TWILIO = { account_sid: 'AC11111111111111111111111111111111', auth_token: 'token', from: '+15005550006' }
const twilio = (config: object, more: object = {}): unknown => ({
  type: 'twilio',
  config: { ...TWILIO, ...config },
  ...more,
})
const HMAC = fingerprint(testKeyring(), 'x')
const NO_PROVIDERS: Row[] = [
  [{}, 'type'],
  [{ type: 'pigeon' }, 'type'],
  [{ type: 'twilio', channel: 'email', config: TWILIO }, 'channel'],
  [{ type: 'sandbox' }, 'channel'],
  [{ type: 'twilio', config: { from: '+1' } }, 'config.account_sid', 'config.auth_token'],
  [{ type: 'telegram_gateway', config: [] }, 'config'],
  [twilio({ sid: '1' }), 'config.sid'],
  [JSON.stringify(twilio({ sid: '1' })).replace('"sid":', '"__proto__":'), 'config.__proto__'],
  [twilio({ auth_token: HMAC }), 'config.auth_token'],
  [{ type: 'http', channel: 'sms', config: { url: 'https://evil.example/', secret: HMAC } }, 'config.secret'],
  [twilio({}, { position: -1 }), 'position'],
  [twilio({}, { paused: 1 }), 'paused'],
  [twilio({}, { countries: ['XX'] }), 'countries.0'],
  ...eachOf([['GB', 'GB'], [], 'GB'], countries => twilio({}, { countries }), 'countries'),
  [twilio({}, { cost_micros: { XX: 1 } }), 'cost_micros.XX'],
  ...eachOf([-1, 0.5, '1'], GB => twilio({}, { cost_micros: { GB } }), 'cost_micros.GB'),
  [twilio({}, { cost_micros: 1 }), 'cost_micros'],
  [twilio({ base_url: 'https://10.0.0.1' }), 'config.base_url'],
  [{ type: 'smtp', config: { host: '127.0.0.1', from: 'a@shop.example' } }, 'config.host'],
]

const URL_ = 'https://shop.example/hook'
const NO_URLS: Row[] = eachOf(
  [
    'shop.example',
    'https://u:p@shop.example/',
    'http://shop.example/',
    'https://10.0.0.1/',
    'http://127.0.0.1/',
    'https://shop.example:0/',
    null,
  ],
  url => ({ url }),
  'url',
)
/** Short, not ASCII, not base64, and base64 whose padding is missing. */
const NO_SECRETS = ['short', 'fünf Geheimnisse', 'whsec_of_your_own', 'whsec_YmVmb3JlLWJlZm9yZQ']
const NO_ENDPOINTS: Row[] = [
  ...eachOf([[], ['otp.approved', 'otp.approved']], events => ({ url: URL_, events }), 'events'),
  [{ url: URL_, events: ['otp.sent'] }, 'events.0'],
  [{ url: URL_, payload: 'huge' }, 'payload'],
  [{ url: URL_, status: 'failing' }, 'status'],
]

const NO_TIMES = ['yesterday', '2030-01-01', 1e300, Number.MAX_SAFE_INTEGER, -1, 1.5, null, {}]
const TRY = { settings: {}, since: '2029-01-01T00:00:00Z', until: '2029-01-02T00:00:00Z' }
const NO_CHOICES: Row[] = [
  [{}, ''],
  [{ ids: ['a'], all: true }, ''],
  [{ ids: [] }, 'ids'],
  [{ ids: 'a' }, 'ids'],
  [{ ids: [7] }, 'ids.0'],
  [{ ids: Array.from({ length: 101 }, String) }, 'ids'],
  [{ all: false }, 'all'],
  [{ all: true, al: 1 }, 'al'],
]

const BODIES: Record<string, Row[] | ((world: World) => Row[])> = {
  'POST /sign-in': [
    ...eachOf([{}, { code: '1' }, { link: 'x' }, { ticket: '' }], body => body),
    ...eachOf([{ token: 't' }, { email: 'a@b.example' }, { code: '1' }], more => ({
      ticket: 't',
      ...(more as object),
    })),
    ...eachOf([{ email: 'a@b.example' }, { code: '1' }], more => ({ token: 't', ...(more as object) })),
    ...eachOf(NO_ADDRESSES, email => ({ email })),
  ],
  'POST /step-up': [[{ code: 5 }, 'code']],
  'POST /me/passkeys': [[{ credential: 'x' }, 'name', 'credential']],
  'POST /me/company': [[{}, 'company_id']],
  'POST /companies': [
    [{}, 'name'],
    [{ name: 'A', balance: 5 }, 'balance'],
    ...eachOf(NO_NAMES, name => ({ name }), 'name'),
  ],
  'PATCH /companies/{id}': [
    ...eachOf(NO_NAMES, name => ({ name }), 'name'),
    ...eachOf([1, null], closed => ({ closed }), 'closed'),
    ...eachOf([0, 1.5, '5'], low_balance_micros => ({ low_balance_micros }), 'low_balance_micros'),
    [{ balance: 5 }, 'balance'],
    [{ max_apps: 0 }, 'max_apps'],
  ],
  'POST /companies/{id}/credit': [
    ...eachText(['null', '[]', '"5"', '5'], text => text, ''),
    [{}, 'micros', 'note'],
    [{ micros: 5 }, 'note'],
    ...eachText(NO_CREDITS, micros => `{"micros":${micros},"note":"a"}`, 'micros'),
    ...eachText(NO_NOTES, note => `{"micros":5,"note":${note}}`, 'note'),
    [{ micros: 5, note: 'a', kind: 'hold' }, 'kind'],
  ],
  'POST /companies/{id}/users': [
    ...eachOf(NO_ADDRESSES, email => ({ email, role: 'viewer' }), 'email'),
    [{ email: 'eve@shop.example', role: 'operator' }, 'role'],
  ],
  'POST /users/stamp': [
    [{ ids: [] }, 'ids'],
    [{}, 'ids'],
  ],
  'PATCH /users/{id}': [
    [{ role: 'operator' }, 'role'],
    [{ role: 'owner', company_id: 'cmp_x' }, 'company_id'],
  ],
  'POST /companies/{id}/apps': [
    ...eachOf(NO_NAMES, name => ({ name }), 'name'),
    ...NO_SETTINGS.map(([body, ...paths]): Row => [{ name: 'Shop', ...(body as object) }, ...paths]),
  ],
  'PATCH /apps/{id}': [
    ...eachOf(NO_NAMES, name => ({ name }), 'name'),
    ...NO_SETTINGS,
    [app(null), 'settings'],
    [{ closed: 'yes' }, 'closed'],
    [{ replaces: ['RU'] }, 'replaces'],
    [{ settings: { locale: 'de' }, replaces: { code: { digits: 6 } } }, 'replaces.code.digits'],
  ],
  'POST /apps/{id}/keys': [[{ kind: 'root', moed: 'live' }, 'kind', 'mode', 'moed']],
  'PATCH /keys/{id}': eachOf(['', 'a\nb', 'x'.repeat(101), 5], name => ({ name }), 'name'),
  'PUT /apps/{id}/providers/{name}': NO_PROVIDERS,
  'POST /apps/{id}/providers/{name}/test': [
    ...NO_RECIPIENT,
    ...eachOf(['+14155552671', 'ann@', 'hello'], recipient => ({ recipient }), 'recipient'),
    [{ recipient: 'ann@shop.example', code: '123456' }, 'code'],
  ],
  'PUT /apps/{id}/webhook': [
    [{}, 'url'],
    ...NO_URLS,
    ...eachOf(NO_SECRETS, secret => ({ url: URL_, secret }), 'secret'),
    [{ url: URL_, status: 'failing' }, 'status'],
  ],
  'POST /apps/{id}/webhook/rotate': [[{ immediate: 'yes' }, 'immediate']],
  'PUT /apps/{id}/hooks/supabase': [[{ mode: 'both', secrets: null }, 'mode']],
  'POST /apps/{id}/endpoints': [[{}, 'url'], ...NO_URLS, ...NO_ENDPOINTS],
  'PATCH /endpoints/{id}': [...NO_URLS, ...NO_ENDPOINTS],
  'POST /endpoints/{id}/rotate': [[{ immediate: 'yes' }, 'immediate']],
  'POST /events/{id}/replay': [[{ endpoint_id: 5 }, 'endpoint_id']],
  'POST /apps/{id}/events/replay': [
    [{}, 'since'],
    ...eachOf(NO_TIMES, since => ({ since }), 'since'),
    [{ since: 5, until: 5 }, 'until'],
  ],
  'POST /apps/{id}/events/fetch': [
    [{}, 'secret', 'since'],
    [{ secret: 'whsec_c2VjcmV0', since: 0, known: Array(1_001).fill('evt_1') }, 'known'],
  ],
  'POST /apps/{id}/route': [
    [{}, 'recipient'],
    [{ recipient: '+1', kind: 'x' }, 'kind'],
  ],
  'POST /apps/{id}/settings/try': [
    [{}, 'settings', 'since'],
    [{ ...TRY, until: TRY.since }, 'since'],
    [{ ...TRY, settings: { code: { length: 11 } } }, 'settings.code.length'],
  ],
  'PUT /prices': NO_PRICES,
  'POST /prices/try': NO_PRICES,
  'PUT /ip-lists': NO_LISTS,
  'POST /queues/{queue}/dead/requeue': NO_CHOICES,
  'POST /queues/{queue}/dead/drop': NO_CHOICES,
  'POST /sandbox/inbound': ({ app: app_id }) => [
    [{}, 'app_id'],
    [{ app_id: 'app_none', from: '+14155550123', text: '' }, 'app_id'],
    [{ app_id }, 'from', 'text'],
    [{ app_id, text: 'hi' }, 'from'],
    [{ app_id, from: 'ann@example.com', text: '' }, 'from'],
    [{ app_id, from: '+14155550123', from_user_id: 'GB.1', text: 'hi' }, 'from'],
    [{ app_id, from: '+14155550123' }, 'text'],
    [{ app_id, from: '+14155550123', contact: '+14155550123' }, 'contact'],
  ],
  'POST /apps/{id}/erase': NO_RECIPIENT,
  'POST /companies/{id}/erase': NO_RECIPIENT,
  'POST /apps/{id}/export': [...NO_RECIPIENT, [{ recipient: '020 7946 0801' }, 'recipient']],
}
/** They take an empty object, or have no example of a body that is not a text. */
const WITHOUT_ROWS = ['POST /erasures/replay']

const SEARCHES: [query: string, ...paths: string[]][] = [
  ['status=queued', 'status'],
  ['status=pending&status=expired', 'status'],
  ['channel=pigeon', 'channel'],
  ['country=uk', 'country'],
  ['mode=both&delivery=lost', 'mode', 'delivery'],
  ['recipient=', 'recipient'],
  ['metadata.order=A-1&metadata.tier=gold', 'metadata.tier'],
  ['metadata.order=A-1&metadata.order=A-2', 'metadata.order'],
  ['metadata.an%20order=A-1', 'metadata.an order'],
  ['metadata=A-1', 'metadata'],
]
const QUERIES: Record<string, [query: string, ...paths: string[]][]> = {
  'GET /companies': [['limit=5&limit=6', 'limit']],
  'GET /verifications': SEARCHES,
  'GET /apps/{id}/verifications': SEARCHES,
  'GET /refusals': [
    ['type=NoSuchError', 'type'],
    ['recipient=', 'recipient'],
  ],
  'GET /refusals/summary': [['mode=both', 'mode']],
  'GET /apps/{id}/events': [['status=lost&type=otp.lost&mode=both', 'type', 'mode', 'status']],
  'GET /apps/{id}/routes': [['country=XX', 'country']],
  'GET /sandbox/messages': [[`recipient=${'a'.repeat(513)}`, 'recipient']],
}
/** Where an operation has them in its query. */
const WRONG_VALUES: [name: string, ...values: string[]][] = [
  ['limit', '0', '101', '1000', '-1', '1.5', 'ten', ''],
  ['cursor', 'x', '', 'v1.d1.AAAA', 'v1.d9.AAAA'],
  ['since', 'yesterday', '2030-01-01', '1893456000'],
  ['until', 'tomorrow'],
]
const REVERSED = 'since=2030-01-02T00:00:00Z&until=2030-01-01T00:00:00Z'
const EMPTY = 'since=2030-01-01T00:00:00Z&until=2030-01-01T00:00:00Z'

onEmbeddedStore('an operation of the admin API refuses', fresh => {
  let world: World
  beforeEach(async () => {
    world = await createWorld(await fresh())
    await world.admin.get(`/companies/${world.company}/ledger`)
  })
  afterEach(closeAdmins)

  const snapshot = (): Promise<unknown[][]> =>
    Promise.all(collectionNames.map((name: CollectionName) => rawDocuments(world.admin.store, name)))

  function expectRefused(answer: Answer, paths: readonly string[], what: string): void {
    expect(answer.status, `${what} ${JSON.stringify(answer.body)}`).to.equal(422)
    expect(answer.body, what).to.include.all.keys('type', 'title', 'status', 'detail', 'request_id')
    expect(answer.body.type, what).to.equal('ValidationError')
    if (paths.length > 0) expect(errorPaths(answer), what).to.have.members(paths)
    for (const { message } of answer.body.errors) expect(message, what).to.be.a('string').that.is.not.empty
  }

  it('what is in its rows here, and every operation with a body has some', () => {
    const withBody = DECLARED.map(([one]) => one).filter(one => requestOf(one, world).body !== undefined)
    expect(Object.keys(BODIES)).to.include.members(withBody.filter(one => !WITHOUT_ROWS.includes(one)))
  })

  for (const [request, rows] of Object.entries(BODIES))
    it(`bodies by the paths of their problems, and changes nothing: ${request}`, async () => {
      const { method, path } = requestOf(request, world)
      const before = await snapshot()
      for (const [given, ...paths] of typeof rows === 'function' ? rows(world) : rows) {
        const raw = typeof given === 'string' ? given : JSON.stringify(given)
        expectRefused(await world.admin.ask(method, path, undefined, { raw }), paths, raw.slice(0, 200))
      }
      expect(await snapshot()).to.deep.equal(before)
    })

  it('queries by the names of what is wrong', async () => {
    for (const { parameters = [], ...one } of OPERATIONS) {
      const request = requestLineOf(one)
      const { method, path } = requestOf(request, world)
      const takes = (name: string) => parameters.some(given => given.in === 'query' && given.name === name)
      const rows = [
        ...(QUERIES[request] ?? []),
        ...WRONG_VALUES.filter(([name]) => takes(name)).flatMap(([name, ...values]) =>
          values.map((value): [string, string] => [`${name}=${value}`, name]),
        ),
        ...(takes('since') && takes('until')
          ? [REVERSED, EMPTY].map((query): [string, string] => [query, 'until'])
          : []),
      ]
      for (const [query, ...paths] of rows) {
        const asked = `${path}${path.includes('?') ? '&' : '?'}${query}`
        expectRefused(await world.admin.ask(method, asked), paths, `${request} ${query}`)
      }
    }
  })
})
