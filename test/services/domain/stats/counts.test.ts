import { expect } from 'chai'
import fc from 'fast-check'
import {
  addApproval,
  addCell,
  addCount,
  type Cells,
  COUNTS,
  cellOf,
  countOf,
  decodeCells,
  encodeCells,
  REST,
} from '../../../../services/domain/stats/counts.ts'

describe('the cells of a statistic', () => {
  const value = fc.oneof(fc.stringMatching(/^[a-z0-9_-]{1,12}$/), fc.constantFrom('__proto__', 'constructor', '?'))
  const cell = fc.record({
    counts: fc.array(fc.integer({ min: -3, max: 1e9 }), { minLength: COUNTS.length, maxLength: COUNTS.length }),
    approvals: fc.array(fc.tuple(fc.nat(160), fc.integer({ min: -2, max: 1e6 })), { maxLength: 20 }),
  })

  it('are the same after they were stored, negative counts and any name of a provider included', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(value, cell), { maxLength: 10 }), all => {
        const cells: Cells = new Map()
        for (const [name, { counts, approvals }] of all)
          addCell(cellOf(cells, name), { counts, approvals: approvals.flat() })
        const stored = encodeCells(cells)
        expect(encodeCells(decodeCells(stored))).to.equal(stored)
        const sum = (which: Cells) => [...which.values()].reduce((all, one) => all + countOf(one, 'sent'), 0)
        expect(sum(decodeCells(stored))).to.equal(sum(cells))
      }),
    )
  })

  it('are read as a release stored them that had fewer counts', () => {
    const cells = decodeCells('sms=12 11 9 8 0 2 7:5 12:-3;email=1 1 1 0 0 1')
    expect(cells.get('sms')).to.deep.equal({ counts: [12, 11, 9, 8, 0, 2, 0, 0, 0], approvals: [7, 5, 12, -3] })
    expect(cells.get('email')).to.deep.equal({ counts: [1, 1, 1, 0, 0, 1, 0, 0, 0], approvals: [] })
  })

  it('are left out where everything is zero', () => {
    const cells: Cells = new Map()
    addCount(cellOf(cells, 'sms'), 'sent', 1)
    addCount(cellOf(cells, 'sms'), 'sent', -1)
    addApproval(cellOf(cells, 'sms'), 5, 1)
    addApproval(cellOf(cells, 'sms'), 5, -1)
    expect(encodeCells(cells)).to.equal('')
  })

  it('do not become more than 300 and the rest, and lose no count', () => {
    const cells: Cells = new Map()
    for (let nth = 0; nth < 1_000; nth += 1) addCount(cellOf(cells, `provider-${nth}`), 'started', 1)
    expect(cells.size).to.equal(301)
    expect(countOf(cellOf(cells, REST), 'started')).to.equal(700)
  })

  it('hold many approvals in little memory', () => {
    const cells: Cells = new Map()
    for (let nth = 0; nth < 100_000; nth += 1) addApproval(cellOf(cells, 'sms'), nth % 160, 1)
    expect(cellOf(cells, 'sms').approvals.length).to.be.lessThan(2_002)
    expect(encodeCells(cells)).to.contain(' 7:625')
  })
})
