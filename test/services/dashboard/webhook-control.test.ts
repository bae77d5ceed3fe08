// What people do to a webhook: replay, enable, try out. The actor does the sending; here it is one.
import { expect } from 'chai'
import type { CountersignStore } from '../../../services/domain/collections.ts'
import { eachStore } from '../../support/stores.ts'
import { expectStatus, hanging, SECONDS, type WebhookWorld, webhookWorld } from '../../support/webhooks.ts'

eachStore('a webhook in the hands of people', fresh => {
  let store: CountersignStore
  let world: WebhookWorld
  beforeEach(async () => {
    store = await fresh()
    world = await webhookWorld(store)
  })
  afterEach(() => world.stop())

  const delivered = async (app = 'app_shop'): Promise<string> => {
    const id = await world.happen(app)
    await world.soon(() => expectStatus(world, id, 'delivered'))
    return id
  }

  it('sends one event again: the same id and bytes, its attempts afresh', async () => {
    const id = await delivered()
    await world.pass(2 * SECONDS)
    world.answering('app_shop', () => 500)
    expect(await world.control.replay(id)).to.equal(true)
    const again = await world.soon(async () => {
      const event = await world.event(id)
      expect(event.attempts).to.have.length(2)
      return event
    })
    expect(again).to.include({ status: 'pending', round: 2, tries: 1 })
    world.answering('app_shop', () => 200)
    await world.pass(6 * SECONDS)
    await world.soon(() => expectStatus(world, id, 'delivered'))
    const calls = world.callsOf(id)
    expect(calls).to.have.length(3)
    expect(new Set(calls.map(({ body }) => body)).size).to.equal(1)
    expect(new Set(calls.map(({ headers }) => headers['x-webhook-signature'])).size).to.equal(3)
  })

  it('sends again what has a call under way, and lets that call change nothing', async () => {
    const slow = hanging()
    world.answering('app_shop', slow.answers)
    const id = await world.happen('app_shop')
    await world.quiet()
    expect(await world.control.replay(id)).to.equal(true)
    await world.quiet()
    expect(slow.waiting()).to.equal(2)
    slow.answerAll(500)
    await world.quiet()
    const event = await world.event(id)
    expect(event).to.include({ status: 'pending', round: 2, tries: 1 })
    expect(event.attempts?.map(({ round, attempt }) => [round, attempt])).to.have.deep.members([
      [1, 1],
      [2, 1],
    ])
  })

  it('sends nothing again that is not there, or has nowhere to go', async () => {
    expect(await world.control.replay('evt_none')).to.equal(false)
    const id = await world.happen('app_bare')
    expect(await world.control.replay(id)).to.equal(false)
    await expectStatus(world, id, 'unsent')
    expect(await world.control.replayRange('app_bare', { since: 0, until: world.clock.now() + 1 })).to.equal(0)
    expect(await world.control.test({ app_id: 'app_bare', company_id: 'cmp_acme' })).to.equal(null)
    expect(await world.control.enable('app_bare')).to.equal(null)
  })

  it('sends a range again, oldest first, and nothing outside it', async () => {
    const before = await delivered()
    await world.pass(SECONDS)
    const since = world.clock.now()
    const within = [await delivered(), await delivered(), await delivered()]
    const other = await delivered('app_blog')
    const until = world.clock.now() + 1
    await world.pass(SECONDS)
    const after = await delivered()
    world.calls.length = 0
    expect(await world.control.replayRange('app_shop', { since, until })).to.equal(3)
    await world.soon(() => expect(world.calls).to.have.length(3))
    expect(world.calls.map(({ event_id }) => event_id)).to.deep.equal(within)
    for (const id of within)
      expect(await world.soon(() => expectStatus(world, id, 'delivered'))).to.include({ round: 2, tries: 1 })
    for (const id of [before, other, after]) expect(await world.event(id)).to.include({ round: 1 })
  })

  it('keeps what is replayed to a paused endpoint until it is enabled', async () => {
    const id = await delivered()
    await world.control.pause('app_shop')
    await world.pass(6 * SECONDS)
    world.calls.length = 0
    await world.control.replay(id)
    await world.soon(() => expectStatus(world, id, 'held'))
    expect(world.calls).to.deep.equal([])
    await world.control.enable('app_shop')
    await world.soon(() => expectStatus(world, id, 'delivered'))
  })

  it('sends events that were recorded before events were sent', async () => {
    const id = await delivered()
    await store.docs('events').modify(
      { _id: id },
      {
        $unset: {
          ...{ rev: true, status: true, partition: true, round: true, tries: true, attempts: true },
        },
      },
    )
    world.calls.length = 0
    expect(await world.control.replay(id)).to.equal(true)
    expect(await world.soon(() => expectStatus(world, id, 'delivered'))).to.include({ round: 1, tries: 1 })
    expect(world.calls).to.have.length(1)
  })

  it('makes a test event, which is like any other but for its type', async () => {
    const id = await world.control.test({ app_id: 'app_shop', company_id: 'cmp_acme' })
    await world.soon(() => expectStatus(world, id ?? '', 'delivered'))
    const [call] = world.callsOf(id ?? '')
    expect(JSON.parse(call?.body ?? '')).to.deep.equal({ id, type: 'webhook.test', payload: { app_id: 'app_shop' } })
    expect(call?.headers['x-webhook-mode']).to.equal('test')
  })

  it('tries out an endpoint that was set a moment ago, whatever the actor remembers', async () => {
    await world.happen('app_bare')
    await world.endow('app_bare')
    const id = await world.control.test({ app_id: 'app_bare', company_id: 'cmp_acme' })
    await world.soon(() => expectStatus(world, id ?? '', 'delivered'))
  })

  it('enables what is active already without a fuss', async () => {
    const before = await world.endpoint('app_shop')
    const after = await world.control.enable('app_shop')
    expect(after?.status).to.equal('active')
    expect((await world.endpoint('app_shop')).rev).to.equal(before.rev)
  })
})
