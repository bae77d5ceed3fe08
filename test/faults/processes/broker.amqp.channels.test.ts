// RabbitMQ closes a channel and keeps the connection, or an operator deletes a queue. A process that watches only its connection would
// notice nothing; here channels, consumers and queues must come back.
import { expect } from 'chai'
import { type Broker, type Consumer, done, retry, Unroutable } from '../../../infra/broker/broker.ts'
import { Unavailable } from '../../../infra/unavailable.ts'
import { createCapturedLog } from '../../support/captured-log.ts'
import { AMQP_URL, onRealEngines } from '../../support/engines.ts'
import { eventually } from '../../support/eventually.ts'
import { createGate } from '../../support/gate.ts'
import { promiseState } from '../../support/promise-state.ts'
import {
  breakChannel,
  CALLS_QUEUE,
  type ChannelSpy,
  collectIds,
  createChannelSpy,
  createRabbitFixture,
  expectRejection,
  LONG_WAIT_MS,
  type RabbitFixture,
  serveEcho,
  WEBHOOK_QUEUE,
  waitUntilUp,
  withRabbitChannel,
} from '../../support/rabbitmq.ts'

onRealEngines('the broker on RabbitMQ, when a channel dies alone or a queue is gone,', { AMQP_URL }, () => {
  let fixture: RabbitFixture
  let spy: ChannelSpy
  let broker: Broker
  const { log, lines, output } = createCapturedLog()

  beforeEach(async () => {
    fixture = createRabbitFixture()
    spy = createChannelSpy()
    broker = fixture.open({ connect: spy.connect, confirmMs: LONG_WAIT_MS, log })
    await waitUntilUp(broker)
  })
  afterEach(() => fixture.close())

  const deleteQueue = (name: string) => withRabbitChannel(channel => channel.deleteQueue(name))

  const publishUntilConfirmed = (id: string): Promise<void> =>
    eventually(() => broker.publish(WEBHOOK_QUEUE, { id, body: 1 }))

  /** Consumes with a handler that waits to be released. `taken` lists the ids of its messages. */
  async function consumeAndHold(): Promise<{ taken: string[]; release: () => void; consumer: Consumer }> {
    const taken: string[] = []
    const { released, release } = createGate()
    const consumer = await broker.consume(
      WEBHOOK_QUEUE,
      async waiting => {
        taken.push(...waiting.map(({ id }) => id))
        await released
        return waiting.map(done)
      },
      { prefetch: 10 },
    )
    return { taken, release, consumer }
  }

  it('publishes again, and rejects at once a publish that waited for its confirm', async () => {
    const broken = breakChannel(spy.publishing())
    const publish = promiseState(broker.publish(WEBHOOK_QUEUE, { id: 'a', body: 1 }))
    await broken
    await eventually(() => expect(publish.value).to.be.instanceOf(Unavailable))
    await publishUntilConfirmed('b')
    expect(broker.state()).to.equal('up')
  })

  it('requests again, and rejects at once a request that waited for its answer', async () => {
    const request = promiseState(broker.request(CALLS_QUEUE, { id: 'c', body: 1 }, LONG_WAIT_MS))
    await breakChannel(spy.consuming('amq.rabbitmq.reply-to'))
    await eventually(() => expect(request.value).to.be.instanceOf(Unavailable))
    await waitUntilUp(broker)
    await serveEcho(broker)
    expect(await broker.request(CALLS_QUEUE, { id: 'c', body: 'again' }, LONG_WAIT_MS)).to.equal('again')
  })

  it('consumes again, and settles a message that was being handled once, after its redelivery', async () => {
    const { taken, release, consumer } = await consumeAndHold()
    await broker.publish(WEBHOOK_QUEUE, { id: 'a', body: 1 })
    await eventually(() => expect(taken).to.deep.equal(['a']))
    await breakChannel(spy.consuming(fixture.names.queue(WEBHOOK_QUEUE)))
    await eventually(() => expect(taken).to.deep.equal(['a', 'a']))
    expect(consumer.attached()).to.equal(true)
    const failures = () => lines().filter(({ msg }) => msg === 'broker.channel_failed').length
    const before = failures()
    release()
    await consumer.stop()
    await eventually(async () => expect(await broker.depth(WEBHOOK_QUEUE)).to.include({ ready: 0, consumers: 0 }))
    // Settling the first delivery on the new channel would have closed that channel, too.
    expect(failures()).to.equal(before)
  })

  it('serves requests again', async () => {
    const server = await serveEcho(broker)
    await breakChannel(spy.consuming(fixture.names.queue(CALLS_QUEUE)))
    await eventually(() => expect(server.attached()).to.equal(true))
    expect(await broker.request(CALLS_QUEUE, { id: 'c', body: 'again' }, LONG_WAIT_MS)).to.equal('again')
  })

  it('declares a queue again that was deleted under its consumer, and consumes', async () => {
    const { seen, consumer } = await collectIds(broker)
    const before = spy.consuming(fixture.names.queue(WEBHOOK_QUEUE))
    await deleteQueue(fixture.names.queue(WEBHOOK_QUEUE))
    await eventually(() => {
      expect(spy.consuming(fixture.names.queue(WEBHOOK_QUEUE))).not.to.equal(before)
      expect(consumer.attached()).to.equal(true)
    })
    await broker.publish(WEBHOOK_QUEUE, { id: 'a', body: 1 })
    await eventually(() => expect(seen).to.deep.equal(['a']))
  })

  it('refuses a message for a deleted queue with Unroutable, and declares the queue for the next', async () => {
    await deleteQueue(fixture.names.queue(WEBHOOK_QUEUE))
    await expectRejection(broker.publish(WEBHOOK_QUEUE, { id: 'a', body: 1 }), Unroutable)
    await publishUntilConfirmed('b')
    const { seen } = await collectIds(broker)
    await eventually(() => expect(seen).to.deep.equal(['b']))
  })

  it('rejects exactly those of many publishes that could not be routed', async () => {
    await deleteQueue(fixture.names.queue('channel.sms'))
    const publishes = Array.from({ length: 100 }, (_, index) => {
      const queue = index % 3 === 0 ? 'channel.sms' : WEBHOOK_QUEUE
      return { queue, promise: broker.publish(queue, { id: 'the same', body: index }) }
    })
    const endings = await Promise.allSettled(publishes.map(({ promise }) => promise))
    for (const [index, { status }] of endings.entries())
      if (publishes[index]?.queue === WEBHOOK_QUEUE) expect(status).to.equal('fulfilled')
    expect(endings[0]).to.have.property('reason').that.is.instanceOf(Unroutable)
  })

  it('refuses a request for a deleted queue at once, and declares the queue for the next', async () => {
    await deleteQueue(fixture.names.queue(CALLS_QUEUE))
    await expectRejection(broker.request(CALLS_QUEUE, { id: 'c', body: 1 }, LONG_WAIT_MS), Unavailable)
    await serveEcho(broker)
    await eventually(async () =>
      expect(await broker.request(CALLS_QUEUE, { id: 'c', body: 'x' }, LONG_WAIT_MS)).to.equal('x'),
    )
  })

  it('declares a deleted wait queue again for a retry', async () => {
    const attempts: number[] = []
    await broker.consume(
      WEBHOOK_QUEUE,
      async waiting => waiting.map(({ attempt }) => (attempts.push(attempt) === 1 ? retry(1) : done())),
      { prefetch: 1 },
    )
    await deleteQueue(fixture.names.wait(WEBHOOK_QUEUE, 50))
    await broker.publish(WEBHOOK_QUEUE, { id: 'a', body: 1 })
    await eventually(() => expect(attempts).to.deep.equal([1, 2]))
  })

  it('answers the depth of a deleted queue, without harm to consumers, and declares it again', async () => {
    const { seen } = await collectIds(broker)
    await deleteQueue(fixture.names.queue('channel.sms'))
    expect(await broker.depth('channel.sms')).to.include({ ready: 0, consumers: 0 })
    await eventually(() => broker.publish('channel.sms', { id: 'b', body: 1 }))
    await broker.publish(WEBHOOK_QUEUE, { id: 'a', body: 1 })
    await eventually(() => expect(seen).to.deep.equal(['a']))
  })

  it('stays down and logs why while a queue exists with other arguments, and comes up when it is deleted', async () => {
    const other = createRabbitFixture()
    const name = other.names.queue(WEBHOOK_QUEUE)
    await withRabbitChannel(channel => channel.assertQueue(name, { durable: true }))
    const refused = other.open({ log })
    await eventually(() => expect(output()).to.match(new RegExp(`inequivalent arg.*${name}`)))
    expect(refused.state()).to.equal('down')
    await deleteQueue(name)
    await waitUntilUp(refused)
    await other.close()
  })
})
