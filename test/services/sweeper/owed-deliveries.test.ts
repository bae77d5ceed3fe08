import { expect } from 'chai'
import type { Depth } from '../../../infra/broker/broker.ts'
import { newId } from '../../../infra/ids.ts'
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../../infra/time.ts'
import { Unavailable } from '../../../infra/unavailable.ts'
import type { Delivery } from '../../../machines/otp.ts'
import { createLoadReports } from '../../../services/channel/load-reports.ts'
import { findLoads } from '../../../services/domain/backlog/backlog.ts'
import type { CountersignStore } from '../../../services/domain/collections.ts'
import type { AttemptDoc, OtpDoc } from '../../../services/domain/verifications/documents.ts'
import { createOwedDeliverySweeps } from '../../../services/sweeper/owed-deliveries.ts'
import type { Sweep } from '../../../services/sweeper/sweep.ts'
import { createCapturedLog } from '../../support/captured-log.ts'
import { type TestClock, testClock } from '../../support/clock.ts'
import { TEST_PROVIDER_CONFIG } from '../../support/config.ts'
import { eventually } from '../../support/eventually.ts'
import { eachStore } from '../../support/stores.ts'

/** One process looks for all partitions. */
const PARTITION = 0
const EMPTY: Depth = { ready: 0, consumers: 1, dead: 0, oldestMs: null, brokerName: null }

eachStore('sweeping deliveries that are owed', fresh => {
  let clock: TestClock
  let store: CountersignStore
  let published: string[]
  let publishedAgain: unknown[]
  let depth: Depth | Promise<Depth>
  let sweeps: Record<string, Sweep>
  beforeEach(async () => {
    clock = testClock()
    store = await fresh()
    published = []
    publishedAgain = []
    depth = EMPTY
    sweeps = createOwedDeliverySweeps({
      store,
      clock,
      config: TEST_PROVIDER_CONFIG,
      log: createCapturedLog().log,
      broker: {
        async publish(queue, message) {
          published.push(`${queue} ${message.id} ${JSON.stringify(message.body)}`)
          publishedAgain.push(message.publishedAgain)
        },
        depth: async () => depth,
      },
    })
  })

  const sweep = async (): Promise<number> => (await sweeps.owed_deliveries?.([PARTITION])) ?? 0
  const insert = async (delivery: Partial<Delivery> = {}, more: Partial<OtpDoc> = {}): Promise<void> => {
    const [created_at, one] = [clock.now(), { delivery_id: 'dlv_1', channel: 'sms', generation: 1, status: 'queued' }]
    const context = { deliveries: [{ ...one, created_at, ...delivery }] }
    const saved = { machine: 'otp', version: 1, value: 'pending', context, last_commands: [] }
    const owner = { company_id: 'cmp_1', app_id: 'app_1', mode: 'live', partition: PARTITION }
    const doc = { _id: 'otp_1', rev: 1, ...saved, ...owner, outbox: [], outbox_at: null, ...more }
    await store.docs('otps').insert([{ owed_at: created_at, owed_channel: 'sms', ...doc } as unknown as OtpDoc])
  }
  const isOwed = async (): Promise<boolean> =>
    (await store.docs('otps').get(['otp_1'])).get('otp_1')?.owed_at !== undefined

  it('publishes again after 20 s, then after 1, 2 and 4 minutes, with the message of the first time', async () => {
    await insert()
    expect(await sweep()).to.equal(0)
    await clock.advance(20 * SECOND_MS)
    expect(await sweep()).to.equal(1)
    const live = { company_id: 'cmp_1', app_id: 'app_1' }
    const body = { otp_id: 'otp_1', delivery_id: 'dlv_1', generation: 1, live }
    expect(published).to.deep.equal([`channel.sms dlv_1 ${JSON.stringify(body)}`])
    const publishedAt: number[] = []
    for (const since = clock.now(); published.length < 4; await sweep()) {
      await clock.advance(SECOND_MS)
      if (published.length > publishedAt.length + 1) publishedAt.push(clock.now() - since)
    }
    // A pass begins at most ten seconds after the one before it.
    expect(publishedAt.map(ms => Math.floor(ms / MINUTE_MS))).to.deep.equal([1, 3])
    expect(published).to.have.length(4)
    expect(publishedAgain, 'an attempt may have been made').to.deep.equal([true, true, true, true])
  })

  it('leaves it to the queue while that holds messages as old, and looks again', async () => {
    await insert()
    await clock.advance(20 * SECOND_MS)
    for (const oldestMs of [null, 30_000, 60_000]) {
      depth = { ...EMPTY, ready: 5, oldestMs }
      expect(await sweep()).to.equal(1)
      expect(published, String(oldestMs)).to.deep.equal([])
      await clock.advance(10 * SECOND_MS)
    }
    depth = { ...EMPTY, ready: 5, oldestMs: 1_000 }
    await sweep()
    expect(published).to.have.length(1)
  })

  it('does not wait for a busy queue of unknown age once a younger message of it was taken', async () => {
    await insert()
    const createdAt = clock.now()
    const attempt = async (channel: string, at: number): Promise<void> => {
      const delivery_id = newId('dlv', at)
      const doc = { _id: `${delivery_id}:acme`, delivery_id, channel, at: clock.now(), result: 'accepted', rev: 1 }
      await store.docs('attempts').insert([{ ...doc, reference: null } as unknown as AttemptDoc])
    }
    await clock.advance(20 * SECOND_MS)
    depth = { ...EMPTY, ready: 5 }
    // Older, on another channel, or so little younger that it may have overtaken the other message.
    await attempt('sms', createdAt - 1)
    await attempt('email', clock.now())
    await attempt('sms', createdAt + 9 * SECOND_MS)
    await sweep()
    expect(published).to.deep.equal([])
    await clock.advance(10 * SECOND_MS)
    await attempt('sms', createdAt + 10 * SECOND_MS)
    await sweep()
    expect(published).to.have.length(1)
  })

  it('fails when the broker is connected and does not answer', async () => {
    await insert()
    await clock.advance(20 * SECOND_MS)
    depth = new Promise(() => {})
    let error: unknown = null
    const sweeping = sweep().catch(thrown => {
      error = thrown
    })
    await eventually(async () => {
      await clock.advance(SECOND_MS)
      expect(error).to.be.instanceOf(Unavailable)
    })
    await sweeping
    expect(published).to.deep.equal([])
  })

  for (const isStopped of [false, true])
    it(`publishes nothing that a process ${isStopped ? 'gave back as it stopped' : 'holds'}, until a minute after`, async () => {
      await insert()
      const { log } = createCapturedLog()
      const loads = createLoadReports({ channel: 'sms', loads: store.docs('channel_loads'), clock, log })
      loads.beginCall('otp_2')
      const inHand = async (at: number): Promise<string[][]> =>
        (await findLoads(store.docs('channel_loads'), at)).map(({ in_hand }) => in_hand)
      // The report of each second is waited for, because the sweep believes none that is older than ten.
      const reported = () => eventually(async () => expect(await inHand(clock.now() + 8 * SECOND_MS)).to.have.length(1))
      const sweepEachSecond = async (seconds: number): Promise<void> => {
        for (let nth = 0; nth < seconds; nth += 1) {
          await clock.advance(SECOND_MS)
          if (!isStopped) await reported()
          await sweep()
        }
      }
      for (let nth = 0; nth < 60; nth += 1) {
        loads.markBusy('app_1')
        await clock.advance(SECOND_MS)
        await reported()
        await sweep()
      }
      if (isStopped) await loads.stop()
      expect(await inHand(clock.now())).to.deep.equal([isStopped ? [] : ['otp_2']])
      await sweepEachSecond(50)
      expect(published).to.deep.equal([])
      await sweepEachSecond(25)
      expect(published).to.have.length(1)
    })

  it('waits while an attempt, the wait for its receipt or the wait for the next round may be under way', async () => {
    await insert()
    await clock.advance(20 * SECOND_MS)
    const attempt = { _id: 'dlv_1:acme', at: clock.now(), result: null, rev: 1, reference: null }
    await store.docs('attempts').insert([attempt as unknown as AttemptDoc])
    await sweep()
    await clock.advance(39 * SECOND_MS)
    await sweep()
    expect(published).to.deep.equal([])
    await clock.advance(MINUTE_MS)
    await sweep()
    expect(published).to.have.length(1)
  })

  it('leaves effects in the outbox to the sweep of the outbox', async () => {
    await insert({}, { outbox: [{ id: 'dlv_1', queue: 'channel.sms', body: {}, at: 1 }], outbox_at: 1 })
    await clock.advance(20 * SECOND_MS)
    expect(await sweep()).to.equal(1)
    expect([published, await isOwed()]).to.deep.equal([[], true])
  })

  it('forgets a verification that owes nothing any more, and one that is a day old', async () => {
    for (const [status, age] of [
      ['sent', 20 * SECOND_MS],
      ['queued', DAY_MS + 1],
    ] as const) {
      await insert({ status })
      await clock.advance(age)
      expect(await sweep()).to.equal(1)
      expect([published, await isOwed()]).to.deep.equal([[], false])
      await store.docs('otps').remove({ _id: 'otp_1' }, 1)
    }
  })
})
