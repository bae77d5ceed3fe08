// stop, pause and close: begun messages are finished or returned to the queue, and no promise is left waiting.
import { expect } from 'chai'
import {
  type Broker,
  type DeliveredMessage,
  dead,
  done,
  type Flow,
  type Outcome,
  retry,
} from '../../../infra/broker/broker.ts'
import { Unavailable } from '../../../infra/unavailable.ts'
import {
  type BrokerFixture,
  collect,
  eachMessage,
  expectError,
  expectValue,
  ids,
  numberedMessages,
  QUEUE,
} from './fixture.ts'

export function stoppingCases(fixture: () => BrokerFixture): void {
  /** A consumer whose handlers wait at a gate before they answer. */
  async function consumeAtGate(broker: Broker, outcome: () => Outcome = done, flow: Flow = { prefetch: 2 }) {
    const shut = fixture().gate()
    const taken: DeliveredMessage[] = []
    const consumer = await broker.consume(
      QUEUE,
      eachMessage(async message => {
        taken.push(message)
        await shut.pass()
        return outcome()
      }),
      flow,
    )
    return { shut, taken, consumer }
  }

  /** Follows a promise without waiting for it. */
  function watch(promise: Promise<void>): { over: boolean; promise: Promise<void> } {
    const watched = { over: false, promise }
    const end = (): void => {
      watched.over = true
    }
    promise.then(end, end)
    return watched
  }

  it('finishes the messages it has begun, takes no more, and leaves the rest to other consumers', async () => {
    const { broker, other, publish, published, inTime } = fixture()
    const { shut, taken, consumer } = await consumeAtGate(broker)
    publish(QUEUE, ...numberedMessages(5))
    await inTime(() => expect(taken).to.have.length(2))
    const stop = watch(consumer.stop())
    await inTime(() => expect(consumer.attached()).to.equal(false))
    await inTime(async () => expect(await broker.depth(QUEUE)).to.deep.include({ ready: 3 }))
    expect(stop.over).to.equal(false)
    shut.open()
    await stop.promise
    // Not earlier: RabbitMQ counts a consumer that still has unsettled messages.
    await inTime(async () => expect(await broker.depth(QUEUE)).to.include({ ready: 3, consumers: 0 }))
    const { seen } = await collect(other, QUEUE)
    await inTime(() => expect(ids(seen)).to.have.members(['m2', 'm3', 'm4']))
    await published()
    expect(ids(taken)).to.deep.equal(['m0', 'm1'])
    expect(seen).to.have.length(3)
  })

  it('returns the messages it has not begun at once', async () => {
    const { broker, other, publish, published, inTime } = fixture()
    const { shut, taken, consumer } = await consumeAtGate(broker, done, { prefetch: 10, parallel: 1 })
    publish(QUEUE, ...numberedMessages(5))
    await inTime(async () => expect((await broker.depth(QUEUE)).ready).to.equal(0))
    await inTime(() => expect(taken).to.have.length(1))
    const stop = watch(consumer.stop())
    const { seen } = await collect(other, QUEUE)
    await inTime(() => expect(ids(seen)).to.have.members(['m1', 'm2', 'm3', 'm4']))
    expect(seen.map(({ attempt }) => attempt)).to.deep.equal([1, 1, 1, 1])
    expect(stop.over).to.equal(false)
    shut.open()
    await stop.promise
    await published()
    expect(ids(taken)).to.deep.equal(['m0'])
    expect(seen).to.have.length(4)
  })

  it('stops at once when it has begun no message, and can be stopped again', async () => {
    const { broker, publish, inTime } = fixture()
    const { seen, consumer } = await collect(broker, QUEUE)
    await consumer.stop()
    await consumer.stop()
    publish(QUEUE, { id: 'a', body: 1 })
    await inTime(async () => expect(await broker.depth(QUEUE)).to.include({ ready: 1, consumers: 0 }))
    expect(seen).to.deep.equal([])
  })

  it('returns a message whose handler hangs past the grace, and ignores its outcome', async () => {
    const { broker, other, publish, published, inTime, resultOf } = fixture()
    const { shut, taken, consumer } = await consumeAtGate(broker, () => dead('too late to say'))
    publish(QUEUE, ...numberedMessages(2))
    await inTime(() => expect(taken).to.have.length(2))
    expectValue(await resultOf(consumer.stop(30)), undefined)
    const { seen } = await collect(other, QUEUE)
    await inTime(() => expect(ids(seen)).to.have.members(['m0', 'm1']))
    await published()
    expect(seen.map(({ attempt }) => attempt)).to.deep.equal([1, 1])
    shut.open()
    publish(QUEUE, { id: 'after', body: 1 })
    await inTime(() => expect(ids(seen)).to.include('after'))
    await published()
    expect((await other.depth(QUEUE)).dead).to.equal(0)
  })

  it('says of a message that a consumer did not settle that it was delivered before, also when it is retried', async () => {
    const { broker, other, publish, published, inTime, resultOf } = fixture()
    const { taken, consumer } = await consumeAtGate(broker)
    publish(QUEUE, { id: 'a', body: 1 })
    await inTime(() => expect(taken).to.have.length(1))
    await resultOf(consumer.stop(30))
    const seen: DeliveredMessage[] = []
    await other.consume(
      QUEUE,
      eachMessage(message => {
        seen.push(message)
        return seen.length < 3 ? retry(1) : done()
      }),
      { prefetch: 1 },
    )
    await inTime(() => expect(seen).to.have.length(3))
    await published()
    expect([...taken, ...seen].map(({ attempt, redelivered }) => [attempt, redelivered])).to.deep.equal([
      [1, false],
      [1, true],
      [2, true],
      [3, true],
    ])
  })

  it('stops one consumer while the others go on', async () => {
    const { broker, publish, published, inTime } = fixture()
    const first = await collect(broker, QUEUE)
    const second = await collect(broker, QUEUE)
    await first.consumer.stop()
    publish(QUEUE, ...numberedMessages(20))
    await inTime(() => expect(second.seen).to.have.length(20))
    await published()
    expect([first.seen.length, second.consumer.attached()]).to.deep.equal([0, true])
  })

  it('lets a server finish the calls it has begun when it stops', async () => {
    const { broker, inTime, gate, resultOf } = fixture()
    const shut = gate()
    let inHand = 0
    const server = await broker.serve(
      'otp.calls',
      async waiting => {
        inHand += waiting.length
        await shut.pass()
        return waiting.map(() => 'finished')
      },
      { prefetch: 10 },
    )
    const answer = resultOf(broker.request('otp.calls', { id: 'c', body: 1 }, 30_000))
    await inTime(() => expect(inHand).to.equal(1))
    const stop = server.stop()
    shut.open()
    await stop
    expectValue(await answer, 'finished')
  })

  it('finishes what it has begun when it is paused, takes nothing until it is resumed, and then goes on', async () => {
    const { broker, publish, published, inTime, resultOf } = fixture()
    const { shut, taken, consumer } = await consumeAtGate(broker)
    publish(QUEUE, ...numberedMessages(5))
    await inTime(() => expect(taken).to.have.length(2))
    const pause = watch(consumer.pause())
    await inTime(() => expect(consumer.attached()).to.equal(false))
    await inTime(async () => expect(await broker.depth(QUEUE)).to.deep.include({ ready: 3 }))
    expect(pause.over).to.equal(false)
    shut.open()
    await pause.promise
    await inTime(async () => expect(await broker.depth(QUEUE)).to.include({ ready: 3, consumers: 0 }))
    expect(taken).to.have.length(2)
    expectValue(await resultOf(consumer.resume()), undefined)
    expect(consumer.attached()).to.equal(true)
    await inTime(() => expect(ids(taken)).to.have.members(['m0', 'm1', 'm2', 'm3', 'm4']))
    await published()
  })

  it('leaves the calls of a paused server to the others', async () => {
    const { broker, other, resultOf } = fixture()
    const serve = (by: Broker, name: string) =>
      by.serve('otp.calls', async waiting => waiting.map(() => name), { prefetch: 10 })
    const first = await serve(broker, 'first')
    await serve(other, 'second')
    await first.pause()
    const call = (id: number) => broker.request('otp.calls', { id: `c${id}`, body: 1 }, 30_000)
    const answers = Promise.all(Array.from({ length: 10 }, (_, id) => call(id)))
    expectValue(
      await resultOf(answers),
      Array.from({ length: 10 }, () => 'second'),
    )
  })

  it('can be paused and resumed in any order, and the last call counts', async () => {
    const { broker, publish, inTime, resultOf } = fixture()
    const { seen, consumer } = await collect(broker, QUEUE)
    const calls = [consumer.pause(), consumer.pause(), consumer.resume(), consumer.resume(), consumer.pause()]
    await resultOf(Promise.all(calls))
    expect(consumer.attached()).to.equal(false)
    await resultOf(Promise.all([consumer.resume(), consumer.pause(), consumer.resume()]))
    expect(consumer.attached()).to.equal(true)
    publish(QUEUE, { id: 'a', body: 1 })
    await inTime(() => expect(ids(seen)).to.deep.equal(['a']))
    await inTime(async () => expect(await broker.depth(QUEUE)).to.include({ ready: 0, consumers: 1 }))
  })

  it('stops for good while it is paused', async () => {
    const { broker, resultOf, inTime } = fixture()
    const { consumer } = await collect(broker, QUEUE)
    await consumer.pause()
    await consumer.stop()
    expectValue(await resultOf(consumer.resume()), undefined)
    expect(consumer.attached()).to.equal(false)
    await inTime(async () => expect(await broker.depth(QUEUE)).to.include({ ready: 0, consumers: 0 }))
  })

  it('stops within its grace while a pause waits for a handler that hangs', async () => {
    const { broker, other, publish, inTime, resultOf } = fixture()
    const { taken, consumer } = await consumeAtGate(broker)
    publish(QUEUE, { id: 'a', body: 1 })
    await inTime(() => expect(taken).to.have.length(1))
    const pause = consumer.pause()
    await inTime(() => expect(consumer.attached()).to.equal(false))
    expectValue(await resultOf(consumer.stop(30)), undefined)
    expectValue(await resultOf(pause), undefined)
    const { seen } = await collect(other, QUEUE)
    await inTime(() => expect(ids(seen)).to.deep.equal(['a']))
  })

  it('closes after the messages that handlers have begun', async () => {
    const { broker, publish, inTime } = fixture()
    const { shut, taken, consumer } = await consumeAtGate(broker)
    publish(QUEUE, { id: 'a', body: 1 })
    await inTime(() => expect(taken).to.have.length(1))
    const close = watch(broker.close())
    await inTime(() => expect(consumer.attached()).to.equal(false))
    expect(close.over).to.equal(false)
    shut.open()
    await close.promise
    expect(broker.state()).to.equal('down')
  })

  it('closes despite a handler that hangs, once the grace is over', async () => {
    const { broker, publish, inTime, resultOf } = fixture()
    const { taken } = await consumeAtGate(broker)
    publish(QUEUE, { id: 'a', body: 1 })
    await inTime(() => expect(taken).to.have.length(1))
    expectValue(await resultOf(broker.close(30)), undefined)
    expect(broker.state()).to.equal('down')
  })

  it('rejects publishes and calls that still wait with Unavailable when it closes', async () => {
    const { broker, resultOf } = fixture()
    const request = resultOf(broker.request('otp.calls', { id: 'c', body: 1 }, 30_000))
    const publish = resultOf(broker.publish(QUEUE, { id: 'a', body: 1 }))
    await broker.close()
    expectError(await request, Unavailable)
    const published = await publish
    if ('error' in published) expect(published.error).to.be.instanceOf(Unavailable) // else it was confirmed just before
  })

  it('rejects everything with Unavailable once closed, and can be closed again', async () => {
    const { broker, resultOf } = fixture()
    await broker.close()
    await broker.close()
    expect(broker.state()).to.equal('down')
    const attempts = [
      broker.publish(QUEUE, { id: 'a', body: 1 }),
      broker.request('otp.calls', { id: 'c', body: 1 }, 30_000),
      broker.consume(QUEUE, async () => [], { prefetch: 1 }),
      broker.serve('otp.calls', async () => [], { prefetch: 1 }),
      broker.roundTrip(30_000),
      broker.whenUp(),
    ]
    for (const attempt of attempts.map(resultOf)) expectError(await attempt, Unavailable)
  })
}
