import { expect } from 'chai'
import { ProviderFault } from '../../../services/channel/provider.ts'
import { type Backlog, type Owed, readBacklog } from '../../../services/domain/backlog/backlog.ts'
import type { ChannelLoadDoc } from '../../../services/domain/backlog/documents.ts'
import type { CountersignStore } from '../../../services/domain/collections.ts'
import type { OtpDoc } from '../../../services/domain/verifications/documents.ts'
import type { EventDoc, WebhookEndpoint } from '../../../services/domain/webhooks/documents.ts'
import { actorWithProvider } from '../../support/channel-actor.ts'
import { type TestClock, testClock } from '../../support/clock.ts'
import { insertOtp } from '../../support/queued-otps.ts'
import { eachStore } from '../../support/stores.ts'

const NONE: Owed = { owed: 0, oldest_seconds: 0 }

eachStore('what waits', fresh => {
  let clock: TestClock
  let store: CountersignStore
  let ready: number
  beforeEach(async () => {
    clock = testClock()
    store = await fresh()
    ready = 0
  })
  const depth = async () => ({ ready, consumers: 1, dead: 0, oldestMs: null, brokerName: 'webhooks' })
  const read = (): Promise<Backlog> => readBacklog({ store, broker: { depth }, clock })

  /** Deliveries that have waited for so many seconds. */
  const owe = async (waited: readonly number[], channel = 'sms') =>
    store.docs('otps').insert(
      waited.map(
        seconds =>
          ({
            _id: `otp_${channel}_${seconds}`,
            rev: 1,
            owed_channel: channel,
            owed_at: clock.now() - seconds * 1_000,
          }) as OtpDoc,
      ),
    )
  const load = async (_id: string, more: Partial<ChannelLoadDoc>) =>
    store.docs('channel_loads').insert([
      {
        _id,
        channel: 'sms',
        in_hand: [],
        busy_apps: [],
        valid_until: clock.now() + 10_000,
        ...more,
      } as ChannelLoadDoc,
    ])

  it('is nothing where nothing waits', async () => {
    expect(await read()).to.deep.equal({
      at: clock.now(),
      channels: { sms: NONE, whatsapp: NONE, telegram: NONE, email: NONE },
      events: NONE,
    })
  })

  it('is counted by channel, without deliveries in hand and those that cannot be worked on yet', async () => {
    await owe([40, 30, 20, 10, -5])
    await owe([7], 'email')
    await load('sms:a', { in_hand: ['otp_sms_40', 'otp_sms_20'] })
    await load('sms:dead', { in_hand: ['otp_sms_30'], valid_until: clock.now() })
    const { channels } = await read()
    expect([channels.sms, channels.email, channels.whatsapp]).to.deep.equal([
      { owed: 2, oldest_seconds: 30 },
      { owed: 1, oldest_seconds: 7 },
      NONE,
    ])
  })

  it('has the events in the backlogs of endpoints that are called, and those that no process has taken', async () => {
    const endpoint = (_id: string, status: string) => ({ _id, rev: 1, status, drain_at: 1 }) as WebhookEndpoint
    await store.docs('webhooks').insert([endpoint('app_a', 'active'), endpoint('app_b', 'paused')])
    const event = (_id: string, app_id: string, backlog_at: number) => ({ _id, rev: 1, app_id, backlog_at }) as EventDoc
    const at = clock.now()
    await store
      .docs('events')
      .insert([event('evt_1', 'app_a', at - 9_000), event('evt_2', 'app_a', at), event('evt_3', 'app_b', at - 60_000)])
    ready = 5
    expect((await read()).events).to.deep.equal({ owed: 7, oldest_seconds: 9 })
  })

  it('does not count a delivery while its next round is waited for', async () => {
    const actor = await actorWithProvider(
      store,
      () => Promise.reject(new ProviderFault('away')),
      {},
      { sharedClock: clock },
    )
    const doc = await insertOtp(actor, { mode: 'live' })
    const { owed_at } = (await store.docs('otps').get([doc._id])).get(doc._id) ?? {}
    expect(owed_at).to.equal(doc.created_at)
    expect(await actor.deliver(doc)).to.deep.equal({ kind: 'retry', afterMs: 1_000 })
    expect((await read()).channels.sms).to.deep.equal(NONE)
    await clock.advance(2_000)
    expect((await read()).channels.sms).to.deep.equal({ owed: 1, oldest_seconds: 1 })
  })
})
