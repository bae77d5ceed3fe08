// Dead letters on RabbitMQ: listing keeps their order, and requeueing loses none.
import { Buffer } from 'node:buffer'
import { expect } from 'chai'
import type { Broker } from '../../../../infra/broker/broker.ts'
import { Unavailable } from '../../../../infra/unavailable.ts'
import { AMQP_URL, onRealEngines } from '../../../support/engines.ts'
import { eventually } from '../../../support/eventually.ts'
import { promiseState } from '../../../support/promise-state.ts'
import {
  collectIds,
  createRabbitFixture,
  expectRejection,
  openRabbitBehindProxy,
  publishVia,
  type RabbitFixture,
  WEBHOOK_QUEUE,
  waitUntilUp,
  withRabbitChannel,
} from '../../../support/rabbitmq.ts'
import type { TcpProxy } from '../../../support/tcp-proxy.ts'

onRealEngines('dead letters on RabbitMQ', { AMQP_URL }, () => {
  let bench: RabbitFixture
  let proxy: TcpProxy
  let url: string
  beforeEach(async () => {
    bench = createRabbitFixture()
    ;({ proxy, url } = await openRabbitBehindProxy())
  })
  afterEach(async () => {
    await bench.close()
    await proxy.close()
  })

  const letters = Array.from({ length: 30 }, (_, index) => `l${index}`)

  /** A broker with these dead letters. */
  async function opened(options: Parameters<RabbitFixture['open']>[0] = {}): Promise<Broker> {
    const broker = bench.open(options)
    await waitUntilUp(broker)
    await withRabbitChannel(async rabbit => {
      for (const [index, id] of letters.entries())
        rabbit.sendToQueue(bench.names.dead(WEBHOOK_QUEUE), Buffer.from('1'), {
          messageId: id,
          headers: { reason: 'r', diedAt: index },
        })
      await rabbit.waitForConfirms()
    })
    return broker
  }

  const ids = async (broker: Broker, limit = 100): Promise<string[]> =>
    (await broker.dead(WEBHOOK_QUEUE).list(limit)).map(({ id }) => id)

  it('are all there, in order, after a listing whose connection was cut, for another process at once', async () => {
    const broker = await opened({ urls: [url] })
    const other = bench.open()
    await waitUntilUp(other)
    proxy.mute()
    const look = promiseState(broker.dead(WEBHOOK_QUEUE).list(10))
    proxy.cut()
    await eventually(() => expect(look.value).to.be.instanceOf(Unavailable))
    expect(await ids(other)).to.deep.equal(letters)
    proxy.heal()
    await eventually(async () => expect(await ids(broker)).to.deep.equal(letters))
  })

  it('are kept when they cannot be requeued', async () => {
    const broker = await opened({ connect: publishVia(url) })
    proxy.refuse()
    await eventually(() => expect(broker.state()).to.equal('down'))
    for (const which of [['l0', 'l1'], 'all'] as const)
      await expectRejection(broker.dead(WEBHOOK_QUEUE).requeue(which), Unavailable)
    expect(await ids(broker)).to.deep.equal(letters)
  })

  it('hold an unreadable message unchanged, with the reason', async () => {
    const broker = await opened()
    const { seen } = await collectIds(broker)
    await withRabbitChannel(async rabbit => {
      rabbit.sendToQueue(bench.names.queue(WEBHOOK_QUEUE), Buffer.from('{"half":'), { messageId: 'junk' })
      await rabbit.waitForConfirms()
    })
    await eventually(async () => expect((await broker.depth(WEBHOOK_QUEUE)).dead).to.equal(31))
    const junk = (await broker.dead(WEBHOOK_QUEUE).list(100)).at(-1)
    expect(junk).to.deep.include({ id: 'junk', body: null, content: Buffer.from('{"half":'), attempt: 1 })
    expect(junk?.reason).to.include('unreadable')
    expect(seen).to.deep.equal([])
  })

  it('can be named when another program published them without an id or with odd headers', async () => {
    const broker = bench.open()
    await waitUntilUp(broker)
    const dead = bench.names.dead(WEBHOOK_QUEUE)
    await withRabbitChannel(async rabbit => {
      rabbit.sendToQueue(dead, Buffer.from([0xff, 0x00, 0x80]))
      rabbit.sendToQueue(dead, Buffer.from('{"a":1}'), { headers: { diedAt: 1e300, attempt: 'x', 'x-death': 'odd' } })
      rabbit.sendToQueue(dead, Buffer.from('{"a":2}'), { headers: { 'x-death': [{ reason: 'rejected' }] } })
      await rabbit.waitForConfirms()
    })
    const found = await broker.dead(WEBHOOK_QUEUE).list(10)
    expect(found).to.have.length(3)
    for (const { id, diedAt, attempt } of found) {
      expect(id).to.match(/^unnamed:[0-9a-f]{32}$/)
      expect([diedAt, attempt]).to.deep.equal([0, 1])
    }
    expect(found.map(({ reason }) => reason)).to.have.members(['unknown', 'unknown', 'rejected'])
    expect(found.find(({ content }) => content)?.content).to.deep.equal(Buffer.from([0xff, 0x00, 0x80]))
    expect(await broker.dead(WEBHOOK_QUEUE).list(10)).to.deep.equal(found)
    const named = found.map(({ id }) => id)
    expect(await broker.dead(WEBHOOK_QUEUE).drop(named)).to.equal(3)
  })

  it('are all requeued, however many, a few at a time', async () => {
    const broker = bench.open()
    await waitUntilUp(broker)
    const all = Array.from({ length: 3_000 }, (_, index) => `n${index}`)
    await withRabbitChannel(async rabbit => {
      for (const id of all) rabbit.sendToQueue(bench.names.dead(WEBHOOK_QUEUE), Buffer.from('1'), { messageId: id })
      await rabbit.waitForConfirms()
    })
    expect(await broker.depth(WEBHOOK_QUEUE)).to.include({ ready: 0, dead: 3_000 })
    expect(await broker.dead(WEBHOOK_QUEUE).requeue('all')).to.equal(3_000)
    const { seen } = await collectIds(broker)
    await eventually(() => expect(seen).to.have.members(all))
    expect(await broker.depth(WEBHOOK_QUEUE)).to.include({ dead: 0 })
  })
})
