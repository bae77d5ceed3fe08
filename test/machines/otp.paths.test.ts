import { expect } from 'chai'
import { otpMachine } from '../../machines/otp.machine.ts'
import { step } from '../../machines/otp.step.ts'
import type { OtpEvent } from '../../machines/otp.ts'
import type { SavedOtp } from '../../machines/otp.versions.ts'
import { expectSame } from '../support/expect-same.ts'
import { expectInvariants } from '../support/otp.invariants.ts'
import { coveringPaths, nextEvents, type OtpPath, statePaths } from '../support/otp.paths.ts'
import { allRows, type Row, rowName, rowsTaken, stateNodes } from '../support/otp.rows.ts'

/** Steps with all invariants checked, and adds the row that was taken to `taken`. */
const checkedStep =
  (taken: Set<Row>) =>
  (saved: SavedOtp, event: OtpEvent & { id: string }): SavedOtp => {
    const rows = rowsTaken(saved, event)
    if (rows.length !== 1) expect.fail(`${event.type} on ${saved.value} is answered by ${rows.length} rows`)
    for (const row of rows) taken.add(row)
    const after = step(saved, event)
    expectInvariants(saved, event, after)
    return after.saved
  }

function walk({ start, events }: OtpPath, taken: Set<Row>): SavedOtp {
  const started = step(null, start)
  expectInvariants(null, start, started)
  return events.reduce(checkedStep(taken), started.saved)
}

const missing = (taken: Set<Row>): string[] => allRows.filter(row => !taken.has(row)).map(rowName)

describe("the paths through a verification's machine", () => {
  it('reach every state, with 300 to 3 000 paths', () => {
    const paths = statePaths()
    expect(paths.length).to.be.within(300, 3_000)
    expect([...new Set(paths.map(({ end }) => end.value))]).to.have.members(Object.keys(otpMachine.states))
  })

  it('end with step in the same state as with xstate, keep all invariants and take every row', () => {
    const taken = new Set<Row>()
    for (const path of statePaths()) {
      const saved = walk(path, taken)
      expectSame([saved.value, saved.context], [path.end.value, path.end.context], path.name)
      for (const event of nextEvents(path)) checkedStep(taken)(saved, event)
    }
    expect(missing(taken)).to.deep.equal([])
  })

  it('can be reduced to a few that still take every row', () => {
    const few = coveringPaths()
    const taken = new Set<Row>()
    for (const path of few) walk(path, taken)
    expect(missing(taken)).to.deep.equal([])
    expect(few.length).to.be.at.most(allRows.length)
  })
})

describe('the transition table', () => {
  it('is flat, without invoke, after, always and exit', () => {
    for (const node of stateNodes) {
      expect(node.type, node.key).to.equal(node === otpMachine.root ? 'compound' : 'atomic')
      expect(node.invoke, node.key).to.deep.equal([])
      expect(node.after, node.key).to.deep.equal([])
      expect(node.always ?? [], node.key).to.deep.equal([])
      expect(node.exit, node.key).to.deep.equal([])
    }
  })

  it('leads from pending to four final states, and from those to no other', () => {
    const leads = allRows.filter(row => row.target).map(row => [row.source.key, row.target?.[0]?.key].join(' → '))
    expect(new Set(leads)).to.have.all.keys(
      'pending → approved',
      'pending → failed',
      'pending → expired',
      'pending → canceled',
    )
  })

  it('replies exactly once in every row', () => {
    for (const row of allRows) {
      const replies = row.actions.filter(action => typeof action === 'object' && action.type === 'reply')
      expect(replies, rowName(row)).to.have.length(1)
    }
  })

  it('has a last row without a guard for every event in every state', () => {
    for (const node of stateNodes)
      for (const [event, rows] of node.transitions)
        expect(rows.at(-1)?.guard, `${node.key} ${event}`).to.equal(undefined)
  })
})
