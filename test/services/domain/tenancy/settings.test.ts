import { expect } from 'chai'
import { check } from '../../../../services/domain/tenancy/problems.ts'
import {
  resolveSettings,
  type SettingsInput,
  writtenSettingsSchema,
} from '../../../../services/domain/tenancy/settings.ts'

const DEFAULTS = resolveSettings({})

/** As the admin API and the bootstrap file check them. */
const checkSettings = (input: unknown) => check(writtenSettingsSchema, input)

/** The paths of the problems; empty when there are none. */
const faults = (input: unknown): string[] => {
  const checked = checkSettings(input)
  return checked.ok ? [] : checked.problems.map(problem => problem.path)
}

/** Enough for five guesses of a code of four digits. */
const TWO_SENDS_A_DAY = { recipient: [{ max: 2, seconds: 86_400 }] }
const whole = (least: number, most: number) => ({
  good: [least, most],
  bad: [least - 1, most + 1, least + 0.5, String(least), null, Number.NaN],
})
const COUNTRIES = { good: ['KP', 'GG', 'XK', 'TA'], bad: ['UK', 'EU', 'gb', 'GBR', 'ZZ', 'XX', '', '44', '*'] }

/** Where a value stands, the settings with it there, and which values are accepted there. */
const VALUES: [string, (value: never) => unknown, { good: unknown[]; bad: unknown[] }][] = [
  ['code.length', length => ({ code: { length }, limits: TWO_SENDS_A_DAY }), whole(4, 10)],
  ['code.ttl_seconds', ttl_seconds => ({ code: { ttl_seconds } }), whole(60, 3600)],
  ['verify_attempts', verify_attempts => ({ verify_attempts }), whole(1, 10)],
  ['resend_cooldown_seconds.1', value => ({ resend_cooldown_seconds: [0, value] }), whole(0, 3600)],
  ['resend_cooldown_seconds', resend_cooldown_seconds => ({ resend_cooldown_seconds }), { good: [[0]], bad: [[]] }],
  ['limits.client_ip.0.seconds', seconds => ({ limits: { client_ip: [{ max: 1, seconds }] } }), whole(1, 604800)],
  [
    'limits.recipient.0.max',
    max => ({ limits: { recipient: [{ max, seconds: 1 }] } }),
    whole(1, Number.MAX_SAFE_INTEGER),
  ],
  [
    'limits.client_ip_reputation_factor',
    client_ip_reputation_factor => ({ limits: { client_ip_reputation_factor } }),
    { good: [0, 0.33, 1], bad: [-0.01, 1.01, '1'] },
  ],
  [
    'limits.recipient_verify',
    recipient_verify => ({ limits: { recipient_verify } }),
    { good: [[{ max: 20, seconds: 3600 }]], bad: [[]] },
  ],
  ['routing.default', order => ({ routing: { default: order } }), { good: [['sms']], bad: [['sms', 'email', 'sms']] }],
  ['routing.default.0', channel => ({ routing: { default: [channel] } }), { good: ['email'], bad: ['pigeon'] }],
  ['allowed_countries.1', country => ({ allowed_countries: ['GB', country] }), COUNTRIES],
  ['spend_caps.GB', GB => ({ spend_caps: { GB, XK: 0, '*': 1 } }), { good: [0, 5_000_000], bad: [-1, 0.5, '1', null] }],
  ['locale', locale => ({ locale }), { good: ['pt-br'], bad: ['', 'en_US', 'e', 'english language', null] }],
  [
    'channels.sms.domains.0',
    domain => ({ channels: { sms: { domains: [domain] } } }),
    {
      good: ['login.example.co.uk'],
      bad: [
        'example',
        'https://example.com',
        'Example.com',
        '-a.com',
        'a..com',
        'example.com ',
        `${'a'.repeat(64)}.com`,
      ],
    },
  ],
  [
    'channels.sms.android_hashes.0',
    hash => ({ channels: { sms: { android_hashes: [hash] } } }),
    { good: ['FA+9qCX9VSu'], bad: ['FA+9qCX9VS', 'FA+9qCX9VSuu', 'FA-9qCX9VSu', ''] },
  ],
  [
    'channels.whatsapp.business_number',
    business_number => ({ channels: { whatsapp: { business_number } } }),
    { good: ['+447911123456', null], bad: ['447911123456', '+04479111234', '+44 7911 123456', '+123456', '', 5] },
  ],
  [
    'allowed_origins.0',
    origin => ({ allowed_origins: [origin] }),
    {
      good: [
        'https://example.com',
        'https://a.example.com:8443',
        'http://localhost:5173',
        'http://127.0.0.1:3000',
        'https://[2001:db8::1]',
        'https://xn--bcher-kva.example',
      ],
      bad: [
        'http://example.com',
        'https://example.com:443',
        'example.com',
        '*',
        'null',
        'https://*.example.com',
        'https://example.com:*',
        'http://localhost.example.com',
        'https://example.com?x',
        'https://user@example.com',
        'https://bücher.example',
        'https://a,https://b',
        ' https://example.com',
      ],
    },
  ],
]

describe('app settings', () => {
  for (const [path, settings, { good, bad }] of VALUES)
    it(`accept and refuse values of ${path}`, () => {
      for (const value of good) expect(faults(settings(value as never)), String(value)).to.deep.equal([])
      for (const value of bad) expect(faults(settings(value as never)), String(value)).to.deep.equal([path])
    })

  it('name countries by ISO code also in routing and spend caps', () => {
    for (const code of COUNTRIES.good) expect(faults({ routing: { countries: { [code]: ['sms'] } } })).to.be.empty
    for (const code of COUNTRIES.bad)
      expect(faults({ routing: { countries: { [code]: ['sms'] } } }), code).to.deep.equal([`routing.countries.${code}`])
    for (const code of ['UK', 'gb', '', 'all']) expect(faults({ spend_caps: { [code]: 1 } })).to.have.length(1)
  })

  it('have at most ten rules in a list, though longer ones that are stored still load, and canonical language tags', () => {
    const rules = (count: number) => Array.from({ length: count }, (_, nth) => ({ max: 1 + nth, seconds: 60 }))
    expect(faults({ limits: { client_ip: rules(10) } })).to.deep.equal([])
    expect(faults({ limits: { client_ip: rules(11), app: rules(500) } })).to.deep.equal([
      'limits.client_ip',
      'limits.app',
    ])
    expect(resolveSettings({ limits: { client_ip: rules(11) } }).limits.client_ip).to.have.length(11)
    expect(resolveSettings({ locale: 'pt-br' }).locale).to.equal('pt-BR')
    expect(resolveSettings({ locale: 'zh-hant-tw' }).locale).to.equal('zh-Hant-TW')
  })

  it('have defaults that may be written as they are, and keep them beside members that were set, at every depth', () => {
    expect(checkSettings({})).to.deep.equal({ ok: true, value: DEFAULTS })
    expect(faults(DEFAULTS)).to.deep.equal([])
    const { code, limits, channels } = resolveSettings({
      code: { length: 8 },
      limits: { app: [] },
      channels: { sms: { enabled: false } },
    })
    expect(code).to.deep.equal({ ...DEFAULTS.code, length: 8 })
    expect(limits).to.deep.equal({ ...DEFAULTS.limits, app: [] })
    expect(channels).to.deep.equal({ ...DEFAULTS.channels, sms: { ...DEFAULTS.channels.sms, enabled: false } })
  })

  it('refuse a code that could be guessed in one of 2000 verifications, beside every other problem', () => {
    const one = { recipient: [{ max: 1, seconds: 86_400 }] }
    expect(faults({ code: { length: 4 }, verify_attempts: 5, limits: one })).to.deep.equal([])
    const written = { code: { length: 4 }, verify_attempts: 6, retention_days: 0, limits: one }
    expect(faults(written)).to.deep.equal(['retention_days', 'verify_attempts'])
  })

  it('refuse unknown members by path, at any depth and with any name', () => {
    const written = JSON.parse(
      '{"colour":1,"code":{"size":6},"limits":{"app":[{"max":1,"seconds":1,"burst":2}]},' +
        '"routing":{"countries":{"__proto__":["sms"]}},"__proto__":{"locale":"de"}}',
    )
    expect(faults(written)).to.have.members([
      'colour',
      'code.size',
      'limits.app.0.burst',
      'routing.countries.__proto__',
      '__proto__',
    ])
    for (const nothing of [null, 'settings', 5, [], undefined]) expect(faults(nothing)).to.deep.equal([''])
  })

  it('have the fraud guard refuse, and ask devices for challenges, by default where devices may send', () => {
    const modes = (settings: SettingsInput) => {
      const { fraud_guard, publishable_challenge } = resolveSettings(settings)
      return [fraud_guard.mode, publishable_challenge]
    }
    expect(modes({})).to.deep.equal(['record', 'off'])
    expect(modes({ publishable_send: true, fraud_guard: { action: 'free_channel' } })).to.deep.equal(['on', 'risk'])
    for (const publishable_send of [true, false])
      for (const [mode, publishable_challenge] of [
        ['off', 'always'],
        ['record', 'off'],
        ['on', 'risk'],
      ] as const)
        expect(modes({ publishable_send, publishable_challenge, fraud_guard: { mode } })).to.deep.equal([
          mode,
          publishable_challenge,
        ])
  })

  it('refuse a link mode without a business number, beside other problems; one that is stored is loaded', () => {
    const both = ['locale', 'channels.whatsapp.business_number']
    for (const mode of ['link_code', 'link_inbound'] as const)
      for (const whatsapp of [{ mode }, { mode, business_number: null }, { mode, enabled: false }]) {
        expect(faults({ channels: { whatsapp }, locale: 5 })).to.deep.equal(both)
        expect(resolveSettings({ channels: { whatsapp } }).channels.whatsapp).to.include({ business_number: null })
      }
    expect(faults({ channels: { whatsapp: { mode: 'template' } } })).to.deep.equal([])
  })

  it('are resolved without members that a newer release has stored, but throw for a bad value', () => {
    const later = { verify_attempts: 3, texture: 'soft', code: { length: 7, alphabet: 'digits' } } as SettingsInput
    const code = { ...DEFAULTS.code, length: 7 }
    expect(resolveSettings(later)).to.deep.equal({ ...DEFAULTS, verify_attempts: 3, code })
    expect(() => resolveSettings({ verify_attempts: 11 })).to.throw()
  })
})
