import { expect } from 'chai'
import {
  type Broker,
  CallFailed,
  CallTimeout,
  type DeliveredMessage,
  dead,
  done,
  retry,
  threw,
  Unroutable,
  unreadable,
} from '../../../infra/broker/broker.ts'
import { createEmbeddedBroker } from '../../../infra/broker/embedded.ts'
import { instrumentBroker, showQueues } from '../../../infra/broker/metrics.ts'
import { QUEUES, WORK_QUEUES } from '../../../infra/broker/topology.ts'
import { createMetrics } from '../../../infra/metrics.ts'
import { Unavailable } from '../../../infra/unavailable.ts'
import { CONTRACT_TOPOLOGY } from '../../contract/broker.contract.ts'
import { testClock } from '../../support/clock.ts'
import { eventually } from '../../support/eventually.ts'

describe('measured broker', () => {
  function open(own: Partial<Broker> = {}) {
    const clock = testClock()
    const metrics = createMetrics()
    const inner: Broker = { ...createEmbeddedBroker({ topology: CONTRACT_TOPOLOGY, clock }), ...own }
    const broker = instrumentBroker(inner, metrics, clock)
    let shown = true
    showQueues(broker, metrics, clock, () => shown)
    const hideQueues = () => {
      shown = false
    }
    const reading = async () => (await metrics.render()).body.split('\n').filter(line => line && !line.startsWith('#'))
    return { broker, clock, reading, hideQueues }
  }
  const message = (id: string) => ({ id, body: {} })

  it('counts messages by outcome', async () => {
    const { broker, clock, reading } = open()
    const outcomes = [done(), dead('bad'), retry(50), done()]
    await broker.consume('channel.sms', async () => [outcomes.shift() ?? done()], { prefetch: 1 })
    const publishes = ['a', 'b', 'c'].map(id => broker.publish('channel.sms', message(id)))
    await eventually(() => expect(outcomes).to.have.length(1))
    await clock.advance(50)
    await Promise.all(publishes)
    const counted = (await reading()).filter(line => line.startsWith('countersign_broker_messages_total'))
    expect(counted).to.have.members([
      'countersign_broker_messages_total{queue="channel.sms",outcome="published"} 3',
      'countersign_broker_messages_total{queue="channel.sms",outcome="done"} 2',
      'countersign_broker_messages_total{queue="channel.sms",outcome="retry"} 1',
      'countersign_broker_messages_total{queue="channel.sms",outcome="dead"} 1',
    ])
    expect(await reading()).to.include('countersign_broker_handle_seconds_count{queue="channel.sms"} 4')
    await broker.close(0)
  })

  it('observes how long a message waited for its first delivery, and leaves out retries', async () => {
    const { broker, clock, reading } = open()
    const published = broker.publish('channel.sms', message('a'))
    await clock.advance(3000)
    const outcomes = [retry(100), done()]
    await broker.consume('channel.sms', async () => [outcomes.shift() ?? done()], { prefetch: 1 })
    await eventually(() => expect(outcomes).to.have.length(1))
    await clock.advance(100)
    await published
    const lines = await reading()
    expect(lines).to.include('countersign_broker_wait_seconds_sum{queue="channel.sms"} 3')
    expect(lines).to.include('countersign_broker_wait_seconds_count{queue="channel.sms"} 1')
    await broker.close(0)
  })

  it('counts the messages that died by queue and cause, from 0 on', async () => {
    const { broker, clock, reading } = open()
    let thrown = 0
    const handle = async ([message]: DeliveredMessage[]) => {
      if (message?.id === 'hopeless') return [dead('no use')]
      if (message?.id === 'junk') return [unreadable('not ours')]
      thrown += 1
      if (message?.id === 'bug2') return [threw(new Error('bug'))]
      throw new Error('bug')
    }
    await broker.consume('channel.sms', handle, { prefetch: 1 })
    const died = (cause: string, count: number) =>
      `countersign_messages_died_total{queue="channel.sms",cause="${cause}"} ${count}`
    expect(await reading()).to.include.members([died('gave_up', 0), died('threw', 0), died('unreadable', 0)])
    for (const id of ['hopeless', 'junk']) await broker.publish('channel.sms', message(id))
    const dying = Promise.all(['bug', 'bug2'].map(id => broker.publish('channel.sms', message(id))))
    await eventually(async () => {
      await clock.advance(10)
      expect((await broker.depth('channel.sms')).dead).to.equal(4)
    })
    await dying
    expect(await reading()).to.include.members([
      died('gave_up', 1),
      died('unreadable', 1),
      died('threw', 2),
      died('delivery_limit', 0),
      'countersign_queue_dead_letters{queue="channel.sms"} 4',
      `countersign_broker_messages_total{queue="channel.sms",outcome="threw"} ${thrown}`,
      'countersign_messages_died_total{queue="otp.calls",cause="unreadable"} 0',
    ])
    await broker.close(0)
  })

  it('observes calls and failed publishes by outcome', async () => {
    const endings = [new CallTimeout(), new CallFailed(), new Unavailable()]
    const failures = [new Unroutable(), new Unavailable(), new Error('odd')]
    const { broker, reading } = open({
      request: async () => (endings[0] ? Promise.reject(endings.shift()) : 'answer'),
      publish: async () => Promise.reject(failures.shift()),
    })
    const caught = (call: Promise<unknown>) => call.catch((thrown: unknown) => thrown)
    for (const failure of [...endings])
      expect(await caught(broker.request('otp.calls', message('a'), 100))).to.equal(failure)
    expect(await broker.request('otp.calls', message('a'), 100)).to.equal('answer')
    for (const failure of [...failures])
      expect(await caught(broker.publish('channel.email', message('a')))).to.equal(failure)
    const lines = await reading()
    for (const outcome of ['timeout', 'failed', 'unavailable', 'answered'])
      expect(lines).to.include(`countersign_calls_total{queue="otp.calls",outcome="${outcome}"} 1`)
    expect(lines).to.include('countersign_call_duration_seconds_count{queue="otp.calls"} 4')
    for (const outcome of ['unroutable', 'unavailable', 'failed'])
      expect(lines).to.include(`countersign_broker_messages_total{queue="channel.email",outcome="${outcome}"} 1`)
    expect(lines.filter(line => line.includes('published'))).to.deep.equal([])
  })

  it('shows the queues in one process only, which may change', async () => {
    const { broker, reading, hideQueues } = open()
    const queues = async () => (await reading()).filter(line => /^countersign_queue_(ready|consumers|dead)/.test(line))
    expect(await queues()).to.have.length(2 * QUEUES.length + WORK_QUEUES.length)
    hideQueues()
    expect(await queues()).to.deep.equal([])
    await broker.close(0)
  })

  it('shows how long the next message has waited at most, where the broker cannot say', async () => {
    let ready = 0
    const { broker, clock, reading } = open({
      depth: async () => ({ ready, consumers: 1, dead: 0, oldestMs: null, brokerName: 'q' }),
    })
    const oldest = async () => (await reading()).filter(line => line.startsWith('countersign_queue_oldest_seconds'))
    expect(await oldest(), 'nothing is consumed here').to.deep.equal([])
    await broker.consume('channel.sms', async () => [done()], { prefetch: 1 })
    const of = (seconds: number) => [`countersign_queue_oldest_seconds{queue="channel.sms"} ${seconds}`]
    await clock.advance(60_000)
    expect(await oldest()).to.deep.equal(of(0))
    ready = 2
    await clock.advance(5_000)
    expect(await oldest(), 'it came after the queue was seen empty').to.deep.equal(of(5))
    await broker.publish('channel.sms', message('a'))
    await clock.advance(3_000)
    expect(await oldest(), 'it came after the one that was taken').to.deep.equal(of(3))
    await broker.close(0)
  })

  it('shows no rising age while retried messages are taken', async () => {
    const { broker, clock, reading } = open({
      depth: async () => ({ ready: 1, consumers: 1, dead: 0, oldestMs: null, brokerName: 'q' }),
    })
    const published = broker.publish('channel.sms', message('a'))
    await clock.advance(60_000)
    const outcomes = [retry(100), done()]
    await broker.consume('channel.sms', async () => [outcomes.shift() ?? done()], { prefetch: 1 })
    await eventually(() => expect(outcomes).to.have.length(1))
    await clock.advance(100)
    await published
    await eventually(() => expect(outcomes).to.have.length(0))
    await clock.advance(2_000)
    expect(await reading()).to.include('countersign_queue_oldest_seconds{queue="channel.sms"} 2')
    await broker.close(0)
  })

  it('asks for the ages of all queues at once', async () => {
    const asked: string[] = []
    const { broker, clock, reading, hideQueues } = open({
      depth: queue => {
        asked.push(queue)
        return new Promise(() => {})
      },
    })
    hideQueues()
    for (const queue of ['channel.sms', 'channel.email'] as const)
      await broker.consume(queue, async () => [done()], { prefetch: 1 })
    const pending = reading()
    await eventually(() => expect(asked).to.have.members(['channel.sms', 'channel.email']))
    await clock.advance(2_000)
    await pending
    await broker.close(0)
  })

  it('reads state and depth at each scrape, and leaves out depths that the broker has not answered lately', async () => {
    let failing = false
    const { broker, clock, reading } = open({
      state: () => (failing ? 'blocked' : 'up'),
      depth: async queue => {
        const [ready, dead] = queue === 'channel.sms' ? [7, 2] : [0, 0]
        if (!failing)
          return { ready, consumers: queue === 'channel.sms' ? 0 : 3, dead, oldestMs: null, brokerName: null }
        return queue === 'otp.calls' ? new Promise(() => {}) : Promise.reject(new Unavailable())
      },
    })
    const before = await reading()
    expect(before).to.include('countersign_queue_ready{queue="channel.sms"} 7')
    expect(before.filter(line => line.startsWith('countersign_queue_ready'))).to.have.length(QUEUES.length)
    expect(before).to.include.members([
      'countersign_queue_consumers{queue="channel.sms"} 0',
      'countersign_queue_consumers{queue="otp.calls"} 3',
      'countersign_queue_dead_letters{queue="channel.sms"} 2',
    ])
    expect(before.filter(line => line.startsWith('countersign_queue_dead_letters'))).to.have.length(WORK_QUEUES.length)
    expect(before).to.include.members([
      'countersign_broker_state{state="up"} 1',
      'countersign_broker_state{state="blocked"} 0',
    ])
    failing = true
    await clock.advance(5_000)
    const pending = reading()
    await clock.advance(500)
    const after = await pending
    expect(after.filter(line => /^countersign_queue_(ready|consumers|dead)/.test(line))).to.deep.equal([])
    expect(after).to.include.members([
      'countersign_broker_state{state="up"} 0',
      'countersign_broker_state{state="blocked"} 1',
    ])
    await broker.close(0)
  })
})
