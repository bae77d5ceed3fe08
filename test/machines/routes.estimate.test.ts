import { expect } from 'chai'
import fc from 'fast-check'
import { agedFacts, estimate, factsOf, pooledPrior } from '../../machines/routes.estimate.ts'
import { counts, DAY, fact, HOUR, history, key, MIDNIGHT, slot } from '../support/routes.ts'

const MINUTE = 60_000
const NOW = MIDNIGHT + 12 * HOUR
const only = <T>(all: readonly T[]): T => {
  expect(all).to.have.length(1)
  return all[0] as T
}
const factOf = (...all: Parameters<typeof history>) => only(factsOf([history(...all)], [], NOW))
/** Within four percent: the weight of a message that is an hour old. */
const close = (value: number, expected: number) => expect(value).to.be.closeTo(expected, 0.04 * Math.max(1, expected))

describe('the facts about a route', () => {
  it('add up what was stored, without decay', () => {
    const hours = [counts(NOW - 20 * DAY, 100, 60), counts(NOW - 5 * HOUR, 40, 20)]
    const { messages, delivered, approved, provider } = factOf({ hours, provider: 'acme' })
    expect({ messages, delivered, approved, provider }).to.deep.equal({
      messages: 140,
      delivered: 140,
      approved: 80,
      provider: 'acme',
    })
  })

  it('weigh a message half after a day, and a quarter after two', () => {
    for (const [days, weight] of [
      [1, 0.5],
      [2, 0.25],
    ] as const) {
      const { evidence } = factOf({ hours: [counts(NOW - days * DAY - HOUR / 2, 100, 80)] })
      close(evidence.approved, 80 * weight)
      close(evidence.missed, 20 * weight)
    }
  })

  it('leave out messages that may still be approved', () => {
    const slots = [slot(NOW - 70_000, 10, 8), slot(NOW - 60_000, 10, 0), slot(NOW - 10_000, 10, 0)]
    const { evidence } = factOf({ slots, hours: [counts(NOW - HOUR, 30, 8)] })
    close(evidence.approved, 8)
    close(evidence.missed, 2)
  })

  it('count an hour once, by its slots until all of it is judged', () => {
    const at = NOW - HOUR
    const slots = [slot(at + 10 * MINUTE, 10, 5), slot(NOW - 5 * MINUTE, 10, 5)]
    const hours = [counts(at, 20, 10)]
    const seen = (now: number) => only(factsOf([history({ hours, slots })], [], now)).evidence
    for (const now of [NOW, NOW + 59_000, NOW + 61_000, NOW + 5 * MINUTE]) close(seen(now).approved, 10)
    close(seen(NOW - 30 * MINUTE).approved, 5)
  })

  it('wait for a route without approvals as long as for the others of its channel', () => {
    const slots = [slot(NOW - 5 * MINUTE, 10, 0)]
    const silent = history({ provider: 'silent', slots, seconds_p90: null })
    const missed = (other: Partial<Parameters<typeof history>[0]>) =>
      factsOf([silent, history({ seconds_p90: 600, ...other })], [], NOW)[0]?.evidence.missed
    expect(missed({ country: 'FR' })).to.equal(0)
    expect(missed({ channel: 'email' })).to.be.above(9)
    expect(missed({ kind: 'publishable' })).to.be.above(9)
  })

  it('keep the kinds of keys, channels, countries and providers apart', () => {
    const routes = [{ kind: 'publishable' }, { channel: 'email' }, { country: null }, { provider: 'other' }] as const
    const histories = routes.map((more, nth) => history({ ...more, hours: [counts(NOW - DAY, nth + 1, 0)] }))
    const facts = factsOf(histories, [], NOW)
    expect(facts.map(({ messages }) => messages)).to.deep.equal([1, 2, 3, 4])
    expect(facts.map(({ kind, channel, country, provider }) => ({ kind, channel, country, provider }))).to.deep.equal(
      routes.map(more => key(more)),
    )
  })

  it('go on with the test for silence where it stood', () => {
    const silence = { score: 3, judged_until: NOW - HOUR, since: null }
    const [known, other] = factsOf(
      [history(), history({ provider: 'other' })],
      [fact(1, 1, { silence }), fact(1, 1, { provider: 'gone', silence })],
      NOW,
    )
    expect(known?.silence).to.deep.equal({ score: 3, judged_until: NOW - 60_000, since: null })
    expect(other?.silence.score).to.equal(0)
  })
})

describe('facts that no message renews', () => {
  it('fade as time goes by, and keep what was counted', () => {
    const [aged] = agedFacts([fact(80, 20)], NOW, NOW + DAY)
    expect(aged).to.deep.equal(fact(80, 20, { evidence: { approved: 40, missed: 10 } }))
    expect(agedFacts([fact(80, 20)], NOW, NOW - HOUR)[0], 'by a clock that is behind').to.deep.equal(fact(80, 20))
  })
})

describe('the expected conversion of a provider without evidence', () => {
  it('is the mean rate of the routes of its channel, however many messages they get, and weighs less than twenty messages', () => {
    const rateOf = (...all: Parameters<typeof fact>[]) => {
      const { approved, missed } = pooledPrior(
        all.map(one => fact(...one)),
        'sms',
      )
      expect(approved + missed).to.be.below(20)
      return approved / (approved + missed)
    }
    const many = Array.from({ length: 20 }, (): [number, number] => [800, 200])
    close(rateOf(...many), 0.8)
    close(rateOf(...many, ...many.map((): [number, number] => [4, 6])), 0.65)
    close(rateOf(...many, [0, 5_000, { channel: 'email' }]), 0.8)
    expect(rateOf([10, 90]), 'one bad provider').to.be.within(0.25, 0.35)
    expect(estimate({ approved: 4, missed: 16 }, pooledPrior([fact(800, 200)], 'sms')).mean).to.be.below(0.35)
  })

  it('is a half where nothing is known, and never certain', () => {
    const [unknown, certain] = [pooledPrior([], 'sms'), pooledPrior([fact(1_000, 0)], 'sms')]
    expect(unknown.approved).to.equal(unknown.missed)
    expect(certain.missed).to.be.above(0)
  })
})

describe('an estimate', () => {
  const weight = fc.double({ min: 0, max: 100_000, noNaN: true })
  const some = fc.record({ approved: weight, missed: weight })
  const priors = some.map(evidence => pooledPrior([fact(evidence.approved, evidence.missed)], 'sms'))

  it('lies inside its interval, between 0 and 1', () => {
    fc.assert(
      fc.property(some, priors, (evidence, prior) => {
        const { mean, low, high } = estimate(evidence, prior)
        expect([0, low, mean, high, 1]).to.deep.equal([0, low, mean, high, 1].toSorted((one, other) => one - other))
      }),
    )
  })

  it('has the interval of the beta distribution', () => {
    // Beta(82, 22), by summing it up in 200 000 steps.
    const { low, high } = estimate({ approved: 80, missed: 20 }, { approved: 2, missed: 2 })
    expect(low).to.be.closeTo(0.7054, 0.001)
    expect(high).to.be.closeTo(0.861, 0.001)
  })

  it('gets surer with evidence', () => {
    const prior = pooledPrior([], 'sms')
    const width = (count: number) => {
      const { low, high } = estimate({ approved: count, missed: count }, prior)
      return high - low
    }
    expect(width(10)).to.be.above(2 * width(100))
    expect(width(100)).to.be.above(2 * width(1_000))
  })
})
