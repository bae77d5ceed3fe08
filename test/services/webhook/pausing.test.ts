// Endpoints that fail: when nothing is called any more, what is kept, and how it is sent once somebody enables them again.
import { expect } from 'chai'
import type { CountersignStore } from '../../../services/domain/collections.ts'
import { eachStore } from '../../support/stores.ts'
import {
  BACKOFF,
  expectStatus,
  HOURS,
  MINUTES,
  SECONDS,
  type WebhookWorld,
  webhookWorld,
} from '../../support/webhooks.ts'

const DAY_MS = 24 * HOURS

eachStore('an endpoint that fails', fresh => {
  let store: CountersignStore
  let world: WebhookWorld
  beforeEach(async () => {
    store = await fresh()
  })
  afterEach(() => world.stop())

  /** Lets one event use up its attempts. Answers its id. */
  async function exhausted(): Promise<string> {
    world.answering('app_shop', () => 500)
    const id = await world.happen('app_shop')
    await world.pass(BACKOFF.reduce((sum, ms) => sum + ms, 0) + SECONDS)
    await world.soon(() => expectStatus(world, id, 'failed'))
    return id
  }

  it('is paused when an event has used up its attempts, and says why', async () => {
    world = await webhookWorld(store)
    const id = await exhausted()
    expect(world.callsOf(id)).to.have.length(BACKOFF.length + 1)
    const endpoint = await world.endpoint('app_shop')
    expect(endpoint.status).to.equal('paused')
    expect(endpoint.life?.context.paused?.reason).to.equal('exhausted')
    const line = world.log.lines().find(({ msg }) => msg === 'endpoint.paused')
    expect(line).to.include({ app_id: 'app_shop', reason: 'exhausted' })
    expect((await world.metrics.render()).body).to.include('endpoints_paused_total{reason="exhausted"} 1')
  })

  it('is paused at once when it answers 410, and its event is kept', async () => {
    world = await webhookWorld(store)
    world.answering('app_shop', () => 410)
    const id = await world.happen('app_shop')
    await world.soon(() => expectStatus(world, id, 'held'))
    expect((await world.endpoint('app_shop')).life?.context.paused?.reason).to.equal('gone')
  })

  it('is paused after a hundred failures in a row and an hour without a success, not before both', async () => {
    world = await webhookWorld(store, { backoff: [3 * HOURS], swept: false })
    world.answering('app_shop', () => 500)
    for (let failure = 0; failure < 99; failure += 1) await world.happen('app_shop')
    await world.soon(async () => expect((await world.endpoint('app_shop')).life?.context.failures).to.equal(99))
    await world.pass(59 * MINUTES, 5 * MINUTES)
    const early = await world.happen('app_shop')
    await world.soon(async () => expect((await world.event(early)).attempts).to.have.length(1))
    expect((await world.endpoint('app_shop')).life?.value).to.equal('failing')
    await world.pass(MINUTES)
    const last = await world.happen('app_shop')
    await world.soon(() => expectStatus(world, last, 'held'))
    expect((await world.endpoint('app_shop')).life?.context.paused?.reason).to.equal('failing')
  })

  it('is not called while it is paused; what happens and what was to be sent again is kept for seven days', async () => {
    world = await webhookWorld(store, { retention_days: 1 })
    world.answering('app_shop', () => 500)
    const waits = await world.happen('app_shop')
    await world.soon(async () => expect((await world.event(waits)).attempts).to.have.length(1))
    world.answering('app_shop', () => 410)
    const gone = await world.happen('app_shop')
    await world.soon(() => expectStatus(world, gone, 'held'))
    const called = world.calls.length
    const since = await world.happen('app_shop')
    await world.soon(() => expectStatus(world, since, 'held'))
    await world.pass(10 * SECONDS)
    for (const id of [waits, gone, since]) {
      const event = await world.soon(() => expectStatus(world, id, 'held'))
      expect(event.purge_at.getTime()).to.be.at.least(world.clock.now() + 7 * DAY_MS)
      expect([event.due_at, event.next_attempt_at], 'nothing to come').to.deep.equal([undefined, undefined])
    }
    expect((await world.event(waits)).tries, 'no attempt was spent').to.equal(1)
    expect(world.calls.length).to.equal(called)
  })

  it('gets everything that was kept once it is enabled, oldest first, the exhausted too, with attempts afresh', async () => {
    world = await webhookWorld(store)
    const first = await exhausted()
    const kept = [first, await world.happen('app_shop'), await world.happen('app_shop')]
    world.calls.length = 0
    world.answering('app_shop', () => 500)
    expect((await world.control.enable('app_shop'))?.status).to.equal('active')
    await world.soon(() => expect(world.calls).to.have.length(3))
    expect(world.calls.map(({ event_id }) => event_id)).to.deep.equal(kept)
    await world.soon(async () => expect(await world.event(first)).to.include({ status: 'pending', round: 2, tries: 1 }))
    world.answering('app_shop', () => 200)
    await world.pass(6 * SECONDS)
    for (const id of kept) await world.soon(() => expectStatus(world, id, 'delivered'))
    const attempts = (await world.event(first)).attempts ?? []
    expect(attempts.map(({ round, attempt }) => `${round}.${attempt}`)).to.deep.equal([
      '1.1',
      '1.2',
      '1.3',
      '1.4',
      '2.1',
      '2.2',
    ])
  })

  it('is not flooded with what was kept, and gets new events meanwhile', async () => {
    world = await webhookWorld(store)
    await store.docs('webhooks').modify({ _id: 'app_shop' }, { $set: { status: 'paused' } })
    const kept: string[] = []
    for (let n = 0; n < 120; n += 1) kept.push(await world.happen('app_shop'))
    await world.soon(() => expectStatus(world, kept.at(-1) ?? '', 'held'))
    const enabled = world.clock.now()
    await world.control.enable('app_shop')
    await world.quiet()
    const fresh = await world.happen('app_shop')
    await world.quiet()
    await expectStatus(world, fresh, 'delivered')
    expect(world.calls.length, 'some of them are still to come').to.be.within(2, 119)
    await world.soon(() => expect(world.calls).to.have.length(121))
    const times = world.calls.filter(({ event_id }) => event_id !== fresh).map(({ at }) => at - enabled)
    for (const second of [1, 2])
      expect(times.filter(at => at < second * SECONDS).length).to.be.at.most(second * 50 + 16)
    expect(world.calls.filter(({ event_id }) => event_id !== fresh).map(({ event_id }) => event_id)).to.deep.equal(kept)
  })

  it('gets what somebody put aside who had not heard yet that it was enabled', async () => {
    world = await webhookWorld(store)
    await world.control.pause('app_shop')
    const early = await world.happen('app_shop')
    await world.soon(() => expectStatus(world, early, 'held'))
    await world.control.enable('app_shop')
    await world.soon(() => expectStatus(world, early, 'delivered'))
    const late = await world.event(early)
    await store
      .docs('events')
      .insert([{ ...late, _id: 'evt_late', status: 'held', backlog: 'kept', backlog_at: world.clock.now(), tries: 0 }])
    await world.pass(12 * SECONDS)
    await world.soon(() => expectStatus(world, 'evt_late', 'delivered'))
    await world.pass(62 * SECONDS)
    await world.soon(async () => expect((await world.endpoint('app_shop')).drain_at).to.equal(undefined))
  })

  it('gets what is put aside in the very moment it is enabled', async () => {
    world = await webhookWorld(store, { swept: false })
    world.answering('app_shop', () => 410)
    // Paused already; its event is not among what is kept yet.
    world.before('events.change', async () => {
      world.answering('app_shop', () => 200)
      await world.control.enable('app_shop')
      await world.quiet()
    })
    const id = await world.happen('app_shop')
    await world.soon(() => expectStatus(world, id, 'delivered'))
  })

  it('is called for what is kept even when the reminder to do so was lost', async () => {
    world = await webhookWorld(store)
    await world.control.pause('app_shop')
    const id = await world.happen('app_shop')
    await world.crash()
    await world.control.enable('app_shop')
    await world.start()
    await world.pass(12 * SECONDS)
    await world.soon(() => expectStatus(world, id, 'delivered'))
  })

  it('recovers by one success', async () => {
    world = await webhookWorld(store)
    let status = 500
    world.answering('app_shop', () => status)
    const failed = await world.happen('app_shop')
    await world.soon(async () => expect((await world.endpoint('app_shop')).life?.value).to.equal('failing'))
    expect((await world.endpoint('app_shop')).status, 'as others see it').to.equal('active')
    status = 200
    await world.pass(6 * SECONDS)
    await world.soon(() => expectStatus(world, failed, 'delivered'))
    await world.soon(async () => expect((await world.endpoint('app_shop')).life).to.deep.include({ value: 'active' }))
    expect((await world.endpoint('app_shop')).life?.context).to.include({ failures: 0, failing_since: null })
  })
})
