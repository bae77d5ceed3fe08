import { expect } from 'chai'
import { StartProblem } from '../../infra/start-problem.ts'
import { Unavailable } from '../../infra/unavailable.ts'
import { useShellServers } from '../support/http-shell.ts'
import { promiseState } from '../support/promise-state.ts'
import { fakeConsumer, useHosts } from '../support/test-host.ts'

const never = () => new Promise<never>(() => {})

describe('a hosted process', () => {
  const host = useHosts()
  const startServer = useShellServers()

  it('is alive at once, and ready once it is prepared and its consumers are attached', async () => {
    let prepared = (): void => {}
    let attached = (): void => {}
    const { get, ready, engines } = await host({
      prepare: () => new Promise(resolve => (prepared = resolve)),
      services: [{ attach: () => new Promise(resolve => (attached = () => resolve([fakeConsumer()]))) }, {}],
    })
    const starting = [
      { name: 'process', ok: false, detail: 'starting' },
      { name: 'store', ok: true, detail: 'answers' },
      { name: 'broker', ok: true, detail: 'a message came back' },
      { name: 'clock', ok: true, detail: "agrees with the store's" },
      { name: 'consumers', ok: false, detail: '0 of 0 attached' },
    ]
    expect((await get('/healthz')).status).to.equal(200)
    expect(await get('/readyz')).to.deep.equal({ status: 503, body: { status: 'not ready', checks: starting } })
    expect(engines.asked.store, 'it writes nothing before it is prepared').to.equal(0)
    prepared()
    expect((await get('/readyz')).status).to.equal(503)
    attached()
    await ready
    const running = [
      { name: 'process', ok: true, detail: 'running' },
      { name: 'store', ok: true, detail: 'a write was committed' },
      { name: 'broker', ok: true, detail: 'a message came back' },
      { name: 'clock', ok: true, detail: "agrees with the store's" },
      { name: 'consumers', ok: true, detail: '1 of 1 attached' },
    ]
    expect(await get('/readyz')).to.deep.equal({ status: 200, body: { status: 'ready', checks: running } })
  })

  it('attaches no consumer before the broker takes messages, and waits for it only where there is a consumer', async () => {
    let attached = 0
    let comesUp = (): void => {}
    const whenUp = () => new Promise<void>(resolve => (comesUp = resolve))
    const broker = { state: () => 'down' as const, whenUp, roundTrip: never, close: async () => {} }
    const attach = async () => {
      attached += 1
      return [fakeConsumer()]
    }
    const { ready, clock } = await host({ broker, services: [{ attach }] })
    const state = promiseState(ready)
    await clock.advance(10_000)
    expect([attached, state.state]).to.deep.equal([0, 'pending'])
    comesUp()
    await ready
    expect(attached).to.equal(1)
    await (await host({ broker, services: [{}] })).ready
  })

  it('repeats its preparation while the store is unavailable', async () => {
    let away = 3
    const { ready, get, clock, log } = await host({
      prepare: async () => {
        away -= 1
        if (away > 0) throw new Unavailable('the store is away')
      },
    })
    const state = promiseState(ready)
    await clock.advance(499)
    expect(away).to.equal(2)
    await clock.advance(1)
    expect(away).to.equal(1)
    expect((await get('/readyz')).status).to.equal(503)
    await clock.advance(500)
    expect(state).to.deep.equal({ state: 'resolved', value: undefined })
    expect(log.lines().filter(({ msg }) => msg === 'store.awaited')).to.have.length(2)
    expect((await get('/readyz')).status).to.equal(200)
  })

  for (const [what, failing] of [
    ['prepared', (error: Error) => ({ prepare: () => Promise.reject(error) })],
    ['attached', (error: Error) => ({ services: [{ attach: () => Promise.reject(error) }] })],
  ] as const)
    it(`is never ready if it cannot be ${what} for another reason, and rejects with it`, async () => {
      const error = new Error('a contradiction')
      const { ready, get } = await host(failing(error))
      expect(await ready.catch((thrown: unknown) => thrown)).to.equal(error)
      expect((await get('/healthz')).status).to.equal(200)
      expect((await get('/readyz')).status).to.equal(503)
    })

  it('does not start on a port in use, and closes what it has opened', async () => {
    const [taken, free] = [await startServer(), await startServer()]
    await free.close(0)
    const closed: string[] = []
    const refusal = await host({ ports: [free.port, taken.port], closed, prepare: never }).catch(
      (error: unknown) => error,
    )
    expect(refusal).to.be.instanceOf(StartProblem)
    expect((refusal as Error).message).to.contain(`port ${taken.port}`)
    expect(closed).to.have.members(['broker', 'store'])
    const { ports } = await host({ ports: [free.port] })
    expect(ports, 'the port is free again').to.deep.equal([free.port])
  })
})
