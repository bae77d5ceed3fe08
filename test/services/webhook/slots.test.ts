import { expect } from 'chai'
import { createSlots } from '../../../services/webhook/slots.ts'

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
