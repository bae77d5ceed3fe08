import { expect } from 'chai'
import { type Breaker, type BreakerState, createBreaker } from '../../../../services/channel/admission/breaker.ts'
import { type TestClock, testClock } from '../../../support/clock.ts'

const SECOND = 1_000

describe('a circuit breaker', () => {
  let clock: TestClock
  let one: Breaker
  let changes: BreakerState[]
  beforeEach(() => {
    clock = testClock()
    changes = []
    one = createBreaker({ clock, onChange: state => void changes.push(state) })
  })
  afterEach(() => one.shutDown())

  /** Whether it was let in. */
  const call = async (good: boolean): Promise<boolean> => {
    const entry = one.enter()
    if (!entry) return false
    expect(
      await entry.run(
        async () => good,
        answer => !answer,
      ),
    ).to.equal(good)
    return true
  }
  const calls = async (good: boolean, times: number): Promise<void> => {
    for (let nth = 0; nth < times; nth += 1) expect(await call(good)).to.equal(true)
  }

  it('opens at half of ten calls in a minute', async () => {
    await calls(true, 5)
    await calls(false, 4)
    expect(one.state()).to.equal('closed')
    await calls(false, 1)
    expect([one.state(), changes]).to.deep.equal(['open', ['open']])
    expect(await call(true)).to.equal(false)
  })

  it('says nothing of fewer than ten', async () => {
    await calls(false, 9)
    expect(one.state()).to.equal('closed')
    await calls(false, 1)
    expect(one.state()).to.equal('open')
  })

  it('forgives what is more than a minute ago', async () => {
    await calls(false, 9)
    await clock.advance(66 * SECOND)
    await calls(false, 9)
    expect(one.state()).to.equal('closed')
  })

  it('counts what throws, and lets it through', async () => {
    for (let nth = 0; nth < 10; nth += 1) {
      const error = await one
        .enter()
        ?.run(
          () => Promise.reject(new TypeError('a bug')),
          () => false,
        )
        .catch((thrown: unknown) => thrown)
      expect(error).to.be.instanceOf(TypeError)
    }
    expect(one.state()).to.equal('open')
  })

  describe('once open', () => {
    beforeEach(() => calls(false, 10))

    it('lets one call through after half a minute, and closes when it is answered', async () => {
      await clock.advance(30 * SECOND - 1)
      expect(one.enter()).to.equal(null)
      await clock.advance(1)
      const probe = one.enter()
      expect([one.state(), one.enter()]).to.deep.equal(['half_open', null])
      await probe?.run(
        async () => true,
        () => false,
      )
      expect(changes).to.deep.equal(['open', 'half_open', 'closed'])
      await calls(false, 8)
      expect(one.state(), 'starts afresh').to.equal('closed')
    })

    it('stays open for another half minute when it is not', async () => {
      await clock.advance(30 * SECOND)
      await calls(false, 1)
      expect(one.state()).to.equal('open')
      expect(await call(true)).to.equal(false)
      await clock.advance(30 * SECOND)
      await calls(true, 1)
      expect(one.state()).to.equal('closed')
    })

    it('lets another try when the first made no call after all', async () => {
      await clock.advance(30 * SECOND)
      one.enter()?.cancel()
      await calls(true, 1)
      expect(one.state()).to.equal('closed')
    })

    it('lets finish what was let in before', async () => {
      const other = createBreaker({ clock })
      const early = other.enter()
      for (let nth = 0; nth < 10; nth += 1)
        await other.enter()?.run(
          async () => false,
          () => true,
        )
      expect(other.state()).to.equal('open')
      const answer = await early?.run(
        async () => 'answered',
        () => false,
      )
      expect([answer, other.state()]).to.deep.equal(['answered', 'open'])
      other.shutDown()
    })
  })
})
