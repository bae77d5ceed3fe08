// The two engine sets as the bench sees them: opened fresh, gone without a trace afterwards.
import { Buffer } from 'node:buffer'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'amqplib'
import { MongoClient } from 'mongodb'
import { amqpBroker } from '../../infra/broker/amqp.ts'
import type { Broker } from '../../infra/broker/broker.ts'
import { embeddedBroker } from '../../infra/broker/embedded.ts'
import { systemClock } from '../../infra/clock.ts'
import { embeddedStore } from '../../infra/store/embedded.ts'
import { mongoStore } from '../../infra/store/mongo.ts'
import type { Collections, Store } from '../../infra/store/store.ts'
import { freshPrefix, removeQueues, up } from '../support/amqp.ts'
import { child } from '../support/child.ts'
import { answer, BENCH_TOPOLOGY, PLAIN, TOGETHER } from './answering.ts'
import { CALL } from './samples.ts'

export interface BrokerBench {
  /** Every call travels and is handed over alone. */
  plain: Broker
  together: Broker
  /** One round trip without the port. */
  bare(): Promise<unknown>
  bareName: string
  /** Calls leave the process. */
  overWire: boolean
  close(): Promise<void>
}

export interface StoreBench<C extends Collections> {
  store: Store<C>
  /** Calls of one turn are one commit, whoever makes them: the store groups by itself. */
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
    const open = () => embeddedBroker({ topology: BENCH_TOPOLOGY, clock: systemClock })
    const [plain, together] = [open(), open()]
    await answer(plain, PLAIN)
    await answer(together, TOGETHER)
    return {
      ...{ plain, together },
      bare: () => new Promise<void>(resolve => setImmediate(resolve)),
      bareName: 'one turn of the event loop',
      overWire: false,
      close: async () => void (await Promise.all([plain.close(0), together.close(0)])),
    }
  },
  async store(collections) {
    const folder = await mkdtemp(join(tmpdir(), 'countersign-bench-'))
    const store = embeddedStore({ folder, collections, clock: systemClock })
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
    const store = mongoStore({ url: mongodbUrl, collections, database, timeoutMs: 60_000 })
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

/** Who asks and who answers are processes of their own, as in a deployment. */
async function amqpBench(url: string): Promise<BrokerBench> {
  const prefixes = { PLAIN_PREFIX: freshPrefix(), TOGETHER_PREFIX: freshPrefix(), BARE_QUEUE: freshPrefix() }
  const server = child(join(import.meta.dirname, 'answering.process.ts'), { ...prefixes, AMQP_URL: url })
  await server.line(line => line === 'ready')
  const common = { url, topology: BENCH_TOPOLOGY }
  const plain = amqpBroker({ ...common, prefix: prefixes.PLAIN_PREFIX, framing: 1 })
  const together = amqpBroker({ ...common, prefix: prefixes.TOGETHER_PREFIX })
  const bare = await bareCaller(url, prefixes.BARE_QUEUE)
  await Promise.all([up(plain), up(together)])
  return {
    ...{ plain, together },
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
