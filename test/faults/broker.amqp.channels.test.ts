// RabbitMQ closes a channel and leaves the connection standing, or somebody deletes a queue. To a process that only watches its
// connection all looks well; here everything must come back.
import { expect } from 'chai'
import { type Broker, type Consumer, done, retry, Unroutable } from '../../infra/broker/broker.ts'
import { Unavailable } from '../../infra/unavailable.ts'
import { createCapturedLog } from '../support/captured-log.ts'
import { AMQP_URL, onRealEngines } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { promiseState } from '../support/promise-state.ts'
import {
  breakChannel,
  CALLS_QUEUE,
  type ChannelSpy,
  collectIds,
  createChannelSpy,
  createRabbitFixture,
  expectRejection,
  LONG_WAIT_MS,
  latch,
  type RabbitFixture,
  serveEcho,
  WEBHOOK_QUEUE,
  waitUntilUp,
  withRabbitChannel,
} from '../support/rabbitmq.ts'

onRealEngines('amqpBroker, when a channel dies alone or a queue is gone,', { AMQP_URL }, () => {
  let bench: RabbitFixture
  let spy: ChannelSpy
  let broker: Broker
  const { log, lines, output } = createCapturedLog()

  beforeEach(async () => {
    bench = createRabbitFixture()
    spy = createChannelSpy()
    broker = bench.open({ connect: spy.connect, confirmMs: LONG_WAIT_MS, log })
    await waitUntilUp(broker)
  })
  afterEach(() => bench.close())

  const deleteQueue = (name: string) => withRabbitChannel(rabbit => rabbit.deleteQueue(name))

  const publishUntilConfirmed = (id: string): Promise<void> =>
    eventually(() => broker.publish(WEBHOOK_QUEUE, { id, body: 1 }))

  /** A handler that waits to be released, and how often it was called for each id. */
  async function consumeAndHold(): Promise<{ taken: string[]; release: () => void; consumer: Consumer }> {
    const taken: string[] = []
    const { opened, open } = latch()
    const consumer = await broker.consume(
      WEBHOOK_QUEUE,
      async waiting => {
        taken.push(...waiting.map(({ id }) => id))
        await opened
        return waiting.map(done)
      },
      { prefetch: 10 },
    )
    return { taken, release: open, consumer }
  }

  it('publishes again, and rejects at once what waited for a confirm', async () => {
    const broken = breakChannel(spy.publishing())
    const publish = promiseState(broker.publish(WEBHOOK_QUEUE, { id: 'a', body: 1 }))
    await broken
    await eventually(() => expect(publish.value).to.be.instanceOf(Unavailable))
    await publishUntilConfirmed('b')
    expect(broker.state()).to.equal('up')
  })

  it('asks again, and rejects at once what waited for an answer', async () => {
    const request = promiseState(broker.request(CALLS_QUEUE, { id: 'c', body: 1 }, LONG_WAIT_MS))
    await breakChannel(spy.consuming('amq.rabbitmq.reply-to'))
    await eventually(() => expect(request.value).to.be.instanceOf(Unavailable))
    await waitUntilUp(broker)
    await serveEcho(broker)
    expect(await broker.request(CALLS_QUEUE, { id: 'c', body: 'again' }, LONG_WAIT_MS)).to.equal('again')
  })

  it('consumes again; what was in hand is delivered again, and settled once', async () => {
    const { taken, release, consumer } = await consumeAndHold()
    await broker.publish(WEBHOOK_QUEUE, { id: 'a', body: 1 })
    await eventually(() => expect(taken).to.deep.equal(['a']))
    await breakChannel(spy.consuming(bench.names.queue(WEBHOOK_QUEUE)))
    await eventually(() => expect(taken).to.deep.equal(['a', 'a']))
    expect(consumer.attached()).to.equal(true)
    const failures = () => lines().filter(({ msg }) => msg === 'broker.channel_failed').length
    const before = failures()
    release()
    await consumer.stop()
    await eventually(async () => expect(await broker.depth(WEBHOOK_QUEUE)).to.deep.equal({ ready: 0, consumers: 0 }))
    // Settling the first delivery on the new channel would have cost us that one, too.
    expect(failures()).to.equal(before)
  })

  it('serves again', async () => {
    const server = await serveEcho(broker)
    await breakChannel(spy.consuming(bench.names.queue(CALLS_QUEUE)))
    await eventually(() => expect(server.attached()).to.equal(true))
    expect(await broker.request(CALLS_QUEUE, { id: 'c', body: 'again' }, LONG_WAIT_MS)).to.equal('again')
  })

  it('declares a queue that was deleted under its consumer, and consumes again', async () => {
    const { seen, consumer } = await collectIds(broker)
    const before = spy.consuming(bench.names.queue(WEBHOOK_QUEUE))
    await deleteQueue(bench.names.queue(WEBHOOK_QUEUE))
    await eventually(() => {
      expect(spy.consuming(bench.names.queue(WEBHOOK_QUEUE))).not.to.equal(before)
      expect(consumer.attached()).to.equal(true)
    })
    await broker.publish(WEBHOOK_QUEUE, { id: 'a', body: 1 })
    await eventually(() => expect(seen).to.deep.equal(['a']))
  })

  it('refuses a message for a deleted queue with Unroutable, and has it back for the next', async () => {
    await deleteQueue(bench.names.queue(WEBHOOK_QUEUE))
    await expectRejection(broker.publish(WEBHOOK_QUEUE, { id: 'a', body: 1 }), Unroutable)
    await publishUntilConfirmed('b')
    const { seen } = await collectIds(broker)
    await eventually(() => expect(seen).to.deep.equal(['b']))
  })

  it('tells which of many publishes came back', async () => {
    await deleteQueue(bench.names.queue('channel.sms'))
    const publishes = Array.from({ length: 100 }, (_, index) => {
      const queue = index % 3 === 0 ? 'channel.sms' : WEBHOOK_QUEUE
      return { queue, promise: broker.publish(queue, { id: 'the same', body: index }) }
    })
    const endings = await Promise.allSettled(publishes.map(({ promise }) => promise))
    for (const [index, { status }] of endings.entries())
      if (publishes[index]?.queue === WEBHOOK_QUEUE) expect(status).to.equal('fulfilled')
    expect(endings[0]).to.have.property('reason').that.is.instanceOf(Unroutable)
  })

  it('refuses a call for a deleted queue at once, and has it back for the next', async () => {
    await deleteQueue(bench.names.queue(CALLS_QUEUE))
    await expectRejection(broker.request(CALLS_QUEUE, { id: 'c', body: 1 }, LONG_WAIT_MS), Unavailable)
    await serveEcho(broker)
    await eventually(async () =>
      expect(await broker.request(CALLS_QUEUE, { id: 'c', body: 'x' }, LONG_WAIT_MS)).to.equal('x'),
    )
  })

  it('has a deleted wait queue back before it gives up a retry', async () => {
    const attempts: number[] = []
    await broker.consume(
      WEBHOOK_QUEUE,
      async waiting => waiting.map(({ attempt }) => (attempts.push(attempt) === 1 ? retry(1) : done())),
      { prefetch: 1 },
    )
    await deleteQueue(bench.names.wait(WEBHOOK_QUEUE, 50))
    await broker.publish(WEBHOOK_QUEUE, { id: 'a', body: 1 })
    await eventually(() => expect(attempts).to.deep.equal([1, 2]))
  })

  it('tells the depth of a deleted queue, harms nothing by asking, and has it back', async () => {
    const { seen } = await collectIds(broker)
    await deleteQueue(bench.names.queue('channel.sms'))
    expect(await broker.depth('channel.sms')).to.deep.equal({ ready: 0, consumers: 0 })
    await eventually(() => broker.publish('channel.sms', { id: 'b', body: 1 }))
    await broker.publish(WEBHOOK_QUEUE, { id: 'a', body: 1 })
    await eventually(() => expect(seen).to.deep.equal(['a']))
  })

  it('stays down and says why while a queue stands there with other arguments, and comes up when it is gone', async () => {
    const other = createRabbitFixture()
    const name = other.names.queue(WEBHOOK_QUEUE)
    await withRabbitChannel(rabbit => rabbit.assertQueue(name, { durable: true }))
    const refused = other.open({ log })
    await eventually(() => expect(output()).to.match(new RegExp(`inequivalent arg.*${name}`)))
    expect(refused.state()).to.equal('down')
    await deleteQueue(name)
    await waitUntilUp(refused)
    await other.close()
  })
})
