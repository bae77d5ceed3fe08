// What the Routing screen says of a suggested order: what it gains, apart from what it costs, and what using it has changed.
import { expect } from 'chai'
import { gainWords, movedWords } from '../../../../services/dashboard/web/screens/routing/learned-words.ts'

describe('what a suggested order gains, in words', () => {
  const words = (gain: number, approvals = gain, cost_micros: number | null = null): string =>
    gainWords({ channel: 'sms', order: ['fast', 'main'], gain, approvals, cost_micros, because: '' })

  const changes: [what: string, gain: number, approvals: number, cost: number, worth: string, apart: string][] = [
    [
      'fewer approvals for less',
      0.392,
      -0.1,
      -49_000,
      '39.2 more approvals',
      '10 fewer approvals, and 4.90 less to pay',
    ],
    ['more approvals for more', 0.09, 0.12, 30_000, '9 more approvals', '12 more approvals, and 3.00 more to pay'],
    ['one approval fewer', 0.2, -0.01, -2_000, '20 more approvals', '1 fewer approval, and 0.20 less to pay'],
    ['more approvals at the same cost', 0.19, 0.19, 0, '19 more approvals', '19 more approvals, and the same cost'],
  ]
  for (const [what, gain, approvals, cost, worth, apart] of changes)
    it(`is told apart from the cost: ${what}`, () =>
      expect(words(gain, approvals, cost)).to.equal(
        `Expected gain: worth ${worth} of 100 messages, over all countries: ${apart}.`,
      ))
})

describe('what using a suggested order has changed, in words', () => {
  const words = (order: string[], ...before: string[]): string => movedWords({ channel: 'sms', order }, before)

  it('names the provider that has moved, and its place', () => {
    expect(words(['fast', 'main'], 'main', 'fast')).to.equal('fast is now the first provider of SMS.')
    expect(words(['third', 'main', 'fast'], 'main', 'fast', 'third')).to.equal(
      'third is now the first provider of SMS.',
    )
    expect(words(['main', 'third', 'fast'], 'main', 'fast', 'third')).to.equal(
      'third is now number 2 of the providers of SMS, behind main.',
    )
  })
})
