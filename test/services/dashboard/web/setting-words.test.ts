import { expect } from 'chai'
import {
  choicesOf,
  hintOf,
  labelOf,
  refusalOf,
  storedWords,
} from '../../../../services/dashboard/web/data/setting-words.ts'

describe('the field of a setting, from its declaration', () => {
  it('has the bounds of a number before its hint', () => {
    expect(labelOf('code.length')).to.equal('Digits of a code')
    expect(hintOf('code.length')).to.equal(
      '4 to 10. Fewer digits need stricter limits on guesses. With more than 8, Telegram is passed over: it takes 4 to 8.',
    )
    expect(refusalOf('code.length'), 'the server says it').to.equal(undefined)
  })

  it('says the bounds of a span of time, and of a share, as a person writes them', () => {
    expect(refusalOf('idempotency_ttl_seconds')).to.equal('Must be from 1 minute to 7 days, such as “1 day”.')
    expect(refusalOf('resend_cooldown_seconds')).to.equal(
      'Must be times of at most 1 hour with commas between them, such as “30 seconds, 1 minute, 2 minutes”.',
    )
    expect(labelOf('limits.client_ip_reputation_factor')).to.equal('Share for suspicious addresses (%)')
    expect(refusalOf('limits.client_ip_reputation_factor')).to.equal('Must be a number from 0 to 100.')
  })

  it('says how to write a list', () => {
    expect(hintOf('resend_cooldown_seconds')).to.match(/ Write commas between them\.$/)
    expect(hintOf('allowed_origins')).to.match(/ One per line\.$/)
  })

  it('has no markup in its hint', () => {
    expect(hintOf('channels.sms.domains')).to.match(/^The text ends with “@domain #code”, /)
  })

  const stored: [path: string, value: unknown, words: string][] = [
    ['code.length', 7, '7'],
    ['code.ttl_seconds', 600, '10 minutes'],
    ['resend_cooldown_seconds', [0, 90], '0 seconds, 1 minute 30 seconds'],
    ['limits.client_ip_reputation_factor', 0.2, '20%'],
    [
      'limits.app',
      [
        { max: 60, seconds: 60 },
        { max: 20_000, seconds: 86_400 },
      ],
      'at most 60 in 1 minute, at most 20000 in 1 day',
    ],
    ['limits.app', [], 'no limit'],
    ['routing.worth_micros', 1_500_000, '1.50'],
    ['spend_caps.GB', 25_000_000, '25'],
    ['spend_caps.GB', undefined, 'removed'],
    ['allowed_countries', null, 'every country'],
    ['allowed_countries', ['GB', 'US'], 'GB, US'],
    ['channels.sms.domains', [], 'empty list'],
    ['channels.whatsapp.mode', 'template', 'Template'],
    ['auto_fallback', false, 'off'],
    ['locale', 'de', 'de'],
    ['texts.sms.en.text', '{code} is your code.', '{code} is your code.'],
  ]
  for (const [path, value, words] of stored)
    it(`shows ${JSON.stringify(value)} of ${path} as ${words}`, () => {
      expect(storedWords(path, value)).to.equal(words)
    })

  it('has the words of each choice', () => {
    const choices = choicesOf('publishable_challenge')
    expect(choices.map(({ value, label }) => [value, label])).to.deep.equal([
      ['off', 'Never'],
      ['risk', 'When a send looks risky'],
      ['always', 'Always'],
    ])
    for (const { hint } of choices) expect(hint).to.match(/\.$/)
  })
})
