// The mail about a silent provider is true in each state of the other providers, and names the owner's own page before the vendor.
import { expect } from 'chai'
import { noticeMail } from '../../../services/sweeper/notice-mail.ts'

describe('the mail about a silent provider', () => {
  const { text } = noticeMail(
    { type: 'ops.provider_silent', subject: 'main', countries: ['BR', 'GB'] },
    {
      company: { _id: 'cmp_1', name: 'Acme', low_balance_micros: 0 },
      app: { _id: 'app_1', name: 'Shop' },
      publicUrl: 'https://verify.example',
    },
  )

  it('names the page first, then the vendor', () => {
    expect(text).to.match(/in BR, GB.*your own page first.*If codes can be entered there.*ask the vendor/s)
    expect(text.indexOf('most likely not delivered')).to.be.above(text.indexOf('your own page first'))
  })

  it('says what other providers get in each case', () => {
    expect(text).to.match(/half of the messages until.*all but a few.*your own order holds/s)
  })
})
