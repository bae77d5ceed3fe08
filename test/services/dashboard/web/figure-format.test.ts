// Figures in words.
import { expect } from 'chai'
import { countOf, formatSeconds, formatShare } from '../../../../services/dashboard/web/ui/figure-format.ts'

describe('figures in words', () => {
  it('have the two largest units of a time', () => {
    const words = [0, 5, 59.6, 130, 3_600, 3_905, 187_200, null].map(formatSeconds)
    expect(words).to.deep.equal(['0 s', '5 s', '1 min', '2 min 10 s', '1 h', '1 h 5 min', '2 d 4 h', '–'])
  })

  it('have one digit of a percentage, and a dash where there is none', () => {
    expect([0.8123, 1, 0, null].map(formatShare)).to.deep.equal(['81.2%', '100%', '0%', '–'])
  })

  it('name one and many', () => {
    expect([countOf(1, 'letter'), countOf(0, 'letter'), countOf(1_200, 'letter')]).to.deep.equal([
      '1 letter',
      '0 letters',
      '1,200 letters',
    ])
  })
})
