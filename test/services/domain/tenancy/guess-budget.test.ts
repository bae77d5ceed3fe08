import { expect } from 'chai'
import fc from 'fast-check'
import type { LimitRule } from '../../../../machines/settings.ts'
import {
  allowedPerDay,
  type GuessSettings,
  guessBudget,
  guessesPerDay,
} from '../../../../services/domain/tenancy/guess-budget.ts'
import { parseSettings } from '../../../../services/domain/tenancy/settings.ts'
import { createWindowModel, DAY_MS } from '../../../support/limit-windows.ts'

const rule = (max: number, seconds: number): LimitRule => ({ max, seconds })

describe('what rules allow in a day', () => {
  const cases: [string, LimitRule[], number][] = [
    ['a rule of an hour, 24 times', [rule(20, 3_600)], 480],
    ['a rule of a day, once', [rule(20, 86_400)], 20],
    ['a rule of a week, once, because all may come on one day', [rule(20, 604_800)], 20],
    ['the smallest of several rules', [rule(5, 600), rule(20, 86_400), rule(30, 604_800)], 20],
    ['a rule that does not divide a day, and a window more', [rule(10, 50_000)], 27],
    ['a rule longer than a day but not of whole days, and a window more', [rule(10, 100_000)], 18],
    ['no rule, without limit', [], Number.POSITIVE_INFINITY],
  ]
  for (const [what, rules, most] of cases)
    it(`is ${what}`, () => {
      expect(allowedPerDay(rules)).to.equal(most)
    })

  const seconds = fc.oneof(fc.constantFrom(600, 3_600, 43_200, 86_400, 172_800), fc.integer({ min: 600, max: 604_800 }))
  const rules = fc.array(fc.record({ max: fc.integer({ min: 1, max: 12 }), seconds }), { minLength: 1, maxLength: 3 })
  const gaps = fc.array(fc.oneof(fc.nat(DAY_MS), fc.nat(3_600_000), fc.constant(0)), { minLength: 10, maxLength: 60 })

  it('is never exceeded on a UTC day by the counters, at any timing of calls', () => {
    fc.assert(
      fc.property(rules, gaps, (rules, gaps) => {
        const counter = createWindowModel(rules)
        const perDay = new Map<number, number>()
        let now = 0
        for (const gap of gaps) {
          now += gap
          while (counter.take(now))
            perDay.set(Math.floor(now / DAY_MS), (perDay.get(Math.floor(now / DAY_MS)) ?? 0) + 1)
          // As soon as the next one is granted.
          now += counter.waitAt(now)
        }
        expect(Math.max(...perDay.values())).to.be.at.most(allowedPerDay(rules))
      }),
      { numRuns: 500 },
    )
  })
})

describe('the guesses per recipient and day', () => {
  const settings = (
    changes: Partial<GuessSettings['limits']> = {},
    mode: 'template' | 'link_code' | 'link_inbound' = 'template',
  ): GuessSettings => ({
    verify_attempts: 5,
    code: { length: 6 },
    limits: {
      recipient: [rule(20, 86_400)],
      recipient_messages: [rule(50, 86_400)],
      recipient_verify: [rule(20, 3_600)],
      ...changes,
    },
    channels: { whatsapp: { mode } },
  })

  it('are the attempts of every send, if the limit of wrong codes allows more', () => {
    expect(guessesPerDay(settings())).to.equal(100)
  })

  it('are the limit of wrong codes and the first guess of every send, if the attempts allow more', () => {
    expect(guessesPerDay(settings({ recipient_verify: [rule(60, 86_400)] }))).to.equal(60 + 20)
    expect(guessesPerDay(settings({ recipient: [] })), 'messages limit the sends').to.equal(480 + 50)
  })

  it('are not limited by messages where the user fetches the code over a link', () => {
    const limits = { recipient: [rule(200, 86_400)] }
    expect(guessesPerDay(settings(limits, 'link_inbound'))).to.equal(480 + 50)
    expect(guessesPerDay(settings(limits, 'link_code'))).to.equal(480 + 200)
  })

  it('are refused above a thousandth of all codes, and only then', () => {
    const seconds = fc.integer({ min: 600, max: 604_800 })
    const rules = fc.array(fc.record({ max: fc.integer({ min: 1, max: 400 }), seconds }), { maxLength: 3 })
    const any = fc.record({
      verify_attempts: fc.integer({ min: 1, max: 10 }),
      code: fc.record({ length: fc.integer({ min: 4, max: 8 }) }),
      limits: fc.record({ recipient: rules, recipient_messages: rules, recipient_verify: rules }),
      channels: fc.record({ whatsapp: fc.record({ mode: fc.constantFrom('template', 'link_code') }) }),
    })
    fc.assert(
      fc.property(any, written => {
        const parsed = parseSettings(written)
        const isLimited = written.limits.recipient_verify.length > 0
        const isBudgeted = isLimited && guessesPerDay(written) * 1_000 <= 10 ** written.code.length
        const isRefused = !parsed.ok && parsed.problems.some(({ path }) => path === 'limits.recipient_verify')
        expect(isRefused).to.equal(!isBudgeted)
      }),
      { numRuns: 500 },
    )
  })

  it('have a budget that grows tenfold with each digit', () => {
    const budgets = [4, 5, 6, 7, 8].map(length => guessBudget({ ...settings(), code: { length } }))
    expect(budgets).to.deep.equal([10, 100, 1_000, 10_000, 100_000])
  })

  it('are never exceeded over whole days by an attacker who sends and guesses at any time', () => {
    const small = fc.array(
      fc.record({ max: fc.integer({ min: 1, max: 6 }), seconds: fc.constantFrom(3_600, 21_600, 86_400, 90_000) }),
      { minLength: 1, maxLength: 2 },
    )
    const any = fc.record({
      verify_attempts: fc.integer({ min: 1, max: 4 }),
      limits: fc.record({ recipient: small, recipient_messages: small, recipient_verify: small }),
      mode: fc.constantFrom('template' as const, 'link_code' as const),
      hours: fc.array(
        fc.record({
          sends: fc.nat(6),
          guesses: fc.array(fc.nat(40), { maxLength: 12 }),
          minutes: fc.integer({ min: 1, max: 300 }),
        }),
        { minLength: 5, maxLength: 40 },
      ),
    })
    fc.assert(
      fc.property(any, ({ verify_attempts, limits, mode, hours }) => {
        const sends = createWindowModel(limits.recipient)
        const messages = createWindowModel(limits.recipient_messages)
        const wrongCodes = createWindowModel(limits.recipient_verify)
        const isMessage = mode !== 'link_code'
        /** The wrong codes of each verification. */
        const verifications: number[] = []
        let compared = 0
        let now = 0
        for (const { sends: wanted, guesses, minutes } of hours) {
          for (let nth = 0; nth < wanted; nth += 1) {
            const isFull = sends.waitAt(now) > 0 || (isMessage && messages.waitAt(now) > 0)
            if (isFull) break
            sends.take(now)
            if (isMessage) messages.take(now)
            verifications.push(0)
          }
          for (const guess of guesses) {
            const which = verifications.length === 0 ? -1 : guess % verifications.length
            const wrong = verifications[which]
            if (wrong === undefined || wrong >= verify_attempts) continue
            if (!wrongCodes.take(now) && wrong > 0) continue
            verifications[which] = wrong + 1
            compared += 1
          }
          now += minutes * 60_000
        }
        const days = Math.floor(now / DAY_MS) + 1
        const daily = guessesPerDay({ verify_attempts, limits, code: { length: 6 }, channels: { whatsapp: { mode } } })
        expect(compared).to.be.at.most(days * daily)
      }),
      { numRuns: 500 },
    )
  })
})
