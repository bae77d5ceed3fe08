import { expect } from 'chai'
import { BootstrapProblems, readBootstrap } from '../../../../services/domain/bootstrap/bootstrap.ts'
import { kindAndModeOf } from '../../../../services/domain/tenancy/api-keys.ts'
import type { InputProblem } from '../../../../services/domain/tenancy/problems.ts'

const read = (file: unknown) => readBootstrap(JSON.stringify(file))

const problemsOf = (text: string, options = {}): readonly InputProblem[] => {
  try {
    readBootstrap(text, options)
    return []
  } catch (problems) {
    if (problems instanceof BootstrapProblems) return problems.problems
    throw problems
  }
}
const faults = (file: unknown): string[] => problemsOf(JSON.stringify(file)).map(problem => problem.path)

/** One company with one app that has these members. */
const withApp = (app: object) => ({ companies: [{ id: 'cmp_a', apps: [{ id: 'app_a', ...app }] }] })
const withKey = (key: object) => withApp({ keys: [{ id: 'key_a', ...key }] })
const withProvider = (...providers: object[]) => withApp({ providers })
const TWILIO = {
  name: 'main',
  type: 'twilio',
  config: { account_sid: 'AC11111111111111111111111111111111', auth_token: 't', from: 'Acme' },
}

describe('reading the bootstrap file', () => {
  it('accepts an empty file', () => {
    expect(read({})).to.deep.equal({ companies: [], prices: null, ip_lists: null })
    expect(read({ companies: [{ id: 'cmp_A1' }], prices: [], ip_lists: [] })).to.deep.equal({
      companies: [{ id: 'cmp_A1', name: null, balance: 0, low_balance_micros: undefined, apps: [] }],
      prices: [],
      ip_lists: [],
    })
  })

  it('reports malformed JSON by line and column', () => {
    expect(problemsOf('{\n  "companies": [,]\n}')).to.deep.equal([
      { path: '', message: 'not JSON: unexpected "," at line 2, column 17' },
    ])
  })

  it('reports every problem by its path', () => {
    const file = {
      companies: [
        {
          id: 'company_a',
          balance: -1,
          low_balance_micros: 0,
          apps: [
            { id: 'app_a', keys: [{ id: 'key_1', kind: 'servant', mode: 'test' }], colour: 1 },
            { id: 'app_a', settings: { code: { length: 3 }, limits: { recipient: [{ max: 0, seconds: 1 }] } } },
            { id: 'app_b', settings: { code: { length: 4 } } },
            { id: 'app_c', hooks: { supabase: { live: 'whsec_c2hvcnQ=' } } },
            { settings: null, webhook: { url: 'shop.example' }, providers: [{ ...TWILIO, config: { from: 'Acme' } }] },
          ],
        },
      ],
      prices: [{ channel: 'sms', country: 'UK', micros: 0.5 }],
      ip_lists: [{ class: 'evil', cidr: '45.95.147.0/33' }],
      users: [],
    }
    expect(faults(file)).to.have.members([
      'companies.0.id',
      'companies.0.balance',
      'companies.0.low_balance_micros',
      'companies.0.apps.0.keys.0.kind',
      'companies.0.apps.0.colour',
      'companies.0.apps.1.id',
      'companies.0.apps.1.settings.code.length',
      'companies.0.apps.1.settings.limits.recipient.0.max',
      'companies.0.apps.2.settings.limits.recipient_verify',
      'companies.0.apps.3.hooks.supabase.live',
      'companies.0.apps.4.id',
      'companies.0.apps.4.settings',
      'companies.0.apps.4.webhook.url',
      'companies.0.apps.4.providers.0.config.account_sid',
      'companies.0.apps.4.providers.0.config.auth_token',
      'prices.0.country',
      'prices.0.micros',
      'ip_lists.0.class',
      'ip_lists.0.cidr',
      'users',
    ])
  })

  it('reads the secrets of hooks from files too', () => {
    const secret = 'whsec_c2VjcmV0LW9mLXN1cGFiYXNl'
    const readFile = (path: string): string => (path === '/run/secrets/hook' ? `v1,${secret}\n` : expect.fail('ENOENT'))
    const file = (supabase: object) =>
      JSON.stringify({ companies: [{ id: 'cmp_a', apps: [{ id: 'app_a', hooks: { supabase } }] }] })
    const { companies } = readBootstrap(file({ live: null, test_file: '/run/secrets/hook' }), { readFile })
    expect(companies[0]?.apps[0]?.supabase).to.deep.equal({ live: [], test: [secret] })
    expect(problemsOf(file({ live_file: '/run/secrets/none' }), { readFile }).map(({ path }) => path)).to.deep.equal([
      'companies.0.apps.0.hooks.supabase.live_file',
    ])
  })

  it('refuses JSON that is not an object, and a member __proto__', () => {
    for (const file of [null, [], 'x', 5]) expect(faults(file)).to.deep.equal([''])
    expect(problemsOf('{"companies":[{"id":"cmp_a","__proto__":{"name":"x"}}]}').map(({ path }) => path)).to.deep.equal(
      ['companies.0.__proto__'],
    )
  })

  describe('ids', () => {
    it('are a prefix followed by letters and digits', () => {
      const ids = (company: string, app: string, key: string) => ({
        companies: [{ id: company, apps: [{ id: app, keys: [{ id: key, key: 'sk_test_12345678' }] }] }],
      })
      expect(faults(ids('cmp_Demo1', 'app_01jh', 'key_a'))).to.deep.equal([])
      for (const bad of ['demo', '', '_', 'xyz_a', 'cmp_', 'app_', 'key_', 'cmp_a-b', 'app_a b', 'key_é', 'app_a:b']) {
        expect(faults(ids(bad, bad, bad)), bad).to.have.length.at.least(2)
      }
    })

    it('are unique in the whole file, and the repetition is reported', () => {
      const file = {
        companies: [
          { id: 'cmp_a', apps: [{ id: 'app_a', keys: [{ id: 'key_a', key: 'sk_test_11111111' }] }] },
          {
            id: 'cmp_a',
            apps: [{ id: 'app_b', keys: [{ id: 'key_a', key: 'sk_test_22222222' }] }, { id: 'app_a' }],
          },
        ],
      }
      expect(problemsOf(JSON.stringify(file))).to.deep.equal([
        { path: 'companies.1.id', message: 'is the same as companies.0.id' },
        { path: 'companies.1.apps.1.id', message: 'is the same as companies.0.apps.0.id' },
        { path: 'companies.1.apps.0.keys.0.id', message: 'is the same as companies.0.apps.0.keys.0.id' },
      ])
    })
  })

  describe('keys', () => {
    it('have unique values, and the message does not contain the value', () => {
      const key = 'sk_test_swordfish'
      const apps = ['app_a', 'app_b'].map((id, at) => ({ id, keys: [{ id: `key_${at}`, key }] }))
      expect(problemsOf(JSON.stringify({ companies: [{ id: 'cmp_a', apps }] }))).to.deep.equal([
        { path: 'companies.0.apps.1.keys.0.key', message: 'is the same as companies.0.apps.0.keys.0.key' },
      ])
    })

    const KEY = 'companies.0.apps.0.keys.0'

    it('that are given have at least 24 characters after their prefix in production, and are named by their path', () => {
      const problems = (key: string | undefined, production: boolean): readonly InputProblem[] =>
        problemsOf(JSON.stringify(withKey({ key, kind: 'server', mode: 'live' })), { production })
      for (const prefix of ['', 'sk_live_']) {
        const [short, long] = [prefix + 'k'.repeat(23), prefix + 'k'.repeat(24)]
        expect(problems(short, false)).to.deep.equal([])
        expect(problems(long, true)).to.deep.equal([])
        expect(problems(short, true).map(({ path }) => path)).to.deep.equal([`${KEY}.key`])
        expect(JSON.stringify(problems(short, true))).not.to.contain('kkk')
      }
      expect(problems(undefined, true), 'a key that is made').to.deep.equal([])
    })

    it('may be in a file, which is named by key_file, and a problem does not show what was written there', () => {
      const files: Record<string, string> = { '/run/secrets/key': 'sk_live_0123456789\n', '/run/secrets/empty': ' \n' }
      const readFile = (path: string): string => files[path] ?? expect.fail('ENOENT')
      const file = (key: object) => JSON.stringify(withKey(key))
      const { companies } = readBootstrap(file({ key_file: '/run/secrets/key' }), { readFile })
      expect(companies[0]?.apps[0]?.keys[0]).to.include({ key: 'sk_live_0123456789', kind: 'server', mode: 'live' })
      for (const key of [
        { key_file: '/run/secrets/none' },
        { key_file: '/run/secrets/empty' },
        { key_file: '/run/secrets/key', key: 'sk_live_0123456789' },
      ]) {
        const problems = problemsOf(file(key), { readFile })
        expect(problems.map(({ path }) => path)).to.deep.equal([`${KEY}.key_file`])
        expect(JSON.stringify(problems)).not.to.contain('/run')
      }
      const short = problemsOf(file({ key_file: '/run/secrets/key' }), { readFile, production: true })
      expect(
        short.map(({ path }) => path),
        'too short for production',
      ).to.deep.equal([`${KEY}.key`])
    })

    it('have the kind and mode of their prefix, or name both, and 8 to 200 visible ASCII characters', () => {
      const nature = { kind: 'server', mode: 'test' }
      for (const key of ['sk_live_12345678', 'sk_test_12345678', 'pk_live_12345678', 'pk_test_12345678'])
        expect(read(withKey({ key })).companies[0]?.apps[0]?.keys[0]).to.include(kindAndModeOf(key))
      for (const key of ['12345678', 'x'.repeat(200), '!"#$%&~?'])
        expect(faults(withKey({ key, ...nature })), key).to.deep.equal([])
      const cases: [object, ...string[]][] = [
        [{}, 'kind', 'mode'],
        [{ key: 'our-own-key', kind: 'server' }, 'mode'],
        [{ key: 'sk_test_12345678', kind: 'publishable' }, 'kind'],
        [{ key: 'sk_test_12345678', kind: 'server', mode: 'live' }, 'mode'],
        ...['1234567', 'x'.repeat(201), 'with space', 'sk_test_…12345', 'tab\t12345', 12345678, null].map(
          (key): [object, string] => [{ key, ...nature }, 'key'],
        ),
      ]
      for (const [key, ...wrong] of cases)
        expect(faults(withKey(key)), JSON.stringify(key)).to.deep.equal(wrong.map(name => `${KEY}.${name}`))
    })
  })

  describe('providers', () => {
    it('have unique names within an app, a known type, a channel of it and a valid config', () => {
      const box = { name: 'box', type: 'sandbox' }
      const cases: [object[], ...string[]][] = [
        [[TWILIO, { ...TWILIO, name: 'other' }, TWILIO], '2.name'],
        [
          [
            { ...TWILIO, channel: 'sms' },
            ...['sms', 'email'].map((channel, at) => ({ ...box, name: `b${at}`, channel })),
          ],
        ],
        [[{ ...TWILIO, channel: 'email' }], '0.channel'],
        [[box], '0.channel'],
        [[{ name: 'Main', type: 'pigeon', channel: 'sms', config: {} }], '0.name', '0.type'],
        [[{ name: 'main', type: 'twilio' }], ...['account_sid', 'auth_token', 'from'].map(name => `0.config.${name}`)],
        [[{ ...TWILIO, config: { ...TWILIO.config, account_sid: 'AC1' } }], '0.config.account_sid'],
        [[{ ...TWILIO, config: null }], '0.config'],
      ]
      for (const [providers, ...wrong] of cases)
        expect(faults(withProvider(...providers)), JSON.stringify(providers)).to.have.members(
          wrong.map(path => `companies.0.apps.0.providers.${path}`),
        )
      const apps = ['app_a', 'app_b'].map(id => ({ id, providers: [TWILIO] }))
      expect(faults({ companies: [{ id: 'cmp_a', apps }] })).to.deep.equal([])
    })
  })

  it('refuses a webhook with a short secret, with one that public libraries cannot use, or without a URL', () => {
    const url = 'https://shop.example/'
    expect(faults(withApp({ webhook: { url, secret: 'of our own making' } }))).to.deep.equal([])
    expect(faults(withApp({ webhook: { url, secret: 'short' } }))).to.deep.equal(['companies.0.apps.0.webhook.secret'])
    for (const secret of ['whsec_of_your_own', 'fünf Geheimnisse'])
      expect(faults(withApp({ webhook: { url, secret } })), secret).to.deep.equal(['companies.0.apps.0.webhook.secret'])
    expect(faults(withApp({ webhook: { secret: 'whsec_12345678' } }))).to.deep.equal(['companies.0.apps.0.webhook.url'])
  })

  describe('ranges of addresses that hold more than half of all', () => {
    const ranges = (...cidrs: string[]) => cidrs.map(cidr => ({ class: 'abusive', cidr }))

    for (const [cidrs, path] of [
      [['8.8.8.8', '0.0.0.0/0'], 'ip_lists.1.cidr'],
      [['2000::/3'], 'ip_lists.0.cidr'],
      [['64.0.0.0/2', '8.8.8.8', '128.0.0.0/1'], 'ip_lists.2.cidr'],
    ] as const)
      it(`are refused unless they are confirmed: ${cidrs}`, () => {
        const given = ranges(...cidrs)
        expect(faults({ ip_lists: given })).to.deep.equal([path])
        const confirmed = given.map((range, at) =>
          path === `ip_lists.${at}.cidr` ? { ...range, confirm: true } : range,
        )
        expect(faults({ ip_lists: confirmed })).to.deep.equal([])
        expect(read({ ip_lists: confirmed }).ip_lists?.map(({ cidr }) => cidr)).to.have.length(cidrs.length)
      })

    it('are counted for each class by itself', () => {
      const halves = [
        { class: 'abusive', cidr: '0.0.0.0/1' },
        { class: 'tor', cidr: '128.0.0.0/1' },
      ]
      expect(faults({ ip_lists: halves })).to.deep.equal([])
      expect(faults({ ip_lists: [...halves, { class: 'tor', cidr: '8.8.8.8', confirm: 'yes' }] })).to.have.members([
        'ip_lists.2.confirm',
        'ip_lists.1.cidr',
      ])
    })
  })

  it('accepts one price per channel and country, and one of a reply', () => {
    const price = (channel: string, country: string) => ({ channel, country, micros: 1 })
    const reply = { ...price('whatsapp', 'GB'), kind: 'reply' }
    const prices = [price('sms', 'GB'), price('whatsapp', 'GB'), price('sms', '*'), price('sms', 'GB'), reply, reply]
    expect(faults({ prices })).to.deep.equal(['prices.3.country', 'prices.5.country'])
  })
})
