import { expect } from 'chai'
import fc from 'fast-check'
import { allowsOneMore, areOver, countOne, nearestUse, type Windows, waitFor } from '../../machines/windows.ts'

const rule = fc.record({ max: fc.integer({ min: 1, max: 5 }), seconds: fc.constantFrom(1, 7, 60, 600) })
const rules = fc.array(rule, { minLength: 1, maxLength: 3 })
/** Calls come close together, or about as far apart as parts and windows are long. */
const gap = fc.oneof(fc.nat(50), fc.nat(1_500), fc.nat(70_000), fc.nat(700_000))
const call = fc.record({ gap, process: fc.nat(2) })
const calls = fc.array(call, { minLength: 1, maxLength: 80 })
const clocks = fc.oneof(
  fc.constant([0, 0, 0]),
  fc.array(fc.integer({ min: -3_000, max: 3_000 }), { minLength: 3, maxLength: 3 }),
)
const start = fc.nat(100_000_000)

describe('sliding windows', () => {
  it('never count more than their maximum in any stretch of their length, and refuse nothing that is a tenth older', () => {
    fc.assert(
      fc.property(rules, calls, clocks, start, (rules, calls, clocks, start) => {
        const windows: Windows = {}
        const spread = Math.max(...clocks) - Math.min(...clocks)
        const granted: number[] = []
        let now = start
        for (const { gap, process } of calls) {
          now += gap
          const seen = now + (clocks[process] ?? 0)
          const isGranted = allowsOneMore(windows, rules, seen)
          const isFull = ({ max, seconds }: (typeof rules)[number], over: number) => {
            const earlier = granted.at(-max)
            return earlier !== undefined && now - earlier <= seconds * 1000 + over
          }
          if (isGranted) {
            for (const one of rules) expect(isFull(one, -spread), 'too many in a stretch').to.equal(false)
            countOne(windows, rules, seen)
            granted.push(now)
          } else {
            const full = rules.filter(one => isFull(one, one.seconds * 100 + spread))
            expect(full, 'refused for what is long over').to.not.have.length(0)
          }
        }
      }),
    )
  })

  it('say exactly when one more is granted, if nothing else comes', () => {
    fc.assert(
      fc.property(rules, calls, start, (rules, calls, start) => {
        const windows: Windows = {}
        let now = start
        for (const { gap } of calls) {
          now += gap
          const wait = waitFor(windows, rules, now)
          expect(wait === 0).to.equal(allowsOneMore(windows, rules, now))
          expect(allowsOneMore(windows, rules, now + wait)).to.equal(true)
          if (wait > 0) expect(allowsOneMore(windows, rules, now + wait - 1)).to.equal(false)
          else countOne(windows, rules, now)
          const use = nearestUse(windows, rules, now)
          if (use === undefined || use.remaining === use.max) continue
          const { max, seconds, remaining } = use
          const oneMoreThanNow = [{ seconds, max: max - remaining }]
          expect(waitFor(windows, oneMoreThanNow, now), 'as RateLimit says').to.equal(use.more_in_ms)
        }
      }),
    )
  })

  it('keep their newest part while a clock is behind it', () => {
    const windows: Windows = {}
    const one = [{ max: 2, seconds: 10 }]
    countOne(windows, one, 5_000)
    countOne(windows, one, 2_000)
    expect(windows).to.deep.equal({ s10: { part: 5, count: 2 } })
    expect(waitFor(windows, one, 2_000)).to.equal(14_000)
  })
})

describe('windows that are over', () => {
  it('decide like none, at every later time', () => {
    fc.assert(
      fc.property(rules, calls, start, fc.nat(1_500_000), (rules, calls, start, after) => {
        const windows: Windows = {}
        let now = start
        for (const { gap } of calls) {
          now += gap
          countOne(windows, rules, now)
        }
        now += after
        if (areOver(windows, now)) expect(waitFor(windows, rules, now)).to.equal(0)
      }),
    )
  })

  it('are found when the part of the last count is out, and not sooner', () => {
    const windows: Windows = {}
    const rules = [
      { max: 1, seconds: 60 },
      { max: 9, seconds: 600, counts: 'messages' as const },
    ]
    countOne(windows, rules, 0)
    expect(areOver(windows, 659_999)).to.equal(false)
    expect(areOver(windows, 660_000)).to.equal(true)
  })
})
