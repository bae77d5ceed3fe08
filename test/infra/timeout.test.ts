import { expect } from 'chai'
import { createTimer, sleep, withTimeout } from '../../infra/timeout.ts'
import { testClock } from '../support/clock.ts'

describe('work with a timeout', () => {
  it('gives its result or its error if it ends in time', async () => {
    const clock = testClock()
    expect(await withTimeout(clock, 100, Promise.resolve('done'))).to.equal('done')
    const failed = withTimeout(clock, 100, Promise.reject(new Error('lost')))
    expect(await failed.catch(error => error.message)).to.equal('lost')
  })

  it('is waited for no longer than that, and an error that comes later is dropped', async () => {
    const clock = testClock()
    let fail = (_: Error): void => {}
    const work = new Promise<string>((_, reject) => {
      fail = reject
    })
    let result: string | undefined = 'none yet'
    const waiting = withTimeout(clock, 100, work).then(value => {
      result = value
    })
    await clock.advance(99)
    expect(result).to.equal('none yet')
    await clock.advance(1)
    await waiting
    expect(result).to.equal(undefined)
    fail(new Error('too late'))
    // mocha fails a test whose rejection is not handled.
    await clock.advance(1)
  })
})

describe('a sleep', () => {
  it('ends after its time, or when its signal is aborted', async () => {
    const clock = testClock()
    const aborting = new AbortController()
    const ended: string[] = []
    const sleeps = [
      sleep(clock, 100).then(() => ended.push('its time')),
      sleep(clock, 1_000, aborting.signal).then(() => ended.push('aborted')),
    ]
    await clock.advance(99)
    expect(ended).to.deep.equal([])
    await clock.advance(1)
    expect(ended).to.deep.equal(['its time'])
    aborting.abort()
    await Promise.all(sleeps)
    expect(ended).to.deep.equal(['its time', 'aborted'])
    await sleep(clock, 1_000, aborting.signal)
  })
})

describe('a timer', () => {
  it('runs once, however often it is set meanwhile, and can be set again then', async () => {
    const clock = testClock()
    const timer = createTimer(clock)
    const ran: string[] = []
    timer.set(100, () => ran.push('first'))
    await clock.advance(50)
    timer.set(100, () => ran.push('second'))
    await clock.advance(500)
    expect(ran).to.deep.equal(['first'])
    timer.set(100, () => ran.push('third'))
    await clock.advance(100)
    expect(ran).to.deep.equal(['first', 'third'])
  })

  it('does not run once it is cancelled, and can be set again at once', async () => {
    const clock = testClock()
    const timer = createTimer(clock)
    const ran: string[] = []
    timer.set(100, () => ran.push('cancelled'))
    timer.cancel()
    timer.set(200, () => ran.push('set again'))
    await clock.advance(200)
    expect(ran).to.deep.equal(['set again'])
  })
})
