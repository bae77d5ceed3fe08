// Endpoints that fail: when they are paused, which events are kept, and how these are sent once an operator enables them again.
import { expect } from 'chai'
import type { CountersignStore } from '../../../services/domain/collections.ts'
import { onEmbeddedStore } from '../../support/stores.ts'
import {
  BACKOFF,
  createWebhookHarness,
  expectStatus,
  HOURS,
  hangingEndpoint,
  MINUTES,
  SECONDS,
  type WebhookHarness,
} from '../../support/webhooks.ts'

const DAY_MS = 24 * HOURS

onEmbeddedStore('an endpoint that fails', fresh => {
  let store: CountersignStore
  let harness: WebhookHarness
  beforeEach(async () => {
    store = await fresh()
  })
  afterEach(() => harness.stop())

  /** Lets one event use up its attempts. Answers its id. */
  async function exhaustEvent(): Promise<string> {
    harness.respondWith('app_shop', () => 500)
    const id = await harness.emitEvent('app_shop')
    await harness.passTime(BACKOFF.reduce((sum, ms) => sum + ms, 0) + SECONDS)
    await harness.soon(() => expectStatus(harness, id, 'failed'))
    return id
  }

  it('is not called while it is paused, and its new and waiting events are kept for seven days', async () => {
    harness = await createWebhookHarness(store, { retention_days: 1 })
    harness.respondWith('app_shop', () => 500)
    const waits = await harness.emitEvent('app_shop')
    await harness.soon(async () => expect((await harness.event(waits)).attempts).to.have.length(1))
    harness.respondWith('app_shop', () => 410)
    const gone = await harness.emitEvent('app_shop')
    await harness.soon(() => expectStatus(harness, gone, 'held'))
    const called = harness.calls.length
    const since = await harness.emitEvent('app_shop')
    await harness.soon(() => expectStatus(harness, since, 'held'))
    await harness.passTime(10 * SECONDS)
    for (const id of [waits, gone, since]) {
      const event = await harness.soon(() => expectStatus(harness, id, 'held'))
      expect(event.purge_at.getTime()).to.be.at.least(harness.clock.now() + 7 * DAY_MS)
      expect([event.due_at, event.next_attempt_at], 'no attempt is planned').to.deep.equal([undefined, undefined])
    }
    expect((await harness.event(waits)).tries, 'no attempt was counted').to.equal(1)
    expect(harness.calls.length).to.equal(called)
  })

  it('has its waiting events held as soon as it is paused, those that are sent again too', async () => {
    harness = await createWebhookHarness(store, { backoff: [3 * HOURS] })
    const waitForRetry = async (): Promise<string> => {
      harness.respondWith('app_shop', () => 500)
      const id = await harness.emitEvent('app_shop')
      await harness.soon(async () => expect((await harness.event(id)).next_attempt_at).to.be.a('number'))
      return id
    }
    const beforePause = await waitForRetry()
    harness.respondWith('app_shop', () => 410)
    await harness.emitEvent('app_shop')
    await harness.passTime(10 * SECONDS)
    await harness.soon(() => expectStatus(harness, beforePause, 'held'))
    const now = harness.clock.now()
    expect(await harness.control.replayRange('app_shop', { since: now - HOURS, until: now })).to.equal(2)
    await harness.soon(() => expectStatus(harness, beforePause, 'held'))

    harness.respondWith('app_shop', () => 200)
    await harness.control.enable('app_shop')
    await harness.soon(() => expectStatus(harness, beforePause, 'delivered'))
    const beforeOperator = await waitForRetry()
    await harness.control.pause('app_shop')
    await harness.soon(() => expectStatus(harness, beforeOperator, 'held'))
  })

  it('is paused when an event has used up its attempts, and gets all kept events once it is enabled, oldest first', async () => {
    harness = await createWebhookHarness(store)
    const first = await exhaustEvent()
    expect(harness.callsOf(first)).to.have.length(BACKOFF.length + 1)
    const { status, life } = await harness.endpoint('app_shop')
    expect([status, life?.context.paused?.reason]).to.deep.equal(['paused', 'exhausted'])
    const line = harness.log.lines().find(({ msg }) => msg === 'endpoint.paused')
    expect(line).to.include({ app_id: 'app_shop', reason: 'exhausted' })
    expect((await harness.metrics.render()).body).to.include('endpoints_paused_total{reason="exhausted"} 1')
    const kept = [first, await harness.emitEvent('app_shop'), await harness.emitEvent('app_shop')]
    harness.calls.length = 0
    harness.respondWith('app_shop', () => 500)
    expect((await harness.control.enable('app_shop'))?.status).to.equal('active')
    await harness.soon(() => expect(harness.calls).to.have.length(3))
    expect(harness.calls.map(({ event_id }) => event_id)).to.deep.equal(kept)
    await harness.soon(async () =>
      expect(await harness.event(first)).to.include({ status: 'pending', round: 2, tries: 1 }),
    )
    harness.respondWith('app_shop', () => 200)
    await harness.passTime(6 * SECONDS)
    for (const id of kept) await harness.soon(() => expectStatus(harness, id, 'delivered'))
    const attempts = (await harness.event(first)).attempts.map(({ round, attempt }) => `${round}.${attempt}`)
    expect(attempts, 'in a new round').to.deep.equal(['1.1', '1.2', '1.3', '1.4', '2.1', '2.2'])
  })

  it('gets kept events at a limited rate, and new events meanwhile', async () => {
    harness = await createWebhookHarness(store)
    await store.docs('webhooks').modify({ _id: 'app_shop' }, { $set: { status: 'paused' } })
    const kept: string[] = []
    for (let n = 0; n < 120; n += 1) kept.push(await harness.emitEvent('app_shop'))
    await harness.soon(() => expectStatus(harness, kept.at(-1) ?? '', 'held'))
    const enabled = harness.clock.now()
    await harness.control.enable('app_shop')
    await harness.settle()
    const fresh = await harness.emitEvent('app_shop')
    await harness.settle()
    await expectStatus(harness, fresh, 'delivered')
    expect(harness.calls.length, 'some of them are still to come').to.be.within(2, 119)
    await harness.soon(() => expect(harness.calls).to.have.length(121))
    const times = harness.calls.filter(({ event_id }) => event_id !== fresh).map(({ at }) => at - enabled)
    for (const second of [1, 2])
      expect(times.filter(at => at < second * SECONDS).length).to.be.at.most(second * 50 + 16)
    expect(harness.calls.filter(({ event_id }) => event_id !== fresh).map(({ event_id }) => event_id)).to.deep.equal(
      kept,
    )
  })

  it('gets an event that a process with a stale cache kept after it was enabled', async () => {
    harness = await createWebhookHarness(store)
    await harness.control.pause('app_shop')
    const early = await harness.emitEvent('app_shop')
    await harness.soon(() => expectStatus(harness, early, 'held'))
    await harness.control.enable('app_shop')
    await harness.soon(() => expectStatus(harness, early, 'delivered'))
    const late = await harness.event(early)
    await store
      .docs('events')
      .insert([
        { ...late, _id: 'evt_late', status: 'held', backlog: 'recovery', backlog_at: harness.clock.now(), tries: 0 },
      ])
    await harness.passTime(12 * SECONDS)
    await harness.soon(() => expectStatus(harness, 'evt_late', 'delivered'))
    await harness.passTime(2 * MINUTES)
    await harness.soon(async () => {
      const { drain_at, retry_all_before } = await harness.endpoint('app_shop')
      expect([drain_at, retry_all_before]).to.deep.equal([undefined, undefined])
    })
  })

  /** Lets events fail once, so that they wait for hours, then one that finds the endpoint gone. Answers their ids, the last one's last. */
  async function pauseWithRetries(retries: number): Promise<string[]> {
    harness = await createWebhookHarness(store, { backoff: [3 * HOURS, 3 * HOURS] })
    harness.respondWith('app_shop', () => 500)
    const ids: string[] = []
    for (let n = 0; n < retries; n += 1) ids.push(await harness.emitEvent('app_shop'))
    for (const id of ids) await harness.soon(async () => expect((await harness.event(id)).attempts).to.have.length(1))
    harness.respondWith('app_shop', () => 410)
    ids.push(await harness.emitEvent('app_shop'))
    await harness.soon(() => expectStatus(harness, ids.at(-1) ?? '', 'held'))
    harness.calls.length = 0
    return ids
  }

  const calledIds = (): string[] => harness.calls.map(({ event_id }) => event_id)

  it('gets its events in retry at once when it is enabled, oldest first and once each', async () => {
    const ids = await pauseWithRetries(3)
    harness.respondWith('app_shop', () => 200)
    await harness.control.enable('app_shop')
    for (const id of ids) await harness.soon(() => expectStatus(harness, id, 'delivered'))
    expect(calledIds()).to.deep.equal(ids)
    expect(await harness.event(ids[0] ?? '')).to.include({ round: 2, tries: 1 })
    await harness.passTime(4 * HOURS, 10 * MINUTES)
    expect(calledIds(), 'the reminders of the planned retries came').to.deep.equal(ids)
  })

  it('gets an event whose call began before it was enabled and failed afterwards', async () => {
    harness = await createWebhookHarness(store, { backoff: [3 * HOURS] })
    const slow = hangingEndpoint()
    harness.respondWith('app_shop', slow.answers)
    const id = await harness.emitEvent('app_shop')
    await harness.soon(() => expect(slow.waiting()).to.equal(1))
    await harness.passTime(SECONDS)
    await harness.control.pause('app_shop')
    await harness.control.enable('app_shop')
    await harness.passTime(12 * SECONDS)
    slow.answerAll(500)
    harness.respondWith('app_shop', () => 200)
    await harness.passTime(90 * SECONDS)
    await expectStatus(harness, id, 'delivered')
  })

  it('gets its events in retry although a process dies while it makes them due', async () => {
    const ids = await pauseWithRetries(3)
    harness.respondWith('app_shop', () => 200)
    harness.beforeStoreCall('events.change', () => harness.crash())
    await harness.control.enable('app_shop')
    await harness.settle()
    expect(harness.calls).to.deep.equal([])
    await harness.start()
    await harness.passTime(12 * SECONDS)
    for (const id of ids) await harness.soon(() => expectStatus(harness, id, 'delivered'))
    expect(calledIds()).to.deep.equal(ids)
  })

  it('gets hundreds of events in retry, oldest first', async () => {
    const [first = '', gone = ''] = await pauseWithRetries(1)
    const { _id, ...waiting } = await harness.event(first)
    const numbered = Array.from({ length: 210 }, (_, n) => `${_id}${String(n).padStart(3, '0')}`)
    await store.docs('events').insert(numbered.map(id => ({ ...waiting, _id: id })))
    harness.respondWith('app_shop', () => 200)
    await harness.control.enable('app_shop')
    await harness.passTime(15 * SECONDS)
    expect(calledIds()).to.deep.equal([first, ...numbered, gone])
  })

  it('gets an event that is kept at the very moment it is enabled', async () => {
    harness = await createWebhookHarness(store, { withSweeper: false })
    harness.respondWith('app_shop', () => 410)
    // The endpoint is paused already, and its event is not in the backlog yet.
    harness.beforeStoreCall('events.change', async () => {
      harness.respondWith('app_shop', () => 200)
      await harness.control.enable('app_shop')
      await harness.settle()
    })
    const id = await harness.emitEvent('app_shop')
    await harness.soon(() => expectStatus(harness, id, 'delivered'))
  })

  it('gets its kept events even when the reminder to drain them was lost', async () => {
    harness = await createWebhookHarness(store)
    await harness.control.pause('app_shop')
    const id = await harness.emitEvent('app_shop')
    await harness.crash()
    await harness.control.enable('app_shop')
    await harness.start()
    await harness.passTime(12 * SECONDS)
    await harness.soon(() => expectStatus(harness, id, 'delivered'))
  })
})
