// One endpoint's trouble is nobody else's, and costs its own events nothing but time.
import { expect } from 'chai'
import { eachStore } from '../../support/stores.ts'
import { expectStatus, hanging, SECONDS, type WebhookWorld, webhookWorld } from '../../support/webhooks.ts'

eachStore('an endpoint that hangs', fresh => {
  let world: WebhookWorld
  const slow = hanging()
  beforeEach(async () => {
    world = await webhookWorld(await fresh())
    world.answering('app_shop', slow.answers)
  })
  afterEach(async () => {
    slow.answerAll(200)
    await world.stop()
  })
  const flood = (events: number): Promise<string[]> =>
    Promise.all(Array.from({ length: events }, () => world.happen('app_shop')))

  it('has a few calls under way, the rest of its events waits in the store, and no message waits for it', async () => {
    const ids = await flood(400)
    await world.pass(3 * SECONDS)
    expect(slow.waiting()).to.equal(16)
    expect(world.calls).to.have.length(16)
    const parked = await Promise.all(ids.slice(16).map(id => world.event(id)))
    for (const event of parked) {
      expect(event).to.deep.include({ status: 'pending', tries: 0, attempts: [], backlog: 'overflow' })
      expect(event.due_at, 'the sweeper leaves it alone').to.equal(undefined)
    }
  })

  it('delays nobody else, whatever waits for it', async () => {
    await flood(400)
    const at = world.clock.now()
    const others = await Promise.all(Array.from({ length: 20 }, () => world.happen('app_blog')))
    await world.quiet()
    for (const id of others) await expectStatus(world, id, 'delivered')
    expect(world.clock.now() - at, 'no more than happening took').to.be.at.most(20)
  })

  it('gets all that waited once it answers, oldest first, each once and with its first attempt', async () => {
    const ids = await flood(100)
    await world.pass(3 * SECONDS)
    world.answering('app_shop', () => 200)
    slow.answerAll(200)
    for (const id of ids) {
      const { attempts } = await world.soon(() => expectStatus(world, id, 'delivered'))
      expect(attempts?.map(({ attempt }) => attempt)).to.deep.equal([1])
    }
    expect(world.calls).to.have.length(100)
    const parked = world.calls.slice(16).map(({ event_id }) => event_id)
    expect(parked).to.deep.equal([...parked].sort())
  })

  it('that answers soon is sent a burst from memory: nothing is put aside', async () => {
    const ids = await flood(100)
    await world.quiet()
    world.answering('app_shop', () => 200)
    slow.answerAll(200)
    await world.quiet()
    for (const id of ids) await expectStatus(world, id, 'delivered')
    expect(world.calls).to.have.length(100)
    expect((await world.endpoint('app_shop')).drain_at, 'no backlog was announced').to.equal(undefined)
  })

  it('that is gone with its first answer is not called for those in line: they are kept', async () => {
    const ids = await flood(100)
    await world.quiet()
    world.answering('app_shop', () => 410)
    slow.answerAll(410)
    await world.pass(3 * SECONDS)
    for (const id of ids.slice(16)) expect(await expectStatus(world, id, 'held')).to.include({ tries: 0 })
    expect(world.calls).to.have.length(16)
  })

  it('gets fewer calls once it keeps failing', async () => {
    await flood(60)
    await world.quiet()
    expect(slow.waiting()).to.equal(16)
    await world.pass(32 * SECONDS)
    expect(slow.waiting()).to.equal(2)
  })

  it('parks a retry whose turn comes while its slots are taken, without spending an attempt', async () => {
    world.answering('app_shop', () => 500)
    const id = await world.happen('app_shop')
    await world.quiet()
    world.answering('app_shop', slow.answers)
    await flood(20)
    await world.pass(6 * SECONDS)
    await world.quiet()
    expect(await world.event(id)).to.include({ status: 'pending', tries: 1, backlog: 'overflow', round: 1 })
    world.answering('app_shop', () => 200)
    slow.answerAll(200)
    const { tries, round } = await world.soon(() => expectStatus(world, id, 'delivered'))
    expect([tries, round]).to.deep.equal([2, 1])
  })

  it('is drained by whoever is left when the process that filled its backlog dies', async () => {
    const ids = await flood(40)
    await world.quiet()
    await world.crash()
    world.answering('app_shop', () => 200)
    await world.start()
    await world.pass(60 * SECONDS)
    for (const id of ids) await world.soon(() => expectStatus(world, id, 'delivered'))
    for (const id of ids.slice(16)) expect(world.callsOf(id)).to.have.length(1)
    await world.pass(15 * SECONDS)
    expect((await world.endpoint('app_shop')).drain_at, 'nothing is left to remember').to.equal(undefined)
  })
})

eachStore('a company with many slow endpoints', fresh => {
  let world: WebhookWorld
  const slow = hanging()
  afterEach(async () => {
    slow.answerAll(200)
    await world.stop()
  })

  it('has 200 calls under way, however many apps it has, and others have the rest', async () => {
    world = await webhookWorld(await fresh(), { swept: false })
    const apps = Array.from({ length: 14 }, (_, n) => `app_slow${n}`)
    for (const app of apps) {
      await world.endow(app)
      world.answering(app, slow.answers)
    }
    const ids = await Promise.all(apps.flatMap(app => Array.from({ length: 16 }, () => world.happen(app))))
    await world.quiet()
    expect(slow.waiting()).to.equal(200)
    const other = await world.happen('app_shop', { company_id: 'cmp_other' })
    await world.quiet()
    await expectStatus(world, other, 'delivered')
    for (const app of apps) world.answering(app, () => 200)
    await world.pass(3 * SECONDS)
    slow.answerAll(200)
    for (const id of ids) await world.soon(() => expectStatus(world, id, 'delivered'))
  })
})
