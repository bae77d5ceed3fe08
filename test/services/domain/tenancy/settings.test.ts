import { expect } from 'chai'
import { check } from '../../../../services/domain/tenancy/problems.ts'
import {
  resolveSettings,
  type SettingsInput,
  writtenSettingsSchema,
} from '../../../../services/domain/tenancy/settings.ts'

const DEFAULTS = {
  locale: 'en',
  code: { length: 6, ttl_seconds: 600 },
  verify_attempts: 5,
  send_attempts: 5,
  resend_cooldown_seconds: [30, 60, 120],
  token_ttl_seconds: 600,
  idempotency_ttl_seconds: 86400,
  limits: {
    recipient: [
      { max: 5, seconds: 600 },
      { max: 20, seconds: 86400 },
    ],
    recipient_messages: [{ max: 50, seconds: 86400 }],
    client_ip: [
      { max: 20, seconds: 600 },
      { max: 100, seconds: 86400 },
    ],
    app: [{ max: 6000, seconds: 60 }],
    app_publishable: [
      { max: 60, seconds: 60 },
      { max: 20000, seconds: 86400 },
    ],
    app_without_client_ip: [{ max: 60, seconds: 60 }],
    app_hooks: [{ max: 600, seconds: 60 }],
    client_ip_reputation_factor: 0.2,
    recipient_verify: [{ max: 20, seconds: 3600 }],
  },
  routing: { default: ['sms', 'whatsapp', 'telegram', 'email'], countries: {}, providers: 'listed', worth_micros: 0 },
  channels: {
    sms: { enabled: true, domains: [], android_hashes: [] },
    email: { enabled: true },
    telegram: { enabled: true },
    whatsapp: { enabled: true, mode: 'template', business_number: null },
  },
  blocked_countries: [],
  allowed_countries: null,
  number_kinds: { refused: ['premium_rate', 'shared_cost', 'uan', 'pager', 'voicemail'], fixed_line: 'use' },
  spend_caps: {},
  texts: { sms: {}, email: {}, whatsapp: {} },
  text_links: false,
  fraud_guard: { mode: 'record', action: 'refuse' },
  auto_fallback: false,
  reuse_pending: false,
  publishable_send: false,
  publishable_challenge: 'off',
  challenge: { by: 'pow', site_key: null, secret: null, verify_url: null },
  allowed_origins: [],
  retention_days: 30,
}

/** As the admin API and the bootstrap file check them. */
const checkSettings = (input: unknown) => check(writtenSettingsSchema, input)

/** The paths of the problems; empty when there are none. */
const faults = (input: unknown): string[] => {
  const checked = checkSettings(input)
  return checked.ok ? [] : checked.problems.map(problem => problem.path)
}

/** Enough for five guesses of a code of four digits. */
const TWO_SENDS_A_DAY = { recipient: [{ max: 2, seconds: 86_400 }] }

describe('app settings', () => {
  it('have at most ten rules in a list; longer lists that are stored already still load', () => {
    const rules = (count: number) => Array.from({ length: count }, (_, nth) => ({ max: 1 + nth, seconds: 60 }))
    expect(faults({ limits: { client_ip: rules(10) } })).to.deep.equal([])
    expect(faults({ limits: { client_ip: rules(11), app: rules(500) } })).to.deep.equal([
      'limits.client_ip',
      'limits.app',
    ])
    expect(resolveSettings({ limits: { client_ip: rules(11) } }).limits.client_ip).to.have.length(11)
  })

  it('have the documented defaults', () => {
    expect(checkSettings({})).to.deep.equal({ ok: true, value: DEFAULTS })
    expect(resolveSettings({})).to.deep.equal(DEFAULTS)
  })

  it('keep the defaults beside members that were set, at every depth', () => {
    const settings = resolveSettings({
      code: { length: 8 },
      limits: { app: [] },
      channels: { sms: { enabled: false } },
    })
    expect(settings.code).to.deep.equal({ length: 8, ttl_seconds: 600 })
    expect(settings.limits).to.deep.equal({ ...DEFAULTS.limits, app: [] })
    expect(settings.channels).to.deep.equal({
      ...DEFAULTS.channels,
      sms: { enabled: false, domains: [], android_hashes: [] },
    })
  })

  it('accept their complete documented form', () => {
    const complete = structuredClone(DEFAULTS) as SettingsInput
    complete.routing = { ...complete.routing, countries: { BR: ['whatsapp', 'sms'], XK: ['sms'] } }
    complete.channels = { ...complete.channels, whatsapp: { business_number: '+15550001111', mode: 'link_code' } }
    expect(faults(complete)).to.deep.equal([])
  })

  const ranges: [string, (value: unknown) => unknown, number, number][] = [
    ['code.length', length => ({ code: { length }, limits: TWO_SENDS_A_DAY }), 4, 8],
    ['code.ttl_seconds', ttl_seconds => ({ code: { ttl_seconds } }), 60, 3600],
    ['verify_attempts', verify_attempts => ({ verify_attempts }), 1, 10],
    ['send_attempts', send_attempts => ({ send_attempts }), 1, 20],
    ['resend_cooldown_seconds.1', value => ({ resend_cooldown_seconds: [0, value] }), 0, 3600],
    ['token_ttl_seconds', token_ttl_seconds => ({ token_ttl_seconds }), 1, 3600],
    ['idempotency_ttl_seconds', idempotency_ttl_seconds => ({ idempotency_ttl_seconds }), 60, 604800],
    ['limits.client_ip.0.seconds', seconds => ({ limits: { client_ip: [{ max: 1, seconds }] } }), 1, 604800],
    ['limits.recipient.0.max', max => ({ limits: { recipient: [{ max, seconds: 1 }] } }), 1, Number.MAX_SAFE_INTEGER],
    ['retention_days', retention_days => ({ retention_days }), 1, 3650],
  ]
  for (const [path, settings, least, most] of ranges) {
    it(`accept ${path} from ${least} to ${most}, whole numbers only`, () => {
      for (const good of [least, most]) expect(faults(settings(good)), String(good)).to.deep.equal([])
      for (const bad of [least - 1, most + 1, least + 0.5, String(least), null, Number.NaN]) {
        expect(faults(settings(bad)), String(bad)).to.deep.equal([path])
      }
    })
  }

  it('accept any factor from 0 to 1', () => {
    for (const client_ip_reputation_factor of [0, 0.33, 1]) {
      expect(faults({ limits: { client_ip_reputation_factor } })).to.deep.equal([])
    }
    for (const client_ip_reputation_factor of [-0.01, 1.01, '1']) {
      expect(faults({ limits: { client_ip_reputation_factor } })).to.deep.equal(['limits.client_ip_reputation_factor'])
    }
  })

  it('refuse a code that could be guessed in one of 2000 verifications', () => {
    const one = { recipient: [{ max: 1, seconds: 86_400 }] }
    expect(faults({ code: { length: 4 }, verify_attempts: 5, limits: one })).to.deep.equal([])
    expect(checkSettings({ code: { length: 4 }, verify_attempts: 6, retention_days: 0, limits: one })).to.deep.equal({
      ok: false,
      problems: [
        { path: 'retention_days', message: 'must be a whole number from 1 to 3650' },
        {
          path: 'verify_attempts',
          message: 'allows too many guesses at so short a code: attempts ÷ 10^length must not exceed 1/2000',
        },
      ],
    })
  })

  it('refuse more than one guess in a thousand per recipient and day', () => {
    const refused = (settings: object) => expect(faults(settings), JSON.stringify(settings))
    const shortCode = { code: { length: 4 } }
    refused(shortCode).to.deep.equal(['limits.recipient_verify'])
    refused({ ...shortCode, limits: TWO_SENDS_A_DAY }).to.deep.equal([])
    refused({ ...shortCode, limits: { recipient: [{ max: 3, seconds: 86_400 }] } }).to.have.length(1)
    refused({ ...shortCode, limits: { recipient: [{ max: 3, seconds: 86_400 }] }, verify_attempts: 3 }).to.be.empty
    refused({ code: { length: 5 } }).to.deep.equal([])
    refused({ code: { length: 5 }, verify_attempts: 6 }).to.deep.equal(['limits.recipient_verify'])
  })

  it('say how many guesses they allow, and how many the code allows, beside every other problem', () => {
    const settings = { code: { length: 4 }, locale: 7 }
    expect(checkSettings(settings)).to.deep.equal({
      ok: false,
      problems: [
        { path: 'locale', message: 'must be a string' },
        {
          path: 'limits.recipient_verify',
          message:
            'allows 100 guesses per recipient and day with limits.recipient and verify_attempts; ' +
            'a code of 4 digits allows 10 (1/1000 of all codes)',
        },
      ],
    })
  })

  it('refuse to limit wrong codes by no rule, also beside a bad limit', () => {
    expect(faults({ limits: { recipient_verify: [] } })).to.deep.equal(['limits.recipient_verify'])
    const both = ['limits.recipient', 'limits.recipient_verify']
    expect(faults({ limits: { recipient_verify: [], recipient: 'many' } })).to.have.members(both)
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
  })

  it('report every problem at once', () => {
    expect(faults({ locale: 'x', code: null, send_attempts: 21, allowed_origins: ['*'] })).to.have.members([
      'locale',
      'code',
      'send_attempts',
      'allowed_origins.0',
    ])
    for (const nothing of [null, 'settings', 5, [], undefined]) expect(faults(nothing)).to.deep.equal([''])
  })

  it('require at least one cooldown', () => {
    expect(faults({ resend_cooldown_seconds: [] })).to.deep.equal(['resend_cooldown_seconds'])
  })

  it('refuse an order that names a channel twice', () => {
    expect(faults({ routing: { default: ['sms', 'email', 'sms'], countries: { BR: ['sms', 'sms'] } } })).to.deep.equal([
      'routing.default',
      'routing.countries.BR',
    ])
    expect(faults({ routing: { default: ['pigeon'] } })).to.deep.equal(['routing.default.0'])
  })

  it('accept countries by ISO code, and Kosovo', () => {
    expect(faults({ blocked_countries: ['KP', 'GG'], allowed_countries: ['XK', 'GB', 'TA'] })).to.deep.equal([])
    for (const code of ['UK', 'EU', 'gb', 'GBR', 'ZZ', 'XX', '', '44', '*']) {
      expect(faults({ blocked_countries: [code] }), code).to.deep.equal(['blocked_countries.0'])
      expect(faults({ allowed_countries: ['GB', code] }), code).to.deep.equal(['allowed_countries.1'])
      expect(faults({ routing: { countries: { [code]: ['sms'] } } }), code).to.deep.equal([`routing.countries.${code}`])
    }
  })

  it('accept spend caps in whole micro-units by country, and for all other countries', () => {
    expect(faults({ spend_caps: { GB: 5_000_000, XK: 0, '*': 1 } })).to.deep.equal([])
    for (const code of ['UK', 'gb', '', 'all']) expect(faults({ spend_caps: { [code]: 1 } })).to.have.length(1)
    for (const micros of [-1, 0.5, '1', null])
      expect(faults({ spend_caps: { GB: micros } })).to.deep.equal(['spend_caps.GB'])
  })

  it('have the fraud guard refuse by default where devices may send, and record elsewhere', () => {
    const modeOf = (settings: SettingsInput) => resolveSettings(settings).fraud_guard.mode
    expect(modeOf({})).to.equal('record')
    expect(modeOf({ publishable_send: true })).to.equal('on')
    expect(modeOf({ publishable_send: true, fraud_guard: { action: 'free_channel' } })).to.equal('on')
    for (const mode of ['off', 'record', 'on'] as const)
      for (const publishable_send of [true, false])
        expect(modeOf({ publishable_send, fraud_guard: { mode } }), 'a mode that is set').to.equal(mode)
  })

  it('ask devices for a challenge by default where they may send, as the risk demands', () => {
    const modeOf = (settings: SettingsInput) => resolveSettings(settings).publishable_challenge
    expect(modeOf({})).to.equal('off')
    expect(modeOf({ publishable_send: true })).to.equal('risk')
    for (const publishable_challenge of ['off', 'risk', 'always'] as const)
      for (const publishable_send of [true, false])
        expect(modeOf({ publishable_send, publishable_challenge })).to.equal(publishable_challenge)
    expect(faults({ publishable_challenge: 'never' })).to.deep.equal(['publishable_challenge'])
  })

  it('accept only the modes and actions of the fraud guard', () => {
    expect(resolveSettings({ fraud_guard: { mode: 'on' } }).fraud_guard).to.deep.equal({ mode: 'on', action: 'refuse' })
    expect(faults({ fraud_guard: { mode: 'loud', action: 'slow' } })).to.deep.equal([
      'fraud_guard.mode',
      'fraud_guard.action',
    ])
  })

  it('accept language tags, and make them canonical', () => {
    expect(resolveSettings({ locale: 'pt-br' }).locale).to.equal('pt-BR')
    expect(resolveSettings({ locale: 'zh-hant-tw' }).locale).to.equal('zh-Hant-TW')
    for (const locale of ['', 'en_US', 'e', 'english language', null]) {
      expect(faults({ locale }), String(locale)).to.deep.equal(['locale'])
    }
  })

  it('check the form of a domain, an SMS Retriever hash and a business number', () => {
    const listOf = (value: unknown) => (value === null ? [] : [value])
    const channels = (domain: unknown, android_hash: unknown, business_number: unknown) => ({
      channels: {
        sms: { domains: listOf(domain), android_hashes: listOf(android_hash) },
        whatsapp: { business_number },
      },
    })
    expect(faults(channels('login.example.co.uk', 'FA+9qCX9VSu', '+447911123456'))).to.deep.equal([])
    expect(faults(channels(null, null, null))).to.deep.equal([])
    for (const domain of [
      'example',
      'https://example.com',
      'Example.com',
      '-a.com',
      'a..com',
      'example.com ',
      `${'a'.repeat(64)}.com`,
    ]) {
      expect(faults(channels(domain, null, null)), domain).to.deep.equal(['channels.sms.domains.0'])
    }
    for (const hash of ['FA+9qCX9VS', 'FA+9qCX9VSuu', 'FA-9qCX9VSu', '']) {
      expect(faults(channels(null, hash, null)), hash).to.deep.equal(['channels.sms.android_hashes.0'])
    }
    for (const number of ['447911123456', '+04479111234', '+44 7911 123456', '+123456', '']) {
      expect(faults(channels(null, null, number)), number).to.deep.equal(['channels.whatsapp.business_number'])
    }
  })

  it('accept origins exactly as browsers send them', () => {
    const good = [
      'https://example.com',
      'https://a.example.com:8443',
      'http://localhost:5173',
      'http://127.0.0.1:3000',
      'https://[2001:db8::1]',
      'https://xn--bcher-kva.example',
      'https://my_host.example',
    ]
    expect(faults({ allowed_origins: good })).to.deep.equal([])
    const bad = [
      'http://example.com',
      'https://example.com/',
      'https://Example.com',
      'https://example.com:443',
      'example.com',
      '*',
      'null',
      'https://*.example.com/x',
      'ftp://example.com',
      'http://localhost.example.com',
      'https://example.com?x',
      'https://user@example.com',
      'https://bücher.example',
      'https://exa$mple.com',
      'https://a,https://b',
      ' https://example.com',
    ]
    for (const origin of bad) expect(faults({ allowed_origins: [origin] }), origin).to.deep.equal(['allowed_origins.0'])
  })

  it('refuse wildcards in origins, because no browser sends one', () => {
    for (const origin of [
      'https://*.example.com',
      'https://*',
      'https://shop-*.example.com',
      'https://example.com:*',
      '*',
    ])
      expect(checkSettings({ allowed_origins: ['https://example.com', origin] }), origin).to.deep.equal({
        ok: false,
        problems: [
          {
            path: 'allowed_origins.1',
            message: 'has no wildcards: list every origin by itself, such as "https://shop.example"',
          },
        ],
      })
  })

  it('accept three WhatsApp modes', () => {
    for (const mode of ['template', 'link_code', 'link_inbound']) {
      expect(faults({ channels: { whatsapp: { mode, business_number: '+15550001111' } } })).to.deep.equal([])
    }
    expect(faults({ channels: { whatsapp: { mode: 'link' } } })).to.deep.equal(['channels.whatsapp.mode'])
  })

  it('refuse a link mode without a business number, beside other problems, and say the remedy', () => {
    for (const mode of ['link_code', 'link_inbound'])
      for (const whatsapp of [{ mode }, { mode, business_number: null }, { mode, enabled: false }])
        expect(checkSettings({ channels: { whatsapp }, locale: 5 })).to.deep.equal({
          ok: false,
          problems: [
            { path: 'locale', message: 'must be a string' },
            {
              path: 'channels.whatsapp.business_number',
              message:
                'is required where channels.whatsapp.mode is a link mode: give the number that the link opens, such as "+15550001111", or the mode "template"',
            },
          ],
        })
    expect(faults({ channels: { whatsapp: { mode: 'template' } } })).to.deep.equal([])
    expect(faults({ channels: { whatsapp: { mode: 'link_code', business_number: 5 } } })).to.deep.equal([
      'channels.whatsapp.business_number',
    ])
  })

  it('that an earlier release stored with a link mode and no business number are loaded', () => {
    expect(resolveSettings({ channels: { whatsapp: { mode: 'link_code' } } }).channels.whatsapp).to.deep.equal({
      enabled: true,
      mode: 'link_code',
      business_number: null,
    })
  })

  it('are resolved without members that a newer release has stored, but throw for a bad value', () => {
    const later = { verify_attempts: 3, texture: 'soft', code: { length: 7, alphabet: 'digits' } } as SettingsInput
    expect(resolveSettings(later)).to.deep.equal({
      ...DEFAULTS,
      verify_attempts: 3,
      code: { length: 7, ttl_seconds: 600 },
    })
    expect(() => resolveSettings({ verify_attempts: 11 })).to.throw()
  })
})
