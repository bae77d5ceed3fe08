import { expect } from 'chai'
import fc from 'fast-check'
import {
  createConcurrency,
  createWaitingRoom,
  type Release,
  type WaitingRoom,
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

  it('grows for a provider that answers and uses its slots, up to a maximum', async () => {
    const { slotCount, calls } = createTestConcurrency()
    for (const result of ['accepted', 'refused', 'failed'] as const) await calls(1, result, 10)
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

/** A provider with one slot, which takes its places from the room. */
function createProvider(room: WaitingRoom) {
  const { acquire, isBusy } = createConcurrency({ clock: testClock(), maxCalls: 1, room })
  const calls: Release[] = []
  /** The numbers of the messages that wait, and of those that got their slot, in order. */
  const waiting: number[] = []
  const served: number[] = []
  return {
    isBusy,
    waiting,
    served,
    async come(message: number): Promise<void> {
      if (!isBusy()) waiting.push(message)
      const release = await acquire()
      if (release === null) return
      waiting.splice(waiting.indexOf(message), 1)
      served.push(message)
      calls.push(release)
    },
    async answer(): Promise<void> {
      calls.shift()?.('accepted')
      await settled()
    },
  }
}

const settled = () => new Promise<void>(resolve => setImmediate(resolve))

describe('the places in which messages wait for a slot', () => {
  /** Brings messages until the provider is busy, and returns how many wait. */
  function fill(provider: ReturnType<typeof createProvider>): number {
    while (!provider.isBusy()) void provider.come(0)
    return provider.waiting.length
  }

  it('go to one provider up to a half, and to two up to a third each', async () => {
    const room = createWaitingRoom(12)
    const [first, second] = [createProvider(room), createProvider(room)]
    for (const provider of [first, second]) await provider.come(0)
    expect([fill(first), fill(second)]).to.deep.equal([6, 3])
    for (let nth = 0; nth < 2; nth += 1) await first.answer()
    expect([fill(second), fill(first)]).to.deep.equal([4, 4])
  })

  it('are never more than there are, have one for a provider that has none while one is free, and keep the order', async () => {
    const action = fc.record({ provider: fc.nat({ max: 3 }), what: fc.constantFrom('come', 'come', 'answer') })
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 9 }), fc.array(action, { maxLength: 60 }), async (places, actions) => {
        const room = createWaitingRoom(places)
        const providers = Array.from({ length: 4 }, () => createProvider(room))
        for (const provider of providers) await provider.come(-1)
        for (const [at, { provider: nth, what }] of actions.entries()) {
          const provider = providers[nth] as (typeof providers)[number]
          const taken = providers.reduce((sum, { waiting }) => sum + waiting.length, 0)
          expect(taken).to.be.at.most(places)
          if (taken < places && provider.waiting.length === 0) expect(provider.isBusy()).to.equal(false)
          if (what === 'answer') await provider.answer()
          else void provider.come(at)
          await settled()
        }
        for (const { served } of providers) expect(served).to.deep.equal(served.toSorted((a, b) => a - b))
      }),
    )
  })
})
