import { expect } from 'chai'
import fc from 'fast-check'
import { groupNamesOf } from '../../machines/fraud.groups.ts'
import { addToHistory, EMPTY_HISTORY, type NumberEntry } from '../../machines/fraud.number.ts'
import { addToBlock, type BlockNumber, EMPTY_BLOCK } from '../../machines/fraud.number-block.ts'
import { addToTally, EMPTY_TALLY, SLOT_MS, type Tally, type TallyEntry } from '../../machines/fraud.tally.ts'
import { type Evidence, judge } from '../../machines/fraud.ts'
import type { KeyKind } from '../../machines/otp.ts'
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
  app?: TallyEntry[]
  kind?: KeyKind
  history?: NumberEntry[] | undefined
  backsOff?: boolean
  /** Of a mailbox; `range` is then its domain's, null for one of a large provider. */
  isMailbox?: boolean
  hasRange?: boolean
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
  app,
  kind = 'server',
  history,
  backsOff = true,
  isMailbox = false,
  hasRange = true,
}: EvidenceOptions): Evidence {
  const at = NOW - ageMs
  const numbers = [
    ...many(unverified, nth => ({ tag: `u${nth}`, hundred: `${nth % 10}`, at, verified: false })),
    ...many(verified, nth => ({ tag: `v${nth}`, hundred: `${nth % 10}`, at, verified: true })),
    ...many(adjacent, nth => ({ tag: `a${nth}`, hundred: NUMBER.hundred, at, verified: false })),
  ]
  return {
    kind,
    perMinute: 60,
    app: kind === 'publishable' ? { name: 'all numbers', tally: tally(app) } : null,
    history: history ? addToHistory(EMPTY_HISTORY, history, NOW) : null,
    backsOff,
    country: { name: 'GB', tally: tally(country) },
    range: hasRange ? { name: '+447700', tally: tally(range) } : null,
    isMailbox,
    block: addToBlock(EMPTY_BLOCK, numbers, NOW),
    number: NUMBER,
  }
}
const PASSED = { verdict: 'pass', score: 0, reasons: [], retryAfterMs: 0 }
const judged = (options: EvidenceOptions) => judge(evidence(options), NOW)
const signals = (options: EvidenceOptions) => judged(options).reasons.map(({ signal, scope }) => `${signal} ${scope}`)

describe('the fraud guard', () => {
  it('lets a number without any history pass', () => {
    expect(judged({})).to.deep.equal(PASSED)
  })

  it('slows and then refuses a number with many unverified neighbours, sooner when they differ in two digits only', () => {
    expect(judged({ unverified: 9 }).verdict).to.equal('pass')
    expect(judged({ unverified: 10 }).verdict).to.equal('slow')
    expect(judged({ unverified: 20 }).verdict).to.equal('refuse')
    expect(judged({ adjacent: 4 }).verdict).to.equal('pass')
    expect(judged({ adjacent: 5 }).verdict).to.equal('slow')
    expect(judged({ adjacent: 10 }).verdict).to.equal('refuse')
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

  it('slows a server’s range or country with too many unverified messages to three times its usual pace', () => {
    const country = [...daily(14_400, 11_520), lastHour(500, 100)]
    expect(signals({ country })).to.deep.equal(['unverified country'])
    expect(judged({ country }).verdict).to.equal('slow')
    expect(judged({ country }).reasons[0]?.pace).to.equal(240)
    expect(signals({ range: [...daily(200, 150), lastHour(60, 5)] })).to.deep.equal(['unverified range'])
    expect(judged({ range: [lastHour(31, 1)] }).verdict, 'within the floor').to.equal('pass')
    expect(judged({ range: [lastHour(34, 2)] }).verdict, 'each verified one allows more').to.equal('pass')
    expect(judged({ range: [lastHour(40, 1)] }).reasons[0]).to.include({ pace: 10, sent: 40, verified: 1 })
  })

  it('lets a conversion pass that is usual, however low, or somewhat lower than usual', () => {
    expect(judged({ range: [...daily(200, 150), lastHour(30, 12)] }).verdict).to.equal('pass')
    expect(judged({ country: [...daily(1_000, 500), lastHour(300, 100)] }).verdict).to.equal('pass')
    expect(judged({ country: [...daily(3_000, 300), lastHour(600, 60)] }).verdict).to.equal('pass')
    expect(judged({ country: [...daily(3_000, 60), lastHour(300, 6)] }).verdict, 'one in fifty').to.equal('slow')
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

describe('the fraud guard, for what devices send', () => {
  const kind = 'publishable'
  const now = (sent: number, verified = 0): TallyEntry => ({ at: NOW, sent, verified })

  it('counts every message at once: 120 unverified ones of the app or a country slow, and 30 of a range', () => {
    expect(signals({ kind, app: [now(119)] })).to.deep.equal([])
    expect(signals({ kind, app: [now(120)] })).to.deep.equal(['unverified app'])
    expect(signals({ kind, country: [now(120)] })).to.deep.equal(['unverified country'])
    expect(signals({ kind, range: [now(30)] })).to.deep.equal(['unverified range'])
    expect(judged({ kind, app: [now(120)] }).reasons[0]).to.include({ subject: 'all numbers', pace: 5 })
    expect(signals({ kind: 'server', range: [now(1_000)] }), 'a server’s wait ten minutes').to.deep.equal([])
  })

  it('slows to half of what is usually verified in ten minutes', () => {
    const app = [...daily(5_000, 4_320), now(300, 0)]
    expect(judged({ kind, app }).reasons[0]?.pace).to.equal(15)
  })

  it('does not slow a country or a range that is well, because others of the app are pumped', () => {
    const pumped = [now(5_000)]
    const well = [...daily(1_440, 1_152), now(60, 48)]
    const { country, range } = { country: well, range: well }
    expect(signals({ kind, app: pumped })).to.deep.equal(['unverified app'])
    expect(signals({ kind, app: pumped, country })).to.deep.equal([])
    expect(signals({ kind, app: pumped, range })).to.deep.equal([])
    expect(signals({ kind, app: pumped, country: pumped, range })).to.deep.equal([])
    // Its usual conversion must be known, and it must be well without the floor.
    expect(signals({ kind, app: pumped, country: [now(60, 48)] })).to.deep.equal(['unverified app'])
    expect(signals({ kind, app: pumped, country: [...well, now(60)] })).to.deep.equal(['unverified app'])
  })

  it('allows no more than three unverified messages for a verified one, however few are usual', () => {
    const seldom = daily(1_000, 20)
    expect(signals({ kind, app: [...seldom, now(121 + 100 + 300, 100)] })).to.deep.equal(['unverified app'])
    expect(signals({ kind, app: [...seldom, now(100 + 300, 100)] })).to.deep.equal([])
  })

  const HOUR = 60 * MINUTE
  const starts = (...ages: number[]): NumberEntry[] => ages.map(age => ({ at: NOW - age, what: 'start' }))
  const messages = (count: number, age: number): NumberEntry[] =>
    Array.from({ length: count }, () => ({ at: NOW - age, what: 'message' }))

  it('lets a number that is never verified begin again after 1, then 4, then 24 hours', () => {
    const wait = (...ages: number[]) => judged({ kind, history: starts(...ages) }).retryAfterMs
    expect(wait(MINUTE, 2 * MINUTE)).to.equal(0)
    expect(wait(MINUTE, 2 * MINUTE, 3 * MINUTE)).to.equal(HOUR - MINUTE)
    expect(wait(HOUR, 2 * HOUR, 3 * HOUR)).to.equal(0)
    expect(wait(HOUR, 3 * HOUR, 3 * HOUR, 3 * HOUR)).to.equal(3 * HOUR)
    expect(wait(HOUR, 6 * HOUR, 8 * HOUR, 8 * HOUR, 8 * HOUR)).to.equal(23 * HOUR)
    expect(wait(HOUR, 25 * HOUR, 26 * HOUR, 27 * HOUR), 'those of another day').to.equal(0)
    expect(judged({ kind, history: starts(1, 2, 3), backsOff: false }).verdict, 'a resend').to.equal('pass')
    expect(signals({ kind, history: starts(1, 2, 3) })).to.deep.equal(['unverified number'])
  })

  it('ends the distance between starts with an approval, in whatever order processes tell of it', () => {
    const approval: NumberEntry = { at: NOW - MINUTE, what: 'approval' }
    const history = starts(2 * MINUTE, 3 * MINUTE, 4 * MINUTE)
    for (const entries of [
      [...history, approval],
      [approval, ...history],
    ])
      expect(judged({ kind, history: entries }).verdict).to.equal('pass')
    expect(judged({ kind, history: [...history, approval, ...starts(1, 2, 3)] }).verdict).to.equal('refuse')
  })

  it('refuses the eleventh unverified message to a number in an hour, until the hour of the first is over', () => {
    expect(judged({ kind, history: messages(9, 10 * MINUTE) }).verdict).to.equal('pass')
    const full = messages(10, 10 * MINUTE)
    expect(judged({ kind, history: full })).to.include({ verdict: 'refuse', retryAfterMs: 50 * MINUTE })
    expect(judged({ kind, history: [...full, { at: NOW, what: 'approval' }] }).verdict, 'one was verified').to.equal(
      'pass',
    )
    expect(judged({ kind, history: messages(10, HOUR) }).verdict).to.equal('pass')
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
  app: past,
  kind: fc.constantFrom<KeyKind>('server', 'publishable'),
  history: fc.option(
    fc.array(
      fc.record({
        at: upTo(90 * MINUTE).map(age => NOW - age),
        what: fc.constantFrom<NumberEntry['what']>('start', 'message', 'approval'),
      }),
      {
        maxLength: 14,
      },
    ),
    { nil: undefined },
  ),
})
type AnyEvidence = typeof evidenceOptions extends fc.Arbitrary<infer T> ? T : never
const always = (holds: (options: AnyEvidence, more: number) => void) =>
  fc.assert(fc.property(evidenceOptions, fc.integer({ min: 1, max: 50 }), holds), { numRuns: propertyRuns(150) })

describe('the groups of a mailbox', () => {
  const groups = (mailbox: string) => {
    const { all, country, range, block } = groupNamesOf({ value: mailbox, country: null })
    expect([all, block]).to.deep.equal(['all addresses', null])
    return `${country}: ${range}`
  }

  it('are its domain without subdomains, and none at a large provider, which is watched as a whole', () => {
    expect(groups('ada@gmail.com')).to.equal('large mailbox providers: null')
    expect(groups('ada@mail.yahoo.co.jp')).to.equal('large mailbox providers: null')
    expect(groups('ada@example.com')).to.equal('other mail domains: example.com')
    expect(groups('ada@a7.b.example.com')).to.equal('other mail domains: example.com')
    expect(groups('ada@x.shop.co.uk')).to.equal('other mail domains: shop.co.uk')
    expect(groups('ada@gmail.com.evil.io')).to.equal('other mail domains: evil.io')
  })

  it('slow its domain, or the large providers with the floor of a country, and its own wait names an address', () => {
    const mail = { kind: 'publishable', isMailbox: true } as const
    expect(signals({ ...mail, range: [lastHour(30, 0)] })).to.deep.equal(['unverified range'])
    expect(signals({ ...mail, hasRange: false, country: [lastHour(119, 0)] })).to.deep.equal([])
    expect(signals({ ...mail, hasRange: false, country: [lastHour(120, 0)] })).to.deep.equal(['unverified country'])
    const usual = [...daily(14_400, 11_520), lastHour(100, 80)]
    expect(signals({ ...mail, hasRange: false, country: usual, app: [lastHour(500, 100)] })).to.deep.equal([])
    const history = Array.from({ length: 3 }, () => ({ at: NOW, what: 'start' as const }))
    expect(judged({ ...mail, history }).reasons[0]).to.deep.include({ scope: 'number', subject: 'one address' })
  })
})

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
      for (const scope of ['range', 'country', 'app'] as const)
        expect(judged({ ...options, [scope]: [...options[scope], lastHour(more, 0)] }).score).to.be.at.least(score)
      const history = [...(options.history ?? []), { at: NOW, what: 'start' as const }]
      if (options.history) expect(judged({ ...options, history }).score).to.be.at.least(score)
    })
  })

  it('never raises the score for more verified messages', () => {
    always((options, more) => {
      const { score } = judged(options)
      for (const scope of ['range', 'country', 'app'] as const)
        expect(judged({ ...options, [scope]: [...options[scope], lastHour(0, more)] }).score).to.be.at.most(score)
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
        app: limitLastHour(options.app, 100),
        kind: options.kind,
        history: options.history?.slice(0, 2),
        ageMs: options.ageMs,
      }
      expect(judged(small)).to.deep.equal(PASSED)
    })
  })

  it('gives a reason with its subject and counts for every verdict but pass', () => {
    always(options => {
      const { verdict, score, reasons } = judged(options)
      expect(verdict === 'pass').to.equal(reasons.length === 0)
      const subjects: Partial<Record<string, string>> = { country: 'GB', app: 'all numbers', number: 'one number' }
      for (const { scope, subject, sent, verified, detail, points, pace } of reasons) {
        expect(subject).to.equal(subjects[scope] ?? '+447700')
        const said = scope === 'number' ? [sent] : [subject, sent, verified]
        for (const one of said) expect(detail).to.include(String(one))
        expect(points).to.be.within(50, score)
        expect(pace === null).to.equal(points >= 100)
      }
    })
  })
})
