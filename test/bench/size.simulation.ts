// The arithmetic of a deployment's size. In: figures that `npm run bench -- size` has measured, and a day's demand. Out: processes, cores,
// connections, storage, and what piles up while a role is away. Pure: docs/operations/sizing.md shows its results, and a test checks them.
import { DAY_MS } from '../../infra/time.ts'
import { EVENT_RETENTION_AFTER_LAST_ATTEMPT_MS } from '../../services/domain/retention.ts'

/** Of one live verification: sent, delivered, received, with an event, then verified, with another event. */
export interface SizeFigures {
  /** Milliseconds of processor time, by process or engine; what an idle process takes is not in them. */
  sendMs: Record<string, number>
  verifyMs: Record<string, number>
  /** Shares of a core. */
  idleCores: Record<string, number>
  memoryMiB: Record<string, { idle: number; load: number }>
  /** Connections of one process under load. */
  connections: Record<string, Record<'MongoDB' | 'RabbitMQ', number>>
  /** What one verification leaves in MongoDB, by collection. `keptDays`: null for ever. */
  stored: Record<string, { documents: number; bytes: number; indexBytes: number; keptDays: number | null }>
  /** Messages of each queue, and how long one of them is. */
  messages: Record<string, number>
  messageBytes: Record<string, number>
  /** Between the processes and MongoDB, both directions. */
  mongodbBytes: number
}

export interface Demand {
  sendsPerDay: number
  /** The sends of each hour against those of the mean hour. */
  hours: readonly number[]
  /** The busiest minute against its hour. */
  minuteFactor: number
  /** The share of the sends that are verified. */
  verified: number
  retentionDays: number
  /** How long a vendor and an endpoint take to answer. */
  vendorMs: number
  endpointMs: number
  /** The share of the sends that go to the busiest endpoint. */
  busiestEndpoint: number
}

export interface Policy {
  /** The share of its cores that a process or an engine may use in the busiest minute. */
  use: number
  /** Of the processes of a role, so many may be missing. */
  spare: number
  /** Of one MongoDB shard and of one RabbitMQ node. */
  engineCores: number
  shardBytes: number
  /** Calls under way of one process: to one vendor, and to one endpoint. */
  vendorCalls: number
  endpointCalls: number
}

const SECONDS_PER_DAY = 86_400

/** The roles that a verification over SMS uses, in its order. */
export const SIZED_ROLES = ['edge', 'otp', 'channel:sms', 'webhook', 'sweeper'] as const
type SizedRole = (typeof SIZED_ROLES)[number]

const EVENTS_OF_SEND = 1
const EVENTS_OF_VERIFY = 1

interface Rates {
  mean: number
  busiestHour: number
  busiestMinute: number
}

export function ratesOf({ sendsPerDay, hours, minuteFactor }: Demand): Rates {
  const mean = sendsPerDay / SECONDS_PER_DAY
  const busiestHour = mean * Math.max(...shares(hours)) * hours.length
  return { mean, busiestHour, busiestMinute: busiestHour * minuteFactor }
}

/** Of the day, by hour. */
function shares(hours: readonly number[]): number[] {
  const total = hours.reduce((sum, hour) => sum + hour, 0)
  return hours.map(hour => hour / total)
}

/** Milliseconds of processor time for one send and the verifies that follow it. */
export const msPerSend = ({ sendMs, verifyMs }: SizeFigures, { verified }: Demand, who: string): number =>
  (sendMs[who] ?? 0) + verified * (verifyMs[who] ?? 0)

export const eventsPerSend = ({ verified }: Pick<Demand, 'verified'>): number =>
  EVENTS_OF_SEND + verified * EVENTS_OF_VERIFY

interface RolePlan {
  role: SizedRole
  /** In the busiest minute. */
  cores: number
  /** What decides how many processes there are. */
  because: 'processor time' | 'calls under way' | 'one and a spare'
  processes: number
  /** Of all processes together. */
  memoryMiB: number
  mongodbConnections: number
  rabbitmqConnections: number
}

export function planRole(figures: SizeFigures, demand: Demand, policy: Policy, role: SizedRole): RolePlan {
  const rate = ratesOf(demand).busiestMinute
  const workCores = (rate * msPerSend(figures, demand, role)) / 1_000
  // A process of Node.js runs its JavaScript on one core.
  const byProcessor = workCores / (policy.use - (figures.idleCores[role] ?? 0))
  const byCalls = callsUnderWay(demand, role) / (callLimit(policy, role) * policy.use)
  const needed = Math.ceil(Math.max(byProcessor, byCalls, 1))
  const processes = needed + policy.spare
  const { MongoDB = 0, RabbitMQ = 0 } = figures.connections[role] ?? {}
  return {
    role,
    cores: workCores + processes * (figures.idleCores[role] ?? 0),
    because: needed === 1 ? 'one and a spare' : byCalls > byProcessor ? 'calls under way' : 'processor time',
    processes,
    memoryMiB: processes * (figures.memoryMiB[role]?.load ?? 0),
    mongodbConnections: processes * MongoDB,
    rabbitmqConnections: processes * RabbitMQ,
  }
}

/** In the busiest minute: how many there are is the rate times how long each takes. The busiest endpoint alone is counted: the others have
 *  slots of their own. */
function callsUnderWay(demand: Demand, role: SizedRole): number {
  const rate = ratesOf(demand).busiestMinute
  if (role === 'channel:sms') return (rate * demand.vendorMs) / 1_000
  if (role === 'webhook') return (rate * eventsPerSend(demand) * demand.busiestEndpoint * demand.endpointMs) / 1_000
  return 0
}

const callLimit = ({ vendorCalls, endpointCalls }: Policy, role: SizedRole): number =>
  role === 'webhook' ? endpointCalls : vendorCalls

interface StoragePlan {
  /** By collection, once as much is removed as is added. */
  collections: { name: string; documents: number; bytes: number; indexBytes: number; keptDays: number }[]
  bytes: number
  indexBytes: number
  /** What is never removed: it grows by so much every day. */
  perDayForEver: number
}

/** `measuredDays`: the retention of the app that was measured. What was kept for that long is kept for the retention of the plan. */
export function planStorage({ stored }: SizeFigures, demand: Demand, measuredDays: number, days = 365): StoragePlan {
  const collections = Object.entries(stored).map(([name, one]) => {
    const keptDays = one.keptDays === null ? days : keptFor(name, one.keptDays, measuredDays, demand.retentionDays)
    const verifications = demand.sendsPerDay * keptDays
    return {
      name,
      keptDays,
      documents: verifications * one.documents,
      bytes: verifications * one.bytes,
      indexBytes: verifications * one.indexBytes,
    }
  })
  const forEver = Object.values(stored).filter(({ keptDays }) => keptDays === null)
  return {
    collections,
    bytes: sum(collections.map(({ bytes }) => bytes)),
    indexBytes: sum(collections.map(({ indexBytes }) => indexBytes)),
    perDayForEver: demand.sendsPerDay * sum(forEver.map(({ bytes, indexBytes }) => bytes + indexBytes)),
  }
}

/** To within a few hours, because documents are written while others are measured. */
const keptFor = (name: string, keptDays: number, measuredDays: number, retentionDays: number): number =>
  Math.abs(keptDays - measuredDays) < 0.5 ? Math.max(retentionDays, LEAST_DAYS[name] ?? 0) : keptDays

/** However short the retention of an app is. */
const LEAST_DAYS: Record<string, number> = { events: EVENT_RETENTION_AFTER_LAST_ATTEMPT_MS / DAY_MS }

interface EnginePlan {
  /** In the busiest minute, of the primaries together. */
  cores: number
  shards: number
  because: 'processor time' | 'storage'
}

export function planMongo(figures: SizeFigures, demand: Demand, policy: Policy, storage: StoragePlan): EnginePlan {
  const cores = (ratesOf(demand).busiestMinute * msPerSend(figures, demand, 'MongoDB')) / 1_000
  const byProcessor = cores / (policy.engineCores * policy.use)
  const byStorage = (storage.bytes + storage.indexBytes) / policy.shardBytes
  return {
    cores,
    shards: Math.ceil(Math.max(byProcessor, byStorage, 1)),
    because: byStorage > byProcessor ? 'storage' : 'processor time',
  }
}

export const messagesPerSecond = ({ messages }: SizeFigures, demand: Demand): Record<string, number> =>
  Object.fromEntries(Object.entries(messages).map(([queue, count]) => [queue, count * ratesOf(demand).busiestMinute]))

/** While `edge` or `otp` is away, callers are refused and nothing is queued. These two have queues that grow. */
export interface Outage {
  role: 'channel:sms' | 'webhook'
  minutes: number
  /** The hour of the day in which it begins. */
  hour: number
}

interface OutageResult {
  deepest: number
  /** Of the queue at its deepest. */
  bytes: number
  /** From the return of the role until the queue is empty; null if it is not within a day. */
  drainedAfterMinutes: number | null
  /** Messages that were taken from the queue after their codes had expired. They are not sent, and refunded. */
  expired: number
}

/** Second by second: messages come as the day's curve says, and the oldest are taken first. A process that drains may
 *  use its whole core. */
export function simulateOutage(
  figures: SizeFigures,
  demand: Demand,
  policy: Policy,
  { role, minutes, hour }: Outage,
  codeSeconds = 600,
): OutageResult {
  const { processes } = planRole(figures, demand, policy, role)
  const perSend = role === 'webhook' ? eventsPerSend(demand) : 1
  const capacity = Math.min(
    (processes * 1_000 * perSend) / msPerSend(figures, demand, role),
    (processes * callLimit(policy, role) * 1_000) /
      (role === 'webhook' ? demand.endpointMs * demand.busiestEndpoint : demand.vendorMs),
  )
  const backAt = minutes * 60
  const bytesOf = (depth: number) => depth * (figures.messageBytes[QUEUE_OF[role]] ?? 0)
  /** How many messages of each second are still there; those before `head` are gone. */
  const waiting: number[] = []
  let [head, depth, deepest, expired] = [0, 0, 0, 0]
  for (let now = 0; now < backAt + SECONDS_PER_DAY; now += 1) {
    const arriving = rateAt(demand, hour * 3_600 + now) * perSend
    waiting.push(arriving)
    depth += arriving
    for (let room = now < backAt ? 0 : capacity; room > 0 && head <= now; ) {
      const taken = Math.min(room, waiting[head] ?? 0)
      waiting[head] = (waiting[head] ?? 0) - taken
      depth -= taken
      room -= taken
      if (role === 'channel:sms' && now - head > codeSeconds) expired += taken
      if ((waiting[head] ?? 0) <= 0) head += 1
    }
    deepest = Math.max(deepest, depth)
    if (now >= backAt && head > now)
      return { deepest, bytes: bytesOf(deepest), drainedAfterMinutes: (now - backAt) / 60, expired }
  }
  return { deepest, bytes: bytesOf(deepest), drainedAfterMinutes: null, expired }
}

const QUEUE_OF = { 'channel:sms': 'channel.sms', webhook: 'webhook.deliver' } as const

/** By the second of the day. The busiest minute is left out: an outage lasts longer. */
function rateAt(demand: Demand, second: number): number {
  const hour = Math.floor(second / 3_600) % demand.hours.length
  return ((shares(demand.hours)[hour] ?? 0) * demand.sendsPerDay) / 3_600
}

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
