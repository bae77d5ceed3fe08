// Messages that the broker loses after it has confirmed them: every accepted send is out all the same, within a minute. That every event
// arrives is in test/faults/processes/webhooks.test.ts.
import { expect } from 'chai'
import { queueNames } from '../../infra/broker/amqp/queues.ts'
import type { Broker, Consumer } from '../../infra/broker/broker.ts'
import type { WorkQueue } from '../../infra/broker/topology.ts'
import type { Engines } from '../../services/main.ts'
import type { Caller } from '../support/api-caller.ts'
import { type Flow, freshNumber, startFlow } from '../support/flow.ts'
import { withRabbitChannel } from '../support/rabbitmq.ts'
import { onEachEngineSet } from '../support/site.ts'

const SENDS = 100

onEachEngineSet('a queue that is purged', engines => {
  let flow: Flow
  let losing: WorkQueue | null = null
  const consumers: [WorkQueue, Consumer][] = []
  /** The embedded queue cannot be purged: its broker confirms a message and drops it instead. */
  const decorate = ({ broker, store }: Engines): Engines => {
    const decorated: Broker = {
      ...broker,
      async publish(queue, message) {
        if (engines === 'real' || losing !== queue) await broker.publish(queue, message)
      },
      async consume(queue, handle, options) {
        const consumer = await broker.consume(queue, handle, options)
        consumers.push([queue, consumer])
        return consumer
      },
    }
    return { store, broker: decorated }
  }
  before(async () => {
    flow = await startFlow({ engines, decorate, env: { ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' } })
  })
  after(async () => {
    await flow?.stop()
  })

  /** Loses the messages that the work publishes: RabbitMQ has them all, and nothing has taken them, when its queue is purged. */
  async function loseMessages<T>(queue: WorkQueue, messages: number, work: () => Promise<T>): Promise<T> {
    const ofQueue = consumers.flatMap(([name, consumer]) => (name === queue ? [consumer] : []))
    losing = queue
    if (engines === 'real') for (const consumer of ofQueue) await consumer.pause()
    const result = await work()
    losing = null
    if (engines === 'embedded') return result
    const { broker } = flow.countersign.engines
    await flow.eventually(async () => expect((await broker.depth(queue)).ready).to.be.at.least(messages))
    const name = queueNames(flow.countersign.site.prefix).queue(queue)
    await withRabbitChannel(channel => channel.purgeQueue(name))
    for (const consumer of ofQueue) await consumer.resume()
    return result
  }

  /** Sends until it is told to stop, a few at a time, so that the queue has other messages too. */
  function startSending(server: Caller): { accepted: string[]; stop(): Promise<unknown> } {
    const accepted: string[] = []
    let stopped = false
    async function sendOften(): Promise<void> {
      while (!stopped) {
        const { status, body } = await server.send(freshNumber())
        if (status === 200) accepted.push(body.otp_id)
        await new Promise(resolve => setTimeout(resolve, 20))
      }
    }
    const ended = Promise.all([sendOften(), sendOften(), sendOften()])
    return {
      accepted,
      stop() {
        stopped = true
        return ended
      },
    }
  }

  it('of a channel costs no send, while others go on: each is out within a minute', async () => {
    const { server } = await flow.createTenant({ limits: { app_without_client_ip: [{ max: 100_000, seconds: 60 }] } })
    const { accepted, stop } = startSending(server)
    try {
      const acceptedBy = await loseMessages('channel.sms', SENDS, async () => {
        await flow.eventually(() => expect(accepted).to.have.length.at.least(SENDS))
        return flow.clock.now()
      })
      const lost = accepted.slice(0, SENDS)
      await flow.advance(25_000)
      await flow.eventually(async () => {
        const otps = await flow.countersign.engines.store.docs('otps').get(lost)
        const statuses = [...otps.values()].map(({ context }) => context.deliveries[0]?.status)
        expect(statuses).to.have.length(SENDS).and.not.to.include('queued')
      })
      if (engines === 'embedded') expect(flow.clock.now() - acceptedBy).to.be.below(60_000)
    } finally {
      await stop()
    }
  })
})
