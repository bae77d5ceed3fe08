// The price of a message at a time: what holds, and what is scheduled.
import { expect } from 'chai'
import fc from 'fast-check'
import { type Price, priceList, pricesAt } from '../../../../services/domain/money/prices.ts'

const price = (micros: number, effective_at?: number, country = 'GB'): Price => ({
  channel: 'sms',
  country,
  micros,
  ...(effective_at === undefined ? {} : { effective_at }),
})

describe('a list of prices', () => {
  it('has the price of the country, else that of all others, else nothing', () => {
    const priceOf = priceList([price(1), price(2, undefined, '*')])
    expect([priceOf('sms', 'GB', 0), priceOf('sms', 'FR', 0), priceOf('sms', null, 0)]).to.deep.equal([1, 2, 2])
    expect(priceOf('email', 'GB', 0)).to.equal(0)
  })

  it('changes a price at exactly the time for which a change is scheduled', () => {
    const priceOf = priceList([price(3, 2_000), price(1), price(2, 1_000)])
    expect([0, 999, 1_000, 1_999, 2_000, 9_000].map(at => priceOf('sms', 'GB', at))).to.deep.equal([1, 1, 2, 2, 3, 3])
  })

  it('has the price of all others until that of a country begins to hold', () => {
    const priceOf = priceList([price(5, undefined, '*'), price(2, 1_000)])
    expect([priceOf('sms', 'GB', 999), priceOf('sms', 'GB', 1_000)]).to.deep.equal([5, 2])
  })

  it('shows what holds without its time, and what is scheduled', () => {
    const all = [price(3, 2_000), price(1), price(2, 1_000)]
    expect(pricesAt(all, 999)).to.have.deep.members(all)
    expect(pricesAt(all, 1_000)).to.deep.equal([price(2), price(3, 2_000)])
    expect(pricesAt(all, 2_000)).to.deep.equal([price(3)])
  })

  it('costs the same from a time on when it is saved again as it is shown then', () => {
    const drawn = fc.record({
      country: fc.constantFrom('GB', '*'),
      micros: fc.nat(9),
      at: fc.option(fc.nat(9), { nil: undefined }),
    })
    fc.assert(
      fc.property(fc.array(drawn), fc.nat(9), (list, shownAt) => {
        const all = list.map(({ country, micros, at }) => price(micros, at, country))
        const [before, after] = [priceList(all), priceList(pricesAt(all, shownAt))]
        for (let at = shownAt; at < 10; at += 1)
          for (const country of ['GB', 'FR']) expect(after('sms', country, at)).to.equal(before('sms', country, at))
      }),
    )
  })
})
