// The echo server on RabbitMQ, which engine-sets.ts runs as a process. Prints "ready" once it is attached.
import process from 'node:process'
import { connect } from 'amqplib'
import { createAmqpBroker } from '../../infra/broker/amqp.ts'
import { waitUntilUp } from '../support/rabbitmq.ts'
import { BENCH_TOPOLOGY, PLAIN, serveEcho, TOGETHER } from './echo-server.ts'

const { AMQP_URL: url = '', PLAIN_PREFIX = '', TOGETHER_PREFIX = '', BARE_QUEUE = '' } = process.env

for (const [prefix, flow] of [
  [PLAIN_PREFIX, PLAIN],
  [TOGETHER_PREFIX, TOGETHER],
] as const) {
  const broker = createAmqpBroker({ urls: [url], topology: BENCH_TOPOLOGY, prefix })
  await waitUntilUp(broker)
  await serveEcho(broker, flow)
}

const channel = await (await connect(url, { noDelay: true })).createChannel()
await channel.assertQueue(BARE_QUEUE, { exclusive: true })
await channel.consume(BARE_QUEUE, call => call && channel.sendToQueue(String(call.properties.replyTo), call.content), {
  noAck: true,
})
console.log('ready')
