// The bare pipeline's actor: for each call one insert, grouped with other waiting ones, then one confirmed publish, then the answer.
import process from 'node:process'
import { createAmqpBroker } from '../../infra/broker/amqp.ts'
import type { Message } from '../../infra/broker/broker.ts'
import { batchDocs } from '../../infra/store/batched-docs.ts'
import { createMongoStore } from '../../infra/store/mongo.ts'
import { waitUntilUp } from '../support/rabbitmq.ts'
import { BARE_COLLECTIONS, BARE_TOPOLOGY } from './bare.ts'
import { sample } from './samples.ts'

const { AMQP_URL: url = '', AMQP_PREFIX: prefix = '', MONGODB_URL = '' } = process.env
const broker = createAmqpBroker({ urls: [url], prefix, topology: BARE_TOPOLOGY })
const store = createMongoStore({ url: MONGODB_URL, collections: BARE_COLLECTIONS })
const sends = batchDocs(store.docs('sends'))
let sent = Date.now() * 1_000

async function answer({ id }: Message): Promise<unknown> {
  sent += 1
  const doc = sample(sent)
  await sends.insert([doc])
  await broker.publish('channel.sms', { id, body: { otp_id: doc._id, delivery_id: id, generation: 1 } })
  return { otp_id: doc._id, status: 'pending', channel: 'sms', masked_recipient: '+91******12', completion: 'code' }
}

await Promise.all([waitUntilUp(broker), store.ping()])
await broker.serve('otp.calls', calls => Promise.all(calls.map(answer)), { prefetch: 64, batch: 256, parallel: 64 })
console.log(JSON.stringify({ url: '' }))
