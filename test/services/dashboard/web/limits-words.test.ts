import { expect } from 'chai'
import { type AddressList, withList } from '../../../../services/dashboard/web/screens/limits/address-list-body.ts'
import { type Decision, foresee, outcomeWords } from '../../../../services/dashboard/web/screens/limits/fraud-words.ts'

describe('decisions of the fraud guard, in words', () => {
  const decision = (changes: Partial<Decision>): Decision => ({
    id: 'frd_1',
    at: '2030-01-02T00:00:00.000Z',
    mode: 'live',
    otp_id: 'otp_1',
    masked_recipient: '+44****56',
    country: 'GB',
    enforced: false,
    outcome: 'refused',
    channel: null,
    verdict: 'refuse',
    score: 100,
    reasons: [],
    unrecorded: 0,
    ...changes,
  })

  it('tell what was done from what would have been done', () => {
    expect(outcomeWords(decision({}))).to.equal('Would be refused')
    expect(outcomeWords(decision({ enforced: true }))).to.equal('Refused')
    expect(outcomeWords(decision({ outcome: 'moved', channel: 'telegram' }))).to.equal('Would move to Telegram')
    expect(outcomeWords(decision({ outcome: 'moved', channel: 'email', enforced: true }))).to.equal('Moved to Email')
  })

  it('are counted for what the guard would have done, without what it did', () => {
    const decisions = [
      decision({}),
      decision({ at: '2030-01-01T00:00:00.000Z' }),
      decision({ outcome: 'moved', channel: 'email' }),
      decision({ enforced: true, at: '2029-01-01T00:00:00.000Z' }),
    ]
    expect(foresee(decisions)).to.deep.equal({ refused: 2, moved: 1, since: '2030-01-01T00:00:00.000Z' })
    expect(foresee([])).to.deep.equal({ refused: 0, moved: 0, since: null })
  })
})

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
