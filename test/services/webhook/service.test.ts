import { expect } from 'chai'
import type { Broker, Delivered, Outcome } from '../../../infra/broker/broker.ts'
import type { NotifyBody } from '../../../infra/otps/documents.ts'
import type { CountersignStore } from '../../../infra/store/collections.ts'
import { Unavailable } from '../../../infra/unavailable.ts'
import { webhook } from '../../../services/webhook/service.ts'
import { capturedLog } from '../../support/captured-log.ts'
import { testClock } from '../../support/clock.ts'
import { tenant } from '../../support/deliveries.ts'
import { eachStore } from '../../support/stores.ts'
import { testKeyring } from '../../support/tenancy.ts'

const DAY_MS = 86_400_000

eachStore('the webhook role', fresh => {
  const clock = testClock()
  const keyring = testKeyring()
  let store: CountersignStore

  beforeEach(async () => {
    store = await fresh()
  })

  /** The handler it attaches to its queue. */
  async function handler(of = store): Promise<(waiting: Delivered[]) => Promise<Outcome[]>> {
    let attached: ((waiting: Delivered[]) => Promise<Outcome[]>) | undefined
    const broker = {
      async consume(queue, handle) {
        expect(queue).to.equal('webhook.deliver')
        attached = handle
        return { attached: () => true, stop: async () => {} }
      },
    } as Partial<Broker> as Broker
    await webhook({ broker, store: of, keyring, clock, log: capturedLog().log }).attach?.()
    if (!attached) throw new Error('nothing was attached')
    return attached
  }

  const happened = (event_id: string): Delivered => {
    const body: NotifyBody = {
      ...{ event_id, app_id: 'app_shop', company_id: 'cmp_acme', mode: 'test', type: 'otp.approved' },
      ...{ payload: { otp_id: 'otp_1', status: 'approved' }, at: clock.now() },
    }
    return { id: event_id, body, attempt: 1, publishedAt: clock.now() }
  }

  it('keeps every event as it happened, for 30 days', async () => {
    await tenant({ store, keyring, clock })
    const handle = await handler()
    expect(await handle([happened('evt_1'), happened('evt_2')])).to.deep.equal([{ kind: 'done' }, { kind: 'done' }])
    const kept = await store.docs('events').get(['evt_1', 'evt_2'])
    expect(kept.size).to.equal(2)
    expect(kept.get('evt_1')).to.deep.equal({
      ...{ _id: 'evt_1', app_id: 'app_shop', company_id: 'cmp_acme', mode: 'test', type: 'otp.approved' },
      ...{ payload: { otp_id: 'otp_1', status: 'approved' }, created_at: clock.now(), rev: 0 },
      purge_at: new Date(clock.now() + 30 * DAY_MS),
    })
  })

  it('keeps them as long as the app says', async () => {
    await tenant({ store, keyring, clock }, { settings: { retention_days: 2 } })
    await (await handler())([happened('evt_1')])
    const kept = (await store.docs('events').get(['evt_1'])).get('evt_1')
    expect(kept?.purge_at).to.deep.equal(new Date(clock.now() + 2 * DAY_MS))
  })

  it('keeps an event once that comes twice, and those that come with it', async () => {
    await tenant({ store, keyring, clock })
    const handle = await handler()
    await handle([happened('evt_1')])
    expect(await handle([happened('evt_1'), happened('evt_2')])).to.deep.equal([{ kind: 'done' }, { kind: 'done' }])
    expect(await store.docs('events').count({ app_id: 'app_shop' })).to.equal(2)
  })

  it('tries again later while the store is away', async () => {
    const away = {
      ...store,
      docs: () => ({
        get: async () => new Map(),
        insert: async () => {
          throw new Unavailable('no store')
        },
      }),
    } as unknown as CountersignStore
    const handle = await handler(away)
    expect(await handle([happened('evt_1'), happened('evt_2')])).to.deep.equal([
      { kind: 'retry', afterMs: 1000 },
      { kind: 'retry', afterMs: 1000 },
    ])
  })
})
