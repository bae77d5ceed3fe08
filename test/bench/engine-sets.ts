// The two engine sets of the bench. Each is opened empty and removed afterwards.

import { Buffer } from 'node:buffer'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'amqplib'
import { MongoClient } from 'mongodb'
import { createAmqpBroker } from '../../infra/broker/amqp.ts'
import type { Broker } from '../../infra/broker/broker.ts'
import { createEmbeddedBroker } from '../../infra/broker/embedded.ts'
import { systemClock } from '../../infra/clock.ts'
import { createEmbeddedStore } from '../../infra/store/embedded.ts'
import { createMongoStore } from '../../infra/store/mongo.ts'
import type { Collections, Store } from '../../infra/store/store.ts'
import { freshPrefix, removeQueues, waitUntilUp } from '../support/rabbitmq.ts'
import { BENCH_TOPOLOGY, PLAIN, serveEcho, TOGETHER } from './echo-server.ts'
import { launchProcess } from './launch.ts'
import { CALL } from './samples.ts'

export interface BrokerBench {
  /** Every call travels and is handled alone. */
  plain: Broker
  together: Broker
  /** One round trip on the engine, without the port. */
  bare(): Promise<unknown>
  bareName: string
  /** True when calls leave the process. */
  overWire: boolean
  close(): Promise<void>
}

export interface StoreBench<C extends Collections> {
  store: Store<C>
  /** True when the store itself groups the calls of one turn in one commit. */
  groupsCalls: boolean
  close(): Promise<void>
}

export interface EngineSet {
  title: string
  broker(): Promise<BrokerBench>
  store<C extends Collections>(collections: C): Promise<StoreBench<C>>
}

export const embeddedEngines: EngineSet = {
  title: 'Embedded engines',
  async broker() {
    const open = () => createEmbeddedBroker({ topology: BENCH_TOPOLOGY, clock: systemClock })
    const [plain, together] = [open(), open()]
    await serveEcho(plain, PLAIN)
    await serveEcho(together, TOGETHER)
    return {
      plain,
      together,
      bare: () => new Promise<void>(resolve => setImmediate(resolve)),
      bareName: 'one turn of the event loop',
      overWire: false,
      close: async () => void (await Promise.all([plain.close(0), together.close(0)])),
    }
  },
  async store(collections) {
    const folder = await mkdtemp(join(tmpdir(), 'countersign-bench-'))
    const store = createEmbeddedStore({ folder, collections, clock: systemClock })
    return {
      store,
      groupsCalls: true,
      async close() {
        await store.close()
        await rm(folder, { recursive: true, force: true })
      },
    }
  },
}

export const realEngines = (mongodbUrl: string, amqpUrl: string): EngineSet => ({
  title: 'RabbitMQ and MongoDB',
  broker: () => amqpBench(amqpUrl),
  async store(collections) {
    const database = `bench_${randomUUID()}`
    const store = createMongoStore({ url: mongodbUrl, collections, database, timeoutMs: 60_000 })
    await store.ping()
    return {
      store,
      groupsCalls: false,
      async close() {
        await store.close()
        const client = new MongoClient(mongodbUrl)
        await client.db(database).dropDatabase()
        await client.close()
      },
    }
  },
})

/** Caller and server are separate processes, as in a deployment. */
async function amqpBench(url: string): Promise<BrokerBench> {
  const prefixes = { PLAIN_PREFIX: freshPrefix(), TOGETHER_PREFIX: freshPrefix(), BARE_QUEUE: freshPrefix() }
  const server = launchProcess('echo-server.process', { ...prefixes, AMQP_URL: url })
  await server.waitForLine(line => line === 'ready')
  const common = { urls: [url], topology: BENCH_TOPOLOGY }
  const plain = createAmqpBroker({ ...common, prefix: prefixes.PLAIN_PREFIX, maxCallsPerFrame: 1 })
  const together = createAmqpBroker({ ...common, prefix: prefixes.TOGETHER_PREFIX })
  const bare = await bareCaller(url, prefixes.BARE_QUEUE)
  await Promise.all([waitUntilUp(plain), waitUntilUp(together)])
  return {
    plain,
    together,
    bare: bare.call,
    bareName: 'the same with amqplib alone',
    overWire: true,
    async close() {
      await Promise.all([plain.close(0), together.close(0), bare.close()])
      server.process.kill()
      await server.exited
      for (const prefix of [prefixes.PLAIN_PREFIX, prefixes.TOGETHER_PREFIX]) await removeQueues({ ...common, prefix })
    },
  }
}

async function bareCaller(url: string, queue: string): Promise<{ call(): Promise<void>; close(): Promise<void> }> {
  const connection = await connect(url, { noDelay: true })
  const channel = await connection.createChannel()
  const content = Buffer.from(JSON.stringify(CALL))
  let arrived = (): void => {}
  await channel.consume('amq.rabbitmq.reply-to', () => arrived(), { noAck: true })
  return {
    call: () =>
      new Promise(resolve => {
        arrived = resolve
        channel.sendToQueue(queue, content, { replyTo: 'amq.rabbitmq.reply-to' })
      }),
    close: () => connection.close(),
  }
}
