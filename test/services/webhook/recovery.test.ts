// Crashes of a process and losses of the broker: no event is lost, and no attempt is made twice.
import { expect } from 'chai'
import type { CountersignStore } from '../../../services/domain/collections.ts'
import { attemptMessage } from '../../../services/domain/webhooks/queue-messages.ts'
import { onEmbeddedStore } from '../../support/stores.ts'
import {
  createWebhookHarness,
  expectStatus,
  hangingEndpoint,
  SECONDS,
  type WebhookHarness,
} from '../../support/webhooks.ts'

onEmbeddedStore('an event', fresh => {
  let store: CountersignStore
  let harness: WebhookHarness
  beforeEach(async () => {
    store = await fresh()
    harness = await createWebhookHarness(store)
  })
  afterEach(() => harness.stop())

  it('whose call was cut off by a crash counts it as an attempt, and is sent again with the same bytes', async () => {
    const slow = hangingEndpoint()
    harness.respondWith('app_shop', slow.answers)
    const id = await harness.emitEvent('app_shop')
    await harness.settle()
    await harness.crash()
    slow.answerAll(200)
    harness.respondWith('app_shop', () => 200)
    await harness.start()
    await harness.passTime(29 * SECONDS)
    expect(harness.callsOf(id), 'the process that called might still live').to.have.length(1)
    await harness.passTime(12 * SECONDS)
    const { attempts } = await harness.soon(() => expectStatus(harness, id, 'delivered'))
    expect(attempts.map(({ attempt, error, ms, status }) => [attempt, error, ms, status])).to.deep.equal([
      [1, 'unknown', null, null],
      [2, null, 0, 200],
    ])
    expect(new Set(harness.callsOf(id).map(({ body }) => body)).size).to.equal(1)
  })

  for (const [what, error, end] of [
    ['a crash', 'unknown', 'crash'],
    ['stopping', 'stopped', 'stop'],
  ] as const)
    it(`whose last call was cut off by ${what} is tried once more, without a failure of its endpoint`, async () => {
      await harness.stop()
      harness = await createWebhookHarness(store, { backoff: [5 * SECONDS] })
      harness.respondWith('app_shop', () => 500)
      const id = await harness.emitEvent('app_shop')
      await harness.settle()
      const slow = hangingEndpoint()
      harness.respondWith('app_shop', slow.answers)
      await harness.passTime(6 * SECONDS)
      expect(slow.waiting()).to.equal(1)
      await harness[end]()
      if (end === 'crash') await harness.start()
      for (let seconds = 0; (await harness.event(id)).attempts.length === 1 && seconds < 60; seconds += 1)
        await harness.passTime(SECONDS)
      const endpoint = await harness.endpoint('app_shop')
      expect([endpoint.status, endpoint.life?.context.failures]).to.deep.equal(['active', 1])
      expect(await harness.event(id)).to.include({ status: 'pending', tries: 1 })
      harness.respondWith('app_shop', () => 200)
      if (end === 'stop') await harness.start()
      await harness.passTime(end === 'stop' ? 3 * SECONDS : 30 * SECONDS)
      const { attempts } = await harness.soon(() => expectStatus(harness, id, 'delivered'))
      expect(attempts.map(({ attempt, error, status }) => [attempt, error ?? status])).to.deep.equal([
        [1, 500],
        [2, error],
        [2, 200],
      ])
    })

  it('gets its next attempt though the broker lost the message', async () => {
    harness.respondWith('app_shop', () => 500)
    const id = await harness.emitEvent('app_shop')
    await harness.settle()
    await harness.crash()
    harness.respondWith('app_shop', () => 200)
    await harness.start()
    await harness.passTime(19 * SECONDS)
    expect(harness.callsOf(id)).to.have.length(1)
    await harness.passTime(5 * SECONDS)
    await harness.soon(() => expectStatus(harness, id, 'delivered'))
    expect(harness.callsOf(id)).to.have.length(2)
  })

  it('is sent once per attempt, however many reminders come, and not early by one with a wrong time', async () => {
    harness.respondWith('app_shop', () => 500)
    const id = await harness.emitEvent('app_shop')
    await harness.settle()
    const reminder = (at: number) => attemptMessage({ event_id: id, app_id: 'app_shop', round: 1, attempt: 2, at })
    await harness.publish({ ...reminder(0), id: 'early' })
    await harness.settle()
    expect(harness.callsOf(id)).to.have.length(1)
    const at = (await harness.event(id)).next_attempt_at ?? 0
    await harness.passTime(at - harness.clock.now() + 100)
    await Promise.all([1, 2, 3].map(n => harness.publish({ ...reminder(at), id: `again ${n}` })))
    await harness.settle()
    expect(harness.callsOf(id)).to.have.length(2)
    expect((await harness.event(id)).tries).to.equal(2)
  })

  it('whose call is under way is not sent again by a second reminder of it', async () => {
    const slow = hangingEndpoint()
    harness.respondWith('app_shop', slow.answers)
    const id = await harness.emitEvent('app_shop')
    await harness.settle()
    const at = harness.clock.now()
    await harness.publish(attemptMessage({ event_id: id, app_id: 'app_shop', round: 1, attempt: 1, at }))
    await harness.settle()
    slow.answerAll(200)
    const { attempts } = await harness.soon(() => expectStatus(harness, id, 'delivered'))
    expect(attempts.map(({ status }) => status)).to.deep.equal([200])
  })

  it('that was delivered is not sent again by a stray reminder', async () => {
    const id = await harness.emitEvent('app_shop')
    await harness.soon(() => expectStatus(harness, id, 'delivered'))
    for (const [round, attempt] of [
      [1, 1],
      [1, 2],
      [2, 1],
    ] as const)
      await harness.publish(attemptMessage({ event_id: id, app_id: 'app_shop', round, attempt, at: 0 }))
    await harness.publish(attemptMessage({ event_id: 'evt_none', app_id: 'app_shop', round: 1, attempt: 1, at: 0 }))
    await harness.settle()
    expect(harness.callsOf(id)).to.have.length(1)
  })

  it('keeps the result of a call when the store was away for a moment', async () => {
    const slow = hangingEndpoint()
    harness.respondWith('app_shop', slow.answers)
    const id = await harness.emitEvent('app_shop')
    await harness.settle()
    harness.failStore(2)
    slow.answerAll(200)
    await harness.passTime(5 * SECONDS)
    const { attempts } = await harness.soon(() => expectStatus(harness, id, 'delivered'))
    expect(attempts).to.have.length(1)
    expect(harness.callsOf(id)).to.have.length(1)
  })

  it('is not sent any more once its app has no endpoint', async () => {
    harness.respondWith('app_shop', () => 500)
    const id = await harness.emitEvent('app_shop')
    await harness.settle()
    await store.docs('webhooks').remove({ _id: 'app_shop' }, 1)
    await harness.passTime(6 * SECONDS)
    await harness.soon(() => expectStatus(harness, id, 'unsent'))
    expect(harness.callsOf(id)).to.have.length(1)
  })
})
