// The connection to RabbitMQ is not there yet, is cut, or goes silent: the adapter reports it at once, loses nothing, and recovers by
// itself.
import { expect } from 'chai'
import { CallTimeout, type DeliveredMessage, done, retry } from '../../../infra/broker/broker.ts'
import type { Queue } from '../../../infra/broker/topology.ts'
import { Unavailable } from '../../../infra/unavailable.ts'
import { createCapturedLog } from '../../support/captured-log.ts'
import { AMQP_URL, onRealEngines } from '../../support/engines.ts'
import { eventually } from '../../support/eventually.ts'
import { createGate } from '../../support/gate.ts'
import { promiseState } from '../../support/promise-state.ts'
import {
  CALLS_QUEUE,
  collectIds,
  createRabbitFixture,
  expectRejection,
  LONG_WAIT_MS,
  openRabbitBehindProxy,
  publishVia,
  type RabbitFixture,
  serveEcho,
  WEBHOOK_QUEUE,
  waitUntilUp,
  withRabbitChannel,
} from '../../support/rabbitmq.ts'
import type { TcpProxy } from '../../support/tcp-proxy.ts'

onRealEngines('the broker on RabbitMQ, when its connection', { AMQP_URL }, () => {
  let fixture: RabbitFixture
  let proxy: TcpProxy
  let url: string

  beforeEach(async () => {
    fixture = createRabbitFixture()
    ;({ proxy, url } = await openRabbitBehindProxy())
  })
  afterEach(async () => {
    await fixture.close()
    await proxy.close()
  })

  it('comes later than the start, refuses everything at once until then, and works afterwards', async () => {
    proxy.refuse()
    const broker = fixture.open({ urls: [url] })
    expect(broker.state()).to.equal('down')
    await expectRejection(broker.publish(WEBHOOK_QUEUE, { id: 'early', body: 1 }), Unavailable)
    await expectRejection(broker.request(CALLS_QUEUE, { id: 'early', body: 1 }, LONG_WAIT_MS), Unavailable)
    await expectRejection(broker.depth(WEBHOOK_QUEUE), Unavailable)
    await expectRejection(broker.dead(WEBHOOK_QUEUE).list(10), Unavailable)
    const collecting = collectIds(broker)
    proxy.heal()
    await waitUntilUp(broker)
    const { seen, consumer } = await collecting
    expect(consumer.attached()).to.equal(true)
    await broker.publish(WEBHOOK_QUEUE, { id: 'a', body: 1 })
    await eventually(() => expect(seen).to.deep.equal(['a']))
  })

  it('is lost, detaches consumers and refuses publishes, and serves consumers again once it is back', async () => {
    const broker = fixture.open({ urls: [url] })
    const { seen, consumer } = await collectIds(broker)
    const server = await serveEcho(broker)
    await waitUntilUp(broker)
    proxy.refuse()
    await eventually(() =>
      expect([broker.state(), consumer.attached(), server.attached()]).to.deep.equal(['down', false, false]),
    )
    await expectRejection(broker.publish(WEBHOOK_QUEUE, { id: 'lost', body: 1 }), Unavailable)
    proxy.heal()
    await waitUntilUp(broker)
    await eventually(() => expect([consumer.attached(), server.attached()]).to.deep.equal([true, true]))
    await broker.publish(WEBHOOK_QUEUE, { id: 'a', body: 1 })
    await eventually(() => expect(seen).to.deep.equal(['a']))
    expect(await broker.request(CALLS_QUEUE, { id: 'c', body: 'again' }, LONG_WAIT_MS)).to.equal('again')
  })

  it('is cut, rejects at once what waits for a confirm or an answer', async () => {
    const broker = fixture.open({ urls: [url], confirmMs: LONG_WAIT_MS })
    await waitUntilUp(broker)
    proxy.mute()
    const waiting = [
      promiseState(broker.publish(WEBHOOK_QUEUE, { id: 'a', body: 1 })),
      promiseState(broker.request(CALLS_QUEUE, { id: 'c', body: 1 }, LONG_WAIT_MS)),
      promiseState(broker.dead(WEBHOOK_QUEUE).list(10)),
      promiseState(broker.depth(WEBHOOK_QUEUE)),
    ]
    // RabbitMQ has the message, and its confirm is on the connection that will be cut.
    await eventually(async () =>
      expect(await withRabbitChannel(channel => channel.checkQueue(fixture.names.queue(WEBHOOK_QUEUE)))).to.include({
        messageCount: 1,
      }),
    )
    expect(waiting.map(({ state }) => state)).to.deep.equal(Array(4).fill('pending'))
    proxy.cut()
    await eventually(() => {
      for (const { value } of waiting) expect(value).to.be.instanceOf(Unavailable)
    })
  })

  it('goes silent, notices by the heartbeat', async () => {
    const broker = fixture.open({ urls: [`${url}?heartbeat=1`], confirmMs: LONG_WAIT_MS })
    const { seen, consumer } = await collectIds(broker)
    await waitUntilUp(broker)
    proxy.mute()
    const publish = promiseState(broker.publish(WEBHOOK_QUEUE, { id: 'a', body: 1 }))
    await eventually(() => {
      expect(publish.value).to.be.instanceOf(Unavailable)
      expect(broker.state()).to.equal('down')
      expect(consumer.attached()).to.equal(false)
    })
    proxy.heal()
    await waitUntilUp(broker)
    await eventually(() => expect(seen).to.deep.equal(['a']))
  })

  it('lives but brings no confirm, rejects the publish after a while', async () => {
    const broker = fixture.open({ urls: [url], confirmMs: 50 })
    await waitUntilUp(broker)
    proxy.mute()
    await expectRejection(broker.publish(WEBHOOK_QUEUE, { id: 'a', body: 1 }), Unavailable)
    expect(broker.state()).to.equal('up')
  })

  for (const side of ['both connections', 'the publishing connection'] as const)
    it(`brings no message back on ${side}, fails the round trip within its budget, and brings the next one back`, async () => {
      const broker = fixture.open(side === 'both connections' ? { urls: [url] } : { connect: publishVia(url) })
      await waitUntilUp(broker)
      await broker.roundTrip(LONG_WAIT_MS)
      proxy.stall()
      await expectRejection(broker.roundTrip(100), CallTimeout)
      expect(broker.state(), 'still connected').to.equal('up')
      proxy.heal()
      await broker.roundTrip(LONG_WAIT_MS)
      const cut = broker.roundTrip(LONG_WAIT_MS)
      proxy.refuse()
      await cut.catch(error => expect(error).to.be.instanceOf(Unavailable))
      await eventually(() => expectRejection(broker.roundTrip(100), Unavailable))
      proxy.heal()
      await waitUntilUp(broker)
      await eventually(() => broker.roundTrip(LONG_WAIT_MS))
    })

  it('is lost for publishing alone, keeps consumers attached, and publishes a retry once the connection is back', async () => {
    const broker = fixture.open({ connect: publishVia(url) })
    await waitUntilUp(broker)
    const { released, release } = createGate()
    const attempts: number[] = []
    const consumer = await broker.consume(
      WEBHOOK_QUEUE,
      async ([message]) => {
        attempts.push(message?.attempt ?? 0)
        await released
        return [attempts.length === 1 ? retry(1) : done()]
      },
      { prefetch: 1 },
    )
    await broker.publish(WEBHOOK_QUEUE, { id: 'a', body: 1 })
    await eventually(() => expect(attempts).to.deep.equal([1]))
    proxy.refuse()
    await eventually(() => expect(broker.state()).to.equal('down'))
    release()
    expect(await broker.depth(WEBHOOK_QUEUE)).to.include({ ready: 0, consumers: 1 })
    expect(consumer.attached()).to.equal(true)
    proxy.heal()
    await eventually(() => expect(attempts).to.deep.equal([1, 2]))
    await consumer.stop()
    await eventually(async () => expect(await broker.depth(WEBHOOK_QUEUE)).to.include({ ready: 0, consumers: 0 }))
  })

  it('comes later for publishing than for consuming, at the start or after a loss, delivers nothing until both are there', async () => {
    const { log, lines } = createCapturedLog()
    const other = fixture.open()
    await waitUntilUp(other)
    await other.publish(WEBHOOK_QUEUE, { id: 'a', body: 1 })
    proxy.refuse()
    const broker = fixture.open({ connect: publishVia(url), log })
    const attempts: number[] = []
    const handle = async ([message]: DeliveredMessage[]) => [
      attempts.push(message?.attempt ?? 0) % 2 ? retry(1) : done(),
    ]
    const attaching = [broker.consume(WEBHOOK_QUEUE, handle, { prefetch: 1 }), serveEcho(broker)]
    /** Each question takes as many round trips as a consumer needs to attach. */
    const expectNoConsumer = async (queue: Queue) => {
      for (let asked = 0; asked < 20; asked += 1)
        expect(await eventually(() => broker.depth(queue))).to.include({ consumers: 0 })
    }
    await expectNoConsumer(WEBHOOK_QUEUE)
    await expectNoConsumer(CALLS_QUEUE)
    proxy.heal()
    const [consumer] = await Promise.all(attaching)
    await eventually(() => expect(attempts).to.deep.equal([1, 2]))

    proxy.refuse()
    await eventually(() => expect(broker.state()).to.equal('down'))
    await withRabbitChannel(channel => channel.deleteQueue(fixture.names.queue(WEBHOOK_QUEUE)))
    await eventually(() => expect(consumer?.attached()).to.equal(false))
    await expectNoConsumer(WEBHOOK_QUEUE)
    proxy.heal()
    await eventually(() => expect(consumer?.attached()).to.equal(true))
    await broker.publish(WEBHOOK_QUEUE, { id: 'b', body: 1 })
    await eventually(() => expect(attempts).to.deep.equal([1, 2, 1, 2]))
    expect(lines().filter(({ msg }) => msg === 'broker.outcome_not_saved')).to.deep.equal([])
  })

  it('is cut five times under load, handles every message whose publish resolved', async () => {
    const broker = fixture.open({ urls: [url] })
    const seen = new Set<string>()
    await broker.consume(
      WEBHOOK_QUEUE,
      async waiting => {
        for (const { id } of waiting) seen.add(id)
        return waiting.map(done)
      },
      { prefetch: 20, batch: 5 },
    )
    await waitUntilUp(broker)
    const safe: string[] = []
    let next = 0
    let cutting = true
    const publisher = async (): Promise<void> => {
      while (cutting) {
        const id = `m${next++}`
        await broker.publish(WEBHOOK_QUEUE, { id, body: next }).then(
          () => safe.push(id),
          () => waitUntilUp(broker),
        )
      }
    }
    const publishers = Array.from({ length: 8 }, publisher)
    for (let cuts = 1; cuts <= 5; cuts += 1) {
      await eventually(() => expect(safe.length).to.be.at.least(cuts * 100))
      proxy.cut()
    }
    await eventually(() => expect(safe.length).to.be.at.least(600))
    cutting = false
    await Promise.all(publishers)
    await eventually(() => expect(safe.filter(id => !seen.has(id))).to.deep.equal([]))
    expect(next).to.be.greaterThan(safe.length)
    expect((await eventually(() => broker.depth(WEBHOOK_QUEUE))).dead).to.equal(0)
  })
})
