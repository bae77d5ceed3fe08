import { expect } from 'chai'
import { amount, percent, wholeNumber } from '../../../../services/dashboard/web/data/notation.ts'

describe('how a value is written in a field', () => {
  it('a whole number', () => {
    expect(wholeNumber.parse(' 12 ')).to.equal(12)
    for (const text of ['', '1.5', 'x', '1e3', '１']) expect(wholeNumber.parse(text), text).to.equal(null)
  })

  it('a share, in percent', () => {
    expect(percent.parse('20')).to.equal(0.2)
    expect(percent.parse('12,5 %')).to.equal(0.125)
    expect(percent.parse('29')).to.equal(0.29)
    expect(percent.format(0.29)).to.equal('29')
    expect(percent.format(0.07)).to.equal('7')
    // The server refuses more than all.
    expect(percent.parse('150')).to.equal(1.5)
    for (const text of ['', '-1', 'half']) expect(percent.parse(text), text).to.equal(null)
  })

  it('an amount, with a point or a comma', () => {
    for (const [micros, text] of [
      [25_000_000, '25'],
      [290_000, '0.29'],
      [123_456_789_123_456, '123456789.123456'],
    ] as const)
      expect([amount.format(micros), amount.parse(text)]).to.deep.equal([text, micros])
    expect(amount.parse(' 0,5 ')).to.equal(500_000)
    for (const text of ['', '-1', '1.2345678', 'many', '1 000']) expect(amount.parse(text), text).to.equal(null)
  })
})
