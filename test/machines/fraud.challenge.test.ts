import { expect } from 'chai'
import fc from 'fast-check'
import { type ChallengeEvidence, challengeNeed } from '../../machines/fraud.challenge.ts'
import { addToHistory, EMPTY_HISTORY, type NumberEntry } from '../../machines/fraud.number.ts'
import { addToTally, EMPTY_TALLY, type Tally, type TallyEntry } from '../../machines/fraud.tally.ts'
import { propertyRuns } from '../support/property-runs.ts'

const MINUTE = 60_000
const DAY = 86_400_000
const NOW = 20_000 * DAY + 12 * 3_600_000

interface Options {
  app?: TallyEntry[]
  country?: TallyEntry[]
  range?: TallyEntry[]
  history?: NumberEntry[]
  address?: 'unknown' | 'suspect' | null
  /** Unverified sends of the address's network. */
  network?: number
  /** One that the guard counts nothing of. */
  uncounted?: boolean
}

const now = (sent: number, verified = 0): TallyEntry => ({ at: NOW, sent, verified })
const earlier = (sent: number, verified = 0): TallyEntry => ({ at: NOW - 30 * MINUTE, sent, verified })
const daily = (sent: number, verified: number): TallyEntry[] =>
  [1, 2, 3].map(days => ({ at: NOW - days * DAY, sent, verified }))
const tally = (entries: TallyEntry[] = []): Tally => addToTally(EMPTY_TALLY, entries, NOW)

function evidence({
  app,
  country,
  range,
  history = [],
  address = 'unknown',
  network = 0,
  uncounted,
}: Options): ChallengeEvidence {
  const traffic = tally(app)
  return {
    traffic,
    perMinute: 60,
    recipient: uncounted
      ? null
      : {
          kind: 'publishable',
          perMinute: 60,
          app: { name: 'all numbers', tally: traffic },
          country: { name: 'GB', tally: tally(country) },
          range: { name: '+447700', tally: tally(range) },
          history: addToHistory(EMPTY_HISTORY, history, NOW),
          backsOff: true,
        },
    address: address && { suspect: address === 'suspect', network: tally([now(network)]) },
  }
}
const need = (options: Options) => challengeNeed(evidence(options), NOW)
const starts = (count: number): NumberEntry[] =>
  Array.from({ length: count }, (_, nth) => ({ at: NOW - nth, what: 'start' }))

describe('the need for a challenge', () => {
  it('is none for an ordinary call with an address', () => {
    expect(need({})).to.deep.equal({ asked: false, pressure: 0 })
    expect(need({ app: [...daily(5_000, 4_000), now(100, 80)] })).to.deep.equal({ asked: false, pressure: 0 })
    expect(need({ address: null }).asked).to.equal(true)
    expect(need({ address: null, uncounted: true }).asked).to.equal(true)
  })

  it('begins when half of an allowance is used, and is greatest when all of it is', () => {
    const used: [Options, Options, Options][] = [
      [{ app: [earlier(60)] }, { app: [earlier(90)] }, { app: [earlier(120)] }],
      [{ country: [earlier(60)] }, { country: [earlier(90)] }, { country: [earlier(120)] }],
      [{ range: [earlier(15)] }, { range: [earlier(22)] }, { range: [earlier(30)] }],
    ]
    for (const [half, more, all] of used) {
      expect(need(half)).to.deep.equal({ asked: false, pressure: 0 })
      expect(need(more).asked).to.equal(true)
      expect(need(more).pressure).to.be.within(0.4, 0.6)
      expect(need(all)).to.deep.equal({ asked: true, pressure: 1 })
    }
  })

  it('is greatest for a number that backs off', () => {
    expect(need({ history: starts(2) }).asked).to.equal(false)
    expect(need({ history: starts(3) })).to.deep.equal({ asked: true, pressure: 1 })
  })

  it('begins at three times the usual traffic, for a new app at a quarter of what a minute allows, and stays moderate', () => {
    const usual = daily(14_400, 11_000)
    expect(need({ app: [...usual, now(300, 300)] }).asked).to.equal(false)
    expect(need({ app: [...usual, now(301, 301)] }).asked).to.equal(true)
    expect(need({ app: [now(45, 45)] }).asked).to.equal(false)
    expect(need({ app: [now(46, 46)] }).asked).to.equal(true)
    expect(need({ app: [now(3_000, 3_000)] }).pressure).to.equal(0.5)
    expect(
      need({ app: [now(46, 46)], uncounted: true }).asked,
      'where the guard counts nothing of the recipient too',
    ).to.equal(true)
  })

  it('is raised by a suspect address, which alone does not ask before its network has three unverified sends', () => {
    expect(need({ address: 'suspect', network: 2 })).to.deep.equal({ asked: false, pressure: 0.25 })
    expect(need({ address: 'suspect', network: 3 }).asked).to.equal(true)
    expect(need({ address: 'suspect', network: 3, uncounted: true }).asked).to.equal(true)
    expect(need({ address: 'suspect', network: 12 }).pressure).to.equal(1)
    expect(need({ address: 'unknown', network: 99 }).asked, 'an address that is not suspect').to.equal(false)
  })
})

describe('the need for a challenge, for any evidence', () => {
  const upTo = (max: number) => fc.integer({ min: 0, max })
  const entries = fc
    .tuple(upTo(400), upTo(400), upTo(1_000))
    .map(([sent, verified, past]) => [...daily(past, Math.floor(past / 2)), now(sent, Math.min(sent, verified))])
  const options = fc.record({
    app: entries,
    country: entries,
    range: entries,
    history: upTo(8).map(starts),
    address: fc.constantFrom('unknown' as const, 'suspect' as const, null),
    network: upTo(20),
    uncounted: fc.boolean(),
  })

  it('has a pressure from 0 to 1, and asks whenever pressure comes from more than the address', () => {
    fc.assert(
      fc.property(options, one => {
        const { asked, pressure } = need(one)
        expect(pressure).to.be.within(0, 1)
        if (!asked) expect(pressure).to.equal(one.address === 'suspect' ? 0.25 : 0)
      }),
      { numRuns: propertyRuns(150) },
    )
  })

  it('does not fall with more unverified messages, more starts or a network with more sends', () => {
    fc.assert(
      fc.property(options, fc.integer({ min: 1, max: 50 }), (one, more) => {
        const before = need(one)
        const worse = [
          { ...one, app: [...one.app, now(more)] },
          { ...one, country: [...one.country, now(more)] },
          { ...one, range: [...one.range, now(more)] },
          { ...one, history: [...one.history, ...starts(more)] },
          { ...one, network: one.network + more },
        ]
        for (const after of worse.map(need)) {
          expect(after.pressure).to.be.at.least(before.pressure)
          if (before.asked) expect(after.asked).to.equal(true)
        }
      }),
      { numRuns: propertyRuns(100) },
    )
  })
})
