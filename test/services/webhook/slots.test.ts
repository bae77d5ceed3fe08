import { expect } from 'chai'
import type { Endpoint } from '../../../services/webhook/endpoints.ts'
import { slots } from '../../../services/webhook/slots.ts'
import { type Waiting, waitingRoom } from '../../../services/webhook/waiting.ts'
import { testClock } from '../../support/clock.ts'

const settled = () => new Promise(resolve => setImmediate(resolve))

describe('slots', () => {
  const owner = (app_id: string, company_id = 'acme') => ({ app_id, company_id })
  const [a, b] = [owner('a'), owner('b')]

  it('are so many per app and so many in all', () => {
    const all = slots({ inAll: 3, ofOneCompany: 9 })
    expect([all.take(a, 2), all.take(a, 2), all.take(a, 2)]).to.deep.equal([true, true, false])
    expect([all.room(b, 2), all.take(b, 2), all.take(b, 2)]).to.deep.equal([1, true, false])
    all.release(a)
    expect([all.room(a, 2), all.room(b, 2)]).to.deep.equal([1, 1])
  })

  it('are so many per company, however many apps it has', () => {
    const all = slots({ inAll: 10, ofOneCompany: 3 })
    const other = owner('c', 'other')
    expect([all.take(a, 2), all.take(a, 2), all.take(b, 2), all.take(b, 2)]).to.deep.equal([true, true, true, false])
    expect([all.room(b, 2), all.room(other, 9)]).to.deep.equal([0, 3])
    all.release(a)
    expect([all.room(a, 2), all.room(b, 2), all.room(other, 9)]).to.deep.equal([1, 1, 3])
  })

  it('wake those who wait for their own, and those who have none when anybody leaves', async () => {
    const all = slots({ inAll: 2, ofOneCompany: 2 })
    all.take(a, 1)
    all.take(b, 1)
    const woken: string[] = []
    for (const app of ['a', 'b', 'c']) void all.released(app).then(() => woken.push(app))
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

describe('the line before an endpoint', () => {
  const one = (n: number, app_id = 'app_shop'): Waiting => ({
    event: { _id: `evt_${n}`, app_id } as Waiting['event'],
    endpoint: { app_id } as Endpoint,
  })
  const room = () => {
    const clock = testClock()
    const out: string[][] = []
    const line = waitingRoom({ clock, showOut: tired => void out.push(tired.map(({ event }) => event._id)) })
    const sit = (n: number, app?: string) => {
      expect(line.keepSeat(app ?? 'app_shop')).to.equal(true)
      line.sit(one(n, app))
    }
    return { clock, out, line, sit }
  }

  it('is taken from its head', () => {
    const { line, sit } = room()
    for (const n of [1, 2]) sit(n)
    expect([1, 2, 3].map(() => line.next('app_shop')?.event._id)).to.deep.equal(['evt_1', 'evt_2', undefined])
  })

  it('is left by those who have waited two seconds, and by nobody else', async () => {
    const { clock, out, line, sit } = room()
    sit(1)
    await clock.advance(1_500)
    for (const n of [2, 3]) sit(n)
    await clock.advance(500)
    expect(out).to.deep.equal([['evt_1']])
    expect(line.next('app_shop')?.event._id).to.equal('evt_2')
    await clock.advance(1_500)
    expect(out).to.deep.equal([['evt_1'], ['evt_3']])
    await clock.advance(10_000)
    expect(out).to.have.length(2)
  })

  it('has so many seats, kept ones included, and gets them back', async () => {
    const { clock, line, sit } = room()
    for (let n = 0; n < 499; n += 1) sit(n)
    expect([line.keepSeat('app_shop'), line.keepSeat('app_shop'), line.keepSeat('app_blog')]).to.deep.equal([
      ...[true, false, true],
    ])
    line.giveBackSeat('app_shop')
    expect(line.keepSeat('app_shop')).to.equal(true)
    await clock.advance(2_000)
    for (let n = 0; n < 499; n += 1) expect(line.keepSeat('app_shop')).to.equal(true)
    expect(line.keepSeat('app_shop')).to.equal(false)
  })

  it('is empty once it is closed, also for who still comes', () => {
    const { out, line, sit } = room()
    sit(1)
    line.close()
    sit(2)
    expect(out).to.deep.equal([['evt_1'], ['evt_2']])
  })
})
