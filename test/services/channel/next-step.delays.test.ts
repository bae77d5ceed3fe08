import { expect } from 'chai'
import fc from 'fast-check'
import { delayAround, delayUpTo } from '../../../services/channel/next-step.ts'

const DELAYS = [1_000, 5_000, 15_000]

describe('the delay of a message that is returned to its queue', () => {
  it('is at most the time to wait, unless every delay is longer', () => {
    expect([400, 1_000, 4_999, 5_000, 60_000].map(ms => delayUpTo(DELAYS, ms))).to.deep.equal([
      400, 1_000, 1_000, 5_000, 15_000,
    ])
  })

  it('is next to the time to wait, which is the mean of many', () => {
    const draws = Array.from({ length: 1_000 }, (_, nth) => nth / 1_000)
    fc.assert(
      fc.property(fc.integer({ min: 1_000, max: 15_000 }), ms => {
        const drawn = draws.map(draw => delayAround(DELAYS, ms, draw))
        const mean = drawn.reduce((sum, delay) => sum + delay, 0) / draws.length
        expect(mean).to.be.closeTo(ms, 10)
        const [shorter, longer] = ms < 5_000 ? [1_000, 5_000] : [5_000, 15_000]
        expect([shorter, longer]).to.include.members(drawn)
      }),
    )
  })

  it('is the only one that is near where there is none on the other side', () => {
    for (const draw of [0, 0.5, 0.999]) {
      expect(delayAround(DELAYS, 60_000, draw)).to.equal(15_000)
      expect(delayAround(DELAYS, 400, draw), 'the broker takes the shortest').to.equal(400)
      expect(delayAround([], 400, draw)).to.equal(400)
    }
  })
})
