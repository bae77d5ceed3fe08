import { expect } from 'chai'
import { createBoundedMap } from '../../infra/bounded-map.ts'

describe('a bounded map', () => {
  it('keeps at least half of its maximum size, at most all of it, and always the latest values', () => {
    const memory = createBoundedMap<number>(100)
    for (let nth = 0; nth < 1_000; nth += 1) memory.set(`${nth}`, nth)
    const known = Array.from({ length: 1_000 }, (_, nth) => memory.get(`${nth}`)).filter(value => value !== undefined)
    expect(known.length).to.be.within(50, 102)
    expect(known).to.deep.equal(Array.from({ length: known.length }, (_, nth) => 1_000 - known.length + nth))
  })

  it('keeps the latest value of a key that is set again and again', () => {
    const memory = createBoundedMap<number>(10)
    for (let nth = 0; nth < 50; nth += 1) {
      memory.set('always', nth)
      memory.set(`${nth}`, nth)
      expect(memory.get('always')).to.equal(nth)
    }
  })

  it('deletes a key from either of its halves', () => {
    const memory = createBoundedMap<number>(4)
    for (const nth of [1, 2, 3]) memory.set(`${nth}`, nth)
    for (const nth of [1, 3]) memory.delete(`${nth}`)
    expect(['1', '2', '3'].map(memory.get)).to.deep.equal([undefined, 2, undefined])
  })
})
