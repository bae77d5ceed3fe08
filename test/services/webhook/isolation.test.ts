// A slow or failing endpoint delays its own events only, and costs them no attempts.
import { expect } from 'chai'
import { onEmbeddedStore } from '../../support/stores.ts'
import {
  createWebhookHarness,
  expectStatus,
  hangingEndpoint,
  SECONDS,
  type WebhookHarness,
} from '../../support/webhooks.ts'

onEmbeddedStore('an endpoint that hangs', fresh => {
  let harness: WebhookHarness
  const slow = hangingEndpoint()
  beforeEach(async () => {
    harness = await createWebhookHarness(await fresh())
    harness.respondWith('app_shop', slow.answers)
  })
  afterEach(async () => {
    slow.answerAll(200)
    await harness.stop()
  })
  const emitMany = (events: number): Promise<string[]> =>
    Promise.all(Array.from({ length: events }, () => harness.emitEvent('app_shop')))

  it('has a few calls under way while its other events wait in the store, and those of other endpoints do not', async () => {
    const ids = await emitMany(400)
    await harness.passTime(3 * SECONDS)
    expect(slow.waiting()).to.equal(16)
    expect(harness.calls).to.have.length(16)
    const parked = await Promise.all(ids.slice(16).map(id => harness.event(id)))
    for (const event of parked) {
      expect(event).to.deep.include({ status: 'pending', tries: 0, attempts: [], backlog: 'overflow' })
      expect(event.due_at, 'the sweeper leaves it alone').to.equal(undefined)
    }
    const others = await Promise.all(Array.from({ length: 20 }, () => harness.emitEvent('app_blog')))
    await harness.settle()
    for (const id of others) await expectStatus(harness, id, 'delivered')
  })

  it('gets all waiting events once it answers, oldest first, each once and as its first attempt', async () => {
    const ids = await emitMany(100)
    await harness.passTime(3 * SECONDS)
    harness.respondWith('app_shop', () => 200)
    slow.answerAll(200)
    for (const id of ids) {
      const { attempts } = await harness.soon(() => expectStatus(harness, id, 'delivered'))
      expect(attempts.map(({ attempt }) => attempt)).to.deep.equal([1])
    }
    expect(harness.calls).to.have.length(100)
    const parked = harness.calls.slice(16).map(({ event_id }) => event_id)
    expect(parked).to.deep.equal([...parked].sort())
  })

  it('is not called for the events in its backlog, which are held, once it answers 410', async () => {
    const ids = await emitMany(100)
    await harness.settle()
    harness.respondWith('app_shop', () => 410)
    slow.answerAll(410)
    await harness.passTime(3 * SECONDS)
    for (const id of ids.slice(16)) expect(await expectStatus(harness, id, 'held')).to.include({ tries: 0 })
    expect(harness.calls).to.have.length(16)
  })

  it('gets fewer calls at once when it keeps failing', async () => {
    await emitMany(60)
    await harness.settle()
    expect(slow.waiting()).to.equal(16)
    await harness.passTime(32 * SECONDS)
    expect(slow.waiting()).to.equal(2)
  })

  it('has a retry that is due while its slots are taken parked, without counting an attempt', async () => {
    harness.respondWith('app_shop', () => 500)
    const id = await harness.emitEvent('app_shop')
    await harness.settle()
    harness.respondWith('app_shop', slow.answers)
    await emitMany(20)
    await harness.passTime(6 * SECONDS)
    await harness.settle()
    expect(await harness.event(id)).to.include({ status: 'pending', tries: 1, backlog: 'overflow', round: 1 })
    harness.respondWith('app_shop', () => 200)
    slow.answerAll(200)
    const { tries, round } = await harness.soon(() => expectStatus(harness, id, 'delivered'))
    expect([tries, round]).to.deep.equal([2, 1])
  })

  it('has its backlog drained by another process when the process that filled it dies', async () => {
    const ids = await emitMany(40)
    await harness.settle()
    await harness.crash()
    harness.respondWith('app_shop', () => 200)
    await harness.start()
    await harness.passTime(60 * SECONDS)
    for (const id of ids) await harness.soon(() => expectStatus(harness, id, 'delivered'))
    for (const id of ids.slice(16)) expect(harness.callsOf(id)).to.have.length(1)
    await harness.passTime(15 * SECONDS)
    expect((await harness.endpoint('app_shop')).drain_at, 'the mark is cleared').to.equal(undefined)
  })
})

onEmbeddedStore('a company with many slow endpoints', fresh => {
  let harness: WebhookHarness
  const slow = hangingEndpoint()
  afterEach(async () => {
    slow.answerAll(200)
    await harness.stop()
  })

  it('has at most 200 calls under way, however many apps it has, and leaves the rest to other companies', async () => {
    harness = await createWebhookHarness(await fresh(), { withSweeper: false })
    const apps = Array.from({ length: 14 }, (_, n) => `app_slow${n}`)
    for (const app of apps) {
      await harness.addEndpoint(app)
      harness.respondWith(app, slow.answers)
    }
    const ids = await Promise.all(apps.flatMap(app => Array.from({ length: 16 }, () => harness.emitEvent(app))))
    await harness.settle()
    expect(slow.waiting()).to.equal(200)
    const other = await harness.emitEvent('app_shop', { company_id: 'cmp_other' })
    await harness.settle()
    await expectStatus(harness, other, 'delivered')
    for (const app of apps) harness.respondWith(app, () => 200)
    await harness.passTime(3 * SECONDS)
    slow.answerAll(200)
    for (const id of ids) await harness.soon(() => expectStatus(harness, id, 'delivered'))
  })
})
