import { expect } from 'chai'
import { createDeadlines } from '../../../../infra/broker/amqp/deadlines.ts'
import { type Clock, systemClock } from '../../../../infra/clock.ts'
import { eventually } from '../../../support/eventually.ts'

describe('deadlines', () => {
  /** The system clock, with a count of its timers. */
  function countedClock(): { clock: Clock; timers: () => number } {
    const set = new Set<symbol>()
    return {
      timers: () => set.size,
      clock: {
        now: systemClock.now,
        after(ms, task) {
          const timer = Symbol('timer')
          set.add(timer)
          const cancel = systemClock.after(ms, () => {
            set.delete(timer)
            task()
          })
          return () => {
            set.delete(timer)
            cancel()
          }
        },
      },
    }
  }

  it('expire when their time is over and never before', async () => {
    const due = createDeadlines(systemClock)
    const waited: [number, number][] = []
    const start = performance.now()
    for (let ms = 0; ms < 60; ms += 0.25) due.after(ms, () => waited.push([ms, performance.now() - start]))
    await eventually(() => expect(waited).to.have.length(240))
    for (const [asked, took] of waited) expect(took).to.be.at.least(asked)
  })

  it('share timers, and leave none when all are cancelled', () => {
    const { clock, timers } = countedClock()
    const due = createDeadlines(clock, 1_000)
    const cancels = Array.from({ length: 1_000 }, (_, index) => due.after(60_000 + (index % 5), () => {}))
    expect(timers()).to.be.within(1, 3)
    for (const cancel of cancels) cancel()
    expect(timers()).to.equal(0)
  })

  it('expire when only others of the same timer were cancelled', async () => {
    const due = createDeadlines(systemClock)
    const called: string[] = []
    due.after(5, () => called.push('kept'))
    const cancel = due.after(5, () => called.push('cancelled'))
    cancel()
    cancel()
    await eventually(() => expect(called).to.deep.equal(['kept']))
  })
})
