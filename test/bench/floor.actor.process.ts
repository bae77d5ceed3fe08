// The floor's actor. In: calls and reports. Out: OTPs, each inserted and updated once, messages to the channel, answers and events.
import { randomUUID } from 'node:crypto'
import process from 'node:process'
import { createAmqpBroker } from '../../infra/broker/amqp.ts'
import { done, type Message } from '../../infra/broker/broker.ts'
import { createMongoStore } from '../../infra/store/mongo.ts'
import { waitUntilUp } from '../support/rabbitmq.ts'
import { BARE_TOPOLOGY } from './bare.ts'
import { deliveredOtp, FLOOR_COLLECTIONS, FLOOR_FLOW, newEvent, newOtp, newSent, type Sent } from './floor.ts'

const { AMQP_URL: url = '', AMQP_PREFIX: prefix = '', MONGODB_URL = '' } = process.env
const broker = createAmqpBroker({ urls: [url], prefix, topology: BARE_TOPOLOGY })
const store = createMongoStore({ url: MONGODB_URL, collections: FLOOR_COLLECTIONS })
const [otps, events] = [store.docs('otps'), store.docs('events')]

async function answer(calls: Message[]): Promise<unknown[]> {
  const at = Date.now()
  const sent = calls.map(() => newSent(at))
  await otps.insert(sent.map(one => newOtp(one, at)))
  await broker.publish('channel.sms', { id: randomUUID(), body: sent.map(one => ({ ...one, generation: 1 })) })
  return sent.map(({ otp_id }) => ({
    otp_id,
    status: 'pending',
    channel: 'sms',
    masked_recipient: '+91****73',
    completion: 'code',
  }))
}

async function finish(reports: Message[]): Promise<void> {
  const at = Date.now()
  const sent = reports.flatMap(({ body }) => body as Sent[])
  await otps.update(sent.map(one => ({ ids: [one.otp_id], update: deliveredOtp(one, at) })))
  await events.insert(sent.map(one => newEvent(one, at)))
}

await Promise.all([waitUntilUp(broker), store.ping()])
await broker.serve('otp.calls', answer, FLOOR_FLOW)
await broker.consume('otp.reports', async reports => finish(reports).then(() => reports.map(done)), FLOOR_FLOW)
console.log(JSON.stringify({ url: '' }))
