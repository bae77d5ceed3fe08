// New events: which are stored, for how long, and that one that cannot be stored does not affect the others.
import { expect } from 'chai'
import { DAY_MS } from '../../../infra/time.ts'
import { Unavailable } from '../../../infra/unavailable.ts'
import type { CountersignStore } from '../../../services/domain/collections.ts'
import { onEmbeddedStore } from '../../support/stores.ts'
import { createWebhookHarness, expectStatus, SECONDS, type WebhookHarness } from '../../support/webhooks.ts'

onEmbeddedStore('the webhook role', fresh => {
  let store: CountersignStore
  let harness: WebhookHarness

  beforeEach(async () => {
    store = await fresh()
  })
  afterEach(() => harness.stop())

  it('stores a live event for 30 days and a test event for 3, and makes no call where there is no endpoint', async () => {
    harness = await createWebhookHarness(store)
    const live = await harness.event(await harness.emitEvent('app_bare', { mode: 'live' }))
    expect(live.purge_at.getTime() - live.created_at).to.equal(30 * DAY_MS)
    const id = await harness.emitEvent('app_bare', { mode: 'test' })
    expect(await harness.event(id)).to.deep.include({
      _id: id,
      app_id: 'app_bare',
      company_id: 'cmp_acme',
      mode: 'test',
      type: 'otp.approved',
      payload: { otp_id: 'otp_1', status: 'approved' },
      status: 'unsent',
      created_at: harness.clock.now(),
      purge_at: new Date(harness.clock.now() + 3 * DAY_MS),
    })
    expect(harness.calls).to.deep.equal([])
  })

  it('stores events for the app’s retention, and those to be sent at least until they can be', async () => {
    harness = await createWebhookHarness(store, { retention_days: 2 })
    const [bare, shop] = [await harness.emitEvent('app_bare'), await harness.emitEvent('app_shop')]
    expect((await harness.event(bare)).purge_at.getTime()).to.be.within(
      harness.clock.now() + 2 * DAY_MS - 5,
      harness.clock.now() + 2 * DAY_MS,
    )
    expect((await harness.event(shop)).purge_at.getTime()).to.be.greaterThan(harness.clock.now() + 7 * DAY_MS)
  })

  it('stores an event that comes twice once, and sends it once', async () => {
    harness = await createWebhookHarness(store)
    const id = await harness.emitEvent('app_shop')
    await harness.soon(() => expectStatus(harness, id, 'delivered'))
    await harness.emitEvent('app_shop', { event_id: id })
    const other = await harness.emitEvent('app_shop')
    await harness.soon(() => expectStatus(harness, other, 'delivered'))
    expect(harness.callsOf(id)).to.have.length(1)
    expect(await store.docs('events').count({ app_id: 'app_shop' })).to.equal(2)
  })

  it('stores an event later when the store is away', async () => {
    let away = true
    const failing: CountersignStore = {
      ...store,
      docs(name) {
        const docs = store.docs(name)
        if (name !== 'events') return docs
        const insert: typeof docs.insert = async all => {
          if (away) throw new Unavailable('no store')
          return docs.insert(all)
        }
        return { ...docs, insert }
      },
    }
    harness = await createWebhookHarness(failing)
    const emitting = harness.emitEvent('app_shop')
    await harness.soon(() => expect(harness.log.output()).to.include('events.postponed'))
    away = false
    await harness.passTime(5_000)
    await harness.soon(async () => expectStatus(harness, await emitting, 'delivered'))
  })

  /** Publishes all events before any is handled, so that they are one batch. */
  function publishTogether(apps: readonly string[]): string[] {
    const at = harness.clock.now()
    return apps.map((app_id, n) => {
      const event_id = `evt_together${n}`
      const body = {
        event_id,
        app_id,
        company_id: 'cmp_acme',
        mode: 'live',
        type: 'otp.approved',
        payload: { otp_id: 'otp_1', status: 'approved' },
        at,
      }
      void harness.publish({ id: event_id, body })
      return event_id
    })
  }

  it('stores all events of a batch but the one whose app cannot be read now, and that one later', async () => {
    harness = await createWebhookHarness(store)
    await harness.emitEvent('app_shop')
    await harness.settle()
    harness.beforeStoreCall('apps.get', async () => {
      throw new Unavailable('away')
    })
    const ids = publishTogether([...Array<string>(16).fill('app_shop'), 'app_blog'])
    await harness.settle()
    for (const id of ids.slice(0, 16)) await expectStatus(harness, id, 'delivered')
    expect(await store.docs('events').count({ app_id: 'app_blog' })).to.equal(0)
    expect(harness.log.lines().find(({ msg }) => msg === 'events.postponed')).to.include({ messages: 1 })
    await harness.passTime(5 * SECONDS)
    await expectStatus(harness, ids[16] ?? '', 'delivered')
  })

  it('frees all slots of an endpoint when a batch could not be stored', async () => {
    harness = await createWebhookHarness(store)
    await harness.emitEvent('app_shop')
    await harness.settle()
    for (const method of ['events.insert', 'apps.get'])
      harness.beforeStoreCall(method, async () => {
        throw new Unavailable('away')
      })
    const ids = publishTogether([...Array<string>(16).fill('app_shop'), 'app_blog'])
    await harness.passTime(5 * SECONDS)
    for (const id of ids) await expectStatus(harness, id, 'delivered')
    const later = await harness.emitEvent('app_shop')
    await harness.settle()
    expect(await expectStatus(harness, later, 'delivered')).not.to.have.property('backlog')
  })

  it('stores events of an app whose settings it cannot read for the default time, and those of the other apps', async () => {
    harness = await createWebhookHarness(store)
    const settings = { routing: { default: ['a channel of a newer release'] } }
    await store.docs('apps').modify({ _id: 'app_blog' }, { $set: { settings } as never })
    const ids = publishTogether(['app_shop', 'app_blog', 'app_shop'])
    await harness.settle()
    for (const id of ids) await expectStatus(harness, id, 'delivered')
    const live = await harness.emitEvent('app_blog', { mode: 'live' })
    const { created_at, purge_at } = await harness.event(live)
    expect(purge_at.getTime() - created_at).to.equal(30 * DAY_MS)
    expect(harness.log.lines().filter(({ msg }) => msg === 'app.unreadable')).to.have.length(1)
  })
})
