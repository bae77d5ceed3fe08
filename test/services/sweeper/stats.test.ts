// Statistics are exact: what processes add change by change, and what the sweeper counts again after a process was killed.
import { expect } from 'chai'
import fc from 'fast-check'
import { newId } from '../../../infra/ids.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../infra/time.ts'
import type { Otp } from '../../../machines/otp.ts'
import type { SavedOtp } from '../../../machines/otp.versions.ts'
import type { StatsRowAnswer } from '../../../services/dashboard/stats/schemas.ts'
import type { CountersignStore } from '../../../services/domain/collections.ts'
import { hourOf, startOf } from '../../../services/domain/stats/contribution.ts'
import { PROGRESS_ID, type StatsDoc } from '../../../services/domain/stats/documents.ts'
import { markErasedHours } from '../../../services/domain/stats/erased-hours.ts'
import type { OtpDoc } from '../../../services/domain/verifications/documents.ts'
import { createStatsCounter } from '../../../services/otp/stats/counter.ts'
import { createStatsSweeps } from '../../../services/sweeper/stats.ts'
import { closeAdmins, startAdmin } from '../../support/admin-api.ts'
import { createCapturedLog } from '../../support/captured-log.ts'
import { type TestClock, testClock } from '../../support/clock.ts'
import { histories, runHistory } from '../../support/otp.arbitraries.ts'
import { T0 } from '../../support/otp.ts'
import { overrideDocs } from '../../support/override-docs.ts'
import { documentOf } from '../../support/queued-otps.ts'
import { expectedRoutes, routesIn } from '../../support/route-counts.ts'
import { addApp } from '../../support/sent-otp.ts'
import { type By, expectedRows, expectSameRows } from '../../support/stats.ts'
import { onEmbeddedStore } from '../../support/stores.ts'
import { interceptWrites } from '../../support/tenancy.ts'

const APP = 'app_1'
const FINAL_MS = 6 * HOUR_MS
const BYS: By[] = [undefined, 'channel', 'country', 'provider']

/** A verification's documents, one after each change; the last one is final. */
type Life = OtpDoc[]

const randomLife = (history: Parameters<typeof runHistory>[0], nth: number, startsAt: number): Life => {
  const { started, steps } = runHistory(history)
  const _id = newId('otp', startsAt)
  const mode = nth % 5 === 0 ? ('test' as const) : ('live' as const)
  const country = ['GB', 'BR', null][nth % 3] ?? null
  const docOf = (saved: SavedOtp): OtpDoc => ({ ...documentOf(withPlace(saved), T0), _id, app_id: APP, mode })
  const withPlace = (saved: SavedOtp): SavedOtp => {
    const { recipient, deliveries } = saved.context
    const providerOf = (status: string) => (status === 'queued' ? {} : { provider: `main-${nth % 2}` })
    const context: Otp = {
      ...saved.context,
      mode,
      ...(nth % 7 === 0 ? { unlearned: true as const } : {}),
      recipient: { ...recipient, country },
      deliveries: deliveries.map(delivery => ({ ...delivery, ...providerOf(delivery.status) })),
    }
    return { ...saved, context }
  }
  const all = [started, ...steps.map(({ after }) => after)].filter(({ changed }) => changed).map(({ saved }) => saved)
  const last = all.at(-1) as SavedOtp
  if (last.value === 'pending') all.push({ ...last, value: 'expired' })
  return all.map(docOf)
}

const randomLives = (count: number, seed: number, hours = 1): Life[] =>
  fc
    .sample(histories, { numRuns: count, seed })
    .map((history, nth) => randomLife(history, nth, T0 + Math.floor((nth * hours * HOUR_MS) / count)))

const lastOf = (life: Life): OtpDoc => life.at(-1) as OtpDoc

onEmbeddedStore('statistics', fresh => {
  let store: CountersignStore
  let clock: TestClock
  const { log } = createCapturedLog()
  beforeEach(async () => {
    store = await fresh()
    clock = testClock(T0)
    await addApp(store)
  })
  afterEach(closeAdmins)

  const newCounter = (on = store) => createStatsCounter({ store: on, clock, log })
  const count = (counter: ReturnType<typeof newCounter>, life: Life): void => {
    for (const [at, after] of life.entries()) counter.onChange(life[at - 1] ?? null, after)
  }
  async function countAll(lives: readonly Life[]): Promise<ReturnType<typeof newCounter>> {
    const counter = newCounter()
    for (const life of lives) count(counter, life)
    await counter.settled()
    return counter
  }
  const newSweep = (on = store) => {
    const { stats } = createStatsSweeps({ store: on, clock, log })
    return async () => void (await stats?.([0]))
  }
  /** Sweeps until there is nothing more to do now. */
  async function sweepAll(sweep = newSweep()): Promise<void> {
    const progress = async () => JSON.stringify([...(await store.docs('stats_progress').get([PROGRESS_ID])).values()])
    await clock.advance(2 * MINUTE_MS)
    for (let idle = 0, before = ''; idle < 4; ) {
      for (let runs = 0; runs < 5; runs += 1) await sweep()
      await clock.advance(30_000)
      const now = await progress()
      idle = now === before ? idle + 1 : 0
      before = now
    }
  }
  const insertOtps = (lives: readonly Life[]) => store.docs('otps').insert(lives.map(lastOf))
  async function erase(lives: readonly Life[]): Promise<void> {
    const otps = lives.map(lastOf)
    await markErasedHours(store, otps)
    await store.docs('otps').remove({ _id: { $in: otps.map(({ _id }) => _id) } }, otps.length)
  }
  const allHours = (): Promise<StatsDoc[]> => store.docs('stats_hours').find({}, { sort: { _id: 1 }, limit: 1_000 })

  async function rows(query: string): Promise<StatsRowAnswer[]> {
    const admin = await startAdmin(store, { clock })
    const { status, body } = await admin.get(`/apps/${APP}/stats?${query}`)
    expect(status, JSON.stringify(body)).to.equal(200)
    expect(body.next_cursor).to.equal(null)
    return body.items
  }

  async function expectExact(lives: readonly Life[], bucket: 'hour' | 'day' = 'hour'): Promise<void> {
    const since = new Date(T0).toISOString()
    for (const by of BYS) {
      const query = `since=${since}&bucket=${bucket}${by === undefined ? '' : `&by=${by}`}`
      for (const mode of ['live', 'test', undefined]) {
        const otps = lives.map(lastOf).filter(otp => mode === undefined || otp.mode === mode)
        const expected = expectedRows(otps, [], by, bucket === 'hour' ? HOUR_MS : DAY_MS)
        expectSameRows(await rows(query + (mode === undefined ? '' : `&mode=${mode}`)), expected, by)
      }
    }
    await expectExactRoutes(lives)
  }
  async function expectExactRoutes(lives: readonly Life[]): Promise<void> {
    for (const { start, mode, routes = '' } of await allHours()) {
      const otps = lives.map(lastOf).filter(otp => otp.mode === mode && hourOf(startOf(otp)) === start)
      const expected = expectedRoutes(otps, otp => startOf(otp as OtpDoc))
      expect(routesIn(routes), `${mode} ${new Date(start).toISOString()}`).to.deep.equal(expected)
    }
  }

  it('are exact when several processes count, each some changes of a verification', async () => {
    const lives = randomLives(300, 1)
    const counters = [newCounter(), newCounter(), newCounter()]
    for (const [nth, life] of lives.entries())
      for (const [at, after] of life.entries()) counters[(nth + at) % 3]?.onChange(life[at - 1] ?? null, after)
    await Promise.all(counters.map(counter => counter.settled()))
    await expectExact(lives)
  })

  it('are stored some seconds after a change, without a write for each', async () => {
    const writes: string[] = []
    const counter = newCounter(interceptWrites(store, { before: call => writes.push(call) }))
    for (const life of randomLives(50, 2)) count(counter, life)
    expect(await allHours()).to.be.empty
    await clock.advance(5_000)
    await counter.settled()
    expect(await allHours()).to.have.length(2)
    // Learned routes cost one write more: the slots of ten minutes.
    expect(writes.filter(call => call.startsWith('route_slots'))).to.have.length.below(3)
    expect(writes.filter(call => !call.startsWith('route_slots'))).to.have.length.below(5)
  })

  it('are exact after a recount, when processes were killed before they had stored their counts', async () => {
    const lives = randomLives(400, 3, 3)
    await insertOtps(lives)
    const [survivor, killed] = [newCounter(), newCounter()]
    for (const [nth, life] of lives.entries()) count(nth % 3 === 0 ? killed : survivor, life)
    await survivor.settled()
    await clock.advance(FINAL_MS + 2 * HOUR_MS)
    await sweepAll()
    await expectExact(lives)
    await expectExact(lives, 'day')
  })

  it('are the same after a recount where nothing was lost, and after a second one by another sweeper', async () => {
    const lives = randomLives(100, 5)
    await insertOtps(lives)
    await countAll(lives)
    const before = (await allHours()).map(({ by }) => by)
    await clock.advance(FINAL_MS)
    await Promise.all([sweepAll(newSweep()), sweepAll(newSweep())])
    const sorted = (all: StatsDoc['by'][]) => all.map(by => Object.values(by).map(cells => cells.split(';').sort()))
    expect(sorted((await allHours()).map(({ by }) => by))).to.deep.equal(sorted(before))
    await expectExact(lives)
  })

  it('do not count twice what a process stores while its hour is counted again', async () => {
    const lives = randomLives(40, 6)
    await insertOtps(lives)
    const [counter, late] = [newCounter(), newCounter()]
    for (const life of lives.slice(1)) count(counter, life)
    await counter.settled()
    // Saved before the recount reads the verification, and stored after it.
    count(late, lives[0] as Life)
    await clock.advance(FINAL_MS)
    const sweep = newSweep()
    await clock.advance(2 * MINUTE_MS)
    for (let runs = 0; runs < 20; runs += 1) await sweep()
    await late.settled()
    await sweepAll(sweep)
    await expectExact(lives)
  })

  for (const [what, seed, after] of [
    ['after the recount, in the day as well', 7, FINAL_MS],
    // The last hour of the day is final 4 hours and 15 minutes after the day.
    ['into the day as soon as it is summed up', 14, 4 * HOUR_MS + 15 * MINUTE_MS],
  ] as const)
    it(`take what comes ${what}`, async () => {
      const lives = randomLives(40, seed)
      const [last, ...others] = lives as [Life, ...Life[]]
      if (after === FINAL_MS) await insertOtps(others)
      const counter = await countAll(others)
      await store.docs('stats_progress').insert([{ _id: PROGRESS_ID, next_hour: T0, next_day: T0, rev: 1 }])
      await clock.advance(DAY_MS + after)
      await sweepAll()
      expect(await store.docs('stats_days').count({ _id: { $gt: '' } })).to.equal(2)
      if (after === FINAL_MS) await expectExact(others, 'day')
      count(counter, last)
      await counter.settled()
      if (after === FINAL_MS) await expectExact(lives)
      await expectExact(lives, 'day')
    })

  it('wait with the recount until every verification of the hour has ended', async () => {
    const lives = randomLives(30, 8)
    await insertOtps(lives)
    const pending = { ...lastOf(lives[0] as Life), _id: newId('otp', T0 + 1), value: 'pending' as const }
    await store.docs('otps').insert([pending])
    await clock.advance(FINAL_MS)
    const sweep = newSweep()
    await sweepAll(sweep)
    expect(await allHours()).to.be.empty
    await store.docs('otps').update([{ ids: [pending._id], update: { $set: { value: 'expired' } } }])
    await sweepAll(sweep)
    await expectExact([...lives, [{ ...pending, value: 'expired' }]])
  })

  it('keep refusals, and what was counted of erased verifications, when the hour is counted again', async () => {
    const lives = randomLives(50, 9).filter(life => lastOf(life).mode === 'live')
    await insertOtps(lives)
    const counter = newCounter()
    for (const life of lives) count(counter, life)
    for (const country of ['GB', 'GB', null]) counter.countRefusal({ app_id: APP, mode: 'live', country, at: T0 })
    counter.countRefusal({ app_id: APP, mode: 'test', country: 'BR', at: T0 })
    await counter.settled()
    await erase(lives.slice(0, 10))
    await clock.advance(FINAL_MS)
    await sweepAll()
    const refused = ['GB', 'GB', null, 'BR'].map(country => ({ at: T0, country }))
    for (const by of BYS) {
      const shown = await rows(`since=${new Date(T0).toISOString()}${by === undefined ? '' : `&by=${by}`}`)
      expectSameRows(shown, expectedRows(lives.map(lastOf), refused, by, HOUR_MS), by)
    }
    const progress = (await store.docs('stats_progress').get([PROGRESS_ID])).get(PROGRESS_ID)
    expect(progress?.next_hour).to.be.greaterThan(T0)
  })

  it('keep what was counted of verifications that are erased while their hour is counted again', async () => {
    const lives = randomLives(50, 15)
    await insertOtps(lives)
    await countAll(lives)
    const toErase = lives.slice(0, 10)
    await store.docs('stats_progress').insert([{ _id: PROGRESS_ID, next_hour: T0, next_day: T0, rev: 1 }])
    const erasing = overrideDocs(store, 'otps', ({ find }) => ({
      async find(...query) {
        if (toErase.length > 0) await erase(toErase.splice(0))
        return find(...query)
      },
    }))
    await clock.advance(FINAL_MS)
    await sweepAll(newSweep(erasing))
    expect(toErase).to.be.empty
    await expectExact(lives)
  })

  it('of days are summed up from their hours, and are the same before and after', async () => {
    const lives = randomLives(200, 10, 30)
    await insertOtps(lives)
    await countAll(lives)
    await clock.advance(30 * HOUR_MS)
    expect(await store.docs('stats_days').count({ _id: { $gt: '' } })).to.equal(0)
    await expectExact(lives, 'day')
    const sweep = newSweep()
    for (let hour = 0; hour < 30; hour += 1) {
      await clock.advance(HOUR_MS)
      await sweepAll(sweep)
    }
    // Two days, each in both modes.
    expect(await store.docs('stats_days').count({ _id: { $gt: '' } })).to.equal(4)
    await expectExact(lives, 'day')
  })

  it('do not add again what is stored when the store fails in the middle', async () => {
    const lives = randomLives(60, 13, 2)
    await clock.advance(2 * HOUR_MS)
    let fails = false
    const failing = interceptWrites(store, {
      before: call => {
        if (fails && (call === 'stats_hours.change' || call.startsWith('route_slots'))) throw new Error('away')
      },
    })
    const counter = newCounter(failing)
    for (const life of lives.slice(0, 20)) count(counter, life)
    await counter.settled()
    // The second hour is new, and the first one changes.
    fails = true
    for (const life of lives.slice(20)) count(counter, life)
    await counter.settled()
    fails = false
    await counter.settled()
    await expectExact(lives)
  })
})
