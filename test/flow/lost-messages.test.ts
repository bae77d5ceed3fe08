// Messages that the broker loses after it has confirmed them: every accepted send is out all the same, within a minute.
import { expect } from 'chai'
import { queueNames } from '../../infra/broker/amqp/queues.ts'
import type { Broker, Consumer } from '../../infra/broker/broker.ts'
import type { Engines } from '../../services/main.ts'
import { type Flow, freshNumber, startFlow } from '../support/flow.ts'
import { withRabbitChannel } from '../support/rabbitmq.ts'
import { onEachEngineSet } from '../support/site.ts'

const QUEUE = 'channel.sms'
const SENDS = 20

onEachEngineSet('a channel’s queue that is purged', engines => {
  let flow: Flow
  let losing = false
  const consumers: Consumer[] = []
  /** The embedded queue cannot be purged: its broker confirms a message and drops it instead. */
  const decorate = ({ broker, store }: Engines): Engines => {
    const decorated: Broker = {
      ...broker,
      async publish(queue, message) {
        if (engines === 'real' || !losing || queue !== QUEUE) await broker.publish(queue, message)
      },
      async consume(queue, handle, options) {
        const consumer = await broker.consume(queue, handle, options)
        if (queue === QUEUE) consumers.push(consumer)
        return consumer
      },
    }
    return { store, broker: decorated }
  }
  before(async function () {
    this.timeout(120_000)
    flow = await startFlow({ engines, decorate })
  })
  after(async function () {
    this.timeout(60_000)
    await flow?.stop()
  })

  /** RabbitMQ has the messages of these sends, and nothing has taken them, when its queue is purged. */
  async function purge(): Promise<void> {
    const { broker } = flow.countersign.engines
    await flow.eventually(async () => expect((await broker.depth(QUEUE)).ready).to.equal(SENDS))
    const name = queueNames(flow.countersign.site.prefix).queue(QUEUE)
    await withRabbitChannel(channel => channel.purgeQueue(name))
    for (const consumer of consumers) await consumer.resume()
  }

  it('costs no send: each is out within a minute', async () => {
    const { server } = await flow.createTenant({ limits: { app_without_client_ip: [{ max: 1_000, seconds: 60 }] } })
    losing = true
    if (engines === 'real') for (const consumer of consumers) await consumer.pause()
    const recipients = Array.from({ length: SENDS }, freshNumber)
    for (const recipient of recipients) expect((await server.send(recipient)).status).to.equal(200)
    const acceptedBy = flow.clock.now()
    if (engines === 'real') await purge()
    losing = false
    await flow.advance(25_000)
    for (const recipient of recipients)
      await flow.eventually(async () => expect(await flow.inbox(recipient)).to.have.length(1))
    expect(flow.clock.now() - acceptedBy).to.be.below(60_000)
  })
})
