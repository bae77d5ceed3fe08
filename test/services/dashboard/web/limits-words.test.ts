import { expect } from 'chai'
import { type AddressList, withList } from '../../../../services/dashboard/web/screens/limits/address-list-body.ts'

describe('a change of the address lists', () => {
  const list = (changes: Partial<AddressList>): AddressList => ({
    class: 'abusive',
    name: 'ours',
    source: { kind: 'given' },
    refresh_seconds: null,
    version: 'ipv_1',
    ranges: 1_200,
    ignored: 0,
    bad: 0,
    bad_lines: [],
    refreshed_at: null,
    status: 'ready',
    progress: null,
    problem: null,
    ...changes,
  })
  const stored = [
    list({}),
    list({ class: 'tor', name: 'exits', source: { kind: 'url', url: 'https://lists.example/' } }),
    list({ name: 'bootstrap', source: { kind: 'bootstrap' } }),
  ]

  it('names the other lists without content, so that they stay, and not those of the bootstrap file', () => {
    expect(withList(stored, { class: 'vpn', name: 'new', text: '1.2.3.4' })).to.deep.equal({
      body: {
        lists: [
          { class: 'abusive', name: 'ours' },
          { class: 'tor', name: 'exits' },
          { class: 'vpn', name: 'new', text: '1.2.3.4' },
        ],
      },
      path: 'lists.2',
    })
  })
})
