import { expect } from 'chai'
import { createEngineWait } from '../../infra/engine-wait.ts'
import { createEngineWatch } from '../../infra/engine-watch.ts'
import { NotBegun, Unavailable } from '../../infra/unavailable.ts'
import { createCapturedLog } from '../support/captured-log.ts'
import { testClock } from '../support/clock.ts'
import { promiseState } from '../support/promise-state.ts'

/** An engine that leaves its calls open until the test answers them. */
function createEngine() {
  const clock = testClock()
  const captured = createCapturedLog()
  const open: { answer(): void; fail(error: unknown): void }[] = []
  const engine = { asked: 0, probed: 0 }
  const call = (): Promise<string> =>
    watch.observe(
      new Promise((resolve, reject) => {
        engine.asked += 1
        open.push({ answer: () => resolve('answer'), fail: reject })
      }),
    )
  const names = { engine: 'MongoDB', setting: 'MONGODB_URL', hosts: ['db.test:27017'] }
  const wait = createEngineWait({ ...names, clock, log: captured.log })
  const watch = createEngineWatch({
    engine: 'MongoDB',
    clock,
    wait,
    probe() {
      engine.probed += 1
      return call()
    },
  })
  wait.answered()
  const messages = () => captured.lines().map(({ msg }) => msg)
  return { clock, watch, wait, engine, open, call, messages, lines: captured.lines }
}

/** How long it may be silent. */
const AWAY_MS = 3_000

describe('the watch of an engine', () => {
  it('takes an engine that answers nothing for away, and then lets callers wait for none of their calls', async () => {
    const { clock, watch, call, engine } = createEngine()
    const waited = promiseState(watch.unlessAway(call))
    const laterWork = promiseState(call())
    await clock.advance(AWAY_MS - 1)
    expect([watch.away(), engine.probed]).to.deep.equal([false, 1])
    await clock.advance(1)
    expect(watch.away()).to.equal(true)
    expect(waited.state).to.equal('rejected')
    expect(waited.value).to.be.instanceOf(Unavailable).and.not.instanceOf(NotBegun)
    expect(laterWork.state, 'work that no caller waits for').to.equal('pending')
  })

  it('refuses callers at once while the engine is away, and asks it once a second, however many call', async () => {
    const { clock, watch, call, engine } = createEngine()
    watch.unlessAway(call).catch(() => {})
    await clock.advance(AWAY_MS)
    const asked = engine.asked
    for (let second = 1; second <= 5; second += 1) {
      const refused = Array.from({ length: 100 }, () => promiseState(watch.unlessAway(call)))
      await clock.advance(0)
      expect(refused.filter(({ value }) => value instanceof NotBegun)).to.have.length(100)
      await clock.advance(1_000)
      expect(engine.asked).to.equal(asked + second)
    }
  })

  it('lets callers through again as soon as one call is answered', async () => {
    const { clock, watch, call, open } = createEngine()
    watch.unlessAway(call).catch(() => {})
    await clock.advance(AWAY_MS + 3_000)
    open.at(-1)?.answer()
    await clock.advance(0)
    expect(watch.away()).to.equal(false)
    const waited = promiseState(watch.unlessAway(call))
    open.at(-1)?.answer()
    await clock.advance(0)
    expect(waited).to.include({ state: 'resolved', value: 'answer' })
  })

  it('takes an error for an answer, but not that a call was given up', async () => {
    const { clock, watch, call, open } = createEngine()
    call().catch(() => {})
    await clock.advance(AWAY_MS)
    open.at(-1)?.fail(new Unavailable('not connected'))
    await clock.advance(1_000)
    expect(watch.away()).to.equal(true)
    const late = new Error('no answer')
    watch.observe(Promise.reject(late), error => error !== late).catch(() => {})
    await clock.advance(1_000)
    expect(watch.away(), 'an error that the adapter knows').to.equal(true)
    open.at(-1)?.fail(new Error('E11000 duplicate key'))
    await clock.advance(0)
    expect(watch.away()).to.equal(false)
  })

  it('knows a slow call from an engine that is away', async () => {
    const { clock, watch, call, engine, open } = createEngine()
    const slow = promiseState(watch.unlessAway(call))
    for (let probes = 1; probes <= 10; probes += 1) {
      while (engine.probed < probes) await clock.advance(100)
      open.at(-1)?.answer()
      await clock.advance(0)
    }
    expect(watch.away()).to.equal(false)
    expect(slow.state).to.equal('pending')
    open[0]?.answer()
    await clock.advance(60_000)
    expect([slow.state, engine.probed], 'nothing is asked where nothing is under way').to.deep.equal(['resolved', 10])
  })

  it('asks nothing of an engine that answers in time, and nothing once it is stopped', async () => {
    const { clock, watch, call, engine, open } = createEngine()
    for (let calls = 0; calls < 20; calls += 1) {
      const one = call()
      await clock.advance(900)
      open.at(-1)?.answer()
      await one
    }
    expect(engine.probed).to.equal(0)
    call().catch(() => {})
    await clock.advance(AWAY_MS)
    watch.stop()
    const { probed } = engine
    await clock.advance(60_000)
    expect(engine.probed).to.equal(probed)
  })

  it('says in the log that the engine is lost, every ten seconds, and that it has answered', async () => {
    const { clock, watch, wait, call, open, messages, lines } = createEngine()
    call().catch(() => {})
    await clock.advance(1_000)
    wait.failed(new Error('connect ECONNREFUSED 10.0.0.7:27017'))
    await clock.advance(AWAY_MS - 1_000)
    expect(messages()).to.deep.equal(['engine.awaited'])
    expect(lines()[0]).to.include({ why: 'it refuses connections: it does not run there, or on another port' })
    await clock.advance(20_000)
    expect(messages()).to.deep.equal(['engine.awaited', 'engine.awaited', 'engine.awaited'])
    for (const one of open) one.answer()
    await clock.advance(60_000)
    expect(messages().slice(3)).to.deep.equal(['engine.answered'])
    call().catch(() => {})
    await clock.advance(AWAY_MS)
    expect(watch.away()).to.equal(true)
    expect(lines().at(-1)).to.include({ msg: 'engine.awaited', why: 'it does not answer' })
  })
})
