import { expect } from 'chai'
import type { Check } from '../../infra/http/health.ts'
import { promiseState } from '../support/promise-state.ts'
import { type EngineStates, fakeConsumer, type TestHost, type TestHostOptions, useHosts } from '../support/test-host.ts'

/** Longer than the result of a check is kept. */
const LATER_MS = 1_001

describe('the readiness of a hosted process', () => {
  const host = useHosts()
  const startReady = async (options?: TestHostOptions): Promise<TestHost> => {
    const running = await host(options)
    await running.ready
    return running
  }
  /** Asks while the clock goes on, because an engine may not answer. */
  async function readyz(running: TestHost) {
    const asked = promiseState(running.get('/readyz'))
    while (asked.state === 'pending') await running.clock.advance(100)
    return asked.value as Awaited<ReturnType<TestHost['get']>>
  }

  /** Asks again and again, until the status is this. */
  async function answered(running: TestHost, status: number): ReturnType<TestHost['get']> {
    for (let tries = 0; tries < 10; tries += 1) {
      const answer = await readyz(running)
      if (answer.status === status) return answer
      await running.clock.advance(LATER_MS)
    }
    throw new Error(`/readyz did not become ${status}`)
  }

  const CASES: [what: string, state: Partial<EngineStates>, check: string, detail: string][] = [
    ['the store is down', { store: 'down' }, 'store', 'the store is down'],
    ['the store answers but cannot write', { store: 'full' }, 'store', 'the disk is full'],
    ['the store does not answer', { store: 'silent' }, 'store', 'no answer within 3 s'],
    ['the broker is down', { broker: 'down' }, 'broker', 'not connected'],
    ['the broker is blocked', { broker: 'blocked' }, 'broker', 'it takes no messages: it lacks memory or disk'],
    ['the broker is connected but does not answer', { broker: 'silent' }, 'broker', 'no answer within 3 s'],
  ]
  for (const [what, state, name, detail] of CASES)
    it(`is lost while ${what}, with the reason in /readyz and in the log, and comes back`, async () => {
      const running = await startReady()
      expect((await readyz(running)).status).to.equal(200)
      Object.assign(running.engines, state)
      await running.clock.advance(LATER_MS)
      // While a check hangs, the one before counts.
      const { body } = await answered(running, 503)
      expect(body.checks?.filter(check => !check.ok)).to.deep.equal([{ name, ok: false, detail }])
      expect(running.log.lines().find(({ msg }) => msg === 'readiness.lost')).to.include({ check: name, detail })
      Object.assign(running.engines, { store: 'up', broker: 'up' })
      await answered(running, 200)
      expect(running.log.lines().find(({ msg }) => msg === 'readiness.restored')).to.include({ check: name })
    })

  it('is lost while one of its consumers is detached', async () => {
    let attached = false
    const { get, check } = await startReady({
      services: [{ attach: async () => [fakeConsumer(), fakeConsumer(() => attached)] }],
    })
    expect((await get('/readyz')).status).to.equal(503)
    expect(await check('consumers')).to.deep.equal({ name: 'consumers', ok: false, detail: '1 of 2 attached' })
    attached = true
    expect((await get('/readyz')).status).to.equal(200)
  })

  it('is answered within a second, whatever hangs', async () => {
    const running = await startReady({ engines: { broker: 'silent' } })
    running.engines.store = 'silent'
    const asked = promiseState(running.readiness())
    await running.clock.advance(999)
    expect(asked.state).to.equal('resolved')
    const checks = asked.value as Check[]
    expect(checks.filter(({ ok }) => !ok)).to.deep.equal([
      { name: 'store', ok: false, detail: 'no answer yet' },
      { name: 'broker', ok: false, detail: 'no answer yet' },
    ])
  })

  it('costs one write and one message a second, however often it is asked', async () => {
    const running = await startReady()
    await Promise.all(Array.from({ length: 100 }, running.readiness))
    await running.clock.advance(999)
    await running.readiness()
    expect(running.engines.asked).to.deep.equal({ store: 1, broker: 1 })
    await running.clock.advance(1)
    await Promise.all(Array.from({ length: 100 }, running.readiness))
    expect(running.engines.asked).to.deep.equal({ store: 2, broker: 2 })
  })

  it('hides the words of a driver, and logs them', async () => {
    const error = new Error('connect ECONNREFUSED 10.0.0.7:27017')
    const failing = {
      state: () => 'up' as const,
      whenUp: async () => {},
      roundTrip: () => Promise.reject(error),
      close: async () => {},
    }
    const { check, log } = await startReady({ broker: failing })
    expect((await check('broker'))?.detail).to.equal('failed: see readiness.failed in the log')
    expect(JSON.stringify(log.lines().find(({ msg }) => msg === 'readiness.failed'))).to.contain('ECONNREFUSED')
  })
})
