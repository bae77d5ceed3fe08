import { Router } from '@koa/router'
import { expect } from 'chai'
import type { Consumer } from '../../infra/broker/broker.ts'
import type { Service } from '../../infra/host.ts'
import { Unavailable } from '../../infra/unavailable.ts'
import { eventually } from '../support/eventually.ts'
import { promiseState } from '../support/promise-state.ts'
import { fakeConsumer, type TestHost, useHosts } from '../support/test-host.ts'

const rejection = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  )

describe('a hosted process that is told to stop', () => {
  const host = useHosts()

  it('first is not ready for the stop delay, and still serves everything, on connections that end with each answer', async () => {
    const router = new Router()
    router.get('/work', ctx => {
      ctx.body = {}
    })
    const { ready, drain, stop, get, check, ports, clock } = await host({ services: [{ router }], stopDelayMs: 3_000 })
    await ready
    expect((await fetch(`http://127.0.0.1:${ports[0]}/work`)).headers.get('connection')).to.equal('keep-alive')
    const draining = promiseState(drain())
    expect((await get('/readyz')).status).to.equal(503)
    expect(await check('process')).to.deep.equal({ name: 'process', ok: false, detail: 'stopping' })
    await clock.advance(2_999)
    expect(draining.state).to.equal('pending')
    const answer = await fetch(`http://127.0.0.1:${ports[0]}/work`)
    expect([answer.status, answer.headers.get('connection')]).to.deep.equal([200, 'close'])
    await clock.advance(1)
    expect(draining.state).to.equal('resolved')
    expect((await get('/work')).status, 'served until it stops').to.equal(200)
    await stop()
    expect(await rejection(get('/work'))).to.be.instanceOf(TypeError)
  })

  it('begins no more work from the signal on, and answers calls and takes reports until its requests have ended', async () => {
    const stopped: string[] = []
    const consumer = (queue: Consumer['queue'], ms = 0) =>
      fakeConsumer(
        undefined,
        async graceMs => {
          stopped.push(`${queue} ${graceMs}`)
          await new Promise<void>(resolve => void hosting.clock.after(ms, resolve))
        },
        queue,
      )
    const hosting: TestHost = await host({
      services: [
        { attach: async () => [consumer('otp.calls'), consumer('otp.reports')] },
        { attach: async () => [consumer('channel.sms', 8_500)], graceMs: 9_000 },
        { attach: async () => [consumer('webhook.deliver')], graceMs: 16_000 },
      ],
      stopDelayMs: 3_000,
    })
    await hosting.ready
    const drained = promiseState(hosting.drain())
    const work = ['channel.sms 9000', 'webhook.deliver 16000']
    expect(stopped).to.deep.equal(work)
    await hosting.clock.advance(3_000)
    expect([drained.state, ...stopped]).to.deep.equal(['resolved', ...work])
    const stopping = promiseState(hosting.stop())
    await eventually(() => expect(stopped).to.deep.equal([...work, 'otp.calls 4000']))
    await hosting.clock.advance(5_499)
    expect(stopped, 'a call of the channel ends in a report').to.have.length(3)
    await hosting.clock.advance(1)
    await eventually(() => expect(stopped[3]).to.equal('otp.reports 500'))
    while (stopping.state === 'pending') await hosting.clock.advance(100)
    expect(hosting.stopMs).to.equal(19_000)
  })

  it('has no stop delay where it was never ready, and ends it when it is stopped', async () => {
    const unready = await host({ stopDelayMs: 3_000, prepare: () => Promise.reject(new Unavailable('away')) })
    unready.ready.catch(() => {})
    await unready.drain()
    const { ready, drain, stop } = await host({ stopDelayMs: 3_000 })
    await ready
    const draining = drain()
    await stop()
    await draining
  })

  it('stops once, in order: consumers, services, broker, store', async () => {
    const closed: string[] = []
    const service: Service = {
      attach: async () => [fakeConsumer(undefined, async () => void closed.push('consumer'))],
      stop: async () => void closed.push('service'),
    }
    const { ready, stop } = await host({ closed, services: [service] })
    await ready
    await Promise.all([stop(), stop()])
    await stop()
    expect(closed).to.deep.equal(['consumer', 'service', 'broker', 'store'])
  })

  it('does not wait longer than the grace for a service or an engine', async () => {
    const never = () => new Promise<void>(() => {})
    const broker = { state: () => 'up' as const, whenUp: async () => {}, roundTrip: never, close: never }
    const { ready, stop, clock, closed } = await host({ broker, services: [{ stop: never }] })
    await ready
    const state = promiseState(stop())
    while (state.state === 'pending') await clock.advance(100)
    expect(closed).to.deep.equal(['store'])
  })

  it('closes the other parts if one part fails to stop, and logs the failure', async () => {
    const closed: string[] = []
    const failing: Service = {
      attach: async () => [
        fakeConsumer(undefined, () => Promise.reject(new Error('stuck'))),
        fakeConsumer(undefined, async () => void closed.push('other')),
      ],
      stop: () => Promise.reject(new Error('torn')),
    }
    const { ready, stop, log } = await host({ services: [failing], closed })
    await ready
    await stop()
    expect(closed).to.deep.equal(['other', 'broker', 'store'])
    expect(log.lines().filter(({ msg }) => msg === 'host.not_stopped')).to.have.length(2)
  })

  describe('while it is starting', () => {
    it('stops waiting for the store at once', async () => {
      const { ready, stop, closed } = await host({ prepare: () => Promise.reject(new Unavailable('away')) })
      const outcome = rejection(ready)
      await stop()
      expect(await outcome).to.be.instanceOf(Unavailable)
      expect(closed).to.deep.equal(['broker', 'store'])
    })

    it('is not ended by a failed preparation if no caller awaits readiness', async () => {
      const { stop } = await host({ prepare: () => Promise.reject(new Error('a contradiction')) })
      await stop()
    })

    it('attaches no consumer any more', async () => {
      let prepared = (): void => {}
      let attached = false
      const attach = async () => {
        attached = true
        return []
      }
      const prepare = () => new Promise<void>(resolve => (prepared = resolve))
      const { ready, stop } = await host({ services: [{ attach }], prepare })
      await stop()
      prepared()
      expect(await rejection(ready)).to.be.instanceOf(Unavailable)
      expect(attached).to.equal(false)
    })
  })
})
