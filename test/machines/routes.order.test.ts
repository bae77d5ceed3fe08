import { expect } from 'chai'
import fc from 'fast-check'
import {
  drawOrder,
  passedOn,
  type RouteOption,
  type RouteRule,
  sharesOf as sharesBeside,
  suggestionOf,
} from '../../machines/routes.order.ts'
import type { Evidence, Others } from '../../machines/routes.ts'
import { createRandom } from '../support/random.ts'
import { fact } from '../support/routes.ts'

const PRIOR = { approved: 2.8, missed: 1.2 }
const LISTED: RouteRule = { providers: 'listed', worth_micros: 0 }
const BEST: RouteRule = { providers: 'best', worth_micros: 0 }
const SILENCE = { score: 20, judged_until: 0, since: 5 }

/** In the order of the list: approved, missed, and what differs. `silent` may say what the others do. */
const options = (...all: [approved: number, missed: number, more?: { silent?: boolean | Others; cost?: number }][]) =>
  all.map(([approved, missed, { silent = false, cost = null } = {}], listed): RouteOption => {
    const provider = 'abcdefghijklmnop'[listed] as string
    const silence = typeof silent === 'string' ? { ...SILENCE, others: silent } : SILENCE
    return {
      provider,
      fact: fact(approved, missed, { provider, ...(silent ? { silence } : {}) }),
      cost_micros: cost,
      listed,
    }
  })
const messagesOf = (all: readonly RouteOption[]): number =>
  all.reduce((sum, { fact }) => sum + (fact?.messages ?? 0), 0)
/** `elsewhere`: messages of providers that may no longer be used. */
const sharesOf = (all: readonly RouteOption[], rule: RouteRule, prior: Evidence, elsewhere = 0) =>
  sharesBeside(all, rule, { prior, messages: messagesOf(all) + elsewhere })
const sharesBy = (all: readonly RouteOption[], rule = BEST): Record<string, number> =>
  Object.fromEntries(sharesOf(all, rule, PRIOR).map(({ provider, share }) => [provider, share]))
const firstOf = (all: readonly RouteOption[], rule: RouteRule, at: number) =>
  drawOrder(sharesOf(all, rule, PRIOR), () => at)

describe('the listed order', () => {
  it('is kept, whatever the evidence', () => {
    expect(firstOf(options([1, 99], [99, 1]), LISTED, 0.999)).to.deep.equal({ order: ['a', 'b'], because: null })
  })

  it('is kept in mode best with fewer than 50 messages in the country', () => {
    expect(sharesBy(options([1, 24], [24, 0]))).to.deep.equal({ a: 1, b: 0 })
    expect(sharesBy(options([1, 24], [25, 0])).b).to.be.above(0.8)
  })

  it('moves a silent provider behind the others, and probes it with 2 % of the messages', () => {
    const all = options([5, 95, { silent: true }], [60, 40], [70, 30])
    expect(sharesBy(all, LISTED)).to.deep.equal({ a: 0.02, b: 0.98, c: 0 })
    expect(firstOf(all, LISTED, 0.01)).to.deep.equal({
      order: ['a', 'b', 'c'],
      because: { rule: 'probe', share: 0.02, conversion: 0.075 },
    })
    expect(firstOf(all, LISTED, 0.03)).to.deep.equal({
      order: ['b', 'c', 'a'],
      because: { rule: 'spared', share: 0.98, conversion: 0.604 },
    })
  })

  const silentBeside = (others: Others): RouteOption[] => options([5, 95, { silent: others }], [0, 0], [70, 30])

  it('gives the next one half of the messages while nobody knows whether it does better', () => {
    expect(sharesBy(silentBeside('unknown'), LISTED)).to.deep.equal({ a: 0.5, b: 0.5, c: 0 })
    expect(firstOf(silentBeside('unknown'), LISTED, 0.4).because).to.include({ rule: 'probe', share: 0.5 })
    expect(firstOf(silentBeside('unknown'), LISTED, 0.6)).to.deep.include({ order: ['b', 'c', 'a'] })
  })

  it('is kept where codes of the others are not entered either, with 2 % for each to notice a change', () => {
    expect(sharesBy(silentBeside('silent'), LISTED)).to.deep.equal({ a: 0.96, b: 0.02, c: 0.02 })
    const { order, because } = firstOf(silentBeside('silent'), LISTED, 0.5)
    expect([order[0], because]).to.deep.equal(['a', null])
    expect(firstOf(silentBeside('silent'), LISTED, 0.97).because).to.include({ rule: 'explored', share: 0.02 })
  })

  it('is kept where the only provider, or every one, is silent, with 2 % for each to notice a recovery', () => {
    const silent = { silent: true }
    expect(firstOf(options([0, 90, silent]), LISTED, 0.5)).to.deep.equal({ order: ['a'], because: null })
    const all = options([0, 90, silent], [50, 0, silent], [40, 0, silent])
    expect(sharesBy(all, LISTED)).to.deep.equal({ a: 0.96, b: 0.02, c: 0.02 })
    expect(firstOf(all, LISTED, 0.4)).to.deep.equal({ order: ['a', 'b', 'c'], because: null })
    expect(firstOf(all, LISTED, 0.97).because).to.include({ rule: 'explored', share: 0.02 })
  })
})

describe('the order by evidence', () => {
  it('counts the messages of a provider that may no longer be used as messages of the country', () => {
    const few = options([5, 15], [10, 10])
    expect(sharesBy(few)).to.deep.equal({ a: 1, b: 0 })
    expect(sharesOf(few, BEST, PRIOR, 10)[1]?.share).to.be.at.least(0.8)
    expect(sharesOf(few, BEST, PRIOR, 460)[1]?.share).to.be.closeTo(0.98, 1e-9)
  })

  it('puts the better provider first', () => {
    expect(sharesBy(options([50, 50], [90, 10])).b).to.be.closeTo(0.98, 1e-9)
    expect(firstOf(options([50, 50], [90, 10]), BEST, 0.5)).to.deep.equal({
      order: ['b', 'a'],
      because: { rule: 'best', share: 0.98, conversion: 0.892 },
    })
  })

  /** As if each provider had so many messages in 30 days, of which the evidence is what has not faded. */
  const withMessages = (perProvider: number, all: readonly RouteOption[]): RouteOption[] =>
    all.map(option => ({ ...option, fact: option.fact && { ...option.fact, messages: perProvider } }))

  it('explores by the chance to be the best, by evidence that counts more where the country had more messages', () => {
    const shareOf = (perProvider: number) => sharesBy(withMessages(perProvider, options([30, 20], [6, 8]))).b
    // The chance that a draw of Beta(8.4, 9.6) is above one of Beta(32.4, 21.6).
    expect(shareOf(25)).to.be.closeTo(0.19, 0.005)
    // Beta(20.4, 25.6) above Beta(92.4, 61.6).
    expect(shareOf(75)).to.be.closeTo(0.035, 0.005)
    // Less than its least share.
    expect(shareOf(250)).to.be.closeTo(0.02, 1e-9)
    expect(firstOf(withMessages(75, options([30, 20], [6, 8])), BEST, 0.999).because?.rule).to.equal('explored')
  })

  it('counts evidence ten times at most', () => {
    const shareOf = (perProvider: number) => sharesBy(withMessages(perProvider, options([6, 4], [5, 5]))).b
    expect(shareOf(250)).to.be.above(0.021).and.below(0.19)
    expect(shareOf(2_500)).to.equal(shareOf(250))
  })

  it('gives the others 20 % together at most, in the proportion of their chances', () => {
    const shares = sharesBy(options([75, 25], [7, 3], [7, 3], [1, 40]))
    expect((shares.b ?? 0) + (shares.c ?? 0) + (shares.d ?? 0)).to.be.closeTo(0.2, 1e-9)
    expect(shares.b).to.be.closeTo(shares.c ?? 0, 1e-9)
    expect(shares.d).to.be.closeTo(0.02, 1e-9)
  })

  it('takes the cost off, measured by the worth of an approval', () => {
    const all = options([80, 20, { cost: 60_000 }], [75, 25, { cost: 10_000 }])
    expect(sharesBy(all).a).to.be.above(0.79)
    expect(sharesBy(all, { providers: 'best', worth_micros: 200_000 }).b).to.be.above(0.9)
    const cheap = options([80, 20, { cost: 50 }], [75, 25, { cost: 0 }])
    expect(sharesBy(all, { providers: 'best', worth_micros: 1_000_000_000 }).a).to.be.closeTo(
      sharesBy(cheap, { providers: 'best', worth_micros: 1_000_000 }).a ?? 0,
      1e-9,
    )
  })

  it('says what the cost took off, where cost counts', () => {
    const all = options([90, 10, { cost: 50_000 }], [80, 20, { cost: 1_000 }])
    const worth = { providers: 'best', worth_micros: 100_000 } as const
    expect(firstOf(all, worth, 0.5).because).to.deep.equal({ rule: 'best', share: 0.98, conversion: 0.796, less: 0.01 })
    expect(firstOf(all, worth, 0.01).because).to.include({ rule: 'explored', conversion: 0.892, less: 0.5 })
    const free = options([90, 10, { cost: 50_000 }], [80, 20, { cost: 0 }])
    expect(firstOf(free, worth, 0.5).because).to.include({ rule: 'best', less: 0 })
  })

  it('says nothing of cost where it does not decide', () => {
    const worth = { providers: 'best', worth_micros: 100_000 } as const
    const silent = { silent: true, cost: 1_000 }
    const reasons = [
      firstOf(options([50, 50, { cost: 50_000 }], [90, 10, { cost: 1_000 }]), BEST, 0.5),
      firstOf(options([50, 50, { cost: 50_000 }], [90, 10]), worth, 0.5),
      firstOf(options([50, 50, silent], [90, 10, { cost: 1_000 }]), { ...worth, providers: 'listed' }, 0.5),
      firstOf(options([50, 50, silent], [90, 10, { cost: 1_000 }]), worth, 0.01),
    ].map(({ because }) => because)
    expect(reasons.map(because => because?.rule)).to.deep.equal(['best', 'best', 'spared', 'probe'])
    for (const because of reasons) expect(because).to.not.have.property('less')
  })

  it('compares a provider that is surely known with a cheap one that is not known', () => {
    const all = options([3_000, 0, { cost: 128_938 }], [0, 0, { cost: 0 }])
    expect(sharesBy(all, { providers: 'best', worth_micros: 100_000 })).to.deep.equal({ a: 0.02, b: 0.98 })
  })

  it('ignores costs unless every provider has one, because a provider without a price would look free', () => {
    const some = options([80, 20, { cost: 60_000 }], [75, 25])
    expect(sharesBy(some, { providers: 'best', worth_micros: 100_000 })).to.deep.equal(sharesBy(some))
  })

  it('knows nothing against a provider without facts', () => {
    const all = options([30, 70], [0, 0]).map(option => (option.listed === 1 ? { ...option, fact: null } : option))
    expect(sharesBy(all).b).to.be.above(0.8)
  })

  it('breaks ties as listed', () => {
    expect(sharesBy(options([40, 10], [40, 10]))).to.deep.equal({ a: 0.8, b: 0.2 })
  })
})

describe('in every order', () => {
  const count = fc.double({ min: 0, max: 5_000, noNaN: true })
  const anySilent = fc.constantFrom<(boolean | Others)[]>(false, true, 'well', 'silent', 'unknown')
  const option = fc.tuple(count, count, anySilent, fc.option(fc.nat(200_000)))
  const anyOptions = fc
    .array(option, { minLength: 1, maxLength: 8 })
    .map(all =>
      options(
        ...all.map(([approved, missed, silent, cost]): Parameters<typeof options>[number] => [
          approved,
          missed,
          cost === null ? { silent } : { silent, cost },
        ]),
      ),
    )
  const anyRule = fc.record({
    providers: fc.constantFrom<RouteRule['providers']>('listed', 'best'),
    worth_micros: fc.constantFrom(0, 100_000, 10_000_000),
  })
  const othersOf = ({ fact }: RouteOption) => fact?.silence.others
  const isUnsure = (option: RouteOption) => othersOf(option) === 'unknown'
  /** Where codes of the others are not entered either, a silent provider stands behind none of them. */
  const standsBehind = (option: RouteOption) => option.fact?.silence.since != null && othersOf(option) !== 'silent'
  const always = (holds: (all: RouteOption[], rule: RouteRule, seed: number) => void) =>
    fc.assert(fc.property(anyOptions, anyRule, fc.integer({ min: 1, max: 1_000_000 }), holds))

  it('the shares add up to 1, and none is negative', () => {
    always((all, rule) => {
      const shares = sharesOf(all, rule, PRIOR)
      expect(shares.reduce((sum, { share }) => sum + share, 0)).to.be.closeTo(1, 1e-9)
      for (const { share } of shares) expect(share).to.be.within(0, 1)
    })
  })

  it('no provider starves, and all but the best get 20 % at most, and one half where it is not known whether they do better', () => {
    always((all, { worth_micros }) => {
      if (messagesOf(all) < 50) return
      const shares = sharesOf(all, { providers: 'best', worth_micros }, PRIOR)
      for (const { share } of shares) expect(share).to.be.at.least(0.02 - 1e-9)
      const unsure = all.every(standsBehind) ? [] : all.filter(isUnsure).map(({ provider }) => provider)
      const sure = shares.filter(({ provider }) => !unsure.includes(provider)).map(({ share }) => share)
      const kept = unsure.length > 0 ? 0.5 : 0
      expect(1 - kept - Math.max(...sure)).to.be.at.most(0.2 + 1e-9)
    })
  })

  it('in mode best, one more approval takes no share from a provider, and one more miss gives it none', () => {
    always((all, rule, seed) => {
      const nth = seed % all.length
      const name = all[nth]?.provider
      const shareWith = (approved: number, missed: number) => {
        const changed = all.map((option, at): RouteOption => {
          if (at !== nth || option.fact === null) return option
          const { evidence, messages } = option.fact
          const more = { approved: evidence.approved + approved, missed: evidence.missed + missed }
          return { ...option, fact: { ...option.fact, messages: messages + approved + missed, evidence: more } }
        })
        const shares = sharesOf(changed, { ...rule, providers: 'best' }, PRIOR)
        return shares.find(({ provider }) => provider === name)?.share ?? 0
      }
      if (messagesOf(all) < 500) return
      expect(shareWith(1, 0)).to.be.at.least(shareWith(0, 0) - 1e-3)
      expect(shareWith(0, 1)).to.be.at.most(shareWith(0, 0) + 1e-3)
    })
  })

  it('silent providers are first for 2 % of the messages each, and for one half together while the others are not known', () => {
    always((all, rule) => {
      if (all.every(standsBehind)) return
      const shares = new Map(sharesOf(all, rule, PRIOR).map(({ provider, share }) => [provider, share]))
      for (const option of all.filter(standsBehind))
        expect(shares.get(option.provider)).to.equal(isUnsure(option) ? 0.5 / all.filter(isUnsure).length : 0.02)
    })
  })

  it('every provider that may be used is in it once, and no other', () => {
    always((all, rule, seed) => {
      const { order } = drawOrder(sharesOf(all, rule, PRIOR), createRandom(seed))
      expect(order).to.have.members(all.map(({ provider }) => provider))
    })
  })

  it('silent providers are last, unless one is probed', () => {
    always((all, rule, seed) => {
      if (all.every(standsBehind)) return
      const { order } = drawOrder(sharesOf(all, rule, PRIOR), createRandom(seed))
      const silent = order.slice(1).map(provider => all.some(one => one.provider === provider && standsBehind(one)))
      expect(silent).to.deep.equal(silent.toSorted((one, other) => Number(one) - Number(other)))
    })
  })

  it('the same seed gives the same order, and the options may come in any order', () => {
    always((all, rule, seed) => {
      const drawn = (some: RouteOption[]) => drawOrder(sharesOf(some, rule, PRIOR), createRandom(seed))
      expect(drawn(all)).to.deep.equal(drawn(all))
      expect(drawn(all.toReversed())).to.deep.equal(drawn(all))
    })
  })
})

describe('the shares while breakers are open', () => {
  it('are those of the first closed provider in the drawn orders', () => {
    for (const [rule, silent] of [
      [BEST, true],
      [LISTED, true],
      [BEST, 'unknown'],
      [LISTED, 'unknown'],
    ] as const) {
      const all = options([30, 20], [6, 4], [20, 20], [0, 9, { silent }], [25, 25])
      for (const open of ['', 'a', 'b', 'ab', 'abc', 'abce', 'd', 'abcde']) {
        const shares = sharesOf(all, rule, PRIOR)
        const random = createRandom(1)
        const first = Array.from({ length: 20_000 }, () =>
          drawOrder(shares, random).order.find(name => !open.includes(name)),
        )
        for (const { provider, share } of passedOn(shares, name => open.includes(name)))
          expect(
            first.filter(one => one === provider).length / 20_000,
            `${provider} while ${open} are open`,
          ).to.be.closeTo(share, 0.015)
      }
    }
  })
})

describe('a suggested first provider', () => {
  const suggested = (worth_micros: number, ...all: Parameters<typeof options>) => {
    const among = options(...all)
    return suggestionOf(among, worth_micros, { prior: PRIOR, messages: messagesOf(among) })
  }

  it('is the one that is surely better, with the reason', () => {
    expect(suggested(0, [60, 40], [85, 15], [55, 45])).to.deep.equal({
      provider: 'b',
      to: 0,
      because: 'b converts 84 % (77 to 91 %); a converts 60 % (51 to 70 %)',
    })
  })

  it('is none where the first is the best, where the evidence is thin or where the gain is small', () => {
    expect(suggested(0, [85, 15], [60, 40])).to.equal(null)
    expect(suggested(0, [60, 40], [4, 1])).to.equal(null)
    expect(suggested(0, [10, 15], [20, 4])).to.equal(null)
    expect(suggested(0, [60_000, 40_000], [60_900, 39_100])).to.equal(null)
    expect(suggested(0, [60, 40])).to.equal(null)
  })

  it('is never a silent one, and counts cost', () => {
    expect(suggested(0, [60, 40], [85, 15, { silent: true }])).to.equal(null)
    expect(suggested(0, [90, 10, { silent: true }], [60, 40], [85, 15])).to.deep.include({ provider: 'c', to: 1 })
    const cheaper = suggested(200_000, [80, 20, { cost: 60_000 }], [75, 25, { cost: 10_000 }])
    expect(cheaper?.provider).to.equal('b')
    expect(cheaper?.because).to.match(/^b converts .*, less 5 % for its cost; a converts .*, less 30 % for its cost$/)
    const free = suggested(2_000_000, [80, 20, { cost: 1_000_000 }], [75, 25, { cost: 0 }])
    expect(free?.because).to.match(/^b converts .*, less 0 % for its cost; a converts .*, less 50 % for its cost$/)
    const small = suggested(2_000_000, [60, 40, { cost: 900 }], [85, 15, { cost: 9_000 }])
    expect(small?.because).to.match(/less 0.5 % for its cost; a converts .*, less 0 % for its cost$/)
  })
})
