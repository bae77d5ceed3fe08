// The arithmetic of docs/operations/sizing.md, on figures that can be checked in one's head.
import { expect } from 'chai'
import {
  type Demand,
  type Policy,
  planMongo,
  planRole,
  planStorage,
  ratesOf,
  type SizeFigures,
  simulateOutage,
} from '../bench/size.simulation.ts'

const FIGURES: SizeFigures = {
  sendMs: { edge: 0.1, otp: 1, 'channel:sms': 0.5, webhook: 0.4, sweeper: 0, MongoDB: 2, RabbitMQ: 0.5 },
  verifyMs: { edge: 0.1, otp: 1, webhook: 0.4, MongoDB: 1, RabbitMQ: 0.5 },
  idleCores: { otp: 0.1 },
  memoryMiB: { otp: { idle: 80, load: 150 } },
  connections: { otp: { MongoDB: 10, RabbitMQ: 2 } },
  stored: {
    otps: { documents: 1, bytes: 1_000, indexBytes: 500, keptDays: 30 },
    claims: { documents: 1, bytes: 100, indexBytes: 100, keptDays: 1 },
    ledger: { documents: 1, bytes: 200, indexBytes: 100, keptDays: null },
  },
  messages: { 'channel.sms': 1, 'webhook.deliver': 2 },
  messageBytes: { 'channel.sms': 500, 'webhook.deliver': 300 },
  mongodbBytes: 10_000,
}

/** A thousand a second, all day. */
const EVEN: Demand = {
  sendsPerDay: 86_400_000,
  hours: Array.from({ length: 24 }, () => 1),
  minuteFactor: 1,
  verified: 0.5,
  retentionDays: 10,
  vendorMs: 200,
  endpointMs: 100,
  busiestEndpoint: 0.1,
}

const POLICY: Policy = { use: 0.6, spare: 1, engineCores: 8, shardBytes: 1e12, vendorCalls: 200, endpointCalls: 16 }

describe('the arithmetic of sizes', () => {
  it('finds the busiest hour in the curve of the day, and the busiest minute in that', () => {
    const hours = Array.from({ length: 24 }, (_, hour) => (hour === 20 ? 2 : 22 / 23))
    const rates = ratesOf({ ...EVEN, hours, minuteFactor: 1.5 })
    expect(rates.mean).to.be.closeTo(1_000, 1e-6)
    expect(rates.busiestHour).to.be.closeTo(2_000, 1e-6)
    expect(rates.busiestMinute).to.be.closeTo(3_000, 1e-6)
  })

  it('gives a role the processes that its processor time needs, with headroom and a spare', () => {
    // 1 000 sends of 1 ms and 500 verifies of 1 ms are 1.5 cores; a process may use 0.6 of one, and idles with 0.1: three and a spare.
    const plan = planRole(FIGURES, EVEN, POLICY, 'otp')
    expect(plan).to.deep.include({ processes: 4, because: 'processor time', memoryMiB: 600 })
    expect(plan.cores).to.be.closeTo(1.5 + 4 * 0.1, 1e-9)
    expect(plan).to.deep.include({ mongodbConnections: 40, rabbitmqConnections: 8 })
  })

  it('gives a role more processes where calls that wait for others are the limit', () => {
    // 1 000 messages a second for 0.2 s are 200 calls under way: of the 200 slots of a process 120 may be used.
    const sms = planRole(FIGURES, EVEN, POLICY, 'channel:sms')
    expect(sms).to.deep.include({ processes: 3, because: 'calls under way' })
    // 150 events a second of one endpoint, for 0.1 s, are 15 calls under way of 9.6.
    const webhook = planRole({ ...FIGURES, verifyMs: {}, sendMs: {} }, EVEN, POLICY, 'webhook')
    expect(webhook).to.deep.include({ processes: 3, because: 'calls under way' })
  })

  it('keeps what has its own time for that, what the app decides for its retention, and the ledger for ever', () => {
    const { collections, bytes, indexBytes, perDayForEver } = planStorage(FIGURES, EVEN, 30, 100)
    const days = Object.fromEntries(collections.map(({ name, keptDays }) => [name, keptDays]))
    expect(days).to.deep.equal({ otps: 10, claims: 1, ledger: 100 })
    expect(bytes).to.equal(86_400_000 * (10 * 1_000 + 100 + 100 * 200))
    expect(indexBytes).to.equal(86_400_000 * (10 * 500 + 100 + 100 * 100))
    expect(perDayForEver).to.equal(86_400_000 * 300)
    const events = { documents: 2, bytes: 300, indexBytes: 200, keptDays: 30 }
    const short = planStorage({ ...FIGURES, stored: { events } }, { ...EVEN, retentionDays: 1 }, 30)
    expect(short.collections[0]?.keptDays, 'events, however short the retention is').to.equal(8)
  })

  it('divides MongoDB by whichever needs more shards', () => {
    const storage = planStorage(FIGURES, EVEN, 30, 0)
    // 1 000 × 2 ms + 500 × 1 ms are 2.5 cores.
    expect(planMongo(FIGURES, EVEN, POLICY, storage)).to.deep.include({ shards: 2, because: 'storage' })
    const large = { ...POLICY, shardBytes: 1e15, engineCores: 2 }
    expect(planMongo(FIGURES, EVEN, large, storage)).to.deep.equal({ cores: 2.5, shards: 3, because: 'processor time' })
  })
})

describe('a role that is away', () => {
  const outage = { role: 'channel:sms', minutes: 5, hour: 0 } as const

  it('leaves a queue that grows with every send, and that drains with what the processes have left', () => {
    // Three processes take 2 000 a second each by processor time, 1 000 each by calls: 3 000, of which 1 000 are new ones.
    const { deepest, bytes, drainedAfterMinutes, expired } = simulateOutage(FIGURES, EVEN, POLICY, outage)
    expect(deepest).to.be.closeTo(300_000, 1_000)
    expect(bytes).to.be.closeTo(300_000 * 500, 1_000 * 500)
    expect(drainedAfterMinutes).to.be.closeTo(2.5, 0.1)
    expect(expired).to.equal(0)
  })

  it('loses the codes that expire in the queue: they are not sent', () => {
    const { expired } = simulateOutage(FIGURES, EVEN, POLICY, { ...outage, minutes: 15 })
    // Those of the first five minutes, and more until the drain is past them.
    expect(expired).to.be.greaterThan(300_000).and.lessThan(600_000)
  })

  it('loses no event: events have no time at which they expire', () => {
    const webhook = { role: 'webhook', minutes: 60, hour: 0 } as const
    const { deepest, expired } = simulateOutage(FIGURES, EVEN, POLICY, webhook)
    expect(deepest).to.be.closeTo(3_600 * 1_500, 3_000)
    expect(expired).to.equal(0)
  })
})
