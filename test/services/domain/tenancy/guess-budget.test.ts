import { expect } from 'chai'
import fc from 'fast-check'
import type { LimitRule } from '../../../../machines/settings.ts'
import { allowedPerDay, type GuessSettings, guessesPerDay } from '../../../../services/domain/tenancy/guess-budget.ts'
import { check } from '../../../../services/domain/tenancy/problems.ts'
import { writtenSettingsSchema } from '../../../../services/domain/tenancy/settings.ts'
import { createWindowModel, DAY_MS } from '../../../support/limit-windows.ts'
import { propertyRuns } from '../../../support/property-runs.ts'

const rule = (max: number, seconds: number): LimitRule => ({ max, seconds })

describe('what rules allow in a day', () => {
  const cases: [string, LimitRule[], number][] = [
    ['a rule of an hour, 24 times', [rule(20, 3_600)], 480],
    ['a rule of a day, once', [rule(20, 86_400)], 20],
    ['a rule of a week, once, because all may come on one day', [rule(20, 604_800)], 20],
    ['the smallest of several rules', [rule(5, 600), rule(20, 86_400), rule(30, 604_800)], 20],
    ['a rule that does not divide a day, as often as it begins in one', [rule(10, 50_000)], 20],
    ['no rule, without limit', [], Number.POSITIVE_INFINITY],
  ]
  for (const [what, rules, most] of cases)
    it(`is ${what}`, () => {
      expect(allowedPerDay(rules)).to.equal(most)
    })

  const seconds = fc.oneof(fc.constantFrom(600, 3_600, 43_200, 86_400, 172_800), fc.integer({ min: 600, max: 604_800 }))
  const rules = fc.array(fc.record({ max: fc.integer({ min: 1, max: 12 }), seconds }), { minLength: 1, maxLength: 3 })
  const gaps = fc.array(fc.oneof(fc.nat(DAY_MS), fc.nat(3_600_000), fc.constant(0)), { minLength: 10, maxLength: 60 })

  it('is never exceeded in any 24 hours by the counters, at any timing of calls', () => {
    fc.assert(
      fc.property(rules, gaps, (rules, gaps) => {
        const counter = createWindowModel(rules)
        const granted: number[] = []
        let now = 0
        for (const gap of gaps) {
          now += gap
          while (counter.take(now)) granted.push(now)
          // As soon as the next one is granted.
          now += counter.waitAt(now)
        }
        const inDaysSince = granted.map(from => granted.filter(at => at >= from && at < from + DAY_MS).length)
        expect(Math.max(0, ...inDaysSince)).to.be.at.most(allowedPerDay(rules))
      }),
      { numRuns: propertyRuns(200) },
    )
  })
})

describe('the guesses per recipient and day', () => {
  const settings = (
    changes: Partial<GuessSettings['limits']> = {},
    verify_attempts = 5,
    length = 6,
  ): GuessSettings => ({
    verify_attempts,
    code: { length },
    limits: { recipient: [rule(20, 86_400)], recipient_verify: [rule(20, 3_600)], ...changes },
  })

  it('are the attempts of every send, if the limit of wrong codes allows more', () => {
    expect(guessesPerDay(settings())).to.equal(100)
  })

  it('are twice the limit of wrong codes, because first guesses have one of their own, if the sends allow more', () => {
    expect(guessesPerDay(settings({ recipient: [] }))).to.equal(960)
    expect(guessesPerDay(settings({ recipient_verify: [rule(30, 86_400)] }))).to.equal(60)
  })

  it('are refused above a thousandth of all codes, and only then', () => {
    const rules = fc.array(
      fc.record({ max: fc.integer({ min: 1, max: 400 }), seconds: fc.integer({ min: 600, max: 604_800 }) }),
      {
        maxLength: 3,
      },
    )
    const any = fc.record({
      verify_attempts: fc.integer({ min: 1, max: 10 }),
      code: fc.record({ length: fc.integer({ min: 4, max: 10 }) }),
      limits: fc.record({ recipient: rules, recipient_verify: rules }),
    })
    fc.assert(
      fc.property(any, written => {
        const checked = check(writtenSettingsSchema, written)
        const isBudgeted =
          written.limits.recipient_verify.length > 0 && guessesPerDay(written) * 1_000 <= 10 ** written.code.length
        const isRefused = !checked.ok && checked.problems.some(({ path }) => path === 'limits.recipient_verify')
        expect(isRefused).to.equal(!isBudgeted)
      }),
      { numRuns: propertyRuns(200) },
    )
  })
})
