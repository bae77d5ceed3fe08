import { expect } from 'chai'
import fc from 'fast-check'
import { createRoutesOfApp } from '../../machines/routes.others.ts'
import { judge, judgesNextAt } from '../../machines/routes.silence.ts'
import { type Outage, ROUTE_SLOT_MS, type RouteHistory, type RouteSlot, type Silence } from '../../machines/routes.ts'
import { counts, DAY, HOUR, history, MIDNIGHT, singles, slot, usualDays } from '../support/routes.ts'

const START = MIDNIGHT + 12 * HOUR
const LATER = START + 4 * HOUR
const times = (count: number, approved: boolean): boolean[] => Array.from({ length: count }, () => approved)

/** A provider with a usual conversion and one message in each slot from START on. */
const route = (usual: number, approvals: readonly boolean[], more: Partial<RouteHistory> = {}): RouteHistory =>
  history({ hours: usualDays(START, usual), slots: singles(START, approvals), ...more })
const judgedAt = (
  now: number,
  one: RouteHistory,
  others: readonly RouteHistory[] = [],
  previous: Silence | null = null,
  outages: readonly Outage[] = [],
): Silence => judge(one, createRoutesOfApp([one, ...others], outages), previous, now)
const judged = (one: RouteHistory, others: readonly RouteHistory[] = [], previous: Silence | null = null): Silence =>
  judgedAt(LATER, one, others, previous)
const isSilent = (...all: Parameters<typeof judged>): boolean => judged(...all).since !== null
/** After how many unapproved messages a provider of this usual conversion is silent. */
const noticedAfter = (usual: number, others: readonly RouteHistory[] = []): number =>
  Array.from({ length: 200 }, (_, nth) => nth + 1).find(count => isSilent(route(usual, times(count, false)), others)) ??
  Number.POSITIVE_INFINITY

describe('a silent provider', () => {
  it('is noticed within 30 judged messages where its usual is 80 %, and within 60 where it is 50 %', () => {
    expect(noticedAfter(0.8)).to.be.within(12, 27)
    expect(noticedAfter(0.5)).to.be.within(30, 54)
  })

  it('is not silent for ever once what it did before is forgotten', () => {
    const silent = judged(route(0.8, times(60, false)))
    expect(silent.since).not.to.equal(null)
    const later = LATER + 40 * 24 * HOUR
    const forgotten = history({ hours: [], slots: singles(later - HOUR, times(3, false)) })
    expect(judgedAt(later, forgotten, [], silent)).to.include({ since: null, score: 0 })
  })

  it('is silent since the slot that decided', () => {
    const after = noticedAfter(0.8)
    expect(judged(route(0.8, times(60, false))).since).to.equal(START + (after - 1) * ROUTE_SLOT_MS)
  })

  it('is judged by messages that are older than nine of ten approvals, not by young ones', () => {
    const slow = route(0.8, times(60, false), { seconds_p90: 1_800 })
    const at = (now: number) => judgedAt(now, slow).since
    expect(at(START + 1_800_000 + 10 * ROUTE_SLOT_MS)).to.equal(null)
    expect(at(START + 1_800_000 + 40 * ROUTE_SLOT_MS)).not.to.equal(null)
  })

  it('is not seen in a conversion of half the usual, nor in the chance of many messages', () => {
    expect(
      isSilent(
        route(
          0.8,
          times(500, false).map((_, nth) => nth % 5 < 2),
        ),
      ),
    ).to.equal(false)
    expect(
      isSilent(
        route(
          0.5,
          times(500, false).map((_, nth) => nth % 8 < 2),
        ),
      ),
    ).to.equal(false)
  })

  it('is not hidden by a good past', () => {
    const approvals = [...times(400, true), ...times(30, false)]
    expect(isSilent(route(0.8, approvals))).to.equal(true)
  })

  it('stays silent until its messages are approved again', () => {
    const silent = times(40, false)
    expect(isSilent(route(0.8, [...silent, true, false, false, false, true]))).to.equal(true)
    expect(isSilent(route(0.8, [...silent, true, true, true]))).to.equal(false)
    expect(isSilent(route(0.5, [...silent, ...silent, true, false, true, true, false, true]))).to.equal(false)
  })

  it('must be silent anew after it has recovered', () => {
    const recovered = [...times(40, false), true, true, true]
    expect(isSilent(route(0.8, [...recovered, ...times(10, false)]))).to.equal(false)
    expect(isSilent(route(0.8, [...recovered, ...times(30, false)]))).to.equal(true)
  })

  it('does not become the usual while it lasts', () => {
    const silence: Silence = { score: 20, judged_until: START, since: START - 5 * 24 * HOUR, others: 'unknown' }
    const before = usualDays(START - 5 * 24 * HOUR, 0.8)
    const during = Array.from({ length: 5 * 24 }, (_, nth) => counts(START - (5 * 24 - nth) * HOUR, 100, 1))
    const approvals = times(200, false).map((_, nth) => nth % 20 === 0)
    const one = history({ hours: [...before, ...during], slots: singles(START, approvals) })
    expect(isSilent(one, [], silence)).to.equal(true)
  })
})

describe('a provider is never silent', () => {
  const unapproved = times(200, false)

  it('without a usual: no history, a short one, or one without approvals', () => {
    expect(isSilent(route(0.8, unapproved, { hours: [] }))).to.equal(false)
    expect(isSilent(route(0.8, unapproved, { hours: usualDays(START, 0.8, { days: 1, perHour: 0.5 }) }))).to.equal(
      false,
    )
    expect(isSilent(route(0, unapproved))).to.equal(false)
  })

  it('by the hours in which it fell silent itself', () => {
    const hours = [...usualDays(START, 0.8), counts(START, 30, 0)]
    expect(judged(route(0.8, times(30, false), { hours }))).to.deep.equal(judged(route(0.8, times(30, false))))
  })

  it('where all providers of the country do badly at the same time', () => {
    const others = [history({ provider: 'other', hours: usualDays(START, 0.8), slots: singles(START, unapproved) })]
    expect(noticedAfter(0.8, others)).to.be.above(2 * noticedAfter(0.8))
  })

  it('by a conversion that has fallen as that of the others in the country has', () => {
    const eighth = route(
      0.8,
      times(120, false).map((_, nth) => nth % 8 === 0),
    )
    const third = times(200, false).map((_, nth) => nth % 10 < 3)
    const other = history({ provider: 'other', hours: usualDays(START, 0.8), slots: singles(START, third) })
    expect(isSilent(eighth)).to.equal(true)
    expect(isSilent(eighth, [other])).to.equal(false)
  })

  it('more slowly because others miss a few codes by chance', () => {
    const others = [
      history({
        provider: 'other',
        hours: usualDays(START, 0.8),
        slots: singles(
          START,
          times(200, true).map((_, nth) => nth % 5 < 3),
        ),
      }),
    ]
    expect(noticedAfter(0.8, others)).to.equal(noticedAfter(0.8))
  })

  it('more slowly because another one is silent too, as long as a third does well', () => {
    const other = (provider: string, approved: boolean) =>
      history({ provider, hours: usualDays(START, 0.8), slots: singles(START, times(200, approved)) })
    expect(noticedAfter(0.8, [other('silent', false), other('well', true)])).to.equal(noticedAfter(0.8))
  })

  it('by a conversion that was as low in the same hours a week ago', () => {
    const week = usualDays(START, 0.8)
    const low = week.map(one =>
      Math.abs(one.start - (START - 7 * 24 * HOUR)) <= 3 * HOUR ? counts(one.start, 10, 4) : one,
    )
    const sixth = times(120, false).map((_, nth) => nth % 6 === 0)
    expect(isSilent(route(0.8, sixth))).to.equal(true)
    expect(isSilent(route(0.8, sixth, { hours: low }))).to.equal(false)
  })
})

describe('the test for silence', () => {
  const slots = fc.array(fc.tuple(fc.nat(3), fc.nat(3), fc.nat(12)), { maxLength: 80 }).map(all => {
    const found: RouteSlot[] = []
    let start = START
    for (const [messages, approved, skipped] of all) {
      found.push(slot(start, messages, Math.min(messages, approved)))
      start += (skipped > 9 ? skipped : 1) * ROUTE_SLOT_MS
    }
    return found
  })
  const anyHistory = fc.record({
    provider: fc.constant('acme'),
    hours: fc.double({ min: 0, max: 1, noNaN: true }).map(rate => usualDays(START, rate)),
    slots,
    // A slot is judged when all of it is old enough.
    seconds_p90: fc.option(fc.integer({ min: 1, max: 120 }).map(slots => slots * (ROUTE_SLOT_MS / 1_000))),
  })

  it('comes to the same whether slots come one by one or all at once', () => {
    fc.assert(
      fc.property(anyHistory, anyHistory, fc.integer({ min: 1, max: 90 }), (one, other, step) => {
        const own = history(one)
        const others = [history({ ...other, provider: 'other' })]
        let silence: Silence | null = null
        for (let now = START; now < LATER; now += step * ROUTE_SLOT_MS) silence = judgedAt(now, own, others, silence)
        expect(judgedAt(LATER, own, others, silence)).to.deep.equal(judgedAt(LATER, own, others))
      }),
    )
  })

  it('judges no slot twice', () => {
    fc.assert(
      fc.property(anyHistory, one => {
        const once = judged(history(one))
        expect(judged(history(one), [], once)).to.deep.equal(once)
      }),
    )
  })
})

describe('messages whose codes could not be entered', () => {
  const outage = { from: START + 5 * 60_000, until: START + 15 * 60_000 }
  const during = (approvals: boolean[], outages: readonly Outage[]) =>
    judgedAt(LATER, route(0.8, approvals), [], null, outages)

  it('are no evidence when the service was down in the time in which they are judged', () => {
    // One message in ten seconds: those of the minute before the outage and those in it.
    const heard = times(24, true)
    const unheard = times(66, false)
    expect(during([...heard, ...unheard], []).since).to.be.a('number')
    expect(during([...heard, ...unheard], [outage])).to.include({ score: 0, since: null })
  })

  it('do not hide a provider that is silent afterwards', () => {
    const { since } = during(times(140, false), [{ from: START, until: outage.until }])
    expect(since).to.be.above(outage.until)
  })
})

describe('a provider whose codes nobody enters', () => {
  const OTHERS = { provider: 'other', hours: usualDays(START, 0.8) }
  const unheard = (count = 200) => route(0.8, times(count, false))
  const other = (approvals: readonly boolean[], more: Partial<RouteHistory> = {}) =>
    history({ ...OTHERS, slots: singles(START, approvals), ...more })

  it('is not called silent where no code of another provider is entered, on any channel or in any country', () => {
    for (const more of [{}, { country: 'FR' }, { channel: 'email', country: null }] as const)
      expect(judged(unheard(), [other(times(200, false), more)])).to.include({ since: null })
  })

  it('is silent for sure where codes of another provider, or its own elsewhere, are entered', () => {
    for (const more of [{}, { country: 'FR' }, { provider: 'acme', country: 'FR' }])
      expect(judged(unheard(), [other(times(200, true), more)]))
        .to.include({ others: 'well' })
        .and.have.property('since')
        .above(0)
  })

  it('is not excused by its own silence elsewhere, nor by what other keys send', () => {
    for (const more of [{ provider: 'acme', country: 'FR' }, { kind: 'publishable' }] as const)
      expect(judged(unheard(), [other(times(200, false), more)]))
        .to.include({ others: 'unknown' })
        .and.have.property('since')
        .above(0)
  })

  it('is silent once codes of the others are entered again, and its own are not', () => {
    const others = [other([...times(60, false), ...times(60, true)], { country: 'FR' })]
    const { since, others: found } = judged(unheard(), others)
    expect(found).to.equal('well')
    expect(since).to.be.within(START + 60 * ROUTE_SLOT_MS, START + 80 * ROUTE_SLOT_MS)
  })

  it('is compared with a backup that never had a message, by the messages that it gets now', () => {
    const backup = (approvals: readonly boolean[]) =>
      history({ provider: 'backup', slots: singles(START + 40 * ROUTE_SLOT_MS, approvals) })
    const found = (...all: RouteHistory[]) => judged(unheard(120), all).others
    expect(found()).to.equal('unknown')
    expect(found(backup(times(5, false)))).to.equal('unknown')
    expect(found(backup(times(30, false)))).to.equal('silent')
    expect(found(backup(times(30, false).map((_, nth) => nth % 2 === 0)))).to.equal('well')
    expect(judged(unheard(120), [backup(times(30, false))]).since, 'it was told of').to.be.a('number')
  })

  it('is heard by wrong codes too: its messages arrive', () => {
    const slots = Array.from({ length: 200 }, (_, nth) => slot(START + nth * ROUTE_SLOT_MS, 1, 0, nth % 5 < 4 ? 1 : 0))
    expect(isSilent(route(0.8, [], { slots }))).to.equal(false)
  })

  it('forgets the others when it has recovered', () => {
    const silence = judged(route(0.8, [...times(40, false), true, true, true]))
    expect(silence).to.deep.equal({ score: 0, since: null, judged_until: silence.judged_until })
  })
})

describe('messages of devices', () => {
  const NIGHT = START - 8 * HOUR
  /** Ten messages an hour, and one in the hours of the night. */
  const days = (until: number) =>
    usualDays(until, 0.8).map(one =>
      Math.abs((one.start % DAY) - (NIGHT % DAY)) <= 3 * HOUR ? counts(one.start, 1, 1) : one,
    )
  const unheard = (kind: RouteHistory['kind'], from: number, everySlots: number, count: number) =>
    history({
      kind,
      hours: days(from),
      slots: Array.from({ length: count }, (_, nth) => slot(from + nth * everySlots * ROUTE_SLOT_MS, 1, 0)),
    })
  const noticed = (one: RouteHistory, others: RouteHistory[] = []) =>
    judgedAt((one.slots.at(-1)?.start ?? 0) + HOUR, one, others).since !== null

  it('of a stranger who sends more than is usual at that hour silence no provider', () => {
    expect(noticed(unheard('server', NIGHT, 6, 60))).to.equal(true)
    expect(noticed(unheard('publishable', NIGHT, 6, 60))).to.equal(false)
    expect(noticed(unheard('publishable', NIGHT, 1, 360))).to.equal(false)
  })

  it('show a silent provider in the hours in which they are usual', () => {
    expect(noticed(unheard('publishable', START, 30, 30)), 'twelve an hour').to.equal(true)
  })

  it('silence no provider whose codes for servers are entered', () => {
    const server = (approved: boolean) =>
      history({ hours: usualDays(START, 0.8), slots: singles(START, times(1_000, approved)) })
    expect(noticed(unheard('publishable', START, 30, 30), [server(true)])).to.equal(false)
    expect(noticed(unheard('publishable', START, 30, 30), [server(false)])).to.equal(true)
    expect(noticed(unheard('server', START, 30, 30), [{ ...server(true), kind: 'publishable' }])).to.equal(true)
  })
})

describe('a slot with many messages', () => {
  const DELAY = 60_000
  const busy = (...approved: number[]) =>
    route(0.8, [], { slots: approved.map((one, nth) => slot(START + nth * ROUTE_SLOT_MS, 12, one)) })
  const at = (parts: number) => START + DELAY + parts * ROUTE_SLOT_MS

  it('shows silence before all of its messages are old enough', () => {
    expect(judgedAt(at(1), busy(0, 0)).since).to.equal(null)
    expect(judgedAt(at(1.1), busy(0, 0)).since).to.equal(null)
    expect(judgedAt(at(1.6), busy(0, 0)).since).to.equal(START + ROUTE_SLOT_MS)
  })

  it('is judged whole all the same, and once', () => {
    const early = judgedAt(at(1.6), busy(0, 0))
    expect(early.judged_until).to.equal(START + ROUTE_SLOT_MS)
    const recovered = judgedAt(at(2), busy(0, 6), [], early)
    expect(recovered).to.deep.equal({ score: 0, since: null, judged_until: START + 2 * ROUTE_SLOT_MS })
  })

  it('is not missed in part by codes that are entered in it', () => {
    for (const part of [1.2, 1.5, 1.9]) expect(judgedAt(at(part), busy(0, 8)).since).to.equal(null)
  })

  it('is looked at every two seconds while nobody enters its codes, and every ten otherwise', () => {
    const next = (one: RouteHistory, now: number) => {
      const found = judgesNextAt(one, judgedAt(now, one), now)
      return found === null ? null : found - now
    }
    expect(next(busy(0, 0), at(0.5))).to.equal(2_000)
    expect(next(busy(9, 9), at(0.5))).to.equal(10_000)
    expect(next(busy(0), at(1))).to.equal(null)
    expect(next(route(0.8, times(9, false)), at(0))).to.equal(10_000)
  })
})
