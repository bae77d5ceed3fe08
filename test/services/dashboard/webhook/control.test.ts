// What operators do with a webhook: replay, enable, pause and test. The webhook actor runs in this test and sends the events.
import { expect } from 'chai'
import type { CountersignStore } from '../../../../services/domain/collections.ts'
import { onEmbeddedStore } from '../../../support/stores.ts'
import {
  createWebhookHarness,
  expectStatus,
  hangingEndpoint,
  SECONDS,
  type WebhookHarness,
} from '../../../support/webhooks.ts'

onEmbeddedStore('the control of a webhook', fresh => {
  let store: CountersignStore
  let harness: WebhookHarness
  beforeEach(async () => {
    store = await fresh()
    harness = await createWebhookHarness(store)
  })
  afterEach(() => harness.stop())

  const emitDelivered = async (app = 'app_shop'): Promise<string> => {
    const id = await harness.emitEvent(app)
    await harness.soon(() => expectStatus(harness, id, 'delivered'))
    return id
  }

  it('sends one event again, with the same id and bytes and a new round of attempts', async () => {
    const id = await emitDelivered()
    await harness.passTime(2 * SECONDS)
    harness.respondWith('app_shop', () => 500)
    expect(await harness.control.replay(id)).to.equal(true)
    const again = await harness.soon(async () => {
      const event = await harness.event(id)
      expect(event.attempts).to.have.length(2)
      return event
    })
    expect(again).to.include({ status: 'pending', round: 2, tries: 1 })
    harness.respondWith('app_shop', () => 200)
    await harness.passTime(6 * SECONDS)
    await harness.soon(() => expectStatus(harness, id, 'delivered'))
    const calls = harness.callsOf(id)
    expect(calls).to.have.length(3)
    expect(new Set(calls.map(({ body }) => body)).size).to.equal(1)
    expect(new Set(calls.map(({ headers }) => headers['x-webhook-signature'])).size).to.equal(3)
  })

  it('sends an event again while a call of it is running, whose result then changes nothing', async () => {
    const slow = hangingEndpoint()
    harness.respondWith('app_shop', slow.answers)
    const id = await harness.emitEvent('app_shop')
    await harness.settle()
    expect(await harness.control.replay(id)).to.equal(true)
    await harness.settle()
    expect(slow.waiting()).to.equal(2)
    slow.answerAll(500)
    await harness.settle()
    const event = await harness.event(id)
    expect(event).to.include({ status: 'pending', round: 2, tries: 1 })
    expect(event.attempts.map(({ round, attempt }) => [round, attempt])).to.have.deep.members([
      [1, 1],
      [2, 1],
    ])
  })

  it('sends nothing again without the event or an endpoint', async () => {
    expect(await harness.control.replay('evt_none')).to.equal(false)
    const id = await harness.emitEvent('app_bare')
    expect(await harness.control.replay(id)).to.equal(false)
    await expectStatus(harness, id, 'unsent')
    expect(await harness.control.replayRange('app_bare', { since: 0, until: harness.clock.now() + 1 })).to.equal(0)
    expect(await harness.control.test({ app_id: 'app_bare', company_id: 'cmp_acme' })).to.equal(null)
    expect(await harness.control.enable('app_bare')).to.equal(null)
  })

  it('sends the events of a range again, oldest first', async () => {
    const before = await emitDelivered()
    await harness.passTime(SECONDS)
    const since = harness.clock.now()
    const within = [await emitDelivered(), await emitDelivered(), await emitDelivered()]
    const other = await emitDelivered('app_blog')
    const until = harness.clock.now() + 1
    await harness.passTime(SECONDS)
    const after = await emitDelivered()
    harness.calls.length = 0
    expect(await harness.control.replayRange('app_shop', { since, until })).to.equal(3)
    await harness.soon(() => expect(harness.calls).to.have.length(3))
    expect(harness.calls.map(({ event_id }) => event_id)).to.deep.equal(within)
    for (const id of within)
      expect(await harness.soon(() => expectStatus(harness, id, 'delivered'))).to.include({ round: 2, tries: 1 })
    for (const id of [before, other, after]) expect(await harness.event(id)).to.include({ round: 1 })
  })

  it('holds replayed events of a paused endpoint until it is enabled', async () => {
    const id = await emitDelivered()
    await harness.control.pause('app_shop')
    await harness.passTime(6 * SECONDS)
    harness.calls.length = 0
    await harness.control.replay(id)
    await harness.soon(() => expectStatus(harness, id, 'held'))
    expect(harness.calls).to.deep.equal([])
    await harness.control.enable('app_shop')
    await harness.soon(() => expectStatus(harness, id, 'delivered'))
  })

  it('sends a test event to an endpoint that is newer than the actor’s cache', async () => {
    await harness.emitEvent('app_bare')
    await harness.addEndpoint('app_bare')
    const id = await harness.control.test({ app_id: 'app_bare', company_id: 'cmp_acme' })
    await harness.soon(() => expectStatus(harness, id ?? '', 'delivered'))
  })

  it('makes an event in retry due when it enables an endpoint that another event has made active', async () => {
    harness.respondWith('app_shop', () => 500)
    const failed = await harness.emitEvent('app_shop')
    await harness.soon(async () => expect((await harness.event(failed)).next_attempt_at).to.be.above(0))
    harness.respondWith('app_shop', () => 200)
    await harness.emitEvent('app_shop')
    await harness.soon(async () => expect((await harness.endpoint('app_shop')).life?.value).to.equal('active'))
    const { next_attempt_at = 0 } = await expectStatus(harness, failed, 'pending')
    await harness.control.enable('app_shop')
    await harness.settle()
    await expectStatus(harness, failed, 'delivered')
    expect(harness.clock.now()).to.be.below(next_attempt_at)
  })
})
