import { expect } from 'chai'
import { choicesOf, hintOf, labelOf, refusalOf } from '../../../../services/dashboard/web/data/setting-words.ts'

describe('the field of a setting, from its declaration', () => {
  it('has the bounds of a number before its hint', () => {
    expect(labelOf('code.length')).to.equal('Digits of a code')
    expect(hintOf('code.length')).to.equal('4 to 8. Fewer digits need stricter limits on guesses.')
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
    expect(hintOf('channels.sms.domain')).to.match(/^The text ends with “@domain #code”, /)
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
