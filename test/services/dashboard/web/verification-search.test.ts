// The search of the lists of verifications and refusals, as it stands in the address.
import { expect } from 'chai'
import fc from 'fast-check'
import { verificationPath } from '../../../../services/dashboard/screens.ts'
import { REFUSAL_TYPES } from '../../../../services/dashboard/web/screens/verifications/refusal-words.ts'
import {
  addressOf,
  EMPTY_SEARCH,
  isFiltered,
  otpIdIn,
  readSearch,
  type Search,
  STATUSES,
} from '../../../../services/dashboard/web/screens/verifications/search.ts'

/** As the router reads it. */
const queryOf = (address: string) => Object.fromEntries(new URL(address, 'http://dashboard.test').searchParams)

const time = fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true }).map(at => at.toISOString())

const anySearch: fc.Arbitrary<Search> = fc.record({
  tab: fc.constantFrom('verifications', 'refusals'),
  recipient: fc.string().map(text => text.trim()),
  allApps: fc.boolean(),
  status: fc.constantFrom('', ...STATUSES),
  channel: fc.constantFrom('', 'sms', 'whatsapp', 'telegram', 'email'),
  mode: fc.constantFrom('', 'live', 'test'),
  delivery: fc.constantFrom('', 'queued', 'sent', 'delivered', 'failed'),
  metadata: fc.constantFrom('', 'order=A-1042', 'plan.tier='),
  country: fc.constantFrom('', 'GB', 'US', 'XK'),
  type: fc.constantFrom('', ...REFUSAL_TYPES),
  since: fc.oneof(fc.constant(''), time),
  until: fc.oneof(fc.constant(''), time),
})

describe('the search in the address of the verifications', () => {
  it('is read as it was written, but for the filters of the other list', () => {
    fc.assert(
      fc.property(anySearch, search => {
        const expected =
          search.tab === 'refusals'
            ? { ...search, status: '', channel: '', country: '', mode: '', delivery: '', metadata: '' }
            : { ...search, type: '' }
        expect(readSearch(queryOf(addressOf(search)))).to.deep.equal(expected)
      }),
    )
  })

  it('leaves out what the API would refuse', () => {
    const query = {
      status: 'gone',
      channel: 'fax',
      country: 'EU',
      type: 'Oops',
      since: 'yesterday',
      tab: 'x',
      apps: '1',
    }
    expect(readSearch(query)).to.deep.equal(EMPTY_SEARCH)
    expect(readSearch({ country: 'gb' }).country).to.equal('GB')
  })

  it('is a filter unless it only chooses the apps', () => {
    expect(isFiltered({ ...EMPTY_SEARCH, allApps: true })).to.equal(false)
    expect(isFiltered({ ...EMPTY_SEARCH, tab: 'refusals' })).to.equal(false)
    expect(isFiltered({ ...EMPTY_SEARCH, recipient: '+1' })).to.equal(true)
    expect(isFiltered({ ...EMPTY_SEARCH, tab: 'refusals', type: 'ValidationError' })).to.equal(true)
  })

  it('tells the id of a verification from a recipient', () => {
    expect(otpIdIn(' otp_01k2m8x4e9s7v3hqz5tnw6yb0c ')).to.equal('otp_01k2m8x4e9s7v3hqz5tnw6yb0c')
    for (const text of ['', '+44 7911 123456', 'otp_@example.com', 'otp_', 'ada@otp_1'])
      expect(otpIdIn(text)).to.equal(null)
    expect(verificationPath('otp_1')).to.equal('/verifications/otp_1')
  })
})
