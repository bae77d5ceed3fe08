// RabbitMQ itself: it restarts, it runs out of memory, and it lists the queues as it declared them.
import { Buffer } from 'node:buffer'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { type Broker, type DeliveredMessage, done, retry } from '../../../infra/broker/broker.ts'
import { Unavailable } from '../../../infra/unavailable.ts'
import { PROJECT_ROOT } from '../../../infra/web/built-site.ts'
import { AMQP_URL, ENGINES_DIR, onRealEngines } from '../../support/engines.ts'
import { eventually } from '../../support/eventually.ts'
import { createGate } from '../../support/gate.ts'
import { promiseState } from '../../support/promise-state.ts'
import {
  CALLS_QUEUE,
  collectIds,
  createRabbitFixture,
  expectRejection,
  LONG_WAIT_MS,
  type RabbitFixture,
  serveEcho,
  WEBHOOK_QUEUE,
  waitUntilUp,
  withRabbitChannel,
} from '../../support/rabbitmq.ts'

const SCRIPT = join(PROJECT_ROOT, 'infra/engines.sh')
const engines = async (...args: string[]): Promise<string> => (await promisify(execFile)(SCRIPT, args)).stdout

onRealEngines('the broker on RabbitMQ and its engine', { AMQP_URL, ENGINES_DIR }, () => {
  let fixture: RabbitFixture
  let broker: Broker

  beforeEach(async () => {
    fixture = createRabbitFixture()
    broker = fixture.open({ confirmMs: LONG_WAIT_MS })
    await waitUntilUp(broker)
  })
  afterEach(() => fixture.close())

  it('reconnect after a restart, with every message that was confirmed before', async () => {
    const ids = Array.from({ length: 100 }, (_, index) => `m${index}`)
    await Promise.all(ids.map(id => broker.publish(WEBHOOK_QUEUE, { id, body: 1 })))
    const server = await serveEcho(broker)
    const restarted = promiseState(engines('restart', 'rabbitmq'))
    await eventually(() => expect([broker.state(), server.attached()]).to.deep.equal(['down', false]))
    await expectRejection(broker.publish(WEBHOOK_QUEUE, { id: 'lost', body: 1 }), Unavailable)
    await eventually(() => expect(restarted).to.include({ state: 'resolved' }))
    await waitUntilUp(broker)
    await eventually(() => expect(server.attached()).to.equal(true))
    expect(await broker.request(CALLS_QUEUE, { id: 'c', body: 'again' }, LONG_WAIT_MS)).to.equal('again')
    const { seen } = await collectIds(broker)
    await eventually(() => expect(seen).to.have.members(ids))
  })

  describe('when memory runs out', () => {
    const watermark = (fraction: string) => engines('rabbitmqctl', 'set_vm_memory_high_watermark', fraction)
    afterEach(() => watermark('0.4'))

    /** RabbitMQ blocks a connection only when it publishes. */
    const publishUntilBlocked = () =>
      eventually(async () => {
        await broker.publish('channel.email', { id: 'e', body: 1 }).catch(() => {})
        expect(broker.state()).to.equal('blocked')
      })

    it('refuse publishes and requests at once, go on consuming, and lose no outcome', async () => {
      const attempts: number[] = []
      const { released, release } = createGate()
      await broker.consume(
        WEBHOOK_QUEUE,
        async ([message]) => {
          attempts.push(message?.attempt ?? 0)
          await released
          return [attempts.length === 1 ? retry(1) : done()]
        },
        { prefetch: 1 },
      )
      await broker.publish(WEBHOOK_QUEUE, { id: 'to retry', body: 1 })
      await broker.publish('channel.sms', { id: 'waits', body: 1 })
      await eventually(() => expect(attempts).to.deep.equal([1]))

      await watermark('0.00001')
      await publishUntilBlocked()
      await expectRejection(broker.publish(WEBHOOK_QUEUE, { id: 'b', body: 1 }), Unavailable)
      await expectRejection(broker.request(CALLS_QUEUE, { id: 'c', body: 1 }, LONG_WAIT_MS), Unavailable)
      const seen: string[] = []
      const handle = async (waiting: DeliveredMessage[]) => {
        seen.push(...waiting.map(({ id }) => id))
        return waiting.map(done)
      }
      await broker.consume('channel.sms', handle, { prefetch: 1 })
      await eventually(() => expect(seen).to.deep.equal(['waits']))
      release()

      await watermark('0.4')
      await waitUntilUp(broker)
      await eventually(() => expect(attempts).to.deep.equal([1, 2]))
      await broker.publish(WEBHOOK_QUEUE, { id: 'after', body: 1 })
      await eventually(() => expect(attempts).to.deep.equal([1, 2, 1]))
    })

    it('reject requests that wait for an answer', async () => {
      const request = promiseState(broker.request(CALLS_QUEUE, { id: 'c', body: 1 }, LONG_WAIT_MS))
      await watermark('0.00001')
      await publishUntilBlocked()
      await eventually(() => expect(request.value).to.be.instanceOf(Unavailable))
    })
  })

  describe('agree on the queues', () => {
    interface Listed {
      name: string
      type: string
      durable: boolean
      arguments: [string, string, string | number][]
    }

    it('with their types and arguments', async () => {
      const columns = ['name', 'type', 'durable', 'arguments']
      const listed = JSON.parse(await engines('rabbitmqctl', 'list_queues', '--formatter', 'json', ...columns))
      const found = new Map(
        (listed as Listed[])
          .filter(({ name }) => name.startsWith(fixture.prefix))
          .map(({ name, type, durable, arguments: args }) => [
            name,
            { type, durable, ...Object.fromEntries(args.map(([key, , value]) => [key, value])) },
          ]),
      )
      const deadLettersTo = (target: string) => ({
        type: 'quorum',
        durable: true,
        'x-queue-type': 'quorum',
        'x-dead-letter-exchange': '',
        'x-dead-letter-routing-key': target,
        'x-dead-letter-strategy': 'at-least-once',
        'x-overflow': 'reject-publish',
      })
      const { names } = fixture
      expect(found.get(names.queue(WEBHOOK_QUEUE))).to.deep.equal({
        ...deadLettersTo(names.dead(WEBHOOK_QUEUE)),
        'x-delivery-limit': 20,
      })
      expect(found.get(names.wait(WEBHOOK_QUEUE, 400))).to.deep.equal({
        ...deadLettersTo(names.queue(WEBHOOK_QUEUE)),
        'x-message-ttl': 400,
      })
      expect(found.get(names.dead(WEBHOOK_QUEUE))).to.include({ type: 'quorum', durable: true })
      expect(found.get(names.queue(CALLS_QUEUE))).to.include({ type: 'classic', durable: false })
      // Five for calls (the OTP actor's and each channel's), and for each of the six work queues itself, its dead letters and
      // its delays: 3 + 4 × 1 + 2.
      expect(found.size).to.equal(5 + 6 * 2 + 9)
    })

    it('and keep a retry that falls due while its queue is missing until the queue is back', async () => {
      // RabbitMQ tries again after three minutes by default; queues take the setting of the time they are declared at.
      const setConfirmTimeout = (ms: number) =>
        engines(
          'rabbitmqctl',
          'eval',
          `application:set_env(rabbit, dead_letter_worker_publisher_confirm_timeout, ${ms}).`,
        )
      await setConfirmTimeout(200)
      await fixture.close()
      fixture = createRabbitFixture()
      broker = fixture.open()
      await waitUntilUp(broker)
      await setConfirmTimeout(180_000)
      const { names } = fixture
      await withRabbitChannel(async channel => {
        await channel.deleteQueue(names.queue(WEBHOOK_QUEUE))
        channel.sendToQueue(names.wait(WEBHOOK_QUEUE, 50), Buffer.from('1'), { messageId: 'kept', persistent: true })
        await channel.waitForConfirms()
        await eventually(async () =>
          expect(await channel.checkQueue(names.wait(WEBHOOK_QUEUE, 50))).to.include({ messageCount: 0 }),
        )
      })
      const { seen } = await collectIds(broker)
      await eventually(() => expect(seen).to.deep.equal(['kept']))
    })
  })
})
