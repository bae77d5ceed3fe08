import { expect } from 'chai'
import { createConcurrency, type Release } from '../../../../services/channel/admission/concurrency.ts'
import type { AttemptResult } from '../../../../services/domain/verifications/documents.ts'
import { testClock } from '../../../support/clock.ts'
import { promiseState } from '../../../support/promise-state.ts'

const INITIAL_SLOTS = 64
const MAX_SLOTS = 200
const MIN_SLOTS = 4

describe('room for calls', () => {
  const createTestConcurrency = () => {
    const clock = testClock()
    const { acquire, callMs } = createConcurrency(clock)
    const place = async (): Promise<Release> => {
      const release = await acquire()
      if (!release) throw new Error('no place')
      return release
    }
    const places = async (many: number): Promise<Release[]> => {
      const all: Release[] = []
      for (let nth = 0; nth < many; nth += 1) all.push(await place())
      return all
    }
    return {
      clock,
      take: acquire,
      callMs,
      place,
      places,
      /** So many calls at once, each over after so long. */
      async calls(many: number, result: AttemptResult, ms: number): Promise<void> {
        const all = await places(many)
        await clock.advance(ms)
        for (const release of all) release(result)
      },
      /** How many there are in all when none is taken, asked for while nobody would wait. */
      async size(): Promise<number> {
        const all: Release[] = []
        for (;;) {
          const asking = acquire()
          const state = promiseState(asking)
          await clock.advance(0)
          if (state.state === 'pending') break
          const release = await asking
          if (!release) break
          all.push(release)
        }
        await clock.advance(1_000)
        for (const release of all) release(null)
        return all.length
      },
    }
  }

  it('is given back, whatever came of the call', async () => {
    const { size, place } = createTestConcurrency()
    for (const result of ['accepted', 'refused', 'failed', null] as const) {
      const release = await place()
      release(result)
      expect(await size()).to.equal(INITIAL_SLOTS)
    }
  })

  it('grows for a provider that answers and needs it, up to less than half of what a channel has in hand', async () => {
    const { size, calls } = createTestConcurrency()
    await calls(1, 'accepted', 10)
    expect(await size(), 'not needed').to.equal(INITIAL_SLOTS)
    await calls(INITIAL_SLOTS, 'accepted', 10)
    const more = await size()
    expect(more).to.be.greaterThan(INITIAL_SLOTS)
    for (let nth = 0; nth < 10; nth += 1) await calls(await size(), 'accepted', 10)
    expect(await size()).to.equal(MAX_SLOTS)
  })

  it('shrinks for one that hangs, and never to none', async () => {
    const { size, calls } = createTestConcurrency()
    await calls(1, 'unknown', 8_000)
    expect(await size()).to.equal(INITIAL_SLOTS / 2)
    for (let nth = 0; nth < 8; nth += 1) await calls(1, 'unknown', 8_000)
    expect(await size()).to.equal(MIN_SLOTS)
  })

  describe('with a line before it', () => {
    it('lets in who came first, as soon as there is a place', async () => {
      const { places, take } = createTestConcurrency()
      const inside = await places(INITIAL_SLOTS)
      const [first, second] = [take(), take()]
      const state = promiseState(second)
      inside[0]?.(null)
      expect(await first).to.be.a('function')
      expect(state.state).to.equal('pending')
      inside[1]?.(null)
      expect(await second).to.be.a('function')
    })

    it('is gone at once when the calls take long', async () => {
      const { places, take, clock, callMs } = createTestConcurrency()
      await places(INITIAL_SLOTS)
      await clock.advance(2_001)
      expect(callMs()).to.equal(2_001)
      expect(await take()).to.equal(null)
    })

    it('comes back when the provider is quick again', async () => {
      const { calls, places, take, callMs, clock } = createTestConcurrency()
      await calls(1, 'accepted', 30_000)
      expect(callMs()).to.be.greaterThan(2_000)
      for (let nth = 0; nth < 20; nth += 1) await calls(2, 'accepted', 10)
      expect(callMs()).to.be.lessThan(2_000)
      await places(INITIAL_SLOTS)
      const waiting = promiseState(take())
      await clock.advance(999)
      expect(waiting.state).to.equal('pending')
    })

    it('is left in the end by those who waited in vain', async () => {
      const { places, take, clock } = createTestConcurrency()
      await places(INITIAL_SLOTS)
      const waiting = take()
      await clock.advance(1_000)
      expect(await waiting).to.equal(null)
    })
  })
})
