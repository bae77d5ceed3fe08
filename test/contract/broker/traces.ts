// A trace travels beside the body: over retries, dead letters and requeues, and each call of a frame has its own.
import { expect } from 'chai'
import { type DeliveredMessage, dead, done, type Message, retry } from '../../../infra/broker/broker.ts'
import type { Trace } from '../../../infra/trace.ts'
import { type BrokerFixture, collect, eachMessage, QUEUE } from './fixture.ts'

const CALLS = 'otp.calls'
const PLENTY = 30_000

const TRACE: Trace = {
  request_id: 'abc',
  traceparent: `00-${'a1'.repeat(16)}-${'b2'.repeat(8)}-01`,
  traced_at: 1_700_000_000_000,
}
const WITHOUT_CONTEXT: Trace = { request_id: 'def', traceparent: null }

export function traceCases(fixture: () => BrokerFixture): void {
  it('arrives with its message, and is absent where there was none', async () => {
    const { broker, publish, published, inTime } = fixture()
    const { seen } = await collect(broker, QUEUE)
    publish(QUEUE, { id: 'a', body: 1, trace: TRACE }, { id: 'b', body: 2, trace: WITHOUT_CONTEXT })
    publish(QUEUE, { id: 'c', body: 3 })
    await inTime(() => expect(seen).to.have.length(3))
    await published()
    const byId = new Map(seen.map(message => [message.id, message]))
    expect(byId.get('a')?.trace).to.deep.equal(TRACE)
    expect(byId.get('b')?.trace).to.deep.equal(WITHOUT_CONTEXT)
    expect(byId.get('c')).not.to.have.property('trace')
  })

  it('is kept over a retry, a dead letter and a requeue', async () => {
    const { broker, publish, published, inTime } = fixture()
    const seen: DeliveredMessage[] = []
    const consumer = await broker.consume(
      QUEUE,
      eachMessage(message => {
        seen.push(message)
        return message.attempt === 1 ? retry(1) : dead('no use')
      }),
      { prefetch: 1 },
    )
    publish(QUEUE, { id: 'a', body: 1, trace: TRACE })
    await inTime(async () => expect((await broker.depth(QUEUE)).dead).to.equal(1))
    await published()
    await consumer.stop()
    expect(seen.map(({ trace }) => trace)).to.deep.equal([TRACE, TRACE])
    expect((await broker.dead(QUEUE).list(1))[0]?.trace).to.deep.equal(TRACE)
    const { seen: requeued } = await collect(broker, QUEUE)
    await broker.dead(QUEUE).requeue(['a'])
    await inTime(() => expect(requeued.map(({ trace }) => trace)).to.deep.equal([TRACE]))
  })

  it('belongs to one call, also where calls travel together', async () => {
    const { broker, resultOf } = fixture()
    const answerWithTrace = async (waiting: Message[]): Promise<unknown[]> =>
      waiting.map(({ trace }) => trace ?? 'none')
    await broker.serve(CALLS, answerWithTrace, { prefetch: 10, batch: 10 })
    const calls = [TRACE, undefined, WITHOUT_CONTEXT].map((trace, nth) =>
      broker.request(CALLS, { id: `call ${nth}`, body: nth, ...(trace ? { trace } : {}) }, PLENTY),
    )
    expect(await resultOf(Promise.all(calls))).to.deep.equal({ value: [TRACE, 'none', WITHOUT_CONTEXT] })
  })

  it('is still there when a stopped consumer has returned the message', async () => {
    const { broker, other, publish, inTime, gate } = fixture()
    const shut = gate()
    const first = await broker.consume(
      QUEUE,
      eachMessage(async () => {
        await shut.pass()
        return done()
      }),
      { prefetch: 1 },
    )
    publish(QUEUE, { id: 'a', body: 1, trace: TRACE })
    await inTime(async () => expect((await broker.depth(QUEUE)).ready).to.equal(0))
    await first.stop(0)
    const { seen } = await collect(other, QUEUE)
    await inTime(() => expect(seen.map(({ trace }) => trace)).to.deep.equal([TRACE]))
  })
}
