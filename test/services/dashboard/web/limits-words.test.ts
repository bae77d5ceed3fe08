import { expect } from 'chai'
import { amount } from '../../../../services/dashboard/web/data/notation.ts'
import {
  type AddressList,
  contentWords,
  isUnderWay,
  progressOf,
  withList,
  withoutList,
} from '../../../../services/dashboard/web/screens/limits/address-list-body.ts'
import {
  type Decision,
  foresee,
  outcomeWords,
  prefixWords,
  shareOf,
  shareWords,
  sumOf,
} from '../../../../services/dashboard/web/screens/limits/fraud-words.ts'

describe('an amount in a field', () => {
  const amounts: [number, string][] = [
    [0, '0'],
    [25_000_000, '25'],
    [500_000, '0.50'],
    [290_000, '0.29'],
    [1, '0.000001'],
    [123_456_789_123_456, '123456789.123456'],
  ]
  for (const [micros, text] of amounts)
    it(`is shown as ${text}, and read back`, () => {
      expect(amount.format(micros)).to.equal(text)
      expect(amount.parse(text)).to.equal(micros)
    })

  it('may have a comma, and is no other text', () => {
    expect(amount.parse(' 0,5 ')).to.equal(500_000)
    for (const text of ['', '-1', '1.2345678', 'many', '1 000']) expect(amount.parse(text), text).to.equal(null)
  })
})

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

  it('name ranges and shares', () => {
    expect(prefixWords('GB')).to.equal('United Kingdom')
    expect(prefixWords('+447700')).to.equal('+447700…')
    expect(prefixWords('no country')).to.equal('Numbers of no country')
    expect(prefixWords('all numbers')).to.equal('All numbers')
    expect(prefixWords('all addresses')).to.equal('All email addresses')
    expect(shareWords(shareOf({ sent: 3, verified: 1 }))).to.equal('33%')
    expect(shareWords(shareOf({ sent: 0, verified: 0 }))).to.equal('–')
    expect(
      sumOf([
        { sent: 3, verified: 1 },
        { sent: 2, verified: 2 },
      ]),
    ).to.deep.equal({ sent: 5, verified: 3 })
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

  it('replaces a list of the same class and name, and removes one', () => {
    expect(withList(stored, { class: 'abusive', name: 'ours', text: '1.2.3.4' }).body.lists).to.deep.equal([
      { class: 'tor', name: 'exits' },
      { class: 'abusive', name: 'ours', text: '1.2.3.4' },
    ])
    expect(withoutList(stored, { class: 'tor', name: 'exits' })).to.deep.equal({
      lists: [{ class: 'abusive', name: 'ours' }],
    })
  })

  it('is described while it is imported and afterwards', () => {
    const progress = { lines: 5, bytes: 50, total_bytes: 200 }
    expect(progressOf(list({ progress }))).to.equal(0.25)
    expect(progressOf(list({ progress: { ...progress, total_bytes: null } }))).to.equal(null)
    expect(progressOf(list({}))).to.equal(null)
    expect(isUnderWay(list({ status: 'waiting' }))).to.equal(true)
    expect(isUnderWay(list({ status: 'failed' }))).to.equal(false)
    expect(contentWords(list({ ignored: 3, bad: 21, bad_lines: [2, 7] }))).to.equal(
      '1,200 ranges; 3 private or reserved left out; 21 bad lines left out (2, 7, …)',
    )
    expect(contentWords(list({ ranges: 1, bad: 1, bad_lines: [4] }))).to.equal('1 range; 1 bad line left out (4)')
    expect(contentWords(list({ version: null }))).to.equal('nothing yet')
  })
})
