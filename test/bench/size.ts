// What a verification costs and leaves, by role and engine, for docs/operations/sizing.md: live verifications are sent, delivered, received
// and verified, on RabbitMQ and MongoDB with one process per role, and in one process on the embedded engines. Figures are processor time,
// memory, connections and bytes, not rates, so they hold on a busy machine. What is made of them is in size.simulation.ts.
import { statSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { type Db, type Document, MongoClient } from 'mongodb'
import { queueNames } from '../../infra/broker/amqp/queues.ts'
import type { WorkQueue } from '../../infra/broker/topology.ts'
import { DAY_MS } from '../../infra/time.ts'
import { COLLECTIONS } from '../../services/domain/collections.ts'
import { AMQP_URL, MONGODB_URL } from '../support/engines.ts'
import { withRabbitChannel } from '../support/rabbitmq.ts'
import { type Connection, connection, type Response, requestText } from './connection.ts'
import { pidsOf, settle, withSystem } from './cost.ts'
import { addressOf } from './launch.ts'
import { type Live, startLive } from './live.ts'
import { recipients } from './recipients.ts'
import type { SizeFigures } from './size.simulation.ts'
import { type MeasuredSize, measuredTables } from './size.tables.ts'
import { ALL_IN_ONE, ONE_PROCESS_PER_ROLE, TOKEN } from './systems.ts'
import { needsRealEngines } from './under-load.ts'
import { connectionsTo, enginesIn, memoryMiB, type Pids, type Reading, readUsage, usagePerRequest } from './usage.ts'

const VERIFICATIONS = Number(process.env.BENCH_SENDS ?? 8_000)
const WARM_UP = Math.min(1_000, VERIFICATIONS / 2)
/** Storage and messages are counted over all of them: the more there are, the less do half-empty pages of an index count. */
const COUNTED = WARM_UP + VERIFICATIONS
/** Few, so that calls are answered in time on a machine that has other work. */
const LANES = 16
const IDLE_MS = 15_000
const SAMPLE_MS = 500
const POLL_MS = 200
const ROLES = ONE_PROCESS_PER_ROLE.map(role => role.join())
const ALL = 'all in one'
/** By queue, the role that consumes it, and more messages than that takes in advance, so that some stay in the queue. */
const FROZEN: [WorkQueue, role: string, sends: number][] = [
  ['channel.sms', 'channel:sms', 520],
  ['webhook.deliver', 'webhook', 280],
]
/** Collections with less than this for each verification do not grow with them. */
const LEAST_DOCUMENTS = 0.01

export default async function size(): Promise<void> {
  const { ENGINES_DIR, BENCH_FIGURES } = process.env
  if (!needsRealEngines('size')) return
  if (!ENGINES_DIR) return console.log('The engines must be ours: infra/engines.sh run npm run bench -- size')
  const engines = enginesIn(ENGINES_DIR)
  const real = await withSystem(startLive(), live => measureReal(live, engines))
  const embedded = await withSystem(startLive('embedded', ALL_IN_ONE), measureEmbedded)
  const measured: MeasuredSize = {
    on: new Date().toISOString().slice(0, 10),
    machine: `${cpus()[0]?.model ?? 'unknown'}, ${cpus().length} cores, Node.js ${process.version}`,
    verifications: COUNTED,
    retentionDays: RETENTION_DAYS,
    real,
    embedded,
  }
  for (const table of Object.values(measuredTables(measured))) console.log(`\n${table}`)
  if (BENCH_FIGURES) writeFileSync(BENCH_FIGURES, `${JSON.stringify(measured, null, 2)}\n`)
  else console.log('\nBENCH_FIGURES=<file> writes the figures: test/bench/size.figures.json is that of the page.')
}

/** The default of an app's `retention_days`. */
const RETENTION_DAYS = 30

async function measureReal(live: Live, engines: Pids): Promise<SizeFigures> {
  const pids = pidsOf(live, ROLES, engines)
  const client = await MongoClient.connect(live.env.MONGODB_URL ?? '')
  try {
    const db = client.db()
    const lives = await liveThrough(live, pids, {
      read: async () => ({
        stored: await readStored(db),
        bytes: await readMongoBytes(db),
        sent: await readMessages(live),
      }),
      ports: { MongoDB: portOf(MONGODB_URL), RabbitMQ: portOf(AMQP_URL) },
    })
    const { before, after } = lives
    return {
      ...lives.figures,
      stored: await storedPerVerification(db, before.stored, after.stored),
      mongodbBytes: (after.bytes - before.bytes) / COUNTED,
      messages: perVerification(before.sent, after.sent),
      messageBytes: await measureMessages(live),
    }
  } finally {
    await client.close()
  }
}

async function measureEmbedded(live: Live): Promise<MeasuredSize['embedded']> {
  const folder = live.env.DATA_DIR ?? ''
  const { figures, before, after } = await liveThrough(live, pidsOf(live, [ALL], {}), {
    read: async () => storeBytes(folder),
    ports: {},
  })
  const of = (reading: Reading): number => reading[ALL] ?? 0
  return {
    sendMs: of(figures.sendMs),
    verifyMs: of(figures.verifyMs),
    idleCores: of(figures.idleCores),
    memoryMiB: figures.memoryMiB[ALL] ?? { idle: 0, load: 0 },
    bytes: (after - before) / COUNTED,
  }
}

/** The database and its log, which is written back from time to time and stays small. */
const storeBytes = (folder: string): number =>
  ['countersign.db', 'countersign.db-wal'].reduce(
    (sum, name) => sum + (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0),
    0,
  )

interface Lives<R> {
  figures: Pick<SizeFigures, 'sendMs' | 'verifyMs' | 'idleCores' | 'memoryMiB' | 'connections'>
  before: R
  after: R
}

/** Idles, warms up, sends, and verifies. `read` is called before the first send, and after the last verify. */
async function liveThrough<R>(
  live: Live,
  pids: Pids,
  { read, ports }: { read(): Promise<R>; ports: Partial<Record<'MongoDB' | 'RabbitMQ', number>> },
): Promise<Lives<R>> {
  const { send, verify } = await startCallers(live)
  say('idling')
  await settle()
  const idleMiB = memoryOf(pids, 'now')
  const idleCores = await coresWhileIdle(pids)
  const before = await read()
  say('warming up')
  await verify(await send(WARM_UP))
  await settle()
  const connections = sampleConnections(pids, ports)
  try {
    say('sending')
    let sent: Sent[] = []
    const sendMs = await processorTime(pids, idleCores, VERIFICATIONS, async () => {
      sent = await send(VERIFICATIONS)
    })
    say('verifying')
    const verifyMs = await processorTime(pids, idleCores, VERIFICATIONS, () => verify(sent))
    const loadMiB = memoryOf(pids, 'most')
    const memory = Object.keys(pids).map(who => [who, { idle: idleMiB[who] ?? 0, load: loadMiB[who] ?? 0 }])
    const figures = {
      sendMs,
      verifyMs,
      idleCores,
      memoryMiB: Object.fromEntries(memory),
      connections: connections.most,
    }
    return { before, after: await read(), figures }
  } finally {
    connections.stop()
  }
}

const say = (what: string): void => console.log(`  ${new Date().toISOString().slice(11, 19)} ${what}`)

async function coresWhileIdle(pids: Pids): Promise<Reading> {
  const before = await readUsage(pids)
  await new Promise(resolve => setTimeout(resolve, IDLE_MS))
  return usagePerRequest(before, await readUsage(pids), IDLE_MS).cpu
}

/** Milliseconds for each of `count`, without those of the idle processes. */
async function processorTime(pids: Pids, idle: Reading, count: number, work: () => Promise<unknown>): Promise<Reading> {
  const [before, began] = [await readUsage(pids), performance.now()]
  await work()
  await settle()
  const [after, ms] = [await readUsage(pids), performance.now() - began]
  return Object.fromEntries(
    Object.keys(pids).map(who => {
      const used = (after.cpu[who] ?? 0) - (before.cpu[who] ?? 0) - (idle[who] ?? 0) * ms
      return [who, Math.max(used, 0) / count]
    }),
  )
}

const memoryOf = (pids: Pids, which: 'now' | 'most'): Reading =>
  Object.fromEntries(
    Object.entries(pids).map(([who, ids]) => [who, ids.reduce((sum, id) => sum + memoryMiB(id, which), 0)]),
  )

/** The most that each process has had at once. */
function sampleConnections(pids: Pids, ports: Partial<Record<'MongoDB' | 'RabbitMQ', number>>) {
  const most: SizeFigures['connections'] = {}
  const sample = (): void => {
    for (const [who, [pid = 0]] of Object.entries(pids)) {
      if (who in ports) continue
      const { MongoDB, RabbitMQ } = most[who] ?? { MongoDB: 0, RabbitMQ: 0 }
      most[who] = {
        MongoDB: Math.max(MongoDB, ports.MongoDB ? connectionsTo(pid, ports.MongoDB) : 0),
        RabbitMQ: Math.max(RabbitMQ, ports.RabbitMQ ? connectionsTo(pid, ports.RabbitMQ) : 0),
      }
    }
  }
  const timer = setInterval(sample, SAMPLE_MS)
  return { most, stop: () => clearInterval(timer) }
}

type Lane = Pick<Connection, 'ask' | 'close'>

interface Sent {
  otp_id: string
  recipient: string
}

/** Callers that send and verify, and wait until the app's backend has all events of it. */
async function startCallers(live: Live) {
  const base = new URL(live.url)
  const newRecipient = recipients()
  let calls = Math.floor(Math.random() * 2 ** 24)
  let events = await live.countFinished()

  const post = async (lane: Lane, path: string, body: unknown, headers = ''): Promise<Record<string, unknown>> => {
    const request = requestText(base, { method: 'POST', path, key: live.key, body: JSON.stringify(body), headers })
    for (;;) {
      const { status, body: text } = await lane.ask(request).catch(() => REFUSED)
      if (status === 200) return JSON.parse(text)
      if (status !== 503) throw new Error(`answered ${status}: ${text}`)
      // It may have been executed. A send has an idempotency key, and a right code is right again.
      await new Promise(resolve => setTimeout(resolve, POLL_MS))
    }
  }

  async function eventsCome(count: number): Promise<void> {
    events += count
    while ((await live.countFinished()) < events) await new Promise(resolve => setTimeout(resolve, POLL_MS))
  }

  async function sendOnly(count: number): Promise<Sent[]> {
    return onLanes(base, Array.from({ length: count }, newRecipient), async (lane, recipient) => {
      calls += 1
      const client_ip = `93.${(calls >> 16) & 255}.${(calls >> 8) & 255}.${calls & 255}`
      const body = { recipient, client_ip }
      const { otp_id } = await post(lane, '/api/v1/otp/send', body, `idempotency-key: ${recipient}\r\n`)
      return { otp_id: String(otp_id), recipient }
    })
  }

  return {
    sendOnly,
    eventsCome,
    async send(count: number): Promise<Sent[]> {
      const sent = await sendOnly(count)
      await eventsCome(count)
      return sent
    },
    async verify(sent: readonly Sent[]): Promise<void> {
      const codes = await live.codes()
      await onLanes(base, sent, async (lane, { otp_id, recipient }) => {
        const { matched } = await post(lane, '/api/v1/otp/verify', { otp_id, code: codes[recipient] })
        if (!matched) throw new Error('the code did not match')
      })
      await eventsCome(sent.length)
    },
  }
}

/** A busy server refuses, or closes the connection. */
const REFUSED: Response = { status: 503, body: '' }

/** A connection that is opened again when the server has closed it. */
function createLane(base: URL): Lane {
  let current = connection(base)
  return {
    ask(request) {
      if (!current.isOpen()) current = connection(base)
      return current.ask(request)
    },
    close: () => current.close(),
  }
}

/** Keeps one item under way on every connection. */
async function onLanes<I, O>(base: URL, items: readonly I[], work: (lane: Lane, item: I) => Promise<O>): Promise<O[]> {
  const done: O[] = []
  const left = [...items]
  const play = async (): Promise<void> => {
    const lane = createLane(base)
    for (let item = left.pop(); item !== undefined; item = left.pop()) done.push(await work(lane, item))
    lane.close()
  }
  await Promise.all(Array.from({ length: LANES }, play))
  return done
}

interface Stored {
  documents: number
  bytes: number
  indexBytes: number
}

async function readStored(db: Db): Promise<Record<string, Stored>> {
  // Sizes are those of the last checkpoint.
  await db.admin().command({ fsync: 1 })
  const stored: Record<string, Stored> = {}
  for (const name of Object.keys(COLLECTIONS)) {
    const stats: Document = await db.command({ collStats: name })
    const { count = 0, storageSize = 0, totalIndexSize = 0 } = stats
    stored[name] = { documents: count, bytes: storageSize, indexBytes: totalIndexSize }
  }
  return stored
}

async function storedPerVerification(
  db: Db,
  before: Record<string, Stored>,
  after: Record<string, Stored>,
): Promise<SizeFigures['stored']> {
  const stored: SizeFigures['stored'] = {}
  for (const name of Object.keys(COLLECTIONS)) {
    const of = (member: keyof Stored): number =>
      Math.max((after[name]?.[member] ?? 0) - (before[name]?.[member] ?? 0), 0) / COUNTED
    if (of('documents') < LEAST_DOCUMENTS) continue
    stored[name] = {
      documents: of('documents'),
      bytes: of('bytes'),
      indexBytes: of('indexBytes'),
      keptDays: await keptDays(db, name),
    }
  }
  return stored
}

/** How long its documents are kept, by the time at which they are to be removed; null where they have none. */
async function keptDays(db: Db, name: string): Promise<number | null> {
  const group = { _id: null, purgedAt: { $avg: { $toLong: '$purge_at' } } }
  const [found] = await db
    .collection(name)
    .aggregate([{ $group: group }])
    .toArray()
  return found?.purgedAt ? (found.purgedAt - Date.now()) / DAY_MS : null
}

async function readMongoBytes(db: Db): Promise<number> {
  const { network } = await db.admin().command({ serverStatus: 1 })
  return Number(network.bytesIn) + Number(network.bytesOut)
}

/** How many messages all processes have published, and calls they have made, by queue. */
async function readMessages(live: Live): Promise<Reading> {
  const sent: Reading = {}
  for (const child of live.processes) {
    const headers = { authorization: `Bearer ${TOKEN}` }
    const text = await (await fetch(`${await addressOf(child)}/metrics`, { headers })).text()
    for (const [, metric = '', labels = '', value] of text.matchAll(SENT_TOTAL)) {
      const queue = /queue="([^"]+)"/.exec(labels)?.[1]
      if (queue && labels.includes(`outcome="${SENT_OUTCOME[metric]}"`))
        sent[queue] = (sent[queue] ?? 0) + Number(value)
    }
  }
  return sent
}

const SENT_TOTAL = /^countersign_(broker_messages|calls)_total\{(.+)\} (\d+)/gm
/** As the sender counts it. */
const SENT_OUTCOME: Record<string, string> = { broker_messages: 'published', calls: 'answered' }

const perVerification = (before: Reading, after: Reading): Reading =>
  Object.fromEntries(
    Object.entries(after)
      .map(([queue, count]) => [queue, (count - (before[queue] ?? 0)) / COUNTED] as const)
      .filter(([, count]) => count >= LEAST_DOCUMENTS),
  )

/** Freezes the consumers of a queue, sends more than they have taken, and looks at a message that waits. */
async function measureMessages(live: Live): Promise<SizeFigures['messageBytes']> {
  say('looking at messages that wait')
  const { sendOnly, eventsCome } = await startCallers(live)
  const bytes: SizeFigures['messageBytes'] = {}
  for (const [queue, role, sends] of FROZEN) {
    const consumer = live.processes[ROLES.indexOf(role)]?.process
    consumer?.kill('SIGSTOP')
    try {
      await sendOnly(sends)
      bytes[queue] = await lengthOfWaiting(live, queue)
    } finally {
      consumer?.kill('SIGCONT')
    }
    await eventsCome(sends)
  }
  return bytes
}

async function lengthOfWaiting(live: Live, queue: WorkQueue): Promise<number> {
  const name = queueNames(live.env.AMQP_PREFIX ?? '').queue(queue)
  return withRabbitChannel(async channel => {
    for (;;) {
      const message = await channel.get(name)
      if (message === false) {
        await new Promise(resolve => setTimeout(resolve, POLL_MS))
        continue
      }
      channel.nack(message)
      return message.content.length + JSON.stringify(message.properties).length
    }
  })
}

const portOf = (url: string | undefined): number => Number(new URL((url ?? '').replace(/^\w+:/, 'http:')).port)
