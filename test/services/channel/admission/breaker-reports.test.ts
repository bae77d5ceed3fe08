import { expect } from 'chai'
import { Unavailable } from '../../../../infra/unavailable.ts'
import { createBreakerReports } from '../../../../services/channel/admission/breaker-reports.ts'
import { type BreakerDoc, findBreakers } from '../../../../services/domain/breakers/documents.ts'
import type { CountersignStore } from '../../../../services/domain/collections.ts'
import { createCapturedLog } from '../../../support/captured-log.ts'
import { testClock } from '../../../support/clock.ts'
import { eventually } from '../../../support/eventually.ts'
import { eachStore } from '../../../support/stores.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND

eachStore('the reports about circuit breakers', fresh => {
  function open(store: CountersignStore, clock = testClock()) {
    const { log, lines } = createCapturedLog()
    /** Those that the store has answered. */
    const writes: string[] = []
    let broken = false
    const docs = store.docs('breakers')
    const counted =
      <A extends unknown[], R>(name: string, call: (...args: A) => Promise<R>) =>
      async (...args: A): Promise<R> => {
        if (broken) throw new Unavailable('no store')
        const answer = await call(...args)
        writes.push(name)
        return answer
      }
    const breakers = {
      insert: counted('insert', docs.insert),
      update: counted('update', docs.update),
      remove: counted('remove', docs.remove),
    }
    return {
      clock,
      lines,
      writes,
      reports: createBreakerReports({ breakers, clock, log }),
      breakStore: (is: boolean) => {
        broken = is
      },
      /** What operators see of the app, once it is as expected. */
      async expectSeen(...expected: string[]): Promise<BreakerDoc[]> {
        return eventually(async () => {
          const found = await findBreakers(store, 'app_shop', clock.now())
          const seen = found.map(({ provider, state, since }) => `${provider} ${state} ${(since - START) / SECOND}`)
          expect(seen.sort()).to.deep.equal(expected)
          return found
        })
      },
    }
  }
  const START = testClock().now()

  it('name a new breaker after a second, and each change at once', async () => {
    const { reports, clock, expectSeen } = open(await fresh())
    reports.report('app_shop', 'main', 'closed')
    reports.report('app_other', 'main', 'closed')
    await expectSeen()
    await clock.advance(SECOND)
    await expectSeen('main closed 0')
    await clock.advance(4 * SECOND)
    reports.report('app_shop', 'main', 'open')
    await expectSeen('main open 5')
    await reports.stop()
  })

  it('say since when a breaker is not closed, however often it was tested meanwhile', async () => {
    const { reports, clock, expectSeen } = open(await fresh())
    reports.report('app_shop', 'main', 'closed')
    await clock.advance(10 * SECOND)
    for (const state of ['open', 'half_open', 'open', 'half_open'] as const) {
      reports.report('app_shop', 'main', state)
      await clock.advance(30 * SECOND)
    }
    await expectSeen('main half_open 10')
    reports.report('app_shop', 'main', 'closed')
    await expectSeen('main closed 130')
    await reports.stop()
  })

  it('are renewed while the process lives, in one write for all, and expire when it is gone', async () => {
    const store = await fresh()
    const { reports, clock, writes, expectSeen } = open(store)
    for (const name of ['a', 'b', 'c']) reports.report('app_shop', name, 'closed')
    await clock.advance(SECOND)
    await expectSeen('a closed 0', 'b closed 0', 'c closed 0')
    const countUpdates = () => writes.filter(write => write === 'update').length
    const before = countUpdates()
    for (let nth = 0; nth < 10; nth += 1) {
      await clock.advance(MINUTE)
      await eventually(() => expect(countUpdates() - before).to.equal(nth + 1))
    }
    const seen = await expectSeen('a closed 0', 'b closed 0', 'c closed 0')
    expect(Math.min(...seen.map(({ valid_until }) => valid_until))).to.be.greaterThan(clock.now() + MINUTE)
    expect(await findBreakers(store, 'app_shop', clock.now() + 3 * MINUTE)).to.deep.equal([])
    expect(seen[0]?.purge_at).to.be.instanceOf(Date)
    await reports.stop()
  })

  it('of two processes are two', async () => {
    const store = await fresh()
    const [one, other] = [open(store), open(store)]
    for (const { reports, clock } of [one, other]) {
      reports.report('app_shop', 'main', 'closed')
      await clock.advance(SECOND)
    }
    await one.expectSeen('main closed 0', 'main closed 0')
    other.reports.report('app_shop', 'main', 'open')
    await one.expectSeen('main closed 0', 'main open 1')
    await other.reports.stop()
    await one.expectSeen('main closed 0')
    await one.reports.stop()
  })

  it('are taken back when the breaker is gone, and when the process stops', async () => {
    const { reports, clock, expectSeen } = open(await fresh())
    for (const name of ['a', 'b']) reports.report('app_shop', name, 'closed')
    await clock.advance(SECOND)
    await expectSeen('a closed 0', 'b closed 0')
    reports.forget('app_shop', 'a')
    reports.forget('app_shop', 'unknown')
    await clock.advance(SECOND)
    await expectSeen('b closed 0')
    await reports.stop()
    await expectSeen()
    reports.report('app_shop', 'late', 'open')
    await clock.advance(5 * MINUTE)
    await expectSeen()
  })

  it('that cannot be written are a warning, and are written with the next renewal', async () => {
    const { reports, clock, lines, breakStore, expectSeen } = open(await fresh())
    reports.report('app_shop', 'main', 'closed')
    await clock.advance(SECOND)
    await expectSeen('main closed 0')
    breakStore(true)
    reports.report('app_shop', 'main', 'open')
    await eventually(() => expect(lines().map(({ msg }) => msg)).to.include('breaker.not_reported'))
    await expectSeen('main closed 0')
    breakStore(false)
    await clock.advance(MINUTE)
    await expectSeen('main open 1')
    await reports.stop()
  })

  it('that the store has lost are written again', async () => {
    const store = await fresh()
    const { reports, clock, expectSeen } = open(store)
    reports.report('app_shop', 'main', 'closed')
    await clock.advance(SECOND)
    const [doc] = await expectSeen('main closed 0')
    await store.docs('breakers').remove({ _id: doc?._id ?? '' }, 1)
    await clock.advance(MINUTE)
    await expectSeen('main closed 0')
    await reports.stop()
  })
})
