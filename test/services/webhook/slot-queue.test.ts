import { expect } from 'chai'
import type { Endpoint } from '../../../services/webhook/endpoints.ts'
import { createSlotQueue, type QueuedEvent } from '../../../services/webhook/slot-queue.ts'
import { testClock } from '../../support/clock.ts'

describe('the queue for the slots of an app', () => {
  const queued = (n: number, app_id = 'app_shop'): QueuedEvent => ({
    event: { _id: `evt_${n}`, app_id } as QueuedEvent['event'],
    endpoint: { app_id } as Endpoint,
  })
  const setUpQueue = () => {
    const clock = testClock()
    const expired: string[][] = []
    const queue = createSlotQueue({
      clock,
      onExpired: expiredEvents => void expired.push(expiredEvents.map(({ event }) => event._id)),
    })
    const enqueue = (n: number, app?: string) => {
      expect(queue.reserve(app ?? 'app_shop')).to.equal(true)
      queue.enqueue(queued(n, app))
    }
    return { clock, expired, queue, enqueue }
  }

  it('returns the event that has waited longest', () => {
    const { queue, enqueue } = setUpQueue()
    for (const n of [1, 2]) enqueue(n)
    expect([1, 2, 3].map(() => queue.dequeue('app_shop')?.event._id)).to.deep.equal(['evt_1', 'evt_2', undefined])
  })

  it('expires events that have waited two seconds, and no others', async () => {
    const { clock, expired, queue, enqueue } = setUpQueue()
    enqueue(1)
    await clock.advance(1_500)
    for (const n of [2, 3]) enqueue(n)
    await clock.advance(500)
    expect(expired).to.deep.equal([['evt_1']])
    expect(queue.dequeue('app_shop')?.event._id).to.equal('evt_2')
    await clock.advance(1_500)
    expect(expired).to.deep.equal([['evt_1'], ['evt_3']])
    await clock.advance(10_000)
    expect(expired).to.have.length(2)
  })

  it('has 500 seats, reserved ones included, and frees them again', async () => {
    const { clock, queue, enqueue } = setUpQueue()
    for (let n = 0; n < 499; n += 1) enqueue(n)
    expect([queue.reserve('app_shop'), queue.reserve('app_shop'), queue.reserve('app_blog')]).to.deep.equal([
      true,
      false,
      true,
    ])
    queue.unreserve('app_shop')
    expect(queue.reserve('app_shop')).to.equal(true)
    await clock.advance(2_000)
    for (let n = 0; n < 499; n += 1) expect(queue.reserve('app_shop')).to.equal(true)
    expect(queue.reserve('app_shop')).to.equal(false)
  })

  it('expires all events when it is told to, and no later ones', () => {
    const { expired, queue, enqueue } = setUpQueue()
    enqueue(1)
    queue.expireAll()
    enqueue(2)
    expect(expired).to.deep.equal([['evt_1']])
  })
})
