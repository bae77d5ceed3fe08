import { expect } from 'chai'
import { erasureReport } from '../../../../services/dashboard/web/screens/privacy/erasure-report.ts'

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
})
