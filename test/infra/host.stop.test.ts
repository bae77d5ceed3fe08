import { Router } from '@koa/router'
import { expect } from 'chai'
import { type Consumer, done } from '../../infra/broker/broker.ts'
import { createEmbeddedBroker } from '../../infra/broker/embedded.ts'
import { createTopology } from '../../infra/broker/topology.ts'
import type { Service } from '../../infra/host.ts'
import { Unavailable } from '../../infra/unavailable.ts'
import { testClock } from '../support/clock.ts'
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

  it('finishes an open request, and serves the calls that the request needs', async () => {
    const broker = createEmbeddedBroker({ topology: createTopology({ channel: [], webhook: [] }), clock: testClock() })
    const gate = { open: () => {} }
    const asked = new Promise<void>(resolve => {
      gate.open = resolve
    })
    let started = false
    const router = new Router()
    router.get('/ask', async ctx => {
      started = true
      await asked
      ctx.body = await broker.request('otp.calls', { id: 'c', body: { n: 1 } }, 1000)
    })
    const attach = async () => [
      await broker.serve('otp.calls', async calls => calls.map(({ body }) => ({ echoed: body })), { prefetch: 1 }),
    ]
    const { ready, get, stop } = await host({ broker, services: [{ router, attach }] })
    await ready
    const answer = get('/ask')
    await eventually(() => expect(started).to.equal(true))
    const stopping = stop()
    expect(promiseState(stopping).state).to.equal('pending')
    gate.open()
    expect(await answer).to.deep.equal({ status: 200, body: { echoed: { n: 1 } } })
    await stopping
    expect(broker.state()).to.equal('down')
  })

  it('finishes a message that reports to a consumer attached before its own', async () => {
    const broker = createEmbeddedBroker({ topology: createTopology({ channel: [], webhook: [] }), clock: testClock() })
    const heard: string[] = []
    const gate = { open: () => {} }
    const delivered = new Promise<void>(resolve => {
      gate.open = resolve
    })
    let started = false
    const hear = async (all: { id: string }[]) => {
      heard.push(...all.map(({ id }) => id))
      return all.map(done)
    }
    const reports = async () => [await broker.consume('otp.reports', hear, { prefetch: 1 })]
    const channel = async () => [
      await broker.consume(
        'channel.sms',
        async ([message]) => {
          started = true
          await delivered
          await broker.publish('otp.reports', { id: `${message?.id} sent`, body: {} })
          return [done()]
        },
        { prefetch: 1 },
      ),
    ]
    const { ready, stop } = await host({ broker, services: [{ attach: reports }, { attach: channel }] })
    await ready
    const published = broker.publish('channel.sms', { id: 'd1', body: {} })
    await eventually(() => expect(started).to.equal(true))
    const stopping = stop()
    gate.open()
    await Promise.all([published, stopping])
    expect(heard).to.deep.equal(['d1 sent'])
  })

  it('is not ready any more, and accepts no new connection', async () => {
    const heard: unknown[] = []
    const router = new Router()
    router.get('/stop', async ctx => {
      void hosting.stop()
      heard.push(await hosting.readiness(), await hosting.get('/healthz').catch((error: TypeError) => error.cause))
      ctx.body = {}
    })
    const hosting = await host({ services: [{ router }] })
    await hosting.ready
    expect((await hosting.get('/stop')).status).to.equal(200)
    expect(heard[0]).to.deep.include({ name: 'process', ok: false, detail: 'stopping' })
    expect(heard[1]).to.include({ code: 'ECONNREFUSED' })
  })

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

  it('ends the stop delay when it is stopped', async () => {
    const { ready, drain, stop } = await host({ stopDelayMs: 3_000 })
    await ready
    const draining = drain()
    await stop()
    await draining
  })

  it('has no stop delay where it was never ready', async () => {
    const { drain, ready } = await host({ stopDelayMs: 3_000, prepare: () => Promise.reject(new Unavailable('away')) })
    ready.catch(() => {})
    await drain()
  })

  it('stops in order: consumers, services, broker, store', async () => {
    const closed: string[] = []
    const service: Service = {
      attach: async () => [fakeConsumer(undefined, async () => void closed.push('consumer'))],
      stop: async () => void closed.push('service'),
    }
    const { ready, stop } = await host({ closed, services: [service] })
    await ready
    await stop()
    expect(closed).to.deep.equal(['consumer', 'service', 'broker', 'store'])
  })

  it('stops once if it is told several times', async () => {
    const { ready, stop, closed } = await host()
    await ready
    await Promise.all([stop(), stop()])
    await stop()
    expect(closed).to.deep.equal(['broker', 'store'])
  })

  it('does not wait longer than the grace for a service', async () => {
    const { ready, stop, clock, closed } = await host({ services: [{ stop: () => new Promise(() => {}) }] })
    await ready
    const stopping = stop()
    const state = promiseState(stopping)
    while (state.state === 'pending') await clock.advance(100)
    expect(closed).to.deep.equal(['broker', 'store'])
  })

  it('does not wait longer than the grace for an engine', async () => {
    const never = () => new Promise<void>(() => {})
    const broker = { state: () => 'down' as const, whenUp: never, roundTrip: never, close: never }
    const { ready, stop, clock, closed } = await host({ broker })
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

    it('attaches no consumer any more', async () => {
      let prepared = (): void => {}
      let attached = false
      const attach = async () => {
        attached = true
        return []
      }
      const { ready, stop } = await host({
        services: [{ attach }],
        prepare: () =>
          new Promise(resolve => {
            prepared = resolve
          }),
      })
      await stop()
      prepared()
      expect(await rejection(ready)).to.be.instanceOf(Unavailable)
      expect(attached).to.equal(false)
    })

    it('is not ended by a failed preparation if no caller awaits readiness', async () => {
      const { stop } = await host({ prepare: () => Promise.reject(new Error('a contradiction')) })
      await stop()
    })
  })
})
