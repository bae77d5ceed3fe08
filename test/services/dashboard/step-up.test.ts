// Changes that a stolen session must not make alone: in a session that has not proved lately whose it is, they are
// refused and change nothing.
import { expect } from 'chai'
import { settingsThatNeedStepUp } from '../../../services/dashboard/apps/settings-step-up.ts'
import { SETTINGS } from '../../../services/domain/tenancy/setting-list.ts'
import type { SettingsInput } from '../../../services/domain/tenancy/settings.ts'

const URL = 'https://shop.example/hooks'

describe('settings that need a step-up', () => {
  const text = { en: { text: '{code} is your code for {app}.' } }
  const rule = (max: number, seconds = 600) => [{ max, seconds }]
  const cases: [what: string, stored: SettingsInput, changed: SettingsInput, needs: string[]][] = [
    ['an own text', {}, { texts: { sms: text } }, ['texts.sms']],
    ['an own text that is taken away', { texts: { whatsapp: text } }, {}, ['texts.whatsapp']],
    ['an own text that stays', { texts: { sms: text } }, { texts: { sms: text }, text_links: false }, []],
    ['links in texts', {}, { text_links: true }, ['text_links']],
    ['no more links in texts', { text_links: true }, {}, []],
    [
      'the guard that an app of devices has by default',
      { publishable_send: true },
      { publishable_send: true, fraud_guard: { mode: 'record' } },
      ['fraud_guard.mode'],
    ],
    ['the guard, before devices send', {}, { fraud_guard: { mode: 'record' } }, ['fraud_guard.mode']],
    ['a guard that is left to the default', { fraud_guard: { mode: 'on' } }, {}, ['fraud_guard.mode']],
    ['a stricter guard', { fraud_guard: { mode: 'off' } }, { fraud_guard: { mode: 'on' } }, []],
    ['devices that no longer send', { publishable_send: true }, {}, []],
    [
      'no challenge',
      { publishable_send: true },
      { publishable_send: true, publishable_challenge: 'off' },
      ['publishable_challenge'],
    ],
    ['a limit raised tenfold', { limits: { app: rule(10) } }, { limits: { app: rule(100) } }, []],
    ['a limit raised above tenfold', { limits: { app: rule(10) } }, { limits: { app: rule(101) } }, ['limits.app']],
    ['the same by a shorter window', { limits: { app: rule(10) } }, { limits: { app: rule(2, 6) } }, ['limits.app']],
    ['a limit that is taken away', {}, { limits: { recipient_messages: [] } }, ['limits.recipient_messages']],
    [
      'a limit raised step by step above ten times the default',
      { limits: { client_ip: rule(200) } },
      { limits: { client_ip: rule(201) } },
      ['limits.client_ip'],
    ],
    ['the limit of another login', {}, { limits: { app_hooks: rule(6_001, 60) } }, ['limits.app_hooks']],
    ['a lower limit, however high', { limits: { client_ip: rule(900) } }, { limits: { client_ip: rule(800) } }, []],
    ['more messages to one recipient', {}, { limits: { recipient: rule(51) } }, ['limits.recipient']],
    ['more guesses', {}, { limits: { recipient_verify: rule(300, 3_600) } }, ['limits.recipient_verify']],
    [
      'more without an address',
      {},
      { limits: { app_without_client_ip: rule(601, 60) } },
      ['limits.app_without_client_ip'],
    ],
    ['more by devices', {}, { limits: { app_publishable: rule(601, 60) } }, ['limits.app_publishable']],
    ['an own text of emails', {}, { texts: { email: text } }, ['texts.email']],
    [
      'numbers that cost their callers',
      {},
      { number_kinds: { refused: ['pager'], fixed_line: 'use' } },
      ['number_kinds.refused'],
    ],
    [
      'the number that WhatsApp users write to',
      {},
      { channels: { whatsapp: { business_number: '+15550001111' } } },
      ['channels.whatsapp.business_number'],
    ],
    [
      'the vendor of a widget',
      { challenge: { by: 'turnstile', site_key: 'a' } },
      { challenge: { by: 'pow', site_key: 'b', secret: 'hmac:AAAAAAAA', verify_url: URL } },
      ['challenge.by', 'challenge.site_key', 'challenge.secret', 'challenge.verify_url'],
    ],
    ['a cap that is raised', { spend_caps: { '*': 5 } }, { spend_caps: { '*': 5, GB: 6 } }, ['spend_caps']],
    ['a cap that is taken away', { spend_caps: { GB: 5 } }, {}, ['spend_caps']],
    ['a cap that is lower', { spend_caps: { GB: 5 } }, { spend_caps: { '*': 9, GB: 4 } }, []],
    ['a shorter retention', { retention_days: 30 }, { retention_days: 29 }, ['retention_days']],
    ['a retention below the default', {}, { retention_days: 29 }, ['retention_days']],
    ['a longer retention', {}, { retention_days: 31 }, []],
    [
      'what no stolen session gains by',
      {},
      { code: { length: 8 }, auto_fallback: true, blocked_countries: ['FR'] },
      [],
    ],
  ]
  for (const [what, stored, changed, needs] of cases)
    it(`are ${needs.join() || 'none'}: ${what}`, () => {
      expect(settingsThatNeedStepUp(stored, changed)).to.deep.equal(needs)
    })

  it('are all tried here', () => {
    const tried = new Set(cases.flatMap(([, , , needs]) => needs))
    expect(SETTINGS.filter(({ path, stepUp }) => stepUp !== null && !tried.has(path)).map(({ path }) => path)).to.be
      .empty
  })
})
