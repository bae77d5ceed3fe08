// A webhook actor whose process is paused because its clock is wrong: it begins no call and judges no event, other processes take what
// waited in its memory, and nothing is lost or sent twice.
import { expect } from 'chai'
import type { CountersignStore } from '../../../services/domain/collections.ts'
import { attemptMessage } from '../../../services/domain/webhooks/queue-messages.ts'
import { onEmbeddedStore } from '../../support/stores.ts'
import {
  createWebhookHarness,
  expectStatus,
  type HarnessOptions,
  hangingEndpoint,
  MINUTES,
  SECONDS,
  type WebhookHarness,
} from '../../support/webhooks.ts'

onEmbeddedStore('a webhook actor whose clock is wrong', fresh => {
  let store: CountersignStore
  let harness: WebhookHarness
  let slow: ReturnType<typeof hangingEndpoint>
  beforeEach(async () => {
    store = await fresh()
    slow = hangingEndpoint()
  })
  afterEach(async () => {
    slow.answerAll(200)
    await harness.stop()
  })

  const start = async (options: HarnessOptions = {}): Promise<void> => {
    harness = await createWebhookHarness(store, options)
  }
  const emitMany = (events: number): Promise<string[]> =>
    Promise.all(Array.from({ length: events }, () => harness.emitEvent('app_shop')))
  const answerFromNowOn = (status: number): void => {
    harness.respondWith('app_shop', () => status)
    slow.answerAll(status)
  }
  async function expectEachSentOnce(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      const { attempts } = await harness.soon(() => expectStatus(harness, id, 'delivered'))
      expect(attempts.map(({ attempt }) => attempt)).to.deep.equal([1])
      expect(harness.callsOf(id)).to.have.length(1)
    }
  }

  for (const [what, waitMs] of [
    ['in memory', 0],
    ['in the store', 3 * SECONDS],
  ] as const)
    it(`calls no endpoint for events that wait for a slot ${what}, and goes on once it is right`, async () => {
      await start()
      harness.respondWith('app_shop', slow.answers)
      const ids = await emitMany(100)
      await harness.passTime(waitMs)
      await harness.settle()
      harness.pause()
      answerFromNowOn(200)
      await harness.passTime(MINUTES)
      expect(harness.calls).to.have.length(16)
      for (const id of ids.slice(0, 16)) await expectStatus(harness, id, 'delivered')
      for (const id of ids.slice(16))
        expect(await harness.event(id)).to.deep.include({
          status: 'pending',
          tries: 0,
          attempts: [],
          backlog: 'overflow',
        })
      harness.resume()
      await expectEachSentOnce(ids)
    })

  it('leaves them to another process at once, each for one call', async () => {
    await start({ processes: 2 })
    harness.respondWith('app_shop', slow.answers)
    const ids = await emitMany(100)
    await harness.passTime(SECONDS)
    expect(slow.waiting()).to.equal(32)
    harness.pause(0)
    await harness.settle()
    answerFromNowOn(200)
    await harness.passTime(2 * SECONDS)
    await expectEachSentOnce(ids)
    expect(await harness.endpoint('app_shop')).to.include({ status: 'active' })
  })

  it('makes no retry that falls due, and makes it once it is right', async () => {
    await start()
    harness.respondWith('app_shop', () => 500)
    const id = await harness.emitEvent('app_shop')
    await harness.settle()
    await harness.passTime(4_500)
    harness.pause()
    answerFromNowOn(200)
    await harness.passTime(MINUTES)
    expect(harness.callsOf(id)).to.have.length(1)
    harness.resume()
    await harness.passTime(5 * SECONDS)
    const { tries } = await harness.soon(() => expectStatus(harness, id, 'delivered'))
    expect([tries, harness.callsOf(id).length]).to.deep.equal([2, 2])
  })

  it('takes no call of another process for lost', async () => {
    await start({ withSweeper: false })
    harness.respondWith('app_shop', slow.answers)
    const id = await harness.emitEvent('app_shop')
    await harness.settle()
    await harness.crash()
    await harness.start()
    answerFromNowOn(200)
    await harness.clock.advance(MINUTES)
    harness.beforeStoreCall('events.get', async () => harness.pause())
    const reminder = { event_id: id, app_id: 'app_shop', round: 1, attempt: 1, at: harness.clock.now() }
    const handled = harness.publish(attemptMessage(reminder))
    await harness.passTime(10 * SECONDS)
    expect(await harness.event(id)).to.deep.include({ status: 'pending', tries: 1, attempts: [] })
    harness.resume()
    await harness.passTime(10 * SECONDS)
    await handled
    const { attempts } = await harness.soon(() => expectStatus(harness, id, 'delivered'))
    expect(attempts.map(({ error, status }) => error ?? status)).to.deep.equal(['unknown', 200])
  })

  for (const method of ['events.insert', 'webhooks.get'])
    it(`does not call for a new event when it is paused before ${method}`, async () => {
      await start()
      harness.beforeStoreCall(method, async () => harness.pause())
      const handled = harness.emitEvent('app_shop')
      await harness.passTime(MINUTES)
      expect(harness.calls).to.deep.equal([])
      harness.resume()
      await harness.passTime(3 * SECONDS)
      await expectEachSentOnce([await handled])
    })

  it('calls for no event of a backlog that it is just taking', async () => {
    await start()
    await harness.control.pause('app_shop')
    const id = await harness.emitEvent('app_shop')
    await harness.settle()
    harness.beforeStoreCall('events.change', async () => harness.pause())
    await harness.control.enable('app_shop')
    await harness.passTime(MINUTES)
    expect(harness.calls).to.deep.equal([])
    expect(await harness.event(id)).to.deep.include({ status: 'pending', tries: 0, backlog: 'overflow' })
    harness.resume()
    await harness.passTime(3 * SECONDS)
    await expectEachSentOnce([id])
  })
})
