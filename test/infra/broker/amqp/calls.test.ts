// How calls travel on RabbitMQ: in one frame when they are made together, never past their budget, and to another server when one stops.
import { Buffer } from 'node:buffer'
import { expect } from 'chai'
import { type Broker, CallFailed, CallTimeout, type Death, type Message } from '../../../../infra/broker/broker.ts'
import { AMQP_URL, onRealEngines } from '../../../support/engines.ts'
import { eventually } from '../../../support/eventually.ts'
import { createGate } from '../../../support/gate.ts'
import {
  CALLS_QUEUE,
  createChannelSpy,
  createRabbitFixture,
  expectRejection,
  LONG_WAIT_MS,
  type RabbitFixture,
  serveEcho,
  waitUntilUp,
  withRabbitChannel,
} from '../../../support/rabbitmq.ts'

onRealEngines('calls on RabbitMQ', { AMQP_URL }, () => {
  let bench: RabbitFixture
  beforeEach(() => {
    bench = createRabbitFixture()
  })
  afterEach(() => bench.close())

  async function opened(...options: Parameters<RabbitFixture['open']>): Promise<Broker> {
    const broker = bench.open(...options)
    await waitUntilUp(broker)
    return broker
  }

  const ask = (broker: Broker, bodies: unknown[], budgetMs = LONG_WAIT_MS): Promise<unknown>[] =>
    bodies.map(body => broker.request(CALLS_QUEUE, { id: `${body}`, body }, budgetMs))

  const bodies = Array.from({ length: 100 }, (_, index) => index)

  for (const [maxCallsPerFrame, frames] of [
    [256, 1],
    [30, 4],
  ] as const)
    it(`puts 100 calls of one tick into ${frames} messages when a frame holds ${maxCallsPerFrame}`, async () => {
      const broker = await opened({ maxCallsPerFrame })
      const answers = Promise.all(ask(broker, bodies))
      await eventually(async () => expect(await broker.depth(CALLS_QUEUE)).to.include({ ready: frames }))
      await serveEcho(broker)
      expect(await answers).to.deep.equal(bodies)
    })

  it('answers the calls of one batch in one message', async () => {
    const spy = createChannelSpy()
    const server = await opened({ connect: spy.connect })
    await server.serve(CALLS_QUEUE, async waiting => waiting.map(({ body }) => body), { prefetch: 1, batch: 50 })
    const channel = spy.consuming('amq.rabbitmq.reply-to')
    const send = channel.sendToQueue.bind(channel)
    let messages = 0
    channel.sendToQueue = (...args) => {
      messages += 1
      return send(...args)
    }
    expect(await Promise.all(ask(await opened(), bodies))).to.deep.equal(bodies)
    expect(messages).to.equal(2)
  })

  it('never gives a server a call past its budget, even if another call of the same tick has a longer one', async () => {
    const broker = await opened()
    const [long] = ask(broker, ['long'])
    const [short] = ask(broker, ['short'], 40)
    await expectRejection(short ?? Promise.resolve(), CallTimeout)
    const handed: unknown[] = []
    await broker.serve(
      CALLS_QUEUE,
      async waiting => {
        handed.push(...waiting.map(({ body }) => body))
        return waiting.map(({ body }) => body)
      },
      { prefetch: 10 },
    )
    expect(await long).to.equal('long')
    expect(await Promise.all(ask(broker, ['later']))).to.deep.equal(['later'])
    expect(handed).to.deep.equal(['long', 'later'])
  })

  it('rejects a call without any budget with CallTimeout at once', async () => {
    const broker = await opened()
    await expectRejection(broker.request(CALLS_QUEUE, { id: 'c', body: 1 }, 0), CallTimeout)
  })

  it('forwards the calls that a stopping server has not begun to another server, each once', async () => {
    const [first, second] = [await opened(), await opened()]
    const { released, release } = createGate()
    const handed: Record<'first' | 'second', unknown[]> = { first: [], second: [] }
    const serve = (name: 'first' | 'second', before: Promise<void>) => async (waiting: Message[]) => {
      handed[name].push(...waiting.map(({ body }) => body))
      await before
      return waiting.map(() => name)
    }
    const stopping = await first.serve(CALLS_QUEUE, serve('first', released), { prefetch: 10, parallel: 1 })
    const answers = ask(second, ['a', 'b', 'c'])
    await eventually(() => expect(handed.first).to.deep.equal(['a']))
    const stopped = stopping.stop()
    await second.serve(CALLS_QUEUE, serve('second', Promise.resolve()), { prefetch: 10 })
    expect(await Promise.all(answers.slice(1))).to.deep.equal(['second', 'second'])
    release()
    await stopped
    expect(await answers[0]).to.equal('first')
    expect(handed).to.deep.equal({ first: ['a'], second: ['b', 'c'] })
    await eventually(async () => expect(await second.depth(CALLS_QUEUE)).to.include({ ready: 0, consumers: 1 }))
  })

  it('rejects a call with CallFailed when its answer is not JSON', async () => {
    const broker = await opened()
    await broker.serve(CALLS_QUEUE, async waiting => waiting.map(() => 1n), { prefetch: 10 })
    await expectRejection(broker.request(CALLS_QUEUE, { id: 'c', body: 1 }, LONG_WAIT_MS), CallFailed)
  })

  it('goes on after a message that is no call, and tells of it', async () => {
    const broker = await opened()
    const deaths: Death[] = []
    broker.onDeath(death => void deaths.push(death))
    const server = await serveEcho(broker)
    await withRabbitChannel(async rabbit => {
      for (const junk of ['', '{', '7', '[{}]', '[{"n":1}]'])
        rabbit.sendToQueue(bench.names.queue(CALLS_QUEUE), Buffer.from(junk))
      await rabbit.waitForConfirms()
    })
    expect(await Promise.all(ask(broker, bodies))).to.deep.equal(bodies)
    expect(server.attached()).to.equal(true)
    expect(deaths.map(({ queue, cause }) => [queue, cause])).to.deep.equal(Array(5).fill([CALLS_QUEUE, 'unreadable']))
    await server.stop()
    await eventually(async () => expect(await broker.depth(CALLS_QUEUE)).to.include({ ready: 0, consumers: 0 }))
  })

  it('declares a durable queue for calls where RabbitMQ refuses transient queues', async () => {
    const spy = createChannelSpy()
    const pretending = async (...args: Parameters<typeof spy.connect>) => {
      const model = await spy.connect(...args)
      model.connection.serverProperties.version = '4.3.0'
      return model
    }
    await opened({ connect: pretending as typeof spy.connect })
    await withRabbitChannel(rabbit =>
      rabbit.assertQueue(bench.names.queue(CALLS_QUEUE), { durable: true, arguments: { 'x-queue-type': 'classic' } }),
    )
  })
})
