// Which events the OTP actor stores itself: those that no endpoint of their app asks for.
import { expect } from 'chai'
import { DAY_MS } from '../../../infra/time.ts'
import { Unavailable } from '../../../infra/unavailable.ts'
import type { CountersignStore } from '../../../services/domain/collections.ts'
import type { OutboxEntry } from '../../../services/domain/verifications/queue-messages.ts'
import type { NotifyBody } from '../../../services/domain/webhooks/queue-messages.ts'
import { type CachedApp, createIsAskedFor } from '../../../services/otp/apps.ts'
import { storeUnsent } from '../../../services/otp/unsent-events.ts'
import { testClock } from '../../support/clock.ts'
import { onEmbeddedStore } from '../../support/stores.ts'

onEmbeddedStore('an event that may be unsent', fresh => {
  const clock = testClock()

  async function create({ app = async () => ({ settings: { retention_days: 2 } }) as CachedApp } = {}) {
    const store: CountersignStore = await fresh()
    const deps = {
      events: store.docs('events'),
      isAskedFor: createIsAskedFor(store.docs('webhooks'), clock),
      apps: { get: app },
    }
    const isStored = (event: OutboxEntry) => storeUnsent(deps, event)
    const addEndpoint = () =>
      store
        .docs('webhooks')
        .insert([{ _id: 'app_shop', url: 'https://shop.example', status: 'active', secrets: [], rev: 0 }])
    const stored = async (id: string) => (await store.docs('events').get([id])).get(id)
    return { isStored, addEndpoint, stored }
  }

  const event = (): OutboxEntry & { body: NotifyBody } => ({
    id: 'evt_1',
    queue: 'webhook.deliver',
    at: clock.now(),
    body: {
      event_id: 'evt_1',
      app_id: 'app_shop',
      company_id: 'cmp_acme',
      mode: 'test',
      type: 'otp.approved',
      payload: { otp_id: 'otp_1', status: 'approved' },
      at: clock.now(),
    },
  })

  it('is stored as unsent for an app without an endpoint, for as long as the app keeps data', async () => {
    const { isStored, stored } = await create()
    expect(await isStored(event())).to.equal(true)
    expect(await stored('evt_1')).to.deep.include({
      app_id: 'app_shop',
      company_id: 'cmp_acme',
      mode: 'test',
      type: 'otp.approved',
      payload: { otp_id: 'otp_1', status: 'approved' },
      status: 'unsent',
      created_at: clock.now(),
      purge_at: new Date(clock.now() + 2 * DAY_MS),
    })
  })

  it('is kept for three days at most in test mode', async () => {
    const { isStored, stored } = await create({ app: async () => ({ settings: { retention_days: 30 } }) as CachedApp })
    const { body } = event()
    for (const mode of ['test', 'live'] as const)
      await isStored({ ...event(), id: mode, body: { ...body, mode, event_id: `evt_${mode}` } })
    expect((await stored('evt_test'))?.purge_at).to.deep.equal(new Date(clock.now() + 3 * DAY_MS))
    expect((await stored('evt_live'))?.purge_at).to.deep.equal(new Date(clock.now() + 30 * DAY_MS))
  })

  it('is stored once if it is published again after a crash', async () => {
    const { isStored, stored } = await create()
    await isStored(event())
    const first = await stored('evt_1')
    expect(await isStored(event())).to.equal(true)
    expect(await stored('evt_1')).to.deep.equal(first)
  })

  it('is left to the webhook actor five seconds after an endpoint was added', async () => {
    const { isStored, addEndpoint } = await create()
    await isStored(event())
    await addEndpoint()
    await clock.advance(5_000)
    expect(await isStored({ ...event(), id: 'evt_2' })).to.equal(false)
  })

  it('is left to the webhook actor while the app cannot be read', async () => {
    const { isStored, stored } = await create({
      app: async () => {
        throw new Unavailable('the store is away')
      },
    })
    expect(await isStored(event())).to.equal(false)
    expect(await stored('evt_1')).to.equal(undefined)
  })
})
