import { expect } from 'chai'
import { createReading, type Reading } from '../../infra/reading.ts'
import { Unavailable } from '../../infra/unavailable.ts'
import { type TestClock, testClock } from '../support/clock.ts'
import { promiseState } from '../support/promise-state.ts'

describe('a reading', () => {
  let clock: TestClock
  let reads: number
  /** What the engine does with a question. */
  let engine: () => Promise<void>
  let reading: Reading<number>
  beforeEach(() => {
    clock = testClock()
    reads = 0
    engine = async () => {}
    reading = createReading({
      async read() {
        reads += 1
        const nth = reads
        await engine()
        return nth
      },
      clock,
      freshMs: 2_000,
    })
  })
  const hang = (): void => {
    engine = () => new Promise(() => {})
  }
  const failure = (read: Promise<unknown>): Promise<unknown> =>
    read.then(
      () => null,
      error => error,
    )

  it('is shared by its callers, and made again once it is not fresh', async () => {
    expect(await Promise.all([reading.latest(), reading.latest()])).to.deep.equal([1, 1])
    await clock.advance(1_999)
    expect(await reading.latest()).to.equal(1)
    await clock.advance(1)
    expect(await reading.latest()).to.equal(2)
    await clock.advance(60_000)
    expect(reads, 'none between the calls').to.equal(2)
  })

  it('is made again when the clock was set back', async () => {
    await reading.latest()
    await clock.advance(-60_000)
    expect(await reading.latest()).to.equal(2)
  })

  it('that hangs delays a caller by half a second, who gets what is known', async () => {
    await reading.latest()
    hang()
    await clock.advance(2_000)
    const asked = promiseState(reading.latest())
    await clock.advance(499)
    expect(asked.state).to.equal('pending')
    await clock.advance(1)
    expect(asked).to.include({ state: 'resolved', value: 1 })
  })

  it('that hangs leaves nothing known after five seconds, and tells how old the last one is', async () => {
    await reading.latest()
    hang()
    await clock.advance(4_500)
    const asked = promiseState(failure(reading.latest()))
    await clock.advance(500)
    expect(asked.value).to.be.instanceOf(Unavailable)
    expect(reading.ageMs()).to.equal(5_000)
  })

  it('that fails is answered with what is recent, and then with the failure', async () => {
    await reading.latest()
    const down = new Unavailable('down')
    engine = () => Promise.reject(down)
    await clock.advance(4_999)
    expect(await reading.latest()).to.equal(1)
    await clock.advance(1)
    expect(await failure(reading.latest())).to.equal(down)
    expect(reads).to.equal(3)
  })

  it('that never succeeded is as old as the first question', async () => {
    engine = () => Promise.reject(new Unavailable('down'))
    expect(reading.ageMs()).to.equal(0)
    await failure(reading.latest())
    await clock.advance(7_000)
    expect(reading.ageMs()).to.equal(7_000)
  })

  it('that is late goes on between the calls, for a minute after the last one', async () => {
    engine = () => new Promise(resolve => clock.after(600, resolve))
    const asked = promiseState(failure(reading.latest()))
    await clock.advance(500)
    expect(asked.value).to.be.instanceOf(Unavailable)
    await clock.advance(10_000)
    expect(reads).to.equal(5)
    const late = promiseState(reading.latest())
    await clock.advance(600)
    expect(late.value).to.equal(5)
    await clock.advance(70_000)
    const ended = reads
    await clock.advance(60_000)
    expect(reads).to.equal(ended)
  })
})
