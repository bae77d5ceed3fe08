import { expect } from 'chai'
import { systemClock } from '../../infra/clock.ts'
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
