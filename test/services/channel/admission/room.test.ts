import { expect } from 'chai'
import { type Leave, room } from '../../../../services/channel/admission/room.ts'
import type { AttemptResult } from '../../../../services/domain/verifications/documents.ts'
import { testClock } from '../../../support/clock.ts'
import { follow } from '../../../support/follow.ts'

const FIRST = 64
const MOST = 200
const LEAST = 4

describe('room for calls', () => {
  const opened = () => {
    const clock = testClock()
    const { take, callMs } = room(clock)
    const place = async (): Promise<Leave> => {
      const leave = await take()
      if (!leave) throw new Error('no place')
      return leave
    }
    const places = async (many: number): Promise<Leave[]> => {
      const all: Leave[] = []
      for (let nth = 0; nth < many; nth += 1) all.push(await place())
      return all
    }
    return {
      ...{ clock, take, callMs, place, places },
      /** So many calls at once, each over after so long. */
      async calls(many: number, result: AttemptResult, ms: number): Promise<void> {
        const all = await places(many)
        await clock.advance(ms)
        for (const leave of all) leave(result)
      },
      /** How many there are in all when none is taken, asked for while nobody would wait. */
      async size(): Promise<number> {
        const all: Leave[] = []
        for (;;) {
          const asking = take()
          const state = follow(asking)
          await clock.advance(0)
          if (state.state === 'pending') break
          const leave = await asking
          if (!leave) break
          all.push(leave)
        }
        await clock.advance(1_000)
        for (const leave of all) leave(null)
        return all.length
      },
    }
  }

  it('is given back, whatever came of the call', async () => {
    const { size, place } = opened()
    for (const result of ['accepted', 'refused', 'failed', null] as const) {
      const leave = await place()
      leave(result)
      expect(await size()).to.equal(FIRST)
    }
  })

  it('grows for a provider that answers and needs it, up to less than half of what a channel has in hand', async () => {
    const { size, calls } = opened()
    await calls(1, 'accepted', 10)
    expect(await size(), 'not needed').to.equal(FIRST)
    await calls(FIRST, 'accepted', 10)
    const more = await size()
    expect(more).to.be.greaterThan(FIRST)
    for (let nth = 0; nth < 10; nth += 1) await calls(await size(), 'accepted', 10)
    expect(await size()).to.equal(MOST)
  })

  it('shrinks for one that hangs, and never to none', async () => {
    const { size, calls } = opened()
    await calls(1, 'unknown', 8_000)
    expect(await size()).to.equal(FIRST / 2)
    for (let nth = 0; nth < 8; nth += 1) await calls(1, 'unknown', 8_000)
    expect(await size()).to.equal(LEAST)
  })

  describe('with a line before it', () => {
    it('lets in who came first, as soon as there is a place', async () => {
      const { places, take } = opened()
      const inside = await places(FIRST)
      const [first, second] = [take(), take()]
      const state = follow(second)
      inside[0]?.(null)
      expect(await first).to.be.a('function')
      expect(state.state).to.equal('pending')
      inside[1]?.(null)
      expect(await second).to.be.a('function')
    })

    it('is gone at once when the calls take long', async () => {
      const { places, take, clock, callMs } = opened()
      await places(FIRST)
      await clock.advance(2_001)
      expect(callMs()).to.equal(2_001)
      expect(await take()).to.equal(null)
    })

    it('comes back when the provider is quick again', async () => {
      const { calls, places, take, callMs, clock } = opened()
      await calls(1, 'accepted', 30_000)
      expect(callMs()).to.be.greaterThan(2_000)
      for (let nth = 0; nth < 20; nth += 1) await calls(2, 'accepted', 10)
      expect(callMs()).to.be.lessThan(2_000)
      await places(FIRST)
      const waiting = follow(take())
      await clock.advance(999)
      expect(waiting.state).to.equal('pending')
    })

    it('is left in the end by those who waited in vain', async () => {
      const { places, take, clock } = opened()
      await places(FIRST)
      const waiting = take()
      await clock.advance(1_000)
      expect(await waiting).to.equal(null)
    })
  })
})
