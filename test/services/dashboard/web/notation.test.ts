import { expect } from 'chai'
import { lines, optionalText, percent, wholeNumber } from '../../../../services/dashboard/web/data/notation.ts'

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

  it('one value per line', () => {
    expect(lines.parse(' https://a.example \n\nhttps://b.example\n')).to.deep.equal([
      'https://a.example',
      'https://b.example',
    ])
    expect(lines.parse('')).to.deep.equal([])
  })

  it('nothing for none', () => {
    expect(optionalText.parse('  ')).to.equal(null)
    expect(optionalText.format(null)).to.equal('')
    expect(optionalText.parse(' example.com ')).to.equal('example.com')
  })
})
