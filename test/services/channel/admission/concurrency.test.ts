import { expect } from 'chai'
import {
  createConcurrency,
  createWaitingRoom,
  type Release,
} from '../../../../services/channel/admission/concurrency.ts'
import type { AttemptResult } from '../../../../services/domain/verifications/documents.ts'
import { testClock } from '../../../support/clock.ts'
import { promiseState } from '../../../support/promise-state.ts'

const INITIAL_SLOTS = 64
const MAX_SLOTS = 200
const MIN_SLOTS = 4
const MAX_WAIT_MS = 5_000

describe('the concurrency limit of a provider', () => {
  const createTestConcurrency = (maxCalls = MAX_SLOTS, room = createWaitingRoom(1_000)) => {
    const clock = testClock()
    const { acquire, reserve, waitMs, isBusy } = createConcurrency({ clock, maxCalls, room })
    const acquireSlot = async (): Promise<Release> => {
      const release = await acquire()
      if (!release) throw new Error('no free slot')
      return release
    }
    const acquireSlots = async (count: number): Promise<Release[]> => {
      const releases: Release[] = []
      for (let nth = 0; nth < count; nth += 1) releases.push(await acquireSlot())
      return releases
    }
    return {
      clock,
      acquire,
      reserve,
      waitMs,
      isBusy,
      acquireSlot,
      acquireSlots,
      /** Makes concurrent calls that all take `ms`. */
      async calls(count: number, result: AttemptResult, ms: number): Promise<void> {
        const releases = await acquireSlots(count)
        await clock.advance(ms)
        for (const release of releases) release(result)
      },
      /** How many slots there are: takes all of them without waiting in the queue, then frees them. */
      async slotCount(): Promise<number> {
        const releases: Release[] = []
        for (;;) {
          const acquiring = acquire()
          const state = promiseState(acquiring)
          await clock.advance(0)
          if (state.state === 'pending') break
          const release = await acquiring
          if (!release) break
          releases.push(release)
        }
        await clock.advance(MAX_WAIT_MS)
        for (const release of releases) release(null)
        return releases.length
      },
    }
  }

  it('frees a slot after every result of a call', async () => {
    const { slotCount, acquireSlot } = createTestConcurrency()
    for (const result of ['accepted', 'refused', 'failed', null] as const) {
      const release = await acquireSlot()
      release(result)
      expect(await slotCount()).to.equal(INITIAL_SLOTS)
    }
  })

  it('grows for a provider that answers and uses its slots, up to a maximum', async () => {
    const { slotCount, calls } = createTestConcurrency()
    await calls(1, 'accepted', 10)
    expect(await slotCount(), 'not used').to.equal(INITIAL_SLOTS)
    await calls(INITIAL_SLOTS, 'accepted', 10)
    const more = await slotCount()
    expect(more).to.be.greaterThan(INITIAL_SLOTS)
    for (let nth = 0; nth < 10; nth += 1) await calls(await slotCount(), 'accepted', 10)
    expect(await slotCount()).to.equal(MAX_SLOTS)
  })

  it('shrinks for a provider that hangs, down to a minimum', async () => {
    const { slotCount, calls } = createTestConcurrency()
    await calls(1, 'unknown', 8_000)
    expect(await slotCount()).to.equal(INITIAL_SLOTS / 2)
    for (let nth = 0; nth < 8; nth += 1) await calls(1, 'unknown', 8_000)
    expect(await slotCount()).to.equal(MIN_SLOTS)
  })

  it('stays below a small maximum from its first call to its last', async () => {
    const { slotCount, calls } = createTestConcurrency(2)
    expect(await slotCount()).to.equal(2)
    for (let nth = 0; nth < 5; nth += 1) await calls(2, 'accepted', 10)
    expect(await slotCount()).to.equal(2)
    for (let nth = 0; nth < 5; nth += 1) await calls(1, 'unknown', 8_000)
    expect(await slotCount(), 'after it hung').to.equal(2)
  })

  describe('when no slot is free', () => {
    it('gives the next free slot to the call that waits longest', async () => {
      const { acquireSlots, acquire } = createTestConcurrency()
      const releases = await acquireSlots(INITIAL_SLOTS)
      const [first, second] = [acquire(), acquire()]
      const state = promiseState(second)
      releases[0]?.(null)
      expect(await first).to.be.a('function')
      expect(state.state).to.equal('pending')
      releases[1]?.(null)
      expect(await second).to.be.a('function')
    })

    it('refuses at once when calls take long', async () => {
      const { acquireSlots, acquire, clock, waitMs, isBusy } = createTestConcurrency()
      await acquireSlots(INITIAL_SLOTS)
      await clock.advance(2_000)
      expect(isBusy()).to.equal(false)
      await clock.advance(1)
      expect([isBusy(), waitMs()]).to.deep.equal([true, 2_001])
      expect(await acquire()).to.equal(null)
    })

    it('lets calls wait again when the provider has become quick again', async () => {
      const { calls, acquireSlots, acquire, waitMs, clock } = createTestConcurrency()
      await calls(1, 'accepted', 30_000)
      expect(waitMs()).to.be.greaterThan(2_000)
      for (let nth = 0; nth < 20; nth += 1) await calls(2, 'accepted', 10)
      expect(waitMs()).to.be.lessThan(2_000)
      await acquireSlots(INITIAL_SLOTS)
      const waiting = promiseState(acquire())
      await clock.advance(MAX_WAIT_MS - 1)
      expect(waiting.state).to.equal('pending')
    })

    it('refuses a call that has waited for five seconds, and frees its place', async () => {
      const { acquireSlots, acquire, clock, waitMs } = createTestConcurrency()
      const releases = await acquireSlots(INITIAL_SLOTS)
      const waiting = acquire()
      await clock.advance(MAX_WAIT_MS)
      expect(await waiting).to.equal(null)
      for (const release of releases) release(null)
      expect(waitMs(), 'nobody waits').to.equal(50)
    })

    it('tells how long one more call would wait, behind those that wait already', async () => {
      const { acquireSlots, acquire, waitMs } = createTestConcurrency()
      await acquireSlots(INITIAL_SLOTS)
      expect(waitMs()).to.equal(50)
      for (let nth = 0; nth < INITIAL_SLOTS * 2; nth += 1) void acquire()
      expect(waitMs()).to.equal(150)
    })

    it('lets no more calls wait than the provider is likely to answer in five seconds', async () => {
      const { calls, acquireSlots, acquire, isBusy, waitMs } = createTestConcurrency(2)
      for (let nth = 0; nth < 50; nth += 1) await calls(2, 'accepted', 1_000)
      await acquireSlots(2)
      let waiting = 0
      for (; !isBusy(); waiting += 1) void acquire()
      expect(waiting).to.equal(9)
      expect(waitMs()).to.be.within(5_001, 5_500)
      expect(await acquire()).to.equal(null)
    })

    it('lets no call wait without a place in the room', async () => {
      const room = createWaitingRoom(1)
      const { acquireSlots, acquire, isBusy } = createTestConcurrency(1, room)
      const [release] = await acquireSlots(1)
      const waiting = acquire()
      expect(isBusy()).to.equal(true)
      expect(await acquire()).to.equal(null)
      release?.(null)
      expect(await waiting).to.be.a('function')
      expect(isBusy(), 'the place is free again').to.equal(false)
    })

    it('counts those that will soon ask for a slot, first in the free slots and then in the room', async () => {
      const room = createWaitingRoom(4)
      const { acquireSlots, reserve, isBusy, waitMs } = createTestConcurrency(2, room)
      await acquireSlots(1)
      const ends = [reserve()]
      expect([isBusy(), waitMs()], 'the last slot').to.deep.equal([false, 50])
      for (const waits of [75, 100]) {
        ends.push(reserve())
        expect(waitMs()).to.equal(waits)
      }
      expect(isBusy(), 'half of the room').to.equal(true)
      for (const end of ends) end()
      expect([isBusy(), waitMs(), room.hasPlaceFor(3)]).to.deep.equal([false, 50, true])
    })

    it('refuses those that wait at once when the room is closed, and lets none wait until it is opened', async () => {
      const room = createWaitingRoom(100)
      const { acquireSlots, acquire, isBusy, waitMs } = createTestConcurrency(2, room)
      await acquireSlots(2)
      const waiting = [acquire(), acquire()]
      room.close()
      expect(await Promise.all(waiting)).to.deep.equal([null, null])
      expect([isBusy(), waitMs()]).to.deep.equal([true, 50])
      room.open()
      expect(isBusy()).to.equal(false)
    })
  })
})
