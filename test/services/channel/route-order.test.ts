// The order of providers follows the facts, costs no read per message, and is the listed one where the store does not answer.
import { expect } from 'chai'
import { createCache } from '../../../infra/cache.ts'
import type { RouteFact } from '../../../machines/routes.ts'
import type { Candidate } from '../../../services/channel/candidates.ts'
import type { DeliveryJob } from '../../../services/channel/provider.ts'
import { createRouteOrder } from '../../../services/channel/route-order.ts'
import type { RouteFactsDoc } from '../../../services/domain/routes/documents.ts'
import type { TenantApp } from '../../../services/domain/tenancy/tenancy.ts'
import { createCapturedLog } from '../../support/captured-log.ts'
import { testClock } from '../../support/clock.ts'
import { issued, type StartOptions, T0 } from '../../support/otp.ts'

const TTL_MS = 2_000

const candidate = (name: string, more: Partial<Candidate> = {}): Candidate => ({
  name,
  type: 'sandbox',
  provider: {} as Candidate['provider'],
  secrets: null,
  paused: false,
  countries: null,
  cost_micros: {},
  ...more,
})
const fact = (provider: string, { approved = 0, missed = 0, since = null as number | null } = {}): RouteFact => ({
  kind: 'server',
  channel: 'sms',
  country: 'GB',
  provider,
  messages: approved + missed,
  delivered: 0,
  approved,
  evidence: { approved, missed },
  seconds_p50: 20,
  silence: { score: 0, judged_until: T0, since },
})

describe('the order of providers', () => {
  const { log, lines } = createCapturedLog()
  function start(facts: RouteFact[] | null, routing: object = {}) {
    const clock = testClock(T0)
    let [reads, rev] = [0, 1]
    const state = { facts, answer: async () => {} }
    const get = async () => {
      reads += 1
      await state.answer()
      const doc = { _id: 'app_1', at: T0, facts: state.facts ?? [], purge_at: new Date(0), rev } satisfies RouteFactsDoc
      return new Map(state.facts === null ? [] : [['app_1', doc]])
    }
    const settings = { routing: { providers: 'listed', worth_micros: 0, ...routing } }
    const apps = createCache(async () => ({ settings }) as unknown as TenantApp, { ttlMs: 1e9, maxSize: 1, clock })
    const order = createRouteOrder({ facts: { get }, apps, clock, log })
    const job = (nth = 0, options: StartOptions = {}): DeliveryJob => {
      const { context: otp } = issued({ ...options, delivery_id: `dlv_${nth}` })
      return { otp, delivery: otp.deliveries[0], purge_at: new Date(0) } as DeliveryJob
    }
    const namesFor = async (candidates: Candidate[], nth = 0, options: StartOptions = {}, inChat = false) => {
      const { otp, ...rest } = job(nth, options)
      const ordered = await order({ ...rest, otp: inChat ? { ...otp, whatsapp: 'link_code' } : otp }, candidates)
      return { names: ordered.candidates.map(({ name }) => name), because: ordered.because }
    }
    /** How often each comes first. */
    async function firsts(candidates: Candidate[], messages = 200): Promise<Record<string, number>> {
      const counts: Record<string, number> = {}
      for (let nth = 0; nth < messages; nth += 1) {
        const { names } = await namesFor(candidates, nth)
        counts[names[0] ?? ''] = (counts[names[0] ?? ''] ?? 0) + 1
      }
      return counts
    }
    return { clock, state, settings, namesFor, firsts, reads: () => reads, change }
    function change(): void {
      rev += 1
    }
  }
  const two = [candidate('main'), candidate('spare')]
  const silent = [fact('main', { approved: 80, missed: 80, since: T0 }), fact('spare', { approved: 80, missed: 20 })]

  it('is the listed one without facts, and in that mode while none is silent', async () => {
    expect((await start(null).namesFor(two)).names).to.deep.equal(['main', 'spare'])
    const facts = [fact('main', { missed: 100 }), fact('spare', { approved: 100 })]
    expect(await start(facts).firsts(two)).to.deep.equal({ main: 200 })
    expect((await start(facts).namesFor(two)).because).to.equal(null)
  })

  it('has the better provider first in mode best, and follows a change of facts within two seconds', async () => {
    const { firsts, state, change, clock } = start(
      [fact('main', { approved: 40, missed: 60 }), fact('spare', { approved: 90, missed: 10 })],
      {
        providers: 'best',
      },
    )
    expect((await firsts(two)).spare).to.be.above(170)
    state.facts = [fact('main', { approved: 90, missed: 10 }), fact('spare', { approved: 40, missed: 60 })]
    change()
    await clock.advance(TTL_MS)
    expect((await firsts(two)).main).to.be.above(170)
  })

  it('says why: evidence that counts, and the cost by what an approval is worth', async () => {
    const facts = [fact('main', { approved: 900, missed: 100 }), fact('spare', { approved: 880, missed: 120 })]
    const priced = [
      candidate('main', { cost_micros: { GB: 90_000 } }),
      candidate('spare', { cost_micros: { '*': 10_000 } }),
    ]
    const { firsts, namesFor } = start(facts, { providers: 'best', worth_micros: 1_000_000 })
    expect((await firsts(priced)).spare).to.be.above(170)
    const found = [await namesFor(priced, 1), await namesFor(priced, 2)].find(({ names }) => names[0] === 'spare')
    expect(found?.because).to.include({ rule: 'best', less: 0.01 })
  })

  it('is by the facts of the same kind of key, channel and country', async () => {
    const { namesFor } = start(silent)
    for (const other of [
      { started_by: { key_id: 'k', kind: 'publishable' as const } },
      { recipient: { ...issued().context.recipient, country: 'DE' } },
    ])
      expect(await namesFor(two, 1, other)).to.deep.equal({ names: ['main', 'spare'], because: null })
  })

  it('never has one that may not be called before one that may', async () => {
    const three = [candidate('main'), candidate('spare', { paused: true }), candidate('third')]
    const { firsts, namesFor } = start([...silent, fact('third', { approved: 50, missed: 50 })], { providers: 'best' })
    expect(await firsts(three)).to.have.all.keys('main', 'third')
    expect((await namesFor(three)).names.at(-1)).to.equal('spare')
    const { namesFor: alone } = start(silent)
    expect(await alone([candidate('main'), candidate('spare', { paused: true })])).to.deep.equal({
      names: ['main', 'spare'],
      because: null,
    })
  })

  it('follows a change of the list, of its countries and of the rule at once', async () => {
    const { namesFor, state, settings } = start(silent)
    expect((await namesFor(two, 1)).names[0]).to.equal('spare')
    expect((await namesFor([candidate('main'), candidate('spare', { countries: ['DE'] })], 1)).names[0]).to.equal(
      'main',
    )
    expect((await namesFor([candidate('third'), ...two], 1)).names[0]).to.equal('third')
    expect((await namesFor(two, 1)).because).to.include({ rule: 'spared' })
    settings.routing = { ...settings.routing, providers: 'best' }
    expect((await namesFor(two, 1)).because).to.include({ rule: 'best' })
    expect(state.facts).to.equal(silent)
  })

  it('is read once in two seconds, and not for one provider, a test or a reply in a chat', async () => {
    const { firsts, namesFor, clock, reads } = start(silent)
    await firsts([candidate('main')], 3)
    await namesFor(two, 0, { mode: 'test' })
    await namesFor(two, 0, { order: ['whatsapp'] }, true)
    expect(reads()).to.equal(0)
    await firsts(two, 100)
    expect(reads()).to.equal(1)
    await clock.advance(TTL_MS)
    await firsts(two, 100)
    expect(reads()).to.equal(2)
  })

  it('is the listed one where the store fails or does not answer in time, and the message does not wait again', async () => {
    const failing = start(silent)
    failing.state.answer = () => Promise.reject(new Error('away'))
    expect((await failing.namesFor(two)).names).to.deep.equal(['main', 'spare'])
    expect(JSON.stringify(lines())).to.include('routes.not_read')
    const hanging = start(silent)
    hanging.state.answer = () => new Promise(() => {})
    const waiting = hanging.namesFor(two)
    await hanging.clock.advance(250)
    expect((await waiting).names).to.deep.equal(['main', 'spare'])
    expect((await hanging.namesFor(two)).names).to.deep.equal(['main', 'spare'])
    expect(hanging.reads()).to.equal(1)
  })

  it('is by facts that were made long ago, because nothing was sent since, while the store does not answer', async () => {
    const { state, clock, namesFor } = start(silent)
    await clock.advance(60 * 60_000)
    const before = await namesFor(two, 1)
    expect(before.names).to.deep.equal(['spare', 'main'])
    state.answer = () => Promise.reject(new Error('away'))
    await clock.advance(4 * 60_000)
    expect(await namesFor(two, 1)).to.deep.equal(before)
    await clock.advance(2 * 60_000)
    expect((await namesFor(two, 1)).names).to.deep.equal(['main', 'spare'])
  })
})
