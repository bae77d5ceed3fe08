// A work queue of the embedded broker, beyond the contract: a publish resolves when the work is done, a repeated id joins the first one,
// and retries follow the given clock.
import { expect } from 'chai'
import { type Broker, type DeliveredMessage, dead, done, type Outcome, retry } from '../../../../infra/broker/broker.ts'
import { MAX_DEAD_LETTERS } from '../../../../infra/broker/embedded/dead-letters.ts'
import { createEmbeddedBroker } from '../../../../infra/broker/embedded.ts'
import { createTopology } from '../../../../infra/broker/topology.ts'
import { Unavailable } from '../../../../infra/unavailable.ts'
import { type TestClock, testClock } from '../../../support/clock.ts'
import { promiseState } from '../../../support/promise-state.ts'

const QUEUE = 'webhook.deliver'

describe('a work queue of the embedded broker', () => {
  let clock: TestClock
  let broker: Broker
  let lines: string[]

  /** One turn settles the begun messages, the next delivers more to the consumer. */
  async function settled(): Promise<void> {
    await clock.advance(0)
    await clock.advance(0)
  }

  beforeEach(() => {
    clock = testClock()
    lines = []
    const write = (level: string) => (fields: object, event: string) =>
      void lines.push(`${level} ${event} ${'id' in fields ? fields.id : ''}`)
    const log = { warn: write('warn'), error: write('error') }
    broker = createEmbeddedBroker({ topology: createTopology({ channel: [50], webhook: [50, 150] }), clock, log })
  })
  afterEach(() => broker.close(0))

  const publish = (id: string, body: unknown = null) => promiseState(broker.publish(QUEUE, { id, body }))

  /** Consumes; the test decides every outcome. */
  async function consume(flow = { prefetch: 10, batch: 1 }) {
    const handed: { message: DeliveredMessage; end(outcome: Outcome): void }[] = []
    const consumer = await broker.consume(
      QUEUE,
      waiting =>
        Promise.all(
          waiting.map(message => new Promise<Outcome>(resolve => void handed.push({ message, end: resolve }))),
        ),
      flow,
    )
    const end = async (index: number, outcome: Outcome): Promise<void> => {
      const hand = handed[index] ?? expect.fail(`no message ${index} was handed over`)
      hand.end(outcome)
      await settled()
    }
    return { handed, consumer, end, ids: () => handed.map(({ message }) => message.id) }
  }

  describe('publishing', () => {
    it('resolves only when the handler is done or the message is dead, not while it waits for a retry', async () => {
      const { end } = await consume()
      const published = [publish('a'), publish('b')]
      const states = () => published.map(({ state }) => state)
      await settled()
      await end(0, retry(1))
      await end(1, done())
      expect(states()).to.deep.equal(['pending', 'resolved'])
      await clock.advance(50)
      expect(states()).to.deep.equal(['pending', 'resolved'])
      await end(2, dead('no use'))
      expect(states()).to.deep.equal(['resolved', 'resolved'])
    })

    it('joins a message with the same id that waits, is being handled or is to be retried', async () => {
      const waiting = [publish('a', 1), publish('a', 1)]
      const { handed, end } = await consume()
      await settled()
      const inHand = publish('a', 1)
      await end(0, retry(50))
      const delayed = publish('a', 1)
      await clock.advance(50)
      expect(handed.map(({ message }) => message.attempt)).to.deep.equal([1, 2])
      await end(1, done())
      expect([...waiting, inHand, delayed].map(({ state }) => state)).to.deep.equal(Array(4).fill('resolved'))
      expect(handed).to.have.length(2)
    })

    it('takes the same id as a new message once the first is done, and on another queue', async () => {
      const { handed, end } = await consume()
      publish('a')
      const elsewhere = promiseState(broker.publish('channel.sms', { id: 'a', body: 1 }))
      await settled()
      await end(0, done())
      expect(elsewhere.state).to.equal('pending')
      publish('a')
      await settled()
      expect(handed).to.have.length(2)
    })

    it('rejects a body that is not JSON', async () => {
      const published = publish('a', 1n)
      await settled()
      expect(published.value).to.be.instanceOf(TypeError)
      expect((await broker.depth(QUEUE)).ready).to.equal(0)
    })
  })

  it('does not count a retry as ready while it waits', async () => {
    const { end, consumer } = await consume()
    publish('a')
    await settled()
    await end(0, retry(50))
    await consumer.stop()
    expect((await broker.depth(QUEUE)).ready).to.equal(0)
    await clock.advance(50)
    expect((await broker.depth(QUEUE)).ready).to.equal(1)
  })

  describe('dead letters', () => {
    it(`are bounded: past ${MAX_DEAD_LETTERS} the oldest is dropped and logged`, async () => {
      await broker.consume(QUEUE, async waiting => waiting.map(() => dead('no use')), { prefetch: 5_000, batch: 5_000 })
      for (let index = 0; index <= MAX_DEAD_LETTERS; index += 1) publish(`m${index}`)
      while ((await broker.depth(QUEUE)).ready > 0) await settled()
      await settled()
      expect((await broker.depth(QUEUE)).dead).to.equal(MAX_DEAD_LETTERS)
      expect((await broker.dead(QUEUE).list(1))[0]?.id).to.equal('m1')
      expect(lines.filter(line => line.includes('lost'))).to.deep.equal(['error dead_letter.lost m0'])
    })

    it('that are lost with the process are said when it stops', async () => {
      await broker.consume(QUEUE, async waiting => waiting.map(() => dead('no use')), { prefetch: 10 })
      publish('a')
      await settled()
      await broker.close()
      expect(lines).to.include('error dead_letters.lost_at_stop ')
    })

    it('are logged, and each throw before', async () => {
      const handle = async ([message]: DeliveredMessage[]) => {
        if (message?.id === 'bug') throw new Error('boom')
        return [dead('no use')]
      }
      await broker.consume(QUEUE, handle, { prefetch: 1 })
      publish('bug')
      publish('hopeless')
      await settled()
      await clock.advance(50)
      expect(lines).to.deep.equal(['error message.threw bug', 'warn message.dead hopeless', 'error message.threw bug'])
    })

    it('are not requeued beside a newly published message with the same id', async () => {
      const { end, handed } = await consume()
      publish('a')
      await settled()
      await end(0, dead('no use'))
      publish('a')
      expect(await broker.dead(QUEUE).requeue(['a'])).to.equal(1)
      await settled()
      expect(handed).to.have.length(2)
      expect((await broker.depth(QUEUE)).dead).to.equal(0)
    })
  })

  describe('the oldest message', () => {
    const oldest = async () => (await broker.depth(QUEUE)).oldestMs

    it('has waited since it was published, and a retried one since its retry', async () => {
      expect(await oldest()).to.equal(null)
      publish('a')
      await clock.advance(70)
      publish('b')
      expect(await oldest()).to.equal(70)
      const { end, consumer } = await consume({ prefetch: 2, batch: 1 })
      await settled()
      expect(await oldest()).to.equal(null)
      await end(0, retry(50))
      await end(1, done())
      await consumer.stop()
      await clock.advance(60)
      expect(await oldest()).to.equal(10)
    })

    it('has waited all the time when a consumer returned it', async () => {
      publish('a')
      const { consumer } = await consume()
      await settled()
      await clock.advance(30)
      await consumer.stop(0)
      expect(await oldest()).to.equal(30)
    })
  })

  describe('stopping', () => {
    it('returns messages to the head of the queue, in their order', async () => {
      const first = await consume({ prefetch: 4, batch: 2 })
      for (const id of ['a', 'b', 'c', 'd', 'e', 'f']) publish(id)
      await settled()
      expect(first.ids()).to.deep.equal(['a', 'b', 'c', 'd'])
      const stopping = first.consumer.stop(10)
      await clock.advance(10)
      await stopping
      const second = await consume({ prefetch: 10, batch: 10 })
      await settled()
      expect(second.ids()).to.deep.equal(['a', 'b', 'c', 'd', 'e', 'f'])
      expect(second.handed.every(({ message }) => message.attempt === 1)).to.equal(true)
    })

    it('on close lets the begun message finish, and rejects those that wait or are to be retried', async () => {
      const { end } = await consume({ prefetch: 1, batch: 1 })
      const retried = publish('retried')
      const inHand = publish('in hand')
      const waiting = publish('waiting')
      await settled()
      await end(0, retry(50))
      const closing = broker.close()
      await settled()
      expect([retried, waiting].every(({ value }) => value instanceof Unavailable)).to.equal(true)
      expect(inHand.state).to.equal('pending')
      await clock.advance(50)
      expect((await broker.depth(QUEUE)).ready).to.equal(0) // the retry was cancelled
      await end(1, done())
      await closing
      expect(inHand.state).to.equal('resolved')
    })

    it('on close rejects a message whose handler asks for a retry too late', async () => {
      const { end } = await consume()
      const published = publish('a')
      await settled()
      const closing = broker.close()
      await end(0, retry(50))
      await closing
      expect(published.value).to.be.instanceOf(Unavailable)
    })

    it('on close rejects a message whose handler hangs past the grace', async () => {
      await consume()
      const published = publish('a')
      await settled()
      const closing = broker.close(10)
      await clock.advance(10)
      await closing
      expect(published.value).to.be.instanceOf(Unavailable)
    })
  })
})
