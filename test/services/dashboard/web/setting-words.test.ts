import { expect } from 'chai'
import { hintOf, labelOf, refusalOf, storedWords } from '../../../../services/dashboard/web/data/setting-words.ts'

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

  const stored: [path: string, value: unknown, words: string][] = [
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
    ['routing.worth_micros', 1_500_000, '1.50'],
    ['spend_caps.GB', undefined, 'removed'],
    ['allowed_countries', null, 'every country'],
    ['channels.whatsapp.mode', 'template', 'Template'],
    ['auto_fallback', false, 'off'],
  ]
  for (const [path, value, words] of stored)
    it(`shows ${JSON.stringify(value)} of ${path} as ${words}`, () => {
      expect(storedWords(path, value)).to.equal(words)
    })
})
