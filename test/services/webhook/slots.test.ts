import { expect } from 'chai'
import { createCallQueue, type QueuedEvent } from '../../../services/webhook/call-queue.ts'
import type { Endpoint } from '../../../services/webhook/endpoints.ts'
import { createSlots } from '../../../services/webhook/slots.ts'
import { testClock } from '../../support/clock.ts'

const settled = () => new Promise(resolve => setImmediate(resolve))

describe('slots', () => {
  const owner = (app_id: string, company_id = 'acme') => ({ app_id, company_id })
  const [a, b] = [owner('a'), owner('b')]

  it('are limited per app and in total', () => {
    const all = createSlots({ maxTotal: 3, maxPerCompany: 9 })
    expect([all.take(a, 2), all.take(a, 2), all.take(a, 2)]).to.deep.equal([true, true, false])
    expect([all.freeSlots(b, 2), all.take(b, 2), all.take(b, 2)]).to.deep.equal([1, true, false])
    all.release(a)
    expect([all.freeSlots(a, 2), all.freeSlots(b, 2)]).to.deep.equal([1, 1])
  })

  it('are limited per company, however many apps it has', () => {
    const all = createSlots({ maxTotal: 10, maxPerCompany: 3 })
    const other = owner('c', 'other')
    expect([all.take(a, 2), all.take(a, 2), all.take(b, 2), all.take(b, 2)]).to.deep.equal([true, true, true, false])
    expect([all.freeSlots(b, 2), all.freeSlots(other, 9)]).to.deep.equal([0, 3])
    all.release(a)
    expect([all.freeSlots(a, 2), all.freeSlots(b, 2), all.freeSlots(other, 9)]).to.deep.equal([1, 1, 3])
  })

  it('wake an app that waits when one of its calls ends, or any call if it has none under way', async () => {
    const all = createSlots({ maxTotal: 2, maxPerCompany: 2 })
    all.take(a, 1)
    all.take(b, 1)
    const woken: string[] = []
    for (const app of ['a', 'b', 'c']) void all.whenSlotFree(app).then(() => woken.push(app))
    await settled()
    expect(woken).to.deep.equal([])
    all.release(a)
    await settled()
    expect(woken).to.have.members(['a', 'c'])
    all.release(b)
    await settled()
    expect(woken).to.have.members(['a', 'c', 'b'])
  })
})

describe('the call queue of an app', () => {
  const queued = (n: number, app_id = 'app_shop'): QueuedEvent => ({
    event: { _id: `evt_${n}`, app_id } as QueuedEvent['event'],
    endpoint: { app_id } as Endpoint,
  })
  const setUpQueue = () => {
    const clock = testClock()
    const expired: string[][] = []
    const queue = createCallQueue({
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

  it('expires all events when it is closed, also those added afterwards', () => {
    const { expired, queue, enqueue } = setUpQueue()
    enqueue(1)
    queue.close()
    enqueue(2)
    expect(expired).to.deep.equal([['evt_1'], ['evt_2']])
  })
})
