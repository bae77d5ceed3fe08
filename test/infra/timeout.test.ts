import { expect } from 'chai'
import { withTimeout } from '../../infra/timeout.ts'
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
