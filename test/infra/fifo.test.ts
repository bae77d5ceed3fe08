import { expect } from 'chai'
import fc from 'fast-check'
import { createFifo } from '../../infra/fifo.ts'

describe('fifo', () => {
  it('behaves as an array does', () => {
    const step = fc.oneof(
      fc.record({ push: fc.integer({ min: 1, max: 900 }) }),
      fc.record({ shift: fc.integer({ min: 1, max: 900 }) }),
      fc.record({ unshift: fc.integer({ min: 0, max: 5 }) }),
      fc.constant({ clear: true }),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), steps => {
        const list = createFifo<number>()
        let model: number[] = []
        let next = 0
        const fresh = (count: number): number[] => Array.from({ length: count }, () => next++)
        for (const action of steps) {
          if ('push' in action) {
            for (const item of fresh(action.push)) {
              list.push(item)
              model.push(item)
            }
          } else if ('shift' in action) {
            for (let left = action.shift; left > 0; left -= 1) expect(list.shift()).to.equal(model.shift())
          } else if ('unshift' in action) {
            const items = fresh(action.unshift)
            list.unshift(items)
            model = [...items, ...model]
          } else {
            expect(list.clear()).to.deep.equal(model)
            model = []
          }
          expect(list.size).to.equal(model.length)
          expect(list.peek()).to.equal(model[0])
        }
      }),
    )
  })
})
