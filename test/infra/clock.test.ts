import { expect } from 'chai'
import { systemClock } from '../../infra/clock.ts'
import { testClock } from '../support/clock.ts'
import { eventually } from '../support/eventually.ts'

describe('the system clock', () => {
  it('runs a task after its delay, unless the task was cancelled', async () => {
    const ran: string[] = []
    systemClock.after(20, () => ran.push('kept'))
    systemClock.after(5, () => ran.push('cancelled'))()
    await eventually(() => expect(ran).to.deep.equal(['kept']))
  })

  it('does not run a task at once that waits longer than 2^31 ms', async () => {
    let fired = false
    const cancel = systemClock.after(2 ** 31 + 5_000, () => {
      fired = true
    })
    await new Promise<void>(resolve => systemClock.after(20, resolve))
    cancel()
    expect(fired).to.equal(false)
  })
})

describe('the test clock', () => {
  it('runs tasks in the order of their times, each at its own time', async () => {
    const clock = testClock(0)
    const ran: [string, number][] = []
    clock.after(20, () => ran.push(['late', clock.now()]))
    clock.after(10, () => {
      ran.push(['early', clock.now()])
      clock.after(5, () => ran.push(['nested', clock.now()]))
    })
    clock.after(31, () => ran.push(['not yet', clock.now()]))
    await clock.advance(30)
    expect(ran).to.deep.equal([
      ['early', 10],
      ['nested', 15],
      ['late', 20],
    ])
    expect(clock.now()).to.equal(30)
  })
})
