// Where the effects of verifications go: to their queues, except events of apps without an endpoint.
import { expect } from 'chai'
import type { Message } from '../../../infra/broker/broker.ts'
import { DAY_MS } from '../../../infra/time.ts'
import { Unavailable } from '../../../infra/unavailable.ts'
import type { CountersignStore } from '../../../services/domain/collections.ts'
import type { OutboxEntry } from '../../../services/domain/verifications/queue-messages.ts'
import type { NotifyBody } from '../../../services/domain/webhooks/queue-messages.ts'
import { type CachedApp, createIsAskedFor } from '../../../services/otp/apps.ts'
import { createPublishEffect } from '../../../services/otp/publish-effect.ts'
import { testClock } from '../../support/clock.ts'
import { onEmbeddedStore } from '../../support/stores.ts'

onEmbeddedStore('publishing an effect', fresh => {
  const clock = testClock()

  async function create({ app = async () => ({ settings: { retention_days: 2 } }) as CachedApp } = {}) {
    const store: CountersignStore = await fresh()
    const published: { queue: string; message: Message }[] = []
    const publish = createPublishEffect({
      broker: { publish: async (queue, message) => void published.push({ queue, message }) },
      events: store.docs('events'),
      isAskedFor: createIsAskedFor(store.docs('webhooks'), clock),
      apps: { get: app },
    })
    const addEndpoint = () =>
      store
        .docs('webhooks')
        .insert([{ _id: 'app_shop', url: 'https://shop.example', status: 'active', secrets: [], rev: 0 }])
    const stored = async (id: string) => (await store.docs('events').get([id])).get(id)
    return { publish, published, addEndpoint, stored }
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

  it('stores an event of an app without an endpoint as unsent, for as long as the app keeps data', async () => {
    const { publish, published, stored } = await create()
    await publish(event())
    expect(published).to.deep.equal([])
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

  it('keeps an event of test mode for three days at most', async () => {
    const { publish, stored } = await create({ app: async () => ({ settings: { retention_days: 30 } }) as CachedApp })
    const { body } = event()
    for (const mode of ['test', 'live'] as const)
      await publish({ ...event(), id: mode, body: { ...body, mode, event_id: `evt_${mode}` } })
    expect((await stored('evt_test'))?.purge_at).to.deep.equal(new Date(clock.now() + 3 * DAY_MS))
    expect((await stored('evt_live'))?.purge_at).to.deep.equal(new Date(clock.now() + 30 * DAY_MS))
  })

  it('stores an event once that is published again after a crash', async () => {
    const { publish, stored } = await create()
    await publish(event())
    const first = await stored('evt_1')
    await publish(event())
    expect(await stored('evt_1')).to.deep.equal(first)
  })

  it('sends an event of an app with an endpoint to the webhook actor', async () => {
    const { publish, published, addEndpoint, stored } = await create()
    await addEndpoint()
    await publish(event())
    expect(published).to.deep.equal([{ queue: 'webhook.deliver', message: { id: 'evt_1', body: event().body } }])
    expect(await stored('evt_1')).to.equal(undefined)
  })

  it('finds an endpoint five seconds after it was added', async () => {
    const { publish, published, addEndpoint } = await create()
    await publish(event())
    await addEndpoint()
    await clock.advance(5_000)
    await publish({ ...event(), id: 'evt_2' })
    expect(published.map(({ message }) => message.id)).to.deep.equal(['evt_2'])
  })

  it('leaves an event to the webhook actor while the app cannot be read', async () => {
    const { publish, published, stored } = await create({
      app: async () => {
        throw new Unavailable('the store is away')
      },
    })
    await publish(event())
    expect(published.map(({ message }) => message.id)).to.deep.equal(['evt_1'])
    expect(await stored('evt_1')).to.equal(undefined)
  })

  it('sends every other effect to its queue', async () => {
    const { publish, published } = await create()
    await publish({ id: 'dlv_1', queue: 'channel.sms', body: {}, at: 1 })
    expect(published).to.deep.equal([{ queue: 'channel.sms', message: { id: 'dlv_1', body: {} } }])
  })
})
