// Where the crash harness strikes, without real deaths: `die` throws instead of killing the process.
import { expect } from 'chai'
import { done } from '../../../infra/broker/broker.ts'
import { createEmbeddedBroker } from '../../../infra/broker/embedded.ts'
import { createTopology } from '../../../infra/broker/topology.ts'
import { testClock } from '../../support/clock.ts'
import { type CrashPoint, crashEnv, readCrashPoint, withCrash } from '../../support/crash.ts'
import { COMPANY_IDS, company, ONE_BY_ONE } from '../../support/crash.work.ts'
import { eachStore } from '../../support/stores.ts'

class Died extends Error {}
const die = (): never => {
  throw new Died()
}
const outcome = (call: Promise<unknown>): Promise<'alive' | 'died'> =>
  call.then(
    () => 'alive',
    error => {
      if (error instanceof Died) return 'died'
      throw error
    },
  )

eachStore('a store that crashes', fresh => {
  const inserted = async (point: Partial<CrashPoint> & Pick<CrashPoint, 'nth' | 'when'>) => {
    const store = await fresh()
    const at = { port: 'store', method: 'companies.insert', ...point } as CrashPoint
    const broker = createEmbeddedBroker({ topology: createTopology({ channel: [], webhook: [] }), clock: testClock() })
    const decorated = withCrash({ broker, store }, at, die)
    const outcomes = []
    for (const id of COMPANY_IDS.slice(0, 3))
      outcomes.push(await outcome(decorated.store.docs('companies').insert([company(id)])))
    return { outcomes, there: [...(await store.docs('companies').get(COMPANY_IDS)).keys()], decorated, store }
  }

  it('dies before the nth call, which leaves nothing', async () => {
    const { outcomes, there } = await inserted({ nth: 2, when: 'before' })
    expect(outcomes).to.deep.equal(['alive', 'died', 'alive'])
    expect(there).to.deep.equal(['cmp_1', 'cmp_3'])
  })

  it('dies after the nth call, which is stored', async () => {
    const { outcomes, there } = await inserted({ nth: 2, when: 'after' })
    expect(outcomes).to.deep.equal(['alive', 'died', 'alive'])
    expect(there).to.deep.equal(['cmp_1', 'cmp_2', 'cmp_3'])
  })

  it('counts calls of that method of that collection alone', async () => {
    const { outcomes, decorated } = await inserted({ nth: 4, when: 'before' })
    expect(outcomes).to.deep.equal(['alive', 'alive', 'alive'])
    const { docs } = decorated.store
    expect(await outcome(docs('apps').get(['x']))).to.equal('alive')
    expect(await outcome(docs('companies').get(['x']))).to.equal('alive')
    expect(await outcome(docs('companies').insert([company('cmp_4')]))).to.equal('died')
  })

  for (const method of ['companies.insrt', 'compnies.insert'])
    it(`refuses a crash point that does not exist: ${method}`, async () => {
      const failure = await inserted({ method, nth: 1, when: 'before' }).catch((error: unknown) => error)
      expect(failure).to.be.instanceOf(TypeError)
    })
})

describe('a broker that crashes', () => {
  const open = (point: CrashPoint) => {
    const plain = createEmbeddedBroker({ topology: createTopology({ channel: [], webhook: [] }), clock: testClock() })
    const store = {
      docs: () => die(),
      ping: async () => {},
      time: async () => 0,
      forgetRemoved: async () => {},
      close: async () => {},
    }
    return withCrash({ broker: plain, store }, point, die).broker
  }

  it('dies at a publish on the named queue', async () => {
    const broker = open({ port: 'broker', method: 'publish', queue: 'channel.sms', nth: 2, when: 'before' })
    for (const queue of ['channel.sms', 'channel.email'] as const)
      await broker.consume(queue, async waiting => waiting.map(done), ONE_BY_ONE)
    const outcomes = []
    for (const queue of ['channel.sms', 'channel.email', 'channel.email', 'channel.sms'] as const)
      outcomes.push(await outcome(broker.publish(queue, { id: `m${outcomes.length}`, body: {} })))
    expect(outcomes).to.deep.equal(['alive', 'alive', 'alive', 'died'])
    await broker.close()
  })

  it('dies after a request was answered', async () => {
    const broker = open({ port: 'broker', method: 'request', nth: 1, when: 'after' })
    const answered: unknown[] = []
    await broker.serve('otp.calls', async calls => calls.map(({ body }) => answered.push(body)), ONE_BY_ONE)
    expect(await outcome(broker.request('otp.calls', { id: 'c', body: 'asked' }, 1000))).to.equal('died')
    expect(answered).to.deep.equal(['asked'])
    await broker.close()
  })

  for (const [when, handled] of [
    ['before', ['m1']],
    ['after', ['m1', 'm2']],
  ] as const)
    it(`dies ${when} the nth call of a handler`, async () => {
      const broker = open({ port: 'broker', method: 'handle', nth: 2, when })
      const seen: string[] = []
      const handle = async (waiting: { id: string }[]) => {
        seen.push(...waiting.map(({ id }) => id))
        return waiting.map(done)
      }
      await broker.consume('webhook.deliver', handle, ONE_BY_ONE)
      for (const id of ['m1', 'm2']) await broker.publish('webhook.deliver', { id, body: {} })
      expect(seen).to.deep.equal(handled)
      // `die` throws, and a message whose handler throws is a dead letter on a queue without delays.
      expect((await broker.dead('webhook.deliver').list(10)).map(({ id }) => id)).to.deep.equal(['m2'])
      await broker.close()
    })
})

describe('a crash point', () => {
  const point: CrashPoint = { port: 'broker', method: 'handle', queue: 'otp.calls', nth: 3, when: 'after' }

  it('is passed to a process in its environment', () => {
    expect(readCrashPoint(crashEnv(point))).to.deep.equal(point)
    expect(readCrashPoint(crashEnv(null))).to.equal(null)
    expect(readCrashPoint({})).to.equal(null)
  })

  for (const wrong of [
    { ...point, nth: 0 },
    { ...point, when: 'during' },
    { ...point, method: 'consume' },
    { ...point, queue: 'otp.call' },
    { ...point, port: 'stor' },
    { port: 'store', method: 'insert', nth: 1, when: 'before' },
  ])
    it(`is refused if it can never be reached: ${JSON.stringify(wrong)}`, () => {
      expect(() => readCrashPoint({ CRASH: JSON.stringify(wrong) })).to.throw()
    })
})
