// publish → consume: no message is lost, and none is changed on the way.
import { expect } from 'chai'
import { type DeliveredMessage, done, retry, Unroutable } from '../../../infra/broker/broker.ts'
import type { WorkQueue } from '../../../infra/broker/topology.ts'
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

const BODIES: unknown[] = [
  null,
  true,
  0,
  -1.5,
  1e21,
  Number.MAX_SAFE_INTEGER,
  '',
  'Zażółć gęślą jaźń 🔐 \u0000 \u2028 "quoted"',
  [],
  {},
  [1, [null, { deep: [[{ er: 'x' }]] }]],
  { a: null, nested: { list: [1, 2, { three: 3 }], text: 'ü' } },
]

export function deliveryCases(fixture: () => BrokerFixture): void {
  it('delivers a published message to its consumer', async () => {
    const { broker, publish, published, inTime } = fixture()
    const { seen } = await collect(broker, QUEUE)
    publish(QUEUE, { id: 'a', body: { hello: 'world' } })
    await inTime(() => expect(seen).to.have.length(1))
    await published()
    expect(seen[0]).to.deep.include({ id: 'a', body: { hello: 'world' }, attempt: 1, redelivered: false })
    expect(seen[0]?.publishedAt).to.be.greaterThan(Date.UTC(2020))
  })

  it('says of a message that it was published again', async () => {
    const { broker, publish, published, inTime } = fixture()
    const { seen } = await collect(broker, QUEUE)
    publish(QUEUE, { id: 'a', body: 1, publishedAgain: true })
    await inTime(() => expect(seen).to.have.length(1))
    await published()
    expect(seen[0]).to.include({ attempt: 1, redelivered: false, publishedAgain: true })
  })

  it('brings a message through the engine and back, as often as it is asked', async () => {
    const { broker, other, resultOf } = fixture()
    expectValue(await resultOf(broker.whenUp()), undefined)
    const trips = [broker, other, broker].map(each => each.roundTrip(30_000))
    expectValue(await resultOf(Promise.all(trips)), [undefined, undefined, undefined])
    expectValue(await resultOf(broker.roundTrip(30_000)), undefined)
  })

  it('keeps messages that were published before there was a consumer, in their order', async () => {
    const { broker, publish, published, inTime } = fixture()
    publish(QUEUE, ...numberedMessages(50))
    const { seen } = await collect(broker, QUEUE)
    await inTime(() => expect(ids(seen)).to.deep.equal(ids(numberedMessages(50))))
    await published()
  })

  it('delivers a message to a consumer in another process', async () => {
    const { other, publish, published, inTime } = fixture()
    const { seen } = await collect(other, QUEUE)
    publish(QUEUE, { id: 'a', body: 1 })
    await inTime(() => expect(ids(seen)).to.deep.equal(['a']))
    await published()
  })

  it('keeps queues apart', async () => {
    const { broker, publish, published, inTime } = fixture()
    const sms = await collect(broker, 'channel.sms')
    const email = await collect(broker, 'channel.email')
    publish('channel.sms', { id: 'to sms', body: 1 })
    publish('channel.email', { id: 'to email', body: 2 })
    await published()
    await inTime(() => expect([ids(sms.seen), ids(email.seen)]).to.deep.equal([['to sms'], ['to email']]))
  })

  it('delivers every JSON body unchanged', async () => {
    const { broker, publish, published, inTime } = fixture()
    const { seen } = await collect(broker, QUEUE)
    publish(QUEUE, ...BODIES.map((body, index) => ({ id: `${index}`, body })))
    await inTime(() => expect(seen).to.have.length(BODIES.length))
    await published()
    const byId = new Map(seen.map(message => [message.id, message.body]))
    expect(BODIES.map((_, index) => byId.get(`${index}`))).to.deep.equal(BODIES)
  })

  it('delivers other values as JSON writes them: a date is text, undefined is left out', async () => {
    const { broker, publish, published, inTime } = fixture()
    const { seen } = await collect(broker, QUEUE)
    publish(QUEUE, { id: 'a', body: { when: new Date(0), gone: undefined, list: [undefined] } })
    await inTime(() => expect(seen).to.have.length(1))
    await published()
    expect(seen[0]?.body).to.deep.equal({ when: '1970-01-01T00:00:00.000Z', list: [null] })
    expect(seen[0]?.body).not.to.have.property('gone')
  })

  it('delivers the message as it was published, even if publisher or handler change their copies', async () => {
    const { broker, publish, published, inTime } = fixture()
    const bodies: string[] = []
    await broker.consume(
      QUEUE,
      eachMessage(message => {
        bodies.push(JSON.stringify(message.body))
        ;(message.body as { list: number[] }).list.push(99)
        return message.attempt === 1 ? retry(1) : done()
      }),
      { prefetch: 1 },
    )
    const body = { list: [1] }
    publish(QUEUE, { id: 'a', body })
    body.list.push(2)
    await inTime(() => expect(bodies).to.deep.equal(['{"list":[1]}', '{"list":[1]}']))
    await published()
    expect(body).to.deep.equal({ list: [1, 2] })
  })

  it('rejects a message for an unknown queue with Unroutable', async () => {
    const { broker, resultOf } = fixture()
    const nowhere: string = 'nobody.knows'
    expectError(await resultOf(broker.publish(nowhere as WorkQueue, { id: 'a', body: 1 })), Unroutable)
  })

  it('lets a handler publish another message and wait for it', async () => {
    const { broker, publish, published, inTime } = fixture()
    const { seen } = await collect(broker, 'channel.sms')
    await broker.consume(
      QUEUE,
      eachMessage(async message => {
        await broker.publish('channel.sms', { id: `${message.id}.next`, body: message.body })
        return done()
      }),
      { prefetch: 5 },
    )
    publish(QUEUE, ...numberedMessages(20))
    await published()
    await inTime(() => expect(ids(seen)).to.have.members(numberedMessages(20).map(({ id }) => `${id}.next`)))
  })

  it('never loses messages that share an id, though it may deliver them as one', async () => {
    const { broker, publish, published, inTime } = fixture()
    const same = Array.from({ length: 5 }, () => ({ id: 'same', body: 1 }))
    publish(QUEUE, ...same, { id: 'last', body: 2 })
    const { seen } = await collect(broker, QUEUE)
    await inTime(() => expect(ids(seen)).to.include('same').and.to.include('last'))
    await published()
    const before = seen.length
    expect(before).to.be.at.most(6)
    publish(QUEUE, { id: 'same', body: 1 })
    await inTime(() => expect(seen.length).to.be.greaterThan(before))
  })

  it('loses none of 20 000 messages, some of them retried, with two consumers', async () => {
    const { broker, other, publish, published, inTime } = fixture()
    const handled = new Map<string, number>()
    const handle = eachMessage((message: DeliveredMessage) => {
      if (message.attempt === 1 && (message.body as number) % 100 === 0) return retry(1)
      handled.set(message.id, (handled.get(message.id) ?? 0) + 1)
      return done()
    })
    await broker.consume(QUEUE, handle, { prefetch: 100 })
    await other.consume(QUEUE, handle, { prefetch: 100, batch: 20 })
    publish(QUEUE, ...numberedMessages(20_000))
    await inTime(() => expect(handled.size).to.equal(20_000), 50_000)
    await published()
    expect([...handled.values()].every(times => times === 1)).to.equal(true)
    expect((await broker.depth(QUEUE)).dead).to.equal(0)
  })

  it('tells how many messages wait and how many consumers there are', async () => {
    const { broker, other, publish, inTime } = fixture()
    expect(await broker.depth(QUEUE)).to.include({ ready: 0, consumers: 0 })
    publish(QUEUE, ...numberedMessages(7))
    await inTime(async () => expect(await broker.depth(QUEUE)).to.include({ ready: 7, consumers: 0 }))
    const { consumer } = await collect(broker, QUEUE)
    await collect(other, QUEUE)
    await inTime(async () => expect(await broker.depth(QUEUE)).to.include({ ready: 0, consumers: 2 }))
    await consumer.stop()
    await inTime(async () => expect(await broker.depth(QUEUE)).to.include({ ready: 0, consumers: 1 }))
  })

  it('is in state up, and its consumers are attached', async () => {
    const { broker } = fixture()
    const { consumer } = await collect(broker, QUEUE)
    expect(broker.state()).to.equal('up')
    expect(consumer.attached()).to.equal(true)
  })
}
