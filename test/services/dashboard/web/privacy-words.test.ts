import { expect } from 'chai'
import {
  erasureReport,
  foundSentence,
  recipientProblem,
} from '../../../../services/dashboard/web/screens/privacy/erasure-report.ts'
import { isRotating, rotationSentence } from '../../../../services/dashboard/web/screens/privacy/rotation-words.ts'

const NOTHING = {
  verifications: 0,
  ended: 0,
  attempts: 0,
  messages: 0,
  events: 0,
  counters: 0,
  refusals: 0,
  decisions: 0,
  idempotency_keys: 0,
  blocks: 0,
  rules: 0,
}

describe('an erasure in words', () => {
  it('names every kind of data that was erased', () => {
    const counts = Object.fromEntries(Object.keys(NOTHING).map((kind, index) => [kind, index + 2]))
    const report = erasureReport(counts as typeof NOTHING)
    expect(report).to.have.length(Object.keys(NOTHING).length - 1)
    expect(report[0]).to.equal(
      '2 verifications with number or address, client address and timeline; 3 were pending and were canceled first',
    )
  })

  it('says before how many verifications there are, and no number that is not known', () => {
    expect(foundSentence('+1****01', 0, false)).to.match(/^There is no verification of \+1\*{4}01\./)
    expect(foundSentence('+1****01', 1, false)).to.equal('There is 1 verification of +1****01.')
    expect(foundSentence('+1****01', 7, false)).to.equal('There are 7 verifications of +1****01.')
    // Those that were looked at, or the others, may be of other companies.
    expect(foundSentence('+1****01', 0, true)).to.match(
      /^There may be verifications of \+1\*{4}01, which were not counted\./,
    )
    expect(foundSentence('+1****01', 1, true)).to.equal('There is at least 1 verification of +1****01.')
    expect(foundSentence('+1****01', 100, true)).to.equal('There are at least 100 verifications of +1****01.')
  })

  it('asks for the country code of a number', () => {
    for (const right of ['+447911123456', '00447911123456', '(+44) 7911 123456', 'ada@example.com'])
      expect(recipientProblem(right), right).to.equal(undefined)
    for (const wrong of ['', '07911 123456', '447911123456'])
      expect(recipientProblem(wrong), wrong).to.contain('country code')
  })
})

describe('the rotation of data keys in words', () => {
  it('says when older keys can be removed', () => {
    const done = { data_keys: ['k2', 'k1'], rotation: { state: 'done' as const } }
    expect(rotationSentence(done)).to.equal(
      'Everything is sealed with k2. The other keys can be removed from DATA_KEYS.',
    )
    expect(isRotating(done)).to.equal(false)
  })
})
