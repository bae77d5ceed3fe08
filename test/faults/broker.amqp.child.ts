// A process with a broker, for the tests beside it. It says each id it is handed; what it does then is in its first argument:
//   hold    keeps the message and never answers         die     kills itself (-9), message in hand
//   close   consumes, closes as soon as it is attached, and then has nothing left to do
import process from 'node:process'
import { createAmqpBroker } from '../../infra/broker/amqp.ts'
import { done } from '../../infra/broker/broker.ts'
import { TEST_TOPOLOGY, WEBHOOK_QUEUE } from '../support/rabbitmq.ts'

const { url = '', prefix = '', deliveryLimit } = process.env
const broker = createAmqpBroker({ url, topology: TEST_TOPOLOGY, prefix, deliveryLimit: Number(deliveryLimit ?? 20) })
const say = (word: string): void => {
  process.stdout.write(`${word}\n`)
}

const behaviour = process.argv[2]
const consumer = broker.consume(
  WEBHOOK_QUEUE,
  async waiting => {
    for (const { id } of waiting) say(id)
    if (behaviour === 'die') process.kill(process.pid, 'SIGKILL')
    if (behaviour === 'hold') await new Promise(() => {})
    return waiting.map(done)
  },
  { prefetch: 10 },
)
if (behaviour === 'close') {
  if (process.argv[3] === 'attached') await consumer
  await Promise.all([broker.close(), consumer.catch(() => say('refused'))])
  say('closed')
}
