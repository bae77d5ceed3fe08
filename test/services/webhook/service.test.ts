// What the webhook role keeps, and that it keeps it whatever else happens.
import { expect } from 'chai'
import { Unavailable } from '../../../infra/unavailable.ts'
import type { CountersignStore } from '../../../services/domain/collections.ts'
import { eachStore } from '../../support/stores.ts'
import { expectStatus, SECONDS, type WebhookWorld, webhookWorld } from '../../support/webhooks.ts'

const DAY_MS = 86_400_000

eachStore('the webhook role', fresh => {
  let store: CountersignStore
  let world: WebhookWorld

  beforeEach(async () => {
    store = await fresh()
  })
  afterEach(() => world.stop())

  it('keeps every event as it happened, for 30 days, and calls nobody where there is no endpoint', async () => {
    world = await webhookWorld(store)
    const id = await world.happen('app_bare')
    expect(await world.event(id)).to.deep.include({
      ...{ _id: id, app_id: 'app_bare', company_id: 'cmp_acme', mode: 'test', type: 'otp.approved' },
      ...{ payload: { otp_id: 'otp_1', status: 'approved' }, status: 'unsent', created_at: world.clock.now() },
      purge_at: new Date(world.clock.now() + 30 * DAY_MS),
    })
    expect(world.calls).to.deep.equal([])
  })

  it('keeps them as long as the app says, and what is to be sent at least until it can be', async () => {
    world = await webhookWorld(store, { retention_days: 2 })
    const [bare, shop] = [await world.happen('app_bare'), await world.happen('app_shop')]
    expect((await world.event(bare)).purge_at.getTime()).to.be.within(
      world.clock.now() + 2 * DAY_MS - 5,
      world.clock.now() + 2 * DAY_MS,
    )
    expect((await world.event(shop)).purge_at.getTime()).to.be.greaterThan(world.clock.now() + 7 * DAY_MS)
  })

  it('keeps an event once that comes twice, and calls for it once', async () => {
    world = await webhookWorld(store)
    const id = await world.happen('app_shop')
    await world.soon(() => expectStatus(world, id, 'delivered'))
    await world.happen('app_shop', { event_id: id })
    const other = await world.happen('app_shop')
    await world.soon(() => expectStatus(world, other, 'delivered'))
    expect(world.callsOf(id)).to.have.length(1)
    expect(await store.docs('events').count({ app_id: 'app_shop' })).to.equal(2)
  })

  it('tries again later while the store is away', async () => {
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
    world = await webhookWorld(failing)
    const happening = world.happen('app_shop')
    await world.soon(() => expect(world.log.output()).to.include('events.postponed'))
    away = false
    await world.pass(5_000)
    await world.soon(async () => expectStatus(world, await happening, 'delivered'))
  })

  /** Told in one breath, so that they are taken in together. */
  function together(apps: readonly string[]): string[] {
    const at = world.clock.now()
    return apps.map((app_id, n) => {
      const event_id = `evt_together${n}`
      const body = {
        ...{ event_id, app_id, company_id: 'cmp_acme', mode: 'test', type: 'otp.approved' },
        ...{ payload: { otp_id: 'otp_1', status: 'approved' }, at },
      }
      void world.publish({ id: event_id, body })
      return event_id
    })
  }

  it('takes in every event of a batch but the one whose app cannot be read now, and that one later', async () => {
    world = await webhookWorld(store)
    await world.happen('app_shop')
    await world.quiet()
    world.before('apps.get', async () => {
      throw new Unavailable('away')
    })
    const ids = together([...Array<string>(16).fill('app_shop'), 'app_blog'])
    await world.quiet()
    for (const id of ids.slice(0, 16)) await expectStatus(world, id, 'delivered')
    expect(await store.docs('events').count({ app_id: 'app_blog' })).to.equal(0)
    expect(world.log.lines().find(({ msg }) => msg === 'events.postponed')).to.include({ messages: 1 })
    await world.pass(5 * SECONDS)
    await expectStatus(world, ids[16] ?? '', 'delivered')
  })

  it('has every place at an endpoint free again when a batch could not be kept', async () => {
    world = await webhookWorld(store)
    await world.happen('app_shop')
    await world.quiet()
    for (const question of ['events.insert', 'apps.get'])
      world.before(question, async () => {
        throw new Unavailable('away')
      })
    const ids = together([...Array<string>(16).fill('app_shop'), 'app_blog'])
    await world.pass(5 * SECONDS)
    for (const id of ids) await expectStatus(world, id, 'delivered')
    const later = await world.happen('app_shop')
    await world.quiet()
    expect(await expectStatus(world, later, 'delivered')).not.to.have.property('backlog')
  })

  it('keeps for 30 days what happens to an app whose settings it cannot read, and loses nobody an event', async () => {
    world = await webhookWorld(store)
    const settings = { routing: { default: ['a channel of a newer release'] } }
    await store.docs('apps').modify({ _id: 'app_blog' }, { $set: { settings } as never })
    const ids = together(['app_shop', 'app_blog', 'app_shop'])
    await world.quiet()
    for (const id of ids) await expectStatus(world, id, 'delivered')
    const { created_at, purge_at } = await world.event(ids[1] ?? '')
    expect(purge_at.getTime() - created_at).to.equal(30 * DAY_MS)
    expect(world.log.lines().filter(({ msg }) => msg === 'app.unreadable')).to.have.length(1)
  })
})
