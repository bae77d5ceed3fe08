import { expect } from 'chai'
import { type Broker, done } from '../../../infra/broker/broker.ts'
import { createEmbeddedBroker } from '../../../infra/broker/embedded.ts'
import { createTopology } from '../../../infra/broker/topology.ts'
import type { Service } from '../../../infra/host.ts'
import { createMetrics, type Metrics } from '../../../infra/metrics.ts'
import { PARTITIONS } from '../../../infra/partitions.ts'
import { createEmbeddedStore } from '../../../infra/store/embedded.ts'
import { Unavailable } from '../../../infra/unavailable.ts'
import { COLLECTIONS, type CountersignStore } from '../../../services/domain/collections.ts'
import { OUTAGES_ID } from '../../../services/domain/routes/documents.ts'
import type { OtpDoc } from '../../../services/domain/verifications/documents.ts'
import type { EventDoc } from '../../../services/domain/webhooks/documents.ts'
import { createSweeperService } from '../../../services/sweeper/service.ts'
import { type CapturedLog, createCapturedLog } from '../../support/captured-log.ts'
import { type TestClock, testClock } from '../../support/clock.ts'
import { TEST_PROVIDER_CONFIG } from '../../support/config.ts'
import { eventually } from '../../support/eventually.ts'
import { createTemporaryFolder } from '../../support/temporary-folder.ts'
import { testKeyring } from '../../support/tenancy.ts'

describe('the sweeper', () => {
  let clock: TestClock
  let captured: CapturedLog
  let store: CountersignStore
  let broker: Broker
  let metrics: Metrics
  let sweeper: Service
  /** What the actors were reminded of. */
  let reminded: unknown[]
  /** A collection that the sweeper cannot search. */
  let broken: keyof typeof COLLECTIONS | null
  /** Leases cannot be taken or renewed. */
  let failLeases: boolean
  /** What a search for verifications waits for. */
  let waitsFor: (() => Promise<void>) | null
  beforeEach(async () => {
    clock = testClock()
    captured = createCapturedLog()
    const { log } = captured
    store = createEmbeddedStore({ folder: createTemporaryFolder(), collections: COLLECTIONS, clock })
    broker = createEmbeddedBroker({ topology: createTopology({ channel: [], webhook: [] }), clock, log })
    metrics = createMetrics()
    broken = null
    failLeases = false
    waitsFor = null
    const docs = ((name: 'otps') => {
      const all = store.docs(name)
      const find: typeof all.find = async (...query) => {
        if (name === 'otps') await waitsFor?.()
        return name === broken ? Promise.reject(new Error('a bug')) : all.find(...query)
      }
      const modify: typeof all.modify = (...change) =>
        failLeases && (name as string) === 'leases' ? Promise.reject(new Unavailable('away')) : all.modify(...change)
      return { ...all, find, modify }
    }) as CountersignStore['docs']
    sweeper = createSweeperService({
      config: { engine: { kind: 'embedded' }, ...TEST_PROVIDER_CONFIG },
      store: { ...store, docs },
      // Calls are taken.
      broker: { ...broker, depth: async queue => ({ ...(await broker.depth(queue)), consumers: 1 }) },
      clock,
      log,
      outbound: { request: () => Promise.reject(new Error('no call is expected')) },
      keyring: testKeyring(),
      metrics,
    })
    reminded = []
    for (const queue of ['otp.reports', 'webhook.deliver'] as const)
      await broker.consume(
        queue,
        async waiting => {
          reminded.push(...waiting.map(({ body }) => body))
          return waiting.map(done)
        },
        { prefetch: 10 },
      )
    await sweeper.attach?.()
  })
  afterEach(async () => {
    await sweeper.stop?.()
    await broker.close(0)
    await store.close()
  })

  const names = Array.from({ length: PARTITIONS }, (_, partition) => `sweep:${partition}`)
  const leases = async () => (await store.docs('leases').get(names)).size
  /** A sweep takes many turns of the event loop. */
  const inTime = (assertion: () => unknown) =>
    eventually(async () => {
      await clock.advance(1_000)
      await assertion()
    })

  it('sweeps nothing and gives its leases back while it is paused, and goes on when it is resumed', async () => {
    await inTime(async () => expect(await leases()).to.equal(PARTITIONS))

    sweeper.pause?.()
    const due = { _id: 'otp_due', rev: 1, partition: 3, outbox: [], outbox_at: null, due_at: clock.now() }
    await store.docs('otps').insert([due as unknown as OtpDoc])
    await inTime(async () => expect(await leases()).to.equal(0))
    for (let sweeps = 0; sweeps < 10; sweeps += 1) await clock.advance(1_000)
    expect([await leases(), reminded]).to.deep.equal([0, []])

    sweeper.resume?.()
    await inTime(async () => expect(await leases()).to.equal(PARTITIONS))
    await inTime(() => expect(reminded).to.have.length(1))
    expect(reminded).to.deep.equal([{ type: 'otp.due', otp_id: 'otp_due' }])
  })

  it('shows the queues and the age of the outbox, and says of effects in it that a consumer may have had them', async () => {
    const shown = async () =>
      (await metrics.render()).body.split('\n').filter(line => /^countersign_(queue_ready|outbox_oldest)/.test(line))
    const seen: unknown[] = []
    await broker.consume(
      'channel.sms',
      async waiting => {
        seen.push(...waiting.map(({ publishedAgain }) => publishedAgain))
        return waiting.map(done)
      },
      { prefetch: 10 },
    )
    expect(await shown()).to.deep.equal(['countersign_outbox_oldest_seconds 0'])
    await inTime(async () => expect(await leases()).to.equal(PARTITIONS))
    // The effect was saved before it was tried last.
    const outbox = [{ id: 'dlv_1', queue: 'channel.sms', body: {}, at: clock.now() - 30_000 }]
    const stuck = { _id: 'otp_stuck', rev: 1, partition: 3, outbox, outbox_at: clock.now() - 1 }
    await store.docs('otps').insert([stuck as unknown as OtpDoc])
    expect(await shown()).to.include.members([
      'countersign_queue_ready{queue="channel.sms"} 0',
      'countersign_outbox_oldest_seconds 30',
    ])
    await inTime(() => expect(seen).to.deep.equal([true]))
    sweeper.pause?.()
    await inTime(async () => expect((await shown()).filter(line => line.includes('queue_ready'))).to.deep.equal([]))
  })

  it('shows no queues after it stopped or while it cannot take its leases, and no age of the outbox while the store fails', async () => {
    const shown = async (name: string) =>
      (await metrics.render()).body.split('\n').filter(line => line.startsWith(`countersign_${name}`))
    const hasQueues = () => inTime(async () => expect(await shown('queue_ready')).not.to.deep.equal([]))
    await hasQueues()
    broken = 'otps'
    await clock.advance(5_000)
    expect(await shown('outbox_oldest')).to.deep.equal([])
    broken = null
    expect(await shown('outbox_oldest')).to.have.length(1)
    failLeases = true
    await inTime(async () => expect(await shown('queue_ready')).to.deep.equal([]))
    failLeases = false
    await hasQueues()
    await sweeper.stop?.()
    expect([await shown('queue_ready'), await leases()]).to.deep.equal([[], 0])
  })

  it('goes on with the next sweep when one fails, and says which', async () => {
    broken = 'otps'
    const due = { _id: 'evt_due', rev: 1, app_id: 'app_1', round: 1, tries: 0, partition: 3, due_at: clock.now() }
    await store.docs('events').insert([due as unknown as EventDoc])
    await inTime(() => expect(reminded).to.have.length(1))
    expect(reminded[0]).to.include({ event_id: 'evt_due' })
    const failed = captured.lines().filter(({ msg }) => msg === 'sweep.failed')
    expect(failed[0]).to.include({ sweep: 'expiry' })
  })

  describe('records an outage when the store was away', () => {
    const outages = async () => (await store.docs('route_outages').get([OUTAGES_ID])).get(OUTAGES_ID)?.outages
    beforeEach(() => inTime(async () => expect(await outages()).to.deep.equal([])))

    it('while it took its leases', async () => {
      failLeases = true
      await inTime(() => expect(captured.lines().some(({ msg }) => msg === 'sweep.failed')).to.equal(true))
      await clock.advance(60_000)
      failLeases = false
      await inTime(async () => expect(await outages()).to.have.length(1))
    })

    it('during a sweep, although it is back before its routes are looked at', async () => {
      let fail = (): void => {}
      let isWaiting = false
      const away = new Promise<void>((_, reject) => {
        fail = () => reject(new Unavailable('away'))
      })
      waitsFor = () => {
        isWaiting = true
        return away
      }
      await inTime(() => expect(isWaiting).to.equal(true))
      await clock.advance(60_000)
      waitsFor = null
      fail()
      await inTime(async () => expect(await outages()).to.have.length(1))
    })
  })
})
