// The call queue of the embedded broker, beyond the contract: frames, budgets by the given clock, and forwarding to another server.
import { expect } from 'chai'
import { type Broker, CallFailed, type Message } from '../../../../infra/broker/broker.ts'
import { createEmbeddedBroker } from '../../../../infra/broker/embedded.ts'
import { createTopology } from '../../../../infra/broker/topology.ts'
import { type TestClock, testClock } from '../../../support/clock.ts'
import { promiseState } from '../../../support/promise-state.ts'

const CALLS = 'otp.calls'

describe('calls of the embedded broker', () => {
  let clock: TestClock
  let broker: Broker
  let lines: string[]

  /** One turn settles the begun messages, the next delivers more to the consumer. */
  async function settled(): Promise<void> {
    await clock.advance(0)
    await clock.advance(0)
  }

  beforeEach(() => {
    clock = testClock()
    lines = []
    const write = (fields: object, event: string) => void lines.push(`${event} ${'id' in fields ? fields.id : ''}`)
    const log = { warn: write, error: write }
    broker = createEmbeddedBroker({ topology: createTopology({ channel: [50], webhook: [50] }), clock, log })
  })
  afterEach(() => broker.close(0))

  const request = (body: unknown, budgetMs = 1_000) =>
    promiseState(broker.request(CALLS, { id: `${body}`, body }, budgetMs))

  /** Serves calls; the test answers every batch. */
  const serve = async (flow: { prefetch: number; batch?: number; parallel?: number }) => {
    const batches: { bodies: unknown[]; end(answers: unknown[]): void }[] = []
    const consumer = await broker.serve(
      CALLS,
      (waiting: Message[]) =>
        new Promise(resolve => void batches.push({ bodies: waiting.map(({ body }) => body), end: resolve })),
      flow,
    )
    const end = async (index: number, answers: unknown[]): Promise<void> => {
      const batch = batches[index] ?? expect.fail(`there was no batch ${index}`)
      batch.end(answers)
      await settled()
    }
    return { batches, consumer, end, bodies: () => batches.map(batch => batch.bodies) }
  }

  it('of one turn reach the server together, and count as one in its prefetch', async () => {
    const { bodies, end } = await serve({ prefetch: 1, batch: 2, parallel: 2 })
    for (const body of ['a', 'b', 'c']) request(body)
    await new Promise<void>(resolve => setImmediate(resolve))
    for (const body of ['d', 'e']) request(body)
    await settled()
    expect(bodies()).to.deep.equal([['a', 'b'], ['c']])
    await end(0, [1, 2])
    expect(bodies()).to.have.length(2) // c is not settled, so neither is its frame
    await end(1, [3])
    expect(bodies().slice(2)).to.deep.equal([['d', 'e']])
  })

  it('do not pile up when there is no server', async () => {
    for (let round = 0; round < 5; round += 1) {
      request(round, 60)
      await clock.advance(10)
    }
    expect((await broker.depth(CALLS)).ready).to.equal(5)
    await clock.advance(60)
    expect((await broker.depth(CALLS)).ready).to.equal(0)
  })

  it('go to another server when their server hangs past its grace, and the late answer is ignored', async () => {
    const hanging = await serve({ prefetch: 1, batch: 2 })
    const calls = ['a', 'b', 'c'].map(body => request(body))
    await settled()
    const stopping = hanging.consumer.stop(10)
    await clock.advance(10)
    await stopping
    const second = await serve({ prefetch: 10, batch: 10 })
    await settled()
    expect(second.bodies()[0]).to.have.members(['a', 'b', 'c'])
    await hanging.end(0, ['late', 'late'])
    expect(calls.every(({ state }) => state === 'pending')).to.equal(true)
    await second.end(0, second.batches[0]?.bodies.map(body => `answer to ${body}`) ?? [])
    expect(calls.map(({ value }) => value)).to.deep.equal(['answer to a', 'answer to b', 'answer to c'])
  })

  it('fail when the answer is not JSON or there is none, which is logged', async () => {
    const { end } = await serve({ prefetch: 1, batch: 2 })
    const calls = ['a', 'b'].map(body => request(body))
    await settled()
    await end(0, [1n, 'fine'])
    expect(calls[0]?.value).to.be.instanceOf(CallFailed)
    expect(calls[1]?.value).to.equal('fine')
    request('c')
    await settled()
    await end(1, [])
    expect(lines).to.deep.equal(['call.failed c'])
  })

  it('are not requeued when their server stops after their budget ran out', async () => {
    const { consumer } = await serve({ prefetch: 1 })
    request('a', 60)
    await clock.advance(60)
    await consumer.stop(0)
    expect((await broker.depth(CALLS)).ready).to.equal(0)
  })

  describe('with their timers', () => {
    let time: number
    let timers: Set<() => void>
    let own: Broker

    beforeEach(() => {
      time = 0
      timers = new Set()
      const after = (_ms: number, task: () => void) => {
        timers.add(task)
        return () => timers.delete(task)
      }
      own = createEmbeddedBroker({
        topology: createTopology({ channel: [], webhook: [] }),
        clock: { now: () => time, after },
      })
    })
    afterEach(() => own.close(0))

    const ask = (body: string) => promiseState(own.request(CALLS, { id: body, body }, 10))
    const turn = () => new Promise<void>(resolve => setImmediate(resolve))

    it('leave no timer once they are answered', async () => {
      await own.serve(CALLS, async waiting => waiting.map(({ body }) => body), { prefetch: 1 })
      const call = ask('a')
      expect(timers.size).to.equal(1)
      await turn()
      expect([call.value, timers.size]).to.deep.equal(['a', 0])
    })

    it('are not lost with an earlier call that ran out of budget in the turn in which they were made', async () => {
      await own.serve(CALLS, async waiting => waiting.map(({ body }) => body), { prefetch: 1 })
      const spent = ask('spent')
      for (const fire of timers) fire()
      const next = ask('next')
      await turn()
      expect([spent.state, next.value]).to.deep.equal(['rejected', 'next'])
    })

    it('are not given to a server past their budget, even when a busy process fires their timers late', async () => {
      const handed: unknown[] = []
      await own.serve(CALLS, async waiting => waiting.map(({ body }) => handed.push(body)), { prefetch: 1 })
      ask('stale')
      time = 10
      ask('fresh')
      await turn()
      expect(handed).to.deep.equal(['fresh'])
    })
  })
})
