import { generateKeyPairSync } from 'node:crypto'
import { expect } from 'chai'
import { fingerprint } from '../../../../services/domain/tenancy/fingerprint.ts'
import { maskConfig, secretMembersOf } from '../../../../services/domain/tenancy/provider-secrets.ts'
import {
  declarationOf,
  fieldsOf,
  PROVIDER_TYPES,
  type ProviderType,
} from '../../../../services/domain/tenancy/provider-types/list.ts'
import { PROVIDER_NAME, parseProviderConfig, resolveProvider } from '../../../../services/domain/tenancy/providers.ts'
import { COMPLETE_CONFIGS, leastConfig, type Members, markedConfig } from '../../../support/provider-configs.ts'
import { testKeyring } from '../../../support/tenancy.ts'

const KEYRING = testKeyring()

const LEAST = Object.fromEntries(PROVIDER_TYPES.map(type => [type, leastConfig(type)])) as Record<ProviderType, Members>

const faults = (type: ProviderType, config: unknown): string[] => {
  const parsed = parseProviderConfig(type, config)
  return parsed.ok ? [] : parsed.problems.map(problem => problem.path)
}

describe('provider configs', () => {
  for (const type of PROVIDER_TYPES) {
    describe(type, () => {
      it('is parsed with only its required members, and the result parses to itself', () => {
        const parsed = parseProviderConfig(type, LEAST[type])
        expect(parsed).to.deep.include({ ok: true })
        if (parsed.ok) expect(parseProviderConfig(type, parsed.value)).to.deep.equal(parsed)
      })

      it('requires each of those members', () => {
        for (const name of Object.keys(LEAST[type])) {
          const { [name]: _left, ...rest } = LEAST[type]
          expect(faults(type, rest)).to.deep.equal([name])
        }
      })

      it('has a member for every field, and names only fields that it has', () => {
        const paths = Object.entries(COMPLETE_CONFIGS[type]).flatMap(([name, value]) =>
          name === 'dkim' ? Object.keys(value as Members).map(inner => `dkim.${inner}`) : [name],
        )
        const fields = fieldsOf(type)
        expect(fields.map(({ path }) => path)).to.have.members(paths)
        expect(parseProviderConfig(type, COMPLETE_CONFIGS[type])).to.deep.include({ ok: true })
        const named = fields.flatMap(({ onlyWith, defaultWhen }) => [onlyWith ?? [], defaultWhen?.switch ?? []].flat())
        expect(paths).to.include.members([...named, ...(declarationOf(type).oneOf ?? [])])
      })

      it('refuses unknown members, and a value that is not an object', () => {
        expect(faults(type, { ...LEAST[type], form: 'x' })).to.deep.equal(['form'])
        for (const config of [null, [], 'x']) expect(faults(type, config)).to.deep.equal([''])
      })
    })
  }

  it('accept another address, and ignore its trailing slash', () => {
    const config = { ...LEAST.telegram_gateway, base_url: 'http://127.0.0.1:9000/gateway/' }
    expect(resolveProvider('telegram_gateway', config).config).to.include({ base_url: 'http://127.0.0.1:9000/gateway' })
    for (const base_url of ['api.example.com', 'ftp://a.b', 'https://a.b/?x=1', ' https://a.b']) {
      expect(faults('telegram_gateway', { token: 't', base_url }), base_url).to.deep.equal(['base_url'])
    }
  })

  it('check members by their form, and what they need beside them', () => {
    const hex = '0123456789abcdefABCDEF0123456789'
    const [account_sid, messaging_service_sid] = [`AC${hex}`, `MG${hex}`]
    const dkim = { domain: 'example.com', selector: 's1', private_key: 'PEM' }
    const from = 'Acme Login <no-reply@example.com>'
    const headers = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, nth) => [`x-${nth}`, '1']))
    const cases: [ProviderType, object, ...string[]][] = [
      ['twilio', { account_sid, messaging_service_sid }],
      ['twilio', { from: undefined, messaging_service_sid }],
      ['twilio', { from: undefined }, 'from'],
      ...['AC1', `SK${hex}`, `AC${hex}0`, `AC${hex.slice(1)}g`, `ac${hex}`, ` AC${hex}`, `AC${hex}\n`, ''].map(
        (sid): [ProviderType, object, string] => ['twilio', { account_sid: sid }, 'account_sid'],
      ),
      ...['MG1', `AC${hex}`, `MG${hex} `, ''].map((sid): [ProviderType, object, string] => [
        'twilio',
        { messaging_service_sid: sid },
        'messaging_service_sid',
      ]),
      ['smtp', { from, user: 'u', pass: 'p', dkim }],
      ['smtp', { user: 'u' }, 'pass'],
      ['smtp', { dkim: { ...dkim, selector: '' } }, 'dkim.selector'],
      ...['nobody', 'a@b <x>', 'a@b\nBcc: c@d'].map((bad): [ProviderType, object, string] => [
        'smtp',
        { from: bad },
        'from',
      ]),
      [
        'http',
        { headers: { 'x y': '1', authorization: 'a\r\nb: c', ok: '1' } },
        'headers.x y',
        'headers.authorization',
      ],
      ['http', { method: 'GET' }, 'method'],
      ['http', { headers: headers(200) }],
      ['http', { headers: headers(201), body: [headers(200)] }, 'headers', 'body'],
      ['http', { body: [{ to: ['{{recipient}}', 1, null, true] }] }],
    ]
    for (const [type, more, ...wrong] of cases)
      expect(faults(type, { ...LEAST[type], ...more }), JSON.stringify(more)).to.deep.equal(wrong)
  })

  it('refuse a Vonage key that cannot be read or is not RSA when it is set, and resolve one that is stored', () => {
    const curve = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' })
    for (const private_key of [
      'hello',
      '-----BEGIN PRIVATE KEY-----\nMII\n-----END PRIVATE KEY-----\n',
      String(curve),
    ]) {
      const config = { ...LEAST.vonage, private_key }
      expect(faults('vonage', config)).to.deep.equal(['private_key'])
      expect(resolveProvider('vonage', config).config).to.include({ private_key })
    }
  })

  it('are resolved without members that a newer release has stored', () => {
    const { config } = resolveProvider('telegram_gateway', { token: 't', shard: 2 })
    expect(config).to.deep.equal({ token: 't', base_url: 'https://gatewayapi.telegram.org' })
  })
})

describe('provider names', () => {
  it('fit into a URL path', () => {
    for (const name of ['twilio-main', '2nd_try', 'a', `a${'b'.repeat(62)}`]) expect(name).to.match(PROVIDER_NAME)
    for (const name of ['', '-a', '_a', 'Twilio', 'a b', 'a/b', 'a:b', `a${'b'.repeat(63)}`, 'a\n']) {
      expect(name).to.not.match(PROVIDER_NAME)
    }
  })
})

describe('a masked config', () => {
  const SECRET = 'swordfish-'
  const http = {
    url: `https://gateway.example/send?key=${SECRET}1`,
    headers: { authorization: `Bearer ${SECRET}2` },
    body: { to: '+{{recipient}}', auth: { keys: [`${SECRET}3`, `k=${SECRET}5&to={{recipient}}`] }, flash: false },
    secret: `${SECRET}4`,
  }

  for (const type of PROVIDER_TYPES) {
    it(`has fingerprints in place of the secrets of ${type}`, () => {
      const config = type === 'http' ? http : markedConfig(type, SECRET)
      const text = JSON.stringify(maskConfig(KEYRING, type, config))
      expect(text).to.not.include(SECRET)
      const hidden = JSON.stringify(config).split(SECRET).length - 1
      expect(text.split('hmac:').length - 1).to.equal(hidden)
      expect(hidden).to.be.at.least(secretMembersOf(type).length)
    })
  }

  it('shows other members as they are', () => {
    expect(maskConfig(KEYRING, 'http', http)).to.deep.equal({
      url: `https://gateway.example/send?${fingerprint(KEYRING, `key=${SECRET}1`)}`,
      headers: { authorization: fingerprint(KEYRING, `Bearer ${SECRET}2`) },
      body: {
        to: '+{{recipient}}',
        auth: { keys: [fingerprint(KEYRING, `${SECRET}3`), fingerprint(KEYRING, `k=${SECRET}5&to={{recipient}}`)] },
        flash: false,
      },
      secret: fingerprint(KEYRING, `${SECRET}4`),
    })
    expect(maskConfig(KEYRING, 'twilio', { ...LEAST.twilio, from: null })).to.deep.include({
      account_sid: 'AC11111111111111111111111111111111',
      from: null,
    })
  })

  it('shows whether two secrets are equal, and confirms no guess without the data key', () => {
    expect(fingerprint(KEYRING, 'a'))
      .to.match(/^hmac:[\w-]{8}$/)
      .and.to.equal(fingerprint(KEYRING, 'a'))
    expect(fingerprint(KEYRING, 'b')).to.not.equal(fingerprint(KEYRING, 'a'))
    expect(fingerprint(testKeyring(2), 'hunter2')).to.not.equal(fingerprint(KEYRING, 'hunter2'))
  })
})
