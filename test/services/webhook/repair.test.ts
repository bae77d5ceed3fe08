// Whatever is lost, of the process or the broker: no event is, and no attempt is made twice.
import { expect } from 'chai'
import type { CountersignStore } from '../../../services/domain/collections.ts'
import { attemptMessage } from '../../../services/domain/webhooks/work.ts'
import { eachStore } from '../../support/stores.ts'
import { expectStatus, hanging, SECONDS, type WebhookWorld, webhookWorld } from '../../support/webhooks.ts'

eachStore('an event', fresh => {
  let store: CountersignStore
  let world: WebhookWorld
  beforeEach(async () => {
    store = await fresh()
    world = await webhookWorld(store)
  })
  afterEach(() => world.stop())

  it('whose call was cut off counts it as made, and is sent again with the same bytes', async () => {
    const slow = hanging()
    world.answering('app_shop', slow.answers)
    const id = await world.happen('app_shop')
    await world.quiet()
    await world.crash()
    slow.answerAll(200)
    world.answering('app_shop', () => 200)
    await world.start()
    await world.pass(29 * SECONDS)
    expect(world.callsOf(id), 'its caller might still live').to.have.length(1)
    await world.pass(12 * SECONDS)
    const { attempts } = await world.soon(() => expectStatus(world, id, 'delivered'))
    expect(attempts?.map(({ attempt, error, ms, status }) => [attempt, error, ms, status])).to.deep.equal([
      [1, 'unknown', null, null],
      [2, null, 0, 200],
    ])
    expect(new Set(world.callsOf(id).map(({ body }) => body)).size).to.equal(1)
  })

  it('whose last attempt nobody saw end is tried once more, and its endpoint is none the worse', async () => {
    await world.stop()
    world = await webhookWorld(store, { backoff: [5 * SECONDS] })
    world.answering('app_shop', () => 500)
    const id = await world.happen('app_shop')
    await world.quiet()
    const slow = hanging()
    world.answering('app_shop', slow.answers)
    await world.pass(6 * SECONDS)
    expect(slow.waiting()).to.equal(1)
    await world.crash()
    await world.start()
    await world.pass(29 * SECONDS)
    for (let seconds = 0; (await world.event(id)).attempts?.length === 1 && seconds < 30; seconds += 1)
      await world.pass(SECONDS)
    const endpoint = await world.endpoint('app_shop')
    expect([endpoint.status, endpoint.life?.context.failures]).to.deep.equal(['active', 1])
    expect(await world.event(id)).to.include({ status: 'pending', tries: 1 })
    world.answering('app_shop', () => 200)
    await world.pass(30 * SECONDS)
    const { attempts } = await world.soon(() => expectStatus(world, id, 'delivered'))
    expect(attempts?.map(({ attempt, error, status }) => [attempt, error ?? status])).to.deep.equal([
      [1, 500],
      [2, 'unknown'],
      [2, 200],
    ])
  })

  it('whose last call we cut off by stopping has it again at once, and its endpoint is none the worse', async () => {
    await world.stop()
    world = await webhookWorld(store, { backoff: [5 * SECONDS] })
    world.answering('app_shop', () => 500)
    const id = await world.happen('app_shop')
    await world.quiet()
    const slow = hanging()
    world.answering('app_shop', slow.answers)
    await world.pass(6 * SECONDS)
    expect(slow.waiting()).to.equal(1)
    await world.stop()
    const endpoint = await world.endpoint('app_shop')
    expect([endpoint.status, endpoint.life?.context.failures]).to.deep.equal(['active', 1])
    expect(await world.event(id)).to.include({ status: 'pending', tries: 1 })
    world.answering('app_shop', () => 200)
    await world.start()
    await world.pass(3 * SECONDS)
    const { attempts } = await world.soon(() => expectStatus(world, id, 'delivered'))
    expect(attempts?.map(({ attempt, error, status }) => [attempt, error ?? status])).to.deep.equal([
      [1, 500],
      [2, 'stopped'],
      [2, 200],
    ])
  })

  it('that waits for its next attempt gets it though the broker forgot', async () => {
    world.answering('app_shop', () => 500)
    const id = await world.happen('app_shop')
    await world.quiet()
    await world.crash()
    world.answering('app_shop', () => 200)
    await world.start()
    await world.pass(19 * SECONDS)
    expect(world.callsOf(id)).to.have.length(1)
    await world.pass(5 * SECONDS)
    await world.soon(() => expectStatus(world, id, 'delivered'))
    expect(world.callsOf(id)).to.have.length(2)
  })

  it('is called for once per attempt however often it is reminded of', async () => {
    world.answering('app_shop', () => 500)
    const id = await world.happen('app_shop')
    await world.quiet()
    const at = (await world.event(id)).next_attempt_at ?? 0
    await world.pass(at - world.clock.now() + 100)
    const reminder = { event_id: id, app_id: 'app_shop', round: 1, attempt: 2, at }
    await Promise.all([1, 2, 3].map(n => world.publish({ ...attemptMessage(reminder), id: `again ${n}` })))
    await world.quiet()
    expect(world.callsOf(id)).to.have.length(2)
    expect((await world.event(id)).tries).to.equal(2)
  })

  it('that is due to nobody is not called for, whatever a stray message says', async () => {
    const id = await world.happen('app_shop')
    await world.soon(() => expectStatus(world, id, 'delivered'))
    for (const [round, attempt] of [
      [1, 1],
      [1, 2],
      [2, 1],
    ] as const)
      await world.publish(attemptMessage({ event_id: id, app_id: 'app_shop', round, attempt, at: 0 }))
    await world.publish(attemptMessage({ event_id: 'evt_none', app_id: 'app_shop', round: 1, attempt: 1, at: 0 }))
    await world.quiet()
    expect(world.callsOf(id)).to.have.length(1)
  })

  it('is not called early by a message that says it is time', async () => {
    world.answering('app_shop', () => 500)
    const id = await world.happen('app_shop')
    await world.quiet()
    const early = attemptMessage({ event_id: id, app_id: 'app_shop', round: 1, attempt: 2, at: 0 })
    await world.publish({ ...early, id: 'early' })
    await world.quiet()
    expect(world.callsOf(id)).to.have.length(1)
    await world.pass(6 * SECONDS)
    expect(world.callsOf(id)).to.have.length(2)
  })

  it('of a paused endpoint is due to nobody: the sweeper finds nothing to do', async () => {
    await world.control.pause('app_shop')
    const id = await world.happen('app_shop')
    await world.soon(() => expectStatus(world, id, 'held'))
    const before = await world.event(id)
    await world.pass(60 * SECONDS)
    expect(await world.event(id)).to.deep.equal(before)
  })

  it('keeps what a call came to when the store was away for a moment', async () => {
    const slow = hanging()
    world.answering('app_shop', slow.answers)
    const id = await world.happen('app_shop')
    await world.quiet()
    world.storeAway(2)
    slow.answerAll(200)
    await world.pass(5 * SECONDS)
    const { attempts } = await world.soon(() => expectStatus(world, id, 'delivered'))
    expect(attempts).to.have.length(1)
    expect(world.callsOf(id)).to.have.length(1)
  })

  it('is sent no more once its app has no endpoint', async () => {
    world.answering('app_shop', () => 500)
    const id = await world.happen('app_shop')
    await world.quiet()
    await store.docs('webhooks').remove({ _id: 'app_shop' }, 1)
    await world.pass(6 * SECONDS)
    await world.soon(() => expectStatus(world, id, 'unsent'))
    expect(world.callsOf(id)).to.have.length(1)
  })
})

eachStore('a backlog', fresh => {
  it('is drained by the next process when one stops in the middle of it', async () => {
    const world = await webhookWorld(await fresh())
    await world.control.pause('app_shop')
    const ids = await Promise.all(Array.from({ length: 120 }, () => world.happen('app_shop')))
    await world.quiet()
    await world.crash()
    await world.control.enable('app_shop')
    await world.start()
    for (let seconds = 0; world.calls.length === 0 && seconds < 60; seconds += 1) await world.pass(SECONDS)
    expect(world.calls.length, 'some of them are still to come').to.be.within(1, 119)
    await world.stop()
    await world.start()
    await world.pass(30 * SECONDS)
    for (const id of ids) await world.soon(() => expectStatus(world, id, 'delivered'))
    await world.stop()
  })
})
