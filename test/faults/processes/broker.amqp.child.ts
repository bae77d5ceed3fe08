// A process with a broker, for broker.amqp.processes.test.ts. It prints the id of each message it gets. Its first argument says what it
// does then:
//   hold    keeps the message and never settles it      die     kills itself (-9) while it handles the message
//   close   closes the broker, and should then end
import process from 'node:process'
import { createAmqpBroker } from '../../../infra/broker/amqp.ts'
import { done } from '../../../infra/broker/broker.ts'
import { TEST_TOPOLOGY, WEBHOOK_QUEUE } from '../../support/rabbitmq.ts'

const { url = '', prefix = '', deliveryLimit } = process.env
const broker = createAmqpBroker({
  urls: [url],
  topology: TEST_TOPOLOGY,
  prefix,
  deliveryLimit: Number(deliveryLimit ?? 20),
})
const print = (word: string): void => {
  process.stdout.write(`${word}\n`)
}

const behaviour = process.argv[2]
const consumer = broker.consume(
  WEBHOOK_QUEUE,
  async waiting => {
    for (const { id } of waiting) print(id)
    if (behaviour === 'die') process.kill(process.pid, 'SIGKILL')
    if (behaviour === 'hold') await new Promise(() => {})
    return waiting.map(done)
  },
  { prefetch: 10 },
)
if (behaviour === 'close') {
  if (process.argv[3] === 'attached') await consumer
  await Promise.all([broker.close(), consumer.catch(() => print('refused'))])
  print('closed')
}
