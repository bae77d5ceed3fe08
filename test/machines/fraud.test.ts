import { expect } from 'chai'
import fc from 'fast-check'
import { addToBlock, type BlockNumber, EMPTY_BLOCK } from '../../machines/fraud.block.ts'
import { addToTally, EMPTY_TALLY, SLOT_MS, type Tally, type TallyEntry } from '../../machines/fraud.tally.ts'
import { type Evidence, judge } from '../../machines/fraud.ts'

const MINUTE = 60_000
const DAY = 86_400_000
const NOW = 20_000 * DAY + 12 * 3_600_000
const NUMBER = { tag: 'own', hundred: '12' }
const OLD = 10 * MINUTE

interface EvidenceOptions {
  /** Of its block, outside its hundred. */
  unverified?: number
  verified?: number
  /** Of its hundred. */
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
const judged = (scene: EvidenceOptions) => judge(evidence(scene), NOW)
const signals = (scene: EvidenceOptions) => judged(scene).reasons.map(({ signal, scope }) => `${signal} ${scope}`)

describe('the fraud guard', () => {
  it('has nothing against a number nobody knows', () => {
    expect(judged({})).to.deep.equal({ verdict: 'pass', score: 0, reasons: [] })
  })

  it('slows and then refuses a crowd of neighbours that nobody verifies', () => {
    expect(judged({ unverified: 9 }).verdict).to.equal('pass')
    expect(judged({ unverified: 10 }).verdict).to.equal('slow')
    expect(judged({ unverified: 20 }).verdict).to.equal('refuse')
  })

  it('is quicker with numbers that differ in two digits only', () => {
    expect(judged({ adjacent: 4 }).verdict).to.equal('pass')
    expect(judged({ adjacent: 5 }).verdict).to.equal('slow')
    expect(judged({ adjacent: 10 }).verdict).to.equal('refuse')
  })

  it('waits with neighbours who may still be reading', () => {
    expect(judged({ unverified: 19, ageMs: MINUTE }).verdict).to.equal('pass')
    expect(judged({ unverified: 40, ageMs: MINUTE }).verdict).to.equal('refuse')
  })

  it('takes neighbours for people when a third of them verified, and not for a few', () => {
    expect(judged({ unverified: 40, verified: 20 }).verdict).to.equal('pass')
    expect(judged({ unverified: 40, verified: 5 }).verdict).to.equal('refuse')
    // Where nearly all verify, a third is no longer people.
    expect(judged({ unverified: 40, verified: 25, country: daily(1_000, 900) }).verdict).to.equal('refuse')
  })

  it('slows a range or country of which far fewer are verified than usual, to three times its usual pace', () => {
    const country = [...daily(14_400, 11_520), lastHour(500, 100)]
    expect(signals({ country })).to.deep.equal(['conversion country'])
    expect(judged({ country }).verdict).to.equal('slow')
    expect(judged({ country }).reasons[0]?.pace).to.equal(240)
    expect(signals({ range: [...daily(200, 150), lastHour(60, 5)] })).to.deep.equal(['conversion range'])
  })

  it('knows chance and a bad hour from fraud', () => {
    expect(judged({ range: [...daily(200, 150), lastHour(30, 12)] }).verdict).to.equal('pass')
    expect(judged({ country: [...daily(1_000, 500), lastHour(200, 60)] }).verdict).to.equal('pass')
  })

  it('slows what is hardly ever verified, where nothing is usual, and where nothing else is', () => {
    expect(signals({ range: [lastHour(30, 1)] })).to.deep.equal(['never_verified range'])
    expect(judged({ range: [lastHour(30, 1)] }).reasons[0]?.pace).to.equal(10)
    const poisoned = [...daily(3_000, 60), lastHour(300, 6)]
    expect(signals({ country: poisoned })).to.deep.equal(['never_verified country'])
  })

  it('lets a campaign pass that converts, however large', () => {
    const campaign = lastHour(20_000, 14_000)
    expect(
      judged({ country: [...daily(100, 80), campaign], range: [campaign], unverified: 30, verified: 70 }),
    ).to.include({
      verdict: 'pass',
    })
  })

  it('gets over it as soon as they are verified again', () => {
    const slow = [...daily(1_000, 800), lastHour(150, 10)]
    expect(judged({ country: slow }).verdict).to.equal('slow')
    expect(judged({ country: [...slow, { at: NOW - 3 * SLOT_MS, sent: 200, verified: 170 }] }).verdict).to.equal('pass')
  })
})

const upTo = (max: number) => fc.integer({ min: 0, max })
const share = fc.tuple(upTo(500), upTo(500)).map(([sent, verified]) => ({ sent, verified: Math.min(sent, verified) }))
const usual = fc.option(share, { nil: undefined }).map(one => (one ? daily(one.sent, one.verified) : []))
const past = fc.tuple(usual, share).map(([days, { sent, verified }]) => [...days, lastHour(sent, verified)])
const scenes = fc.record({
  unverified: upTo(150),
  verified: upTo(100),
  adjacent: upTo(30),
  ageMs: upTo(50 * MINUTE),
  range: past,
  country: past,
})
const always = (holds: (scene: Required<EvidenceOptions>, more: number) => void) =>
  fc.assert(fc.property(scenes, fc.integer({ min: 1, max: 50 }), holds), { numRuns: 500 })

describe('whatever the fraud guard is shown', () => {
  it('more neighbours that nobody verified never make it milder', () => {
    always((scene, more) => {
      const { score } = judged(scene)
      expect(judged({ ...scene, unverified: scene.unverified + more }).score).to.be.at.least(score)
      expect(judged({ ...scene, adjacent: scene.adjacent + more }).score).to.be.at.least(score)
    })
  })

  it('more sends that nobody verified never make it milder', () => {
    always((scene, more) => {
      const { score } = judged(scene)
      for (const of of ['range', 'country'] as const)
        expect(judged({ ...scene, [of]: [...scene[of], lastHour(more, 0)] }).score).to.be.at.least(score)
    })
  })

  it('more neighbours who verified never make it stricter', () => {
    // Fewer than a block remembers: past that, whoever is remembered less may be the one who verified.
    always(({ unverified, verified, adjacent, ...scene }, more) => {
      const few = { ...scene, unverified: unverified % 30, verified: verified % 10, adjacent: adjacent % 8 }
      expect(judged({ ...few, verified: few.verified + (more % 18) }).score).to.be.at.most(judged(few).score)
    })
  })

  it('below the least volumes nothing is slowed or refused', () => {
    always(scene => {
      const young = (all: TallyEntry[], most: number) => [
        ...all.slice(0, -1),
        ...all
          .slice(-1)
          .map(({ at, sent, verified }) => ({ at, sent: sent % most, verified: verified % (sent % most || 1) })),
      ]
      const small = {
        unverified: scene.unverified % 5,
        verified: scene.verified,
        adjacent: scene.adjacent % 5,
        range: young(scene.range, 30),
        country: young(scene.country, 100),
        ageMs: scene.ageMs,
      }
      expect(judged(small)).to.deep.equal({ verdict: 'pass', score: 0, reasons: [] })
    })
  })

  it('every reason names what it refers to and what was seen; nothing is held against anyone without one', () => {
    always(scene => {
      const { verdict, score, reasons } = judged(scene)
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
