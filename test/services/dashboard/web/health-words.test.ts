// What the Overview says of a silent provider is true in each state of the other providers: they may be silent too, or not known.
import { expect } from 'chai'
import { troubleOf } from '../../../../services/dashboard/web/screens/overview/health-words.ts'

describe('the words of the Overview', () => {
  it('name the own page first where a provider is silent, and lead to Routing for what others get', () => {
    const none = { reason: null, since: null }
    const cause = { ...none, cause: 'provider_silent', channel: 'sms', provider: 'main' } as const
    expect(troubleOf({ ...cause, countries: ['BR'] }, false)).to.deep.equal({
      text: 'The provider main (SMS) accepts messages to Brazil, but hardly anyone types the code. Look at your own page first. Routing says what other providers get there.',
      since: null,
      screen: '/routing',
      query: '',
    })
  })
})
