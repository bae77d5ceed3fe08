// A channel process that is told to stop, or whose clock is wrong, while messages wait for a slot of their provider.
import { expect } from 'chai'
import type { Broker, Consumer, DeliveredMessage, Outcome } from '../../../infra/broker/broker.ts'
import { readConfig } from '../../../infra/config/config.ts'
import type { Service } from '../../../infra/host.ts'
import { createMetrics } from '../../../infra/metrics.ts'
import { createChannelService } from '../../../services/channel/service.ts'
import type { CountersignStore } from '../../../services/domain/collections.ts'
import { createCapturedLog } from '../../support/captured-log.ts'
import { GATEWAY } from '../../support/channel-actor.ts'
import { type TestClock, testClock } from '../../support/clock.ts'
import { promiseState } from '../../support/promise-state.ts'
import { createTenant, deliverBody, insertOtp, lastDelivery } from '../../support/queued-otps.ts'
import { onEmbeddedStore } from '../../support/stores.ts'
import { testKeyring } from '../../support/tenancy.ts'
import { fakeConsumer } from '../../support/test-host.ts'

/** After so long a message stops waiting. The timer shows that it waits. */
const MAX_WAIT_MS = 5_000

/** At once, or as soon as the queue's delays allow. */
const BUSY = { kind: 'retry', afterMs: 0 }

/** A channel whose provider allows one call at once, and never answers. */
async function startChannel(store: CountersignStore) {
  const stopped = testClock()
  let waiting = 0
  const clock: TestClock = {
    ...stopped,
    after(ms, task) {
      if (ms === MAX_WAIT_MS) waiting += 1
      return stopped.after(ms, task)
    },
  }
  const context = { store, keyring: testKeyring(), clock }
  await createTenant(context, GATEWAY)
  let calls = 0
  let handle: (messages: DeliveredMessage[]) => Promise<Outcome[]> = () => Promise.reject(new Error('not attached'))
  const broker: Pick<Broker, 'consume' | 'serve'> = {
    async consume(_queue, handler) {
      handle = handler
      return fakeConsumer()
    },
    serve: async () => fakeConsumer(),
  }
  const service: Service = createChannelService('sms')({
    ...context,
    config: readConfig({ PROVIDER_CALLS: '1' }, []),
    broker: broker as Broker,
    log: createCapturedLog().log,
    metrics: createMetrics(),
    outbound: {
      request() {
        calls += 1
        return new Promise(() => {})
      },
      resolve: () => Promise.reject(new Error('no call but to the gateway is expected')),
      close: async () => {},
    },
  })
  const [consumer] = (await service.attach?.()) ?? []
  async function deliver(): Promise<Outcome | undefined> {
    const doc = await insertOtp(context, { mode: 'live' })
    const { delivery_id } = lastDelivery(doc)
    const message = {
      id: delivery_id,
      body: deliverBody(doc),
      attempt: 1,
      redelivered: false,
      publishedAt: clock.now(),
    }
    return (await handle([message]))[0]
  }
  void deliver()
  while (calls === 0) await clock.advance(0)
  return {
    service,
    consumer: consumer as Consumer,
    deliver,
    /** Delivers one more message, and returns once it waits or has come back. */
    async deliverAndWait() {
      const [before, outcome] = [waiting, deliver()]
      const state = promiseState(outcome)
      while (waiting === before && state.state === 'pending') await clock.advance(0)
      return { outcome, state }
    },
  }
}

onEmbeddedStore('a channel process with messages that wait for a slot', fresh => {
  for (const [what, end] of [
    ['stopped', ({ consumer }) => void consumer.stop(4_000)],
    ['paused', ({ service }) => service.pause?.()],
  ] as [string, (channel: Awaited<ReturnType<typeof startChannel>>) => void][])
    it(`returns them to the broker at once when it is ${what}, and lets no other wait`, async () => {
      const channel = await startChannel(await fresh())
      const { outcome, state } = await channel.deliverAndWait()
      expect(state.state).to.equal('pending')
      end(channel)
      expect(await outcome).to.deep.equal(BUSY)
      expect(await channel.deliver()).to.deep.equal(BUSY)
    })

  it('lets them wait again once its clock is right', async () => {
    const channel = await startChannel(await fresh())
    channel.service.pause?.()
    channel.service.resume?.()
    const { state } = await channel.deliverAndWait()
    expect(state.state).to.equal('pending')
  })
})
