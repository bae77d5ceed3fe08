import { expect } from 'chai'
import fc from 'fast-check'
import { judge } from '../../machines/routes.silence.ts'
import { ROUTE_SLOT_MS, type RouteCounts, type RouteHistory, type Silence } from '../../machines/routes.ts'
import { counts, HOUR, history, MIDNIGHT, singles, usualDays } from '../support/routes.ts'

const START = MIDNIGHT + 12 * HOUR
const LATER = START + 4 * HOUR
const times = (count: number, approved: boolean): boolean[] => Array.from({ length: count }, () => approved)

/** A provider with a usual conversion and one message in each slot from START on. */
const route = (usual: number, approvals: readonly boolean[], more: Partial<RouteHistory> = {}): RouteHistory =>
  history({ hours: usualDays(START, usual), slots: singles(START, approvals), ...more })
const judged = (one: RouteHistory, others: readonly RouteHistory[] = [], previous: Silence | null = null): Silence =>
  judge(one, others, previous, LATER)
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

  it('is noticed although one message in fifty is approved', () => {
    const approvals = times(30, false).map((_, nth) => nth === 9)
    expect(isSilent(route(0.8, approvals))).to.equal(true)
  })

  it('is silent since the slot that decided', () => {
    const after = noticedAfter(0.8)
    expect(judged(route(0.8, times(60, false))).since).to.equal(START + (after - 1) * ROUTE_SLOT_MS)
  })

  it('is judged by messages that are older than nine of ten approvals, not by young ones', () => {
    const slow = route(0.8, times(60, false), { seconds_p90: 1_800 })
    const at = (now: number) => judge(slow, [], null, now).since
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
    const silence: Silence = { score: 20, judged_until: START, since: START - 5 * 24 * HOUR }
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
    const found: RouteCounts[] = []
    let start = START
    for (const [messages, approved, skipped] of all) {
      found.push(counts(start, messages, Math.min(messages, approved)))
      start += (skipped > 9 ? skipped : 1) * ROUTE_SLOT_MS
    }
    return found
  })
  const anyHistory = fc.record({
    provider: fc.constant('acme'),
    hours: fc.double({ min: 0, max: 1, noNaN: true }).map(rate => usualDays(START, rate)),
    slots,
    seconds_p90: fc.option(fc.integer({ min: 1, max: 1_200 })),
  })

  it('comes to the same whether slots come one by one or all at once', () => {
    fc.assert(
      fc.property(anyHistory, anyHistory, fc.integer({ min: 1, max: 90 }), (one, other, step) => {
        const own = history(one)
        const others = [history({ ...other, provider: 'other' })]
        let silence: Silence | null = null
        for (let now = START; now < LATER; now += step * ROUTE_SLOT_MS) silence = judge(own, others, silence, now)
        expect(judge(own, others, silence, LATER)).to.deep.equal(judge(own, others, null, LATER))
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
