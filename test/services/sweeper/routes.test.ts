// Facts are made from what has changed: exact to what the counts hold, also when several processes make them, and
// without reading thirty days again.
import { setImmediate } from 'node:timers'
import { expect } from 'chai'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../infra/time.ts'
import type { RouteFact } from '../../../machines/routes.ts'
import type { CountersignStore } from '../../../services/domain/collections.ts'
import { newSlotsDoc, slotsId } from '../../../services/domain/routes/documents.ts'
import { decodeSlots, encodeSlots, slotsDocOf } from '../../../services/domain/routes/slots.ts'
import { approvalStep } from '../../../services/domain/stats/approval-times.ts'
import { hourOf, newTally } from '../../../services/domain/stats/contribution.ts'
import { addApproval, addCount, cellOf } from '../../../services/domain/stats/counts.ts'
import { hourId } from '../../../services/domain/stats/documents.ts'
import { hourWithAdded, newHour } from '../../../services/domain/stats/hours-and-days.ts'
import { createRouteSweeps } from '../../../services/sweeper/routes.ts'
import { createServiceOutages } from '../../../services/sweeper/service-outages.ts'
import { createCapturedLog } from '../../support/captured-log.ts'
import { type TestClock, testClock } from '../../support/clock.ts'
import { overrideDocs } from '../../support/override-docs.ts'
import { onEmbeddedStore } from '../../support/stores.ts'

const T0 = Date.UTC(2030, 0, 10, 12)
const ROUTE = 'server sms GB main'
const LOOK_MS = 2_000

onEmbeddedStore('facts about routes', fresh => {
  let store: CountersignStore
  let clock: TestClock
  const { log, lines } = createCapturedLog()
  const queue = { ready: 0, consumers: 1, dead: 0, oldestMs: null, brokerName: null }
  const broker = { depth: async () => queue }
  beforeEach(async () => {
    queue.consumers = 1
    store = await fresh()
    clock = testClock(T0)
  })

  interface Counted {
    app?: string
    at?: number
    messages: number
    approved: number
    seconds?: number
    route?: string
  }
  /** Adds counts as an OTP actor stores them: to the hour, and to slots if they are recent. */
  async function add(counted: Counted): Promise<void> {
    const { app = 'app_1', at = clock.now(), messages, approved, seconds = 20, route = ROUTE } = counted
    const tally = newTally()
    const cell = cellOf(tally.routes, route)
    addCount(cell, 'sent', messages)
    addCount(cell, 'approved', approved)
    if (approved > 0) addApproval(cell, approvalStep(seconds * 1_000), approved)
    const owner = { app_id: app, mode: 'live' as const, start: hourOf(at) }
    const _id = hourId(app, 'live', owner.start)
    const hour = (await store.docs('stats_hours').get([_id])).get(_id)
    if (hour)
      await store.docs('stats_hours').change([{ _id, rev: hour.rev, update: { $set: hourWithAdded(hour, tally, {}) } }])
    else await store.docs('stats_hours').insert([newHour(owner, tally, {})])
    if (at < clock.now() - 3 * HOUR_MS) return
    const start = slotsDocOf(at)
    const id = slotsId(app, start)
    const doc = (await store.docs('route_slots').get([id])).get(id)
    const slots = decodeSlots(doc?.slots ?? '', start)
    const slot = at - (at % 10_000)
    const before = slots.get(route)?.get(slot) ?? { start: slot, messages: 0, tried: 0, approved: 0 }
    const ofRoute = slots.get(route) ?? new Map()
    ofRoute.set(slot, {
      start: slot,
      messages: before.messages + messages,
      tried: before.tried + approved,
      approved: before.approved + approved,
    })
    slots.set(route, ofRoute)
    const update = { $set: { slots: encodeSlots(slots, start), changed_at: clock.now() } }
    if (doc) await store.docs('route_slots').change([{ _id: id, rev: doc.rev, update }])
    else await store.docs('route_slots').insert([newSlotsDoc(app, start, slots, clock.now())])
  }
  const newSweeps = (on: Pick<CountersignStore, 'docs'>) =>
    createRouteSweeps({ store: on, outages: createServiceOutages({ store: on, broker, clock }), clock, log })
  const newSweep = (on: Pick<CountersignStore, 'docs'> = store) => {
    const { routes } = newSweeps(on)
    return async (ms = LOOK_MS) => {
      await clock.advance(ms)
      await routes?.([0])
    }
  }
  const factsOf = async (app = 'app_1') => (await store.docs('route_facts').get([app])).get(app)
  const factOf = async (app = 'app_1') => (await factsOf(app))?.facts[0] as RouteFact
  /** A week in which eight of ten were approved. */
  const addUsual = async (app = 'app_1', route = ROUTE) => {
    for (let hour = 3; hour < 24 * 7; hour += 4)
      await add({ app, route, at: T0 - hour * HOUR_MS, messages: 10, approved: 8 })
  }
  /** Counts the documents that are read of each collection. */
  function countReads(): { counted: CountersignStore; reads: Record<string, number> } {
    const reads: Record<string, number> = {}
    const docs = (name: never) => {
      const original = store.docs(name)
      const count = (found: number) => {
        reads[name] = (reads[name] ?? 0) + found
      }
      return {
        ...original,
        get: async (...all: Parameters<typeof original.get>) => {
          const found = await original.get(...all)
          count(found.size)
          return found
        },
        find: async (...all: Parameters<typeof original.find>) => {
          const found = await original.find(...all)
          count(found.length)
          return found
        },
      }
    }
    return { counted: { ...store, docs } as unknown as CountersignStore, reads }
  }

  it('have the counts of thirty days, and of the last seconds once these are stored', async () => {
    await newSweeps(store).routes?.([1, 2])
    expect(await factsOf(), 'by the process that holds partition 0').to.equal(undefined)
    await add({ at: T0 - 31 * DAY_MS, messages: 1_000, approved: 0 })
    await add({ at: T0 - 29 * DAY_MS, messages: 10, approved: 9, seconds: 40 })
    const sweep = newSweep()
    await sweep()
    expect(await factsOf(), 'of an app that does not send').to.equal(undefined)
    await add({ messages: 3, approved: 1, seconds: 5 })
    await sweep()
    expect(await factOf()).to.include({ messages: 13, approved: 10, seconds_p50: 40, provider: 'main', country: 'GB' })
    await add({ messages: 2, approved: 2 })
    await sweep()
    expect(await factOf()).to.include({ messages: 15, approved: 12 })
  })

  it('forget with a day how long its approvals took, as a sweeper that starts would not know it', async () => {
    await add({ at: T0 - 29 * DAY_MS, messages: 100, approved: 100, seconds: 300 })
    const sweep = newSweep()
    for (let day = 0; day < 3; day += 1) {
      await add({ messages: 2, approved: 2, seconds: 5 })
      await sweep(DAY_MS)
      const slow = (await factOf()).seconds_p50 !== 5
      expect(slow, `after ${day + 1} days`).to.equal(day === 0)
    }
    const made = await factOf()
    await add({ messages: 1, approved: 1, seconds: 5 })
    await newSweep()()
    expect(await factOf()).to.include({ messages: made.messages + 1, seconds_p50: made.seconds_p50 })
  })

  it('are made again only where counts have changed, or wait to be judged, and read only those', async () => {
    await addUsual()
    await addUsual('app_2')
    await add({ messages: 2, approved: 1 })
    await add({ app: 'app_2', messages: 2, approved: 1 })
    const { counted, reads } = countReads()
    const sweep = newSweep(counted)
    await sweep()
    expect(reads.stats_hours).to.be.above(80)
    for (const name of Object.keys(reads)) delete reads[name]
    await add({ messages: 1, approved: 1 })
    await sweep()
    expect(reads.stats_hours).to.equal(1)
    for (let looks = 0; looks < 40; looks += 1) await sweep()
    const before = (await factsOf('app_2'))?.at
    for (let looks = 0; looks < 40; looks += 1) await sweep()
    expect((await factsOf('app_2'))?.at, 'nothing is left to judge').to.equal(before)
    expect(reads.stats_hours).to.equal(1)
  })

  it('see an hour that was counted again', async () => {
    await add({ messages: 5, approved: 1 })
    const sweep = newSweep()
    await sweep()
    const _id = hourId('app_1', 'live', hourOf(T0))
    const tally = newTally()
    addCount(cellOf(tally.routes, ROUTE), 'sent', 7)
    const { routes } = newHour({ app_id: 'app_1', mode: 'live', start: hourOf(T0) }, tally, {})
    await clock.advance(6 * HOUR_MS)
    await store.docs('stats_hours').modify({ _id }, { $set: { routes }, $inc: { rev: 1 } })
    await add({ messages: 1, approved: 0 })
    await sweep()
    expect(await factOf()).to.include({ messages: 8, approved: 0 })
  })

  it('notice silence and recovery once, whichever sweeper looks, and say so in the log', async () => {
    await addUsual()
    const sweeps = [newSweep(), newSweep()]
    for (let nth = 0; nth < 40; nth += 1) {
      await add({ messages: 1, approved: 0 })
      await sweeps[nth % 2]?.(10_000)
    }
    expect((await factOf()).silence.since).to.be.a('number')
    expect(await factsOf()).to.include({ silent: 1 })
    for (let nth = 0; nth < 10; nth += 1) {
      await add({ messages: 1, approved: 1 })
      await sweeps[nth % 2]?.(10_000)
    }
    for (let looks = 0; looks < 10; looks += 1) await sweeps[0]?.(10_000)
    expect((await factOf()).silence.since).to.equal(null)
    expect(await factsOf()).to.not.have.property('silent')
    const told = lines().filter(({ msg }) => String(msg).startsWith('provider.'))
    expect(told.map(({ msg, provider, country }) => [msg, provider, country])).to.deep.equal([
      ['provider.silent', 'main', 'GB'],
      ['provider.recovered', 'main', 'GB'],
    ])
  })

  it('find what a process stored whose clock is behind, and more documents than are read at once', async () => {
    const sweep = newSweep()
    await add({ messages: 1, approved: 0 })
    await sweep()
    const start = slotsDocOf(clock.now())
    const many = Array.from({ length: 250 }, (_, nth) => newSlotsDoc(`app_many${nth}`, start, new Map(), clock.now()))
    await store.docs('route_slots').insert(many)
    await sweep()
    for (const nth of [0, 125, 249]) expect(await factsOf(`app_many${nth}`)).to.include({ _id: `app_many${nth}` })
    const late = { slots: 'server sms GB main=0 9 0 0', changed_at: clock.now() - 8_000 }
    const doc = { ...newSlotsDoc('app_late', start, new Map(), 0), ...late }
    await store.docs('route_slots').insert([doc])
    await sweep()
    expect(await factsOf('app_late')).to.include({ _id: 'app_late' })
  })

  /** Messages whose codes are not entered, and looks. */
  async function sendUnheard(count: number, sweep: (ms: number) => Promise<void>): Promise<void> {
    for (let nth = 0; nth < count; nth += 1) {
      await add({ messages: 1, approved: 0 })
      await sweep(10_000)
    }
  }

  it('blame no provider for an outage of the service, and notice silence after it', async () => {
    await addUsual()
    const sweep = newSweep()
    await add({ messages: 1, approved: 1 })
    await sweep()
    await add({ messages: 40, approved: 0 })
    // No OTP process takes calls, for longer than the messages take to be judged.
    queue.consumers = 0
    for (let looks = 0; looks < 12; looks += 1) await sweep(10_000)
    queue.consumers = 1
    for (let looks = 0; looks < 12; looks += 1) await sweep(10_000)
    expect((await factOf()).silence).to.include({ score: 0, since: null })
    await sendUnheard(40, sweep)
    expect((await factOf()).silence.since).to.be.a('number')
  })

  it('blame no provider for the time before the process started', async () => {
    await addUsual()
    await add({ messages: 1, approved: 1 })
    await newSweep()()
    await add({ messages: 40, approved: 0 })
    await clock.advance(5 * MINUTE_MS)
    const sweep = newSweep()
    for (let looks = 0; looks < 12; looks += 1) await sweep(10_000)
    expect((await factOf()).silence).to.include({ score: 0, since: null })
  })

  it('are not kept waiting by a clock that jumps, nor by another sweeper that takes over', async () => {
    await addUsual()
    await add({ messages: 1, approved: 1 })
    const [one, other] = [newSweep(), newSweep()]
    await one()
    await add({ messages: 40, approved: 0 })
    await one(15_000)
    await other(10_000)
    await other(5 * MINUTE_MS)
    expect((await factOf()).silence.since, 'the time was no outage').to.be.a('number')
  })

  it('are those of all apps within a few looks, with few writes', async () => {
    const apps = Array.from({ length: 120 }, (_, nth) => `app_${nth}`)
    for (const app of apps) await add({ app, messages: 1, approved: 0 })
    const writes: number[] = []
    const counted = overrideDocs(store, 'route_facts', ({ insert }) => ({
      insert(docs) {
        writes.push(docs.length)
        return insert(docs)
      },
    }))
    await newSweep(counted)()
    for (const app of apps) expect(await factOf(app)).to.include({ messages: 1 })
    expect(writes).to.deep.equal([25, 25, 25, 25, 20])
  })

  it('are made with a turn of the event loop for others after each app', async () => {
    const apps = 20
    for (let nth = 0; nth < apps; nth += 1) await add({ app: `app_${nth}`, messages: 2, approved: 1 })
    let [turns, isMaking] = [0, false]
    const takeTurn = (): void => {
      if (!isMaking) return
      turns += 1
      setImmediate(takeTurn)
    }
    // The last read, and the first write.
    const watched = overrideDocs(store, 'route_facts', ({ get, insert }) => ({
      async get(...all) {
        const found = await get(...all)
        isMaking = true
        setImmediate(takeTurn)
        return found
      },
      insert(docs) {
        isMaking = false
        return insert(docs)
      },
    }))
    await newSweep(watched)()
    expect(await factOf(`app_${apps - 1}`)).to.include({ messages: 2 })
    expect(turns).to.be.at.least(apps - 1)
  })
})
