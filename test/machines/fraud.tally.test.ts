import { expect } from 'chai'
import {
  addToTally,
  countsUpToNow,
  EMPTY_TALLY,
  SLOT_MS,
  settledCounts,
  type Tally,
  type TallyEntry,
  trafficNow,
  usualConversion,
  usualPace,
  usualTraffic,
} from '../../machines/fraud.tally.ts'

const DAY = 86_400_000
const NOW = 20_000 * DAY + 12 * 3_600_000
const entry = (at: number, sent: number, verified = 0): TallyEntry => ({ at, sent, verified })
const tally = (...all: TallyEntry[]): Tally => addToTally(EMPTY_TALLY, all, NOW)

describe('a tally of sends', () => {
  it('counts a verified send in the slot in which its verification started', () => {
    const startedAt = NOW - 4 * SLOT_MS
    const before = tally(entry(startedAt, 1), entry(startedAt, 1))
    expect(settledCounts(addToTally(before, [entry(startedAt, 0, 1)], NOW), NOW)).to.deep.equal({
      sent: 2,
      verified: 1,
    })
  })

  it('counts an hour up to now, and the traffic of its last five to ten minutes', () => {
    const ages = [0, SLOT_MS, 2 * SLOT_MS, 11 * SLOT_MS, 12 * SLOT_MS]
    const all = tally(...ages.map(age => entry(NOW - age, 1)))
    expect(countsUpToNow(all, NOW).sent).to.equal(4)
    expect(trafficNow(all, NOW)).to.equal(2)
  })

  it('takes the usual traffic from the median day', () => {
    const days = [1_440, 2_880, 500_000].map((sent, nth) => entry(NOW - (nth + 1) * DAY, sent))
    expect(usualTraffic(tally(...days), NOW)).to.equal(20)
    expect(usualTraffic(tally(entry(NOW, 100)), NOW)).to.equal(null)
  })

  it('leaves out sends of the last ten minutes, and those older than an hour before that', () => {
    const ages = [0, SLOT_MS, 2 * SLOT_MS, 13 * SLOT_MS, 14 * SLOT_MS]
    expect(settledCounts(tally(...ages.map(age => entry(NOW - age, 1))), NOW).sent).to.equal(2)
  })

  it('takes the usual conversion from the median day, so that a few days of fraud do not change it', () => {
    const good = [1, 3, 5, 6].map(days => entry(NOW - days * DAY, 100, 80))
    const bad = [2, 4].map(days => entry(NOW - days * DAY, 5_000, 10))
    expect(usualConversion(tally(...good, ...bad), NOW)).to.equal(0.8)
  })

  it('has no usual conversion from today alone, from days with few sends, or from no sends', () => {
    expect(usualConversion(tally(entry(NOW, 500, 400)), NOW)).to.equal(null)
    expect(usualConversion(tally(entry(NOW - DAY, 19, 19)), NOW)).to.equal(null)
    expect(usualConversion(EMPTY_TALLY, NOW)).to.equal(null)
  })

  it('takes the usual pace from verified sends only', () => {
    const past = tally(entry(NOW - DAY, 10_000, 1_440), entry(NOW - 2 * DAY, 10_000, 1_440))
    expect(usualPace(past, NOW)).to.equal(10)
    expect(usualPace(EMPTY_TALLY, NOW)).to.equal(0)
  })

  it('keeps at most 14 slots and 8 days', () => {
    let long = EMPTY_TALLY
    for (let at = NOW - 30 * DAY; at <= NOW; at += SLOT_MS) long = addToTally(long, [entry(at, 1)], at)
    expect(long.slots).to.have.length.at.most(14)
    expect(long.days).to.have.length.at.most(8)
  })
})
