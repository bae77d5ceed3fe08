import { expect } from 'chai'
import type { Consumer } from '../../infra/broker/broker.ts'
import type { Service } from '../../infra/host.ts'
import { promiseState } from '../support/promise-state.ts'
import { fakeConsumer, type TestHost, useHosts } from '../support/test-host.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** A service with a consumer, which records what the host does with both. */
function createRecordedService(): { service: Service; calls: string[] } {
  const calls: string[] = []
  const consumer: Consumer = {
    ...fakeConsumer(),
    pause: async () => void calls.push('consumer paused'),
    resume: async () => void calls.push('consumer resumed'),
  }
  const service: Service = {
    async attach() {
      calls.length = 0
      calls.push('attached')
      return [consumer]
    },
    pause: () => void calls.push('service paused'),
    resume: () => void calls.push('service resumed'),
  }
  return { service, calls }
}

describe('a hosted process and its clock', () => {
  const host = useHosts()
  const logged = ({ log }: TestHost): string[] =>
    log.lines().flatMap(({ msg }) => (String(msg).startsWith('clock.') ? [String(msg)] : []))

  for (const [offset, detail] of [
    [-HOUR_MS, "3600.0 s behind the store's"],
    [10_001, "10.0 s ahead of the store's"],
  ] as const)
    it(`takes no work and is not ready with a clock that is ${detail}, until the clock is right`, async () => {
      const { service, calls } = createRecordedService()
      let prepared = false
      const prepare = async () => {
        prepared = true
      }
      const running = await host({ engines: { clockOffsetMs: offset }, services: [service], prepare })
      const ready = promiseState(running.ready)
      await running.clock.advance(MINUTE_MS)
      expect(ready.state).to.equal('pending')
      expect([calls, prepared]).to.deep.equal([[], false])
      expect((await running.get('/readyz')).status).to.equal(503)
      expect(await running.check('clock')).to.deep.equal({ name: 'clock', ok: false, detail })
      expect(logged(running)).to.deep.equal(['clock.wrong'])
      running.engines.clockOffsetMs = 0
      await running.clock.advance(6_000)
      expect(ready.state).to.equal('resolved')
      expect(calls).to.deep.equal(['attached'])
      expect((await running.get('/readyz')).status).to.equal(200)
    })

  it('pauses its work within a minute once its clock is wrong, and goes on once it is right', async () => {
    const { service, calls } = createRecordedService()
    const running = await host({ services: [service] })
    await running.ready
    running.engines.clockOffsetMs = -HOUR_MS
    await running.clock.advance(MINUTE_MS)
    expect(calls).to.deep.equal(['attached', 'service paused', 'consumer paused'])
    expect((await running.get('/readyz')).status).to.equal(503)
    running.engines.clockOffsetMs = 500
    await running.clock.advance(5_000)
    expect(calls.slice(3)).to.deep.equal(['service resumed', 'consumer resumed'])
    expect((await running.get('/readyz')).status).to.equal(200)
    expect(logged(running)).to.deep.equal(['clock.wrong', 'clock.right'])
  })

  it('warns above 2 s, shows the offset as a gauge, and works on', async () => {
    const { service, calls } = createRecordedService()
    const running = await host({ services: [service], engines: { clockOffsetMs: -2_001 } })
    await running.ready
    expect(calls).to.deep.equal(['attached'])
    expect((await running.get('/readyz')).status).to.equal(200)
    expect(await running.check('clock')).to.deep.equal({
      name: 'clock',
      ok: true,
      detail: "2.0 s behind the store's",
    })
    expect(running.log.lines().find(({ msg }) => msg === 'clock.apart')).to.include({
      level: 'warn',
      offset_ms: -2_001,
    })
    expect((await running.metrics.render()).body).to.contain('countersign_clock_offset_seconds -2.001')
  })

  it('keeps its verdict while the store does not answer', async () => {
    const { service, calls } = createRecordedService()
    const running = await host({ services: [service] })
    await running.ready
    running.engines.store = 'down'
    await running.clock.advance(HOUR_MS)
    expect((await running.check('clock'))?.ok).to.equal(true)
    expect(calls).to.deep.equal(['attached'])
  })
})
