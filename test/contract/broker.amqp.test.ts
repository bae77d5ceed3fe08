// The broker contract on a real RabbitMQ. Every case has its own queues.
import { createAmqpBroker } from '../../infra/broker/amqp.ts'
import { AMQP_URL, onRealEngines } from '../support/engines.ts'
import { freshPrefix, removeQueues, waitUntilUp } from '../support/rabbitmq.ts'
import { brokerContract, CONTRACT_TOPOLOGY } from './broker.contract.ts'

onRealEngines('RabbitMQ', { AMQP_URL }, () => {
  brokerContract('the broker on RabbitMQ', async () => {
    const options = { urls: [AMQP_URL ?? ''], topology: CONTRACT_TOPOLOGY, prefix: freshPrefix() }
    const brokers = [createAmqpBroker(options), createAmqpBroker(options)] as const
    await Promise.all(brokers.map(waitUntilUp))
    return {
      broker: brokers[0],
      other: brokers[1],
      async close() {
        await Promise.all(brokers.map(broker => broker.close(0)))
        await removeQueues(options)
      },
    }
  })
})
