import { expect } from 'chai'
import { systemClock } from '../../infra/clock.ts'
import { testClock } from '../support/clock.ts'
import { eventually } from '../support/eventually.ts'

describe('system clock', () => {
  it('runs a task once its time has come, and not when it was cancelled', async () => {
    const ran: string[] = []
    systemClock.after(20, () => ran.push('kept'))
    systemClock.after(5, () => ran.push('cancelled'))()
    await eventually(() => expect(ran).to.deep.equal(['kept']))
  })

  it('does not fire a wait of more than 2^31 ms at once', async () => {
    let fired = false
    const cancel = systemClock.after(2 ** 31 + 5_000, () => {
      fired = true
    })
    await new Promise<void>(resolve => systemClock.after(20, resolve))
    cancel()
    expect(fired).to.equal(false)
  })
})

describe('test clock', () => {
  it('runs what falls due in its order, with the time each was due', async () => {
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
