import { expect } from 'chai'
import fc from 'fast-check'
import { addToBlock, type BlockNumber, EMPTY_BLOCK } from '../../machines/fraud.number-block.ts'
import { addToTally, EMPTY_TALLY, SLOT_MS, type Tally, type TallyEntry } from '../../machines/fraud.tally.ts'
import { type Evidence, judge } from '../../machines/fraud.ts'
import { propertyRuns } from '../support/property-runs.ts'

const MINUTE = 60_000
const DAY = 86_400_000
const NOW = 20_000 * DAY + 12 * 3_600_000
const NUMBER = { tag: 'own', hundred: '12' }
const OLD = 10 * MINUTE

interface EvidenceOptions {
  /** Numbers of the same block, outside the same hundred. */
  unverified?: number
  verified?: number
  /** Unverified numbers of the same hundred. */
  adjacent?: number
  ageMs?: number
  range?: TallyEntry[]
  country?: TallyEntry[]
}

const many = (count: number, make: (nth: number) => BlockNumber): BlockNumber[] =>
  Array.from({ length: count }, (_, nth) => make(nth))
const lastHour = (sent: number, verified: number): TallyEntry => ({ at: NOW - 4 * SLOT_MS, sent, verified })
const daily = (sent: number, verified: number): TallyEntry[] =>
  [1, 2, 3].map(days => ({ at: NOW - days * DAY, sent, verified }))
const tally = (entries: TallyEntry[] = []): Tally => addToTally(EMPTY_TALLY, entries, NOW)

function evidence({
  unverified = 0,
  verified = 0,
  adjacent = 0,
  ageMs = OLD,
  range,
  country,
}: EvidenceOptions): Evidence {
  const at = NOW - ageMs
  const numbers = [
    ...many(unverified, nth => ({ tag: `u${nth}`, hundred: `${nth % 10}`, at, verified: false })),
    ...many(verified, nth => ({ tag: `v${nth}`, hundred: `${nth % 10}`, at, verified: true })),
    ...many(adjacent, nth => ({ tag: `a${nth}`, hundred: NUMBER.hundred, at, verified: false })),
  ]
  return {
    country: { name: 'GB', tally: tally(country) },
    range: { name: '+447700', tally: tally(range) },
    block: addToBlock(EMPTY_BLOCK, numbers, NOW),
    number: NUMBER,
  }
}
const judged = (options: EvidenceOptions) => judge(evidence(options), NOW)
const signals = (options: EvidenceOptions) => judged(options).reasons.map(({ signal, scope }) => `${signal} ${scope}`)

describe('the fraud guard', () => {
  it('lets a number without any history pass', () => {
    expect(judged({})).to.deep.equal({ verdict: 'pass', score: 0, reasons: [] })
  })

  it('slows and then refuses a number with many unverified neighbours', () => {
    expect(judged({ unverified: 9 }).verdict).to.equal('pass')
    expect(judged({ unverified: 10 }).verdict).to.equal('slow')
    expect(judged({ unverified: 20 }).verdict).to.equal('refuse')
  })

  it('slows and refuses sooner when the neighbours differ in two digits only', () => {
    expect(judged({ adjacent: 4 }).verdict).to.equal('pass')
    expect(judged({ adjacent: 5 }).verdict).to.equal('slow')
    expect(judged({ adjacent: 10 }).verdict).to.equal('refuse')
  })

  it('counts an unverified neighbour half while its user may still enter the code', () => {
    expect(judged({ unverified: 19, ageMs: MINUTE }).verdict).to.equal('pass')
    expect(judged({ unverified: 40, ageMs: MINUTE }).verdict).to.equal('refuse')
  })

  it('lets a number pass when a third of its neighbours verified, and not when only a few did', () => {
    expect(judged({ unverified: 40, verified: 20 }).verdict).to.equal('pass')
    expect(judged({ unverified: 40, verified: 5 }).verdict).to.equal('refuse')
    // In a country where 90 % verify, half of that is needed instead of a third.
    expect(judged({ unverified: 40, verified: 25, country: daily(1_000, 900) }).verdict).to.equal('refuse')
  })

  it('goes on taking a number for verified when it is sent another code', () => {
    const verified = { tag: 'v', hundred: '1', at: NOW - OLD, verified: true }
    const { numbers } = addToBlock(EMPTY_BLOCK, [verified, { ...verified, at: NOW, verified: false }], NOW)
    expect(numbers).to.deep.equal([{ ...verified, at: NOW }])
  })

  it('slows a range or country with a far lower conversion than usual to three times its usual pace', () => {
    const country = [...daily(14_400, 11_520), lastHour(500, 100)]
    expect(signals({ country })).to.deep.equal(['conversion country'])
    expect(judged({ country }).verdict).to.equal('slow')
    expect(judged({ country }).reasons[0]?.pace).to.equal(240)
    expect(signals({ range: [...daily(200, 150), lastHour(60, 5)] })).to.deep.equal(['conversion range'])
  })

  it('lets a conversion pass that is lower by chance or somewhat lower than usual', () => {
    expect(judged({ range: [...daily(200, 150), lastHour(30, 12)] }).verdict).to.equal('pass')
    expect(judged({ country: [...daily(1_000, 500), lastHour(200, 60)] }).verdict).to.equal('pass')
  })

  it('slows sends that are hardly ever verified, even without a usual conversion or with a very low one', () => {
    expect(signals({ range: [lastHour(30, 1)] })).to.deep.equal(['never_verified range'])
    expect(judged({ range: [lastHour(30, 1)] }).reasons[0]?.pace).to.equal(10)
    const lowAsUsual = [...daily(3_000, 60), lastHour(300, 6)]
    expect(signals({ country: lowAsUsual })).to.deep.equal(['never_verified country'])
  })

  it('lets a large campaign pass when its conversion is good', () => {
    const campaign = lastHour(20_000, 14_000)
    expect(
      judged({ country: [...daily(100, 80), campaign], range: [campaign], unverified: 30, verified: 70 }),
    ).to.include({
      verdict: 'pass',
    })
  })

  it('lets sends pass again as soon as they are verified again', () => {
    const slow = [...daily(1_000, 800), lastHour(150, 10)]
    expect(judged({ country: slow }).verdict).to.equal('slow')
    expect(judged({ country: [...slow, { at: NOW - 3 * SLOT_MS, sent: 200, verified: 170 }] }).verdict).to.equal('pass')
  })
})

const upTo = (max: number) => fc.integer({ min: 0, max })
const share = fc.tuple(upTo(500), upTo(500)).map(([sent, verified]) => ({ sent, verified: Math.min(sent, verified) }))
const usual = fc.option(share, { nil: undefined }).map(one => (one ? daily(one.sent, one.verified) : []))
const past = fc.tuple(usual, share).map(([days, { sent, verified }]) => [...days, lastHour(sent, verified)])
const evidenceOptions = fc.record({
  unverified: upTo(150),
  verified: upTo(100),
  adjacent: upTo(30),
  ageMs: upTo(50 * MINUTE),
  range: past,
  country: past,
})
const always = (holds: (options: Required<EvidenceOptions>, more: number) => void) =>
  fc.assert(fc.property(evidenceOptions, fc.integer({ min: 1, max: 50 }), holds), { numRuns: propertyRuns(150) })

describe('the fraud guard, for any evidence', () => {
  it('never lowers the score for more unverified neighbours', () => {
    always((options, more) => {
      const { score } = judged(options)
      expect(judged({ ...options, unverified: options.unverified + more }).score).to.be.at.least(score)
      expect(judged({ ...options, adjacent: options.adjacent + more }).score).to.be.at.least(score)
    })
  })

  it('never lowers the score for more unverified sends', () => {
    always((options, more) => {
      const { score } = judged(options)
      for (const scope of ['range', 'country'] as const)
        expect(judged({ ...options, [scope]: [...options[scope], lastHour(more, 0)] }).score).to.be.at.least(score)
    })
  })

  it('never raises the score for more verified neighbours', () => {
    // A block keeps 64 numbers. With more, a new number could push a verified one out.
    always(({ unverified, verified, adjacent, ...rest }, more) => {
      const few = { ...rest, unverified: unverified % 30, verified: verified % 10, adjacent: adjacent % 8 }
      expect(judged({ ...few, verified: few.verified + (more % 18) }).score).to.be.at.most(judged(few).score)
    })
  })

  it('slows and refuses nothing below the minimum counts', () => {
    always(options => {
      const limitLastHour = (all: TallyEntry[], limit: number) => [
        ...all.slice(0, -1),
        ...all
          .slice(-1)
          .map(({ at, sent, verified }) => ({ at, sent: sent % limit, verified: verified % (sent % limit || 1) })),
      ]
      const small = {
        unverified: options.unverified % 5,
        verified: options.verified,
        adjacent: options.adjacent % 5,
        range: limitLastHour(options.range, 30),
        country: limitLastHour(options.country, 100),
        ageMs: options.ageMs,
      }
      expect(judged(small)).to.deep.equal({ verdict: 'pass', score: 0, reasons: [] })
    })
  })

  it('gives a reason with its subject and counts for every verdict but pass', () => {
    always(options => {
      const { verdict, score, reasons } = judged(options)
      expect(verdict === 'pass').to.equal(reasons.length === 0)
      for (const { scope, subject, sent, verified, detail, points, pace } of reasons) {
        expect(subject).to.equal(scope === 'country' ? 'GB' : '+447700')
        for (const said of [subject, String(sent), String(verified)]) expect(detail).to.include(said)
        expect(points).to.be.within(50, score)
        expect(pace === null).to.equal(points >= 100)
      }
    })
  })
})
