import { expect } from 'chai'
import fc from 'fast-check'
import {
  createConcurrency,
  createWaitingRoom,
  type Release,
  type WaitingRoom,
} from '../../../../services/channel/admission/concurrency.ts'
import { testClock } from '../../../support/clock.ts'

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
