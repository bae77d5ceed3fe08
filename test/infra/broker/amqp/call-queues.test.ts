// Queues of calls that RabbitMQ refuses to declare: a broker gets itself one that works, and leaves the queues of work alone.
import { type ChannelModel, connect } from 'amqplib'
import { expect } from 'chai'
import { AMQP_URL, onRealEngines } from '../../../support/engines.ts'
import { eventually } from '../../../support/eventually.ts'
import {
  breakChannel,
  CALLS_QUEUE,
  createRabbitFixture,
  type RabbitFixture,
  serveEcho,
  TEST_TOPOLOGY,
  WEBHOOK_QUEUE,
  waitUntilUp,
  withRabbitChannel,
} from '../../../support/rabbitmq.ts'

const BUDGET_MS = 10_000

onRealEngines('RabbitMQ', { AMQP_URL }, () => {
  describe('a queue of calls that RabbitMQ refuses to declare', () => {
    let rabbit: RabbitFixture
    beforeEach(() => {
      rabbit = createRabbitFixture()
    })
    afterEach(() => rabbit.close())

    const ask = (broker: ReturnType<RabbitFixture['open']>) =>
      broker.request(CALLS_QUEUE, { id: 'call_1', body: { hello: 1 } }, BUDGET_MS)

    it('is used as it is where it exists with the other durability', async () => {
      const name = rabbit.names.queue(CALLS_QUEUE)
      // RabbitMQ 4 gets durable ones, RabbitMQ 3 transient ones.
      await withRabbitChannel(async channel => {
        const durable = Number.parseInt(channel.connection.serverProperties.version, 10) < 4
        await channel.assertQueue(name, { durable, arguments: { 'x-queue-type': 'classic' } })
        await channel.sendToQueue(name, Buffer.from('not a frame'))
        await channel.waitForConfirms()
      })
      const broker = rabbit.open()
      await waitUntilUp(broker)
      expect((await broker.depth(CALLS_QUEUE)).ready, 'the queue was not replaced').to.equal(1)
      await serveEcho(broker)
      expect(await ask(broker)).to.deep.equal({ hello: 1 })
    })

    it('is deleted and declared again where its node is away', async () => {
      const lost = createLostNode(TEST_TOPOLOGY.calls.map(rabbit.names.queue))
      const broker = rabbit.open({ connect: lost.connect })
      await waitUntilUp(broker)
      await serveEcho(broker)
      expect(await ask(broker)).to.deep.equal({ hello: 1 })
      const name = rabbit.names.queue(CALLS_QUEUE)
      expect(
        lost.deleted.filter(queue => queue === name),
        'once to publish, once to serve',
      ).to.have.length(2)
      expect(new Set(lost.deleted)).to.deep.equal(new Set(TEST_TOPOLOGY.calls.map(rabbit.names.queue)))
    })

    it('does not keep the queues of work from being declared', async () => {
      const lost = createLostNode(TEST_TOPOLOGY.calls.map(rabbit.names.queue), { forEver: true })
      rabbit.open({ connect: lost.connect })
      const work = rabbit.names.queue(WEBHOOK_QUEUE)
      const look = () =>
        withRabbitChannel(channel => {
          channel.on('error', () => {})
          return channel.checkQueue(work)
        })
      await eventually(look)
    })
  })
})

/** A `connect` to a RabbitMQ that behaves as if these queues were on a node that is away: it answers 404 to those who declare one or look
 *  for it, until the same connection deletes it. */
function createLostNode(queues: string[], { forEver = false } = {}): { connect: typeof connect; deleted: string[] } {
  const deleted: string[] = []
  async function connectToRest(...args: Parameters<typeof connect>): Promise<ChannelModel> {
    const model = await connect(...args)
    const away = new Set(queues)
    const createChannel = model.createChannel.bind(model)
    model.createChannel = async options => {
      const channel = await createChannel(options)
      const { assertQueue, checkQueue, deleteQueue } = channel
      const refuse = async (): Promise<never> => {
        await breakChannel({ checkQueue: checkQueue.bind(channel) } as typeof channel)
        throw Object.assign(new Error('404 (NOT-FOUND): home node is down or inaccessible'), { code: 404 })
      }
      channel.assertQueue = (name, given) => (away.has(name ?? '') ? refuse() : assertQueue.call(channel, name, given))
      channel.checkQueue = name => (away.has(name) ? refuse() : checkQueue.call(channel, name))
      channel.deleteQueue = (name, given) => {
        deleted.push(name)
        expect(given?.ifEmpty, 'RabbitMQ would refuse').to.not.equal(true)
        if (!forEver) away.delete(name)
        return deleteQueue.call(channel, name, given)
      }
      return channel
    }
    return model
  }
  return { connect: connectToRest as typeof connect, deleted }
}
