import { expect } from 'chai'
import { Unavailable } from '../../../../infra/unavailable.ts'
import { type Breaker, createBreaker } from '../../../../services/channel/admission/breaker.ts'
import { createBreakerReports } from '../../../../services/channel/admission/breaker-reports.ts'
import { type BreakerDoc, type BreakerState, findBreakers } from '../../../../services/domain/breakers/documents.ts'
import type { CountersignStore } from '../../../../services/domain/collections.ts'
import { createCapturedLog } from '../../../support/captured-log.ts'
import { type TestClock, testClock } from '../../../support/clock.ts'
import { eventually } from '../../../support/eventually.ts'
import { onEmbeddedStore } from '../../../support/stores.ts'

const SECOND = 1_000

describe('a circuit breaker', () => {
  let clock: TestClock
  let breaker: Breaker
  let changes: BreakerState[]
  beforeEach(() => {
    clock = testClock()
    changes = []
    breaker = createBreaker({ clock, onChange: state => void changes.push(state) })
  })
  afterEach(() => breaker.shutDown())

  /** Makes a call, if the breaker permits it; resolves with whether it did. */
  const call = async (good: boolean): Promise<boolean> => {
    const entry = breaker.enter()
    if (!entry) return false
    expect(
      await entry.run(
        async () => good,
        answer => !answer,
      ),
    ).to.equal(good)
    return true
  }
  const calls = async (good: boolean, times: number): Promise<void> => {
    for (let nth = 0; nth < times; nth += 1) expect(await call(good)).to.equal(true)
  }

  it('opens when half of ten calls within a minute have failed', async () => {
    await calls(true, 5)
    await calls(false, 4)
    expect(breaker.state()).to.equal('closed')
    await clock.advance(66 * SECOND)
    await calls(false, 9)
    expect(breaker.state(), 'nine').to.equal('closed')
    await calls(false, 1)
    expect([breaker.state(), changes]).to.deep.equal(['open', ['open']])
    expect(await call(true)).to.equal(false)
  })

  it('counts a call that throws as a failure, and passes its error on', async () => {
    for (let nth = 0; nth < 10; nth += 1) {
      const error = await breaker
        .enter()
        ?.run(
          () => Promise.reject(new TypeError('a bug')),
          () => false,
        )
        .catch((thrown: unknown) => thrown)
      expect(error).to.be.instanceOf(TypeError)
    }
    expect(breaker.state()).to.equal('open')
  })

  describe('once open', () => {
    beforeEach(() => calls(false, 10))

    it('permits one call after half a minute, and closes when that call succeeds', async () => {
      await clock.advance(30 * SECOND - 1)
      expect(breaker.enter()).to.equal(null)
      await clock.advance(1)
      const probe = breaker.enter()
      expect([breaker.state(), breaker.enter()]).to.deep.equal(['half_open', null])
      await probe?.run(
        async () => true,
        () => false,
      )
      expect(changes).to.deep.equal(['open', 'half_open', 'closed'])
      await calls(false, 8)
      expect(breaker.state(), 'with an empty window').to.equal('closed')
    })

    it('stays open for another half minute when that call fails, but not when it was canceled', async () => {
      await clock.advance(30 * SECOND)
      await calls(false, 1)
      expect(breaker.state()).to.equal('open')
      expect(await call(true)).to.equal(false)
      await clock.advance(30 * SECOND)
      breaker.enter()?.cancel()
      await calls(true, 1)
      expect(breaker.state()).to.equal('closed')
    })
  })
})

const MINUTE = 60 * SECOND

onEmbeddedStore('the reports about circuit breakers', fresh => {
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

  it('name a new breaker after a second, each change at once, and since when it is not closed, however often it was tested', async () => {
    const { reports, clock, expectSeen } = open(await fresh())
    reports.report('app_shop', 'main', 'closed')
    reports.report('app_other', 'main', 'closed')
    await expectSeen()
    await clock.advance(SECOND)
    await expectSeen('main closed 0')
    await clock.advance(9 * SECOND)
    for (const state of ['open', 'half_open', 'open', 'half_open'] as const) {
      reports.report('app_shop', 'main', 'open')
      reports.report('app_shop', 'main', state)
      await expectSeen(`main ${state} 10`)
      await clock.advance(30 * SECOND)
    }
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

  it('that cannot be written are a warning, and are written with the next renewal, as those that the store has lost', async () => {
    const store = await fresh()
    const { reports, clock, lines, breakStore, expectSeen } = open(store)
    reports.report('app_shop', 'main', 'closed')
    await clock.advance(SECOND)
    const [doc] = await expectSeen('main closed 0')
    breakStore(true)
    reports.report('app_shop', 'main', 'open')
    await eventually(() => expect(lines().map(({ msg }) => msg)).to.include('breaker.not_reported'))
    await expectSeen('main closed 0')
    breakStore(false)
    await clock.advance(MINUTE)
    await expectSeen('main open 1')
    await store.docs('breakers').remove({ _id: doc?._id ?? '' }, 1)
    await clock.advance(MINUTE)
    await expectSeen('main open 1')
    await reports.stop()
  })
})
