import { expect } from 'chai'
import { parseOpponent } from './paired-cost.ts'
import { compare, idleRates, pairOf, pairsOf, type Reading } from './paired-rounds.ts'

/** Readings before each turn: what ours, theirs and the engine have used so far. */
const readings = (...rows: [ours: number, theirs: number, engine: number][]): Reading[] =>
  rows.map(([ours, theirs, engine], turn) => ({
    at: turn * 1_000,
    ours: { cpu: ours },
    theirs: { cpu: theirs },
    shared: { engine },
  }))

const NO_IDLE = { ours: {}, theirs: {}, shared: {} }

describe('paired rounds of the bench', () => {
  it('count work that a system does after its turn, and the engine during the turn alone', () => {
    const turns = readings([0, 0, 0], [90, 5, 40], [100, 190, 100], [180, 205, 130], [210, 400, 190])
    expect(pairsOf(turns, 10, NO_IDLE)).to.deep.equal([
      { ours: { cpu: 10, engine: 4 }, theirs: { cpu: 20, engine: 6 } },
    ])
    const longer = [...turns, ...readings([290, 410, 230])]
    expect(pairsOf(longer, 10, NO_IDLE)).to.deep.equal([
      { ours: { cpu: 10, engine: 4 }, theirs: { cpu: 20, engine: 6 } },
      { ours: { cpu: 11, engine: 3 }, theirs: { cpu: 20.5, engine: 6 } },
    ])
  })

  it('count both systems at once under light load', () => {
    const [before, after] = readings([100, 200, 0], [150, 300, 7]) as [Reading, Reading]
    expect(pairOf(before, after, 50, NO_IDLE)).to.deep.equal({ ours: { cpu: 1 }, theirs: { cpu: 2 } })
  })

  it('leave out what is used without sends, for as long as they took', () => {
    const [before, after] = readings([0, 0, 0], [10, 30, 40]) as [Reading, Reading]
    const idle = idleRates(before, after)
    expect(idle, 'the lower').to.deep.equal({ ours: { cpu: 0.01 }, theirs: { cpu: 0.01 }, shared: { engine: 0.04 } })
    const turns = readings([0, 0, 0], [90, 5, 80], [120, 190, 180], [180, 225, 230])
    expect(pairsOf(turns, 10, idle)).to.deep.equal([{ ours: { cpu: 10, engine: 4 }, theirs: { cpu: 20, engine: 6 } }])
    expect(pairOf(before, after, 10, idle)).to.deep.equal({ ours: { cpu: 0 }, theirs: { cpu: 2 } })
  })

  it('answer the median of the ratios of neighbours, not the ratio of medians', () => {
    const pairs = [
      [1, 2],
      [10, 20],
      [30, 40],
    ].map(([ours = 0, theirs = 0]) => ({ ours: { cpu: ours }, theirs: { cpu: theirs } }))
    expect(compare(pairs, ({ cpu = 0 }) => cpu)).to.deep.equal({
      ours: 10,
      theirs: 20,
      ratio: 0.5,
      from: 0.5,
      to: 0.75,
    })
  })

  it('take the other checkout, and settings of its server, from the command line', () => {
    expect(parseOpponent(['node', 'main.js', 'cost'])).to.equal(null)
    expect(parseOpponent(['cost', '--', '--against', '/there', 'A=1', 'B=x=y'])).to.deep.equal({
      checkout: '/there',
      settings: { A: '1', B: 'x=y' },
    })
  })
})
