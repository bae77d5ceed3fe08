// What a verification adds to the counts of its routes: change by change the same as all at once, and each route once.
import { expect } from 'chai'
import fc from 'fast-check'
import type { SavedOtp } from '../../../../machines/otp.versions.ts'
import {
  addRoute,
  changedEntries,
  changesTried,
  isRepeated,
  routeEntries,
} from '../../../../services/domain/routes/contribution.ts'
import { addSlots, addToSlot, decodeSlots, encodeSlots, type Slots } from '../../../../services/domain/routes/slots.ts'
import { changesContribution } from '../../../../services/domain/stats/contribution.ts'
import { type Cells, encodeCells } from '../../../../services/domain/stats/counts.ts'
import { histories, runHistory } from '../../../support/otp.arbitraries.ts'
import {
  device,
  issued,
  MINUTE,
  type Move,
  play,
  reported,
  resend,
  right,
  T0,
  wait,
  wrong,
} from '../../../support/otp.ts'
import { propertyRuns } from '../../../support/property-runs.ts'
import { expectedRoutes, expectedSlots, routesIn, routesInSlots } from '../../../support/route-counts.ts'

const HOUR = 60 * MINUTE

/** What is stored after these changes, each of which is counted as the OTP actor does. */
function counted(states: readonly SavedOtp[], startedAt = T0): { hours: string; slots: string } {
  const cells: Cells = new Map()
  const slots: Slots = new Map()
  for (const [at, after] of states.entries()) {
    const before = states[at - 1] ?? null
    if (before !== null && !changesContribution(before, after) && !changesTried(before, after)) continue
    for (const { entry, by } of changedEntries(before, after, startedAt)) {
      addRoute(cells, entry, by)
      addToSlot(slots, entry, by)
    }
  }
  return { hours: encodeCells(cells), slots: encodeSlots(slots, 0) }
}

/** Providers by the number of the delivery: the first two share one. */
function withProviders(saved: SavedOtp): SavedOtp {
  const deliveries = saved.context.deliveries.map((one, nth) =>
    one.status === 'queued' ? one : { ...one, provider: nth < 2 ? 'main' : 'spare' },
  )
  return { ...saved, context: { ...saved.context, deliveries } }
}

describe('what a verification adds to the counts of its routes', () => {
  const countedAfter = (otp: SavedOtp, ...moves: Move[]) => {
    const { steps } = play(otp, ...moves)
    return counted([otp, ...steps.map(({ saved }) => saved)])
  }
  const sent = (provider: string, delivery_id = 'dlv_1') => reported('sent', { provider, delivery_id })
  const routes = (otp: SavedOtp, ...moves: Move[]) => routesIn(countedAfter(otp, ...moves).hours)

  it('is the sum of what its changes add, for any history, by hour and by slot', () => {
    fc.assert(
      fc.property(histories, history => {
        const { started, steps } = runHistory(history)
        const states = [started, ...steps.map(one => one.after)]
          .filter(one => one.changed)
          .map(one => withProviders(one.saved))
        const last = states.at(-1) as SavedOtp
        const { hours, slots } = counted(states)
        expect(routesIn(hours)).to.deep.equal(expectedRoutes([last], () => T0))
        expect(routesInSlots(slots)).to.deep.equal(expectedSlots([last]))
        expect(counted([last]).hours.split(';').sort()).to.deep.equal(hours.split(';').sort())
      }),
      { numRuns: propertyRuns(100) },
    )
  })

  it('is nothing until a provider has taken a message', () => {
    expect(counted([issued()])).to.deep.equal({ hours: '', slots: '' })
    expect(routes(issued(), reported('failed'))).to.deep.equal([])
    expect(routes(issued(), sent('main'))).to.deep.equal(['server sms GB main: 1 0 0'])
    expect(routes(issued({ started_by: device }), sent('main'))).to.deep.equal(['publishable sms GB main: 1 0 0'])
  })

  it('is an approval for the last provider that took the code which was entered, and a message for each', () => {
    const other = [sent('main'), resend('whatsapp'), sent('meta', 'dlv_2')]
    expect(routes(issued(), ...other, right())).to.deep.equal([
      'server sms GB main: 1 0 0',
      'server whatsapp GB meta: 1 0 1',
    ])
    const notTaken = [sent('main'), resend(), right()]
    expect(routes(issued({ order: ['sms'] }), ...notTaken)).to.deep.equal(['server sms GB main: 1 0 1'])
    const newCodeNotTaken = [sent('main'), resend('whatsapp'), right()]
    expect(routes(issued(), ...newCodeNotTaken), 'the code of the first is not valid').to.deep.equal([
      'server sms GB main: 1 0 0',
    ])
  })

  it('is tried in its slot once a code was entered after it, right or wrong', () => {
    const slots = (...moves: Move[]) =>
      routesInSlots(countedAfter(issued({ order: ['sms', 'whatsapp'] }), ...moves).slots)
    expect(slots(sent('main'))).to.deep.equal(['server sms GB main: 1 0 0'])
    expect(slots(sent('main'), wrong())).to.deep.equal(['server sms GB main: 1 1 0'])
    expect(slots(sent('main'), wrong(), wrong(), right())).to.deep.equal(['server sms GB main: 1 1 1'])
    expect(slots(sent('main'), resend('whatsapp'), sent('meta', 'dlv_2'), wrong())).to.deep.equal([
      'server sms GB main: 1 0 0',
      'server whatsapp GB meta: 1 1 0',
    ])
    const resentLater = [sent('main'), wrong(), resend('whatsapp'), sent('meta', 'dlv_2')]
    const triedFirst = ['server sms GB main: 1 1 0', 'server whatsapp GB meta: 1 0 0']
    expect(slots(...resentLater), 'the code came before the second message').to.deep.equal(triedFirst)
    expect(slots(...resentLater, wrong()), 'a verification is tried once').to.deep.equal(triedFirst)
  })

  it('is in the slot of the first message, within the hour in which the verification started', () => {
    const at = T0 + HOUR - 15_000
    const otp = issued({ order: ['sms'], at })
    const states = [
      otp,
      ...play(otp, wait(0), sent('main'), right({ at: at + 40_000 })).steps.map(({ saved }) => saved),
    ]
    expect(counted(states, at).slots).to.equal(`server sms GB main=${(T0 + HOUR - 20_000) / 10_000} 1 1 1`)
    expect(counted(states, at).hours).to.match(/ 40:1$/)
    const moved = play(otp, resend('whatsapp'), sent('meta', 'dlv_2')).saved
    const [entry] = routeEntries(moved, at)
    expect(entry?.slot, 'of the next hour').to.equal(T0 + HOUR - 10_000)
  })

  it('is nothing of a test, of a message, and of a verification that is left out', () => {
    for (const options of [{ mode: 'test' as const }, { code: { given: 'sealed' } }, { unlearned: true as const }])
      expect(routes(issued(options), sent('main'))).to.deep.equal([])
    const learned = play(issued(), sent('main')).saved
    const left: SavedOtp = {
      ...learned,
      context: { ...learned.context, unlearned: true, deliveries: [...learned.context.deliveries] },
    }
    expect(counted([learned, left]), 'what was counted is taken out').to.deep.equal({ hours: '', slots: '' })
  })

  it('leaves out a recipient who had a verification within the hour', () => {
    expect([undefined, T0, T0 + 1].map(last => isRepeated(last, T0 + HOUR))).to.deep.equal([false, false, true])
  })
})

describe('stored slots', () => {
  it('are the same after they were stored, and add up', () => {
    const counts = fc.record({
      start: fc.nat(59).map(nth => T0 + nth * 10_000),
      messages: fc.integer({ min: -3, max: 1e6 }),
      tried: fc.nat(9),
      approved: fc.nat(9),
    })
    const slots = fc
      .array(fc.tuple(fc.constantFrom('server sms GB main', 'publishable email ? x'), counts), { maxLength: 20 })
      .map(all => {
        const made: Slots = new Map()
        for (const [route, one] of all) addSlots(made, new Map([[route, new Map([[one.start, { ...one }]])]]))
        return made
      })
    fc.assert(
      fc.property(slots, slots, (one, other) => {
        const stored = encodeSlots(one, T0)
        expect(encodeSlots(decodeSlots(stored, T0), T0)).to.equal(stored)
        const sum = decodeSlots(stored, T0)
        addSlots(sum, other)
        const messages = (which: Slots) =>
          [...which.values()].flatMap(of => [...of.values()]).reduce((all, { messages }) => all + messages, 0)
        expect(messages(decodeSlots(encodeSlots(sum, T0), T0))).to.equal(messages(one) + messages(other))
      }),
    )
  })
})
