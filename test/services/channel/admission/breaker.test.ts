import { expect } from 'chai'
import { type Breaker, createBreaker } from '../../../../services/channel/admission/breaker.ts'
import type { BreakerState } from '../../../../services/domain/breakers/documents.ts'
import { type TestClock, testClock } from '../../../support/clock.ts'

const SECOND = 1_000

describe('a circuit breaker', () => {
  let clock: TestClock
  let breaker: Breaker
  let changes: BreakerState[]
  beforeEach(() => {
    clock = testClock()
    changes = []
    breaker = createBreaker({ clock, onChange: state => void changes.push(state) })
  })
  afterEach(() => breaker.shutDown())

  /** Makes a call, if the breaker permits it; resolves with whether it did. */
  const call = async (good: boolean): Promise<boolean> => {
    const entry = breaker.enter()
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

  it('opens when half of ten calls within a minute have failed', async () => {
    await calls(true, 5)
    await calls(false, 4)
    expect(breaker.state()).to.equal('closed')
    await calls(false, 1)
    expect([breaker.state(), changes]).to.deep.equal(['open', ['open']])
    expect(await call(true)).to.equal(false)
  })

  it('stays closed with fewer than ten calls', async () => {
    await calls(false, 9)
    expect(breaker.state()).to.equal('closed')
    await calls(false, 1)
    expect(breaker.state()).to.equal('open')
  })

  it('does not count failures older than a minute', async () => {
    await calls(false, 9)
    await clock.advance(66 * SECOND)
    await calls(false, 9)
    expect(breaker.state()).to.equal('closed')
  })

  it('counts a call that throws as a failure, and passes its error on', async () => {
    for (let nth = 0; nth < 10; nth += 1) {
      const error = await breaker
        .enter()
        ?.run(
          () => Promise.reject(new TypeError('a bug')),
          () => false,
        )
        .catch((thrown: unknown) => thrown)
      expect(error).to.be.instanceOf(TypeError)
    }
    expect(breaker.state()).to.equal('open')
  })

  describe('once open', () => {
    beforeEach(() => calls(false, 10))

    it('permits one call after half a minute, and closes when that call succeeds', async () => {
      await clock.advance(30 * SECOND - 1)
      expect(breaker.enter()).to.equal(null)
      await clock.advance(1)
      const probe = breaker.enter()
      expect([breaker.state(), breaker.enter()]).to.deep.equal(['half_open', null])
      await probe?.run(
        async () => true,
        () => false,
      )
      expect(changes).to.deep.equal(['open', 'half_open', 'closed'])
      await calls(false, 8)
      expect(breaker.state(), 'with an empty window').to.equal('closed')
    })

    it('stays open for another half minute when that call fails', async () => {
      await clock.advance(30 * SECOND)
      await calls(false, 1)
      expect(breaker.state()).to.equal('open')
      expect(await call(true)).to.equal(false)
      await clock.advance(30 * SECOND)
      await calls(true, 1)
      expect(breaker.state()).to.equal('closed')
    })

    it('permits another call when the first one was canceled', async () => {
      await clock.advance(30 * SECOND)
      breaker.enter()?.cancel()
      await calls(true, 1)
      expect(breaker.state()).to.equal('closed')
    })

    it('lets calls finish that were permitted before it opened', async () => {
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
