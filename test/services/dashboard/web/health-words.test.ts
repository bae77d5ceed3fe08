// What the Overview says of a silent provider is true in each state of the other providers: they may be silent too, or
// not known. Of several endpoints it names the one that is paused.
import { expect } from 'chai'
import { troubleOf } from '../../../../services/dashboard/web/screens/overview/health-words.ts'

describe('the words of the Overview', () => {
  it('name the endpoint that is paused, and lead to it', () => {
    const none = { channel: null, provider: null, since: null }
    const paused = { ...none, cause: 'endpoint_paused', reason: 'operator' } as const
    const trouble = (name: string | null) =>
      troubleOf({ ...paused, endpoint: { id: 'whk_2', name, url: 'https://crm.example/hooks' } }, false)
    expect(trouble('CRM')).to.deep.equal({
      text: 'The webhook endpoint CRM is paused, and its events are held. Delivery was stopped by hand.',
      since: null,
      screen: '/webhooks',
      query: '?endpoint=whk_2',
    })
    expect(trouble(null).text).to.match(/^The webhook endpoint crm\.example is paused/)
  })

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
