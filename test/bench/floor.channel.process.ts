// The floor's channel. In: messages for many sends. Out: an attempt for each send, and one report for all of them.
import { randomUUID } from 'node:crypto'
import process from 'node:process'
import { createAmqpBroker } from '../../infra/broker/amqp.ts'
import { done, type Message } from '../../infra/broker/broker.ts'
import { createMongoStore } from '../../infra/store/mongo.ts'
import { waitUntilUp } from '../support/rabbitmq.ts'
import { BARE_TOPOLOGY } from './bare.ts'
import { FLOOR_COLLECTIONS, FLOOR_FLOW, newAttempt, type Sent } from './floor.ts'

const { AMQP_URL: url = '', AMQP_PREFIX: prefix = '', MONGODB_URL = '' } = process.env
const broker = createAmqpBroker({ urls: [url], prefix, topology: BARE_TOPOLOGY })
const store = createMongoStore({ url: MONGODB_URL, collections: FLOOR_COLLECTIONS })
const attempts = store.docs('attempts')

async function deliver(messages: Message[]): Promise<void> {
  const at = Date.now()
  const sent = messages.flatMap(({ body }) => body as Sent[])
  await attempts.insert(sent.map(one => newAttempt(one, at)))
  const reports = sent.map(({ otp_id, delivery_id }) => ({ otp_id, delivery_id, status: 'delivered', at }))
  await broker.publish('otp.reports', { id: randomUUID(), body: reports })
}

await Promise.all([waitUntilUp(broker), store.ping()])
await broker.consume('channel.sms', async messages => deliver(messages).then(() => messages.map(done)), FLOOR_FLOW)
console.log(JSON.stringify({ url: '' }))
