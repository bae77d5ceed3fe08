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
      for (const id of letters)
        rabbit.sendToQueue(bench.names.dead(WEBHOOK_QUEUE), Buffer.from('1'), {
          messageId: id,
          headers: { reason: 'r', diedAt: 1 },
        })
      await rabbit.waitForConfirms()
    })
    return broker
  }

  const ids = async (broker: Broker, limit = 100): Promise<string[]> =>
    (await broker.dead(WEBHOOK_QUEUE).list(limit)).map(({ id }) => id)

  it('stay in their order after any number of listings and removals', async () => {
    const broker = await opened()
    for (const limit of [3, 100, 1, 10]) expect(await ids(broker, limit)).to.deep.equal(letters.slice(0, limit))
    expect(await broker.dead(WEBHOOK_QUEUE).drop(['l1', 'l28'])).to.equal(2)
    expect(await ids(broker, 2)).to.deep.equal(['l0', 'l2'])
    expect(await broker.dead(WEBHOOK_QUEUE).requeue(['l0'])).to.equal(1)
    const left = letters.filter(id => !['l0', 'l1', 'l28'].includes(id))
    expect(await ids(broker)).to.deep.equal(left)
    expect(await broker.dead(WEBHOOK_QUEUE).count()).to.equal(left.length)
  })

  it('are all found when many callers list and repair at once', async () => {
    const broker = await opened()
    const [listed, dropped, counted, listedAgain] = await Promise.all([
      ids(broker),
      broker.dead(WEBHOOK_QUEUE).drop(['l0']),
      broker.dead(WEBHOOK_QUEUE).count(),
      ids(broker),
    ])
    expect(listed).to.deep.equal(letters)
    expect([dropped, counted]).to.deep.equal([1, 29])
    expect(listedAgain).to.deep.equal(letters.slice(1))
  })

  it('are all there, in order, after a listing whose connection was cut', async () => {
    const broker = await opened({ urls: [url] })
    proxy.mute()
    const look = promiseState(broker.dead(WEBHOOK_QUEUE).list(10))
    proxy.cut()
    await eventually(() => expect(look.value).to.be.instanceOf(Unavailable))
    proxy.heal()
    await eventually(async () => expect(await ids(broker)).to.deep.equal(letters))
  })

  it('are kept when they cannot be requeued', async () => {
    const broker = await opened({ connect: publishVia(url) })
    proxy.refuse()
    await eventually(() => expect(broker.state()).to.equal('down'))
    await expectRejection(broker.dead(WEBHOOK_QUEUE).requeue(['l0', 'l1']), Unavailable)
    expect(await ids(broker)).to.deep.equal(letters)
  })

  it('hold an unreadable message unchanged, with the reason', async () => {
    const broker = await opened()
    const { seen } = await collectIds(broker)
    await withRabbitChannel(async rabbit => {
      rabbit.sendToQueue(bench.names.queue(WEBHOOK_QUEUE), Buffer.from('{"half":'), { messageId: 'junk' })
      await rabbit.waitForConfirms()
    })
    await eventually(async () => expect(await broker.dead(WEBHOOK_QUEUE).count()).to.equal(31))
    const junk = (await broker.dead(WEBHOOK_QUEUE).list(100)).at(-1)
    expect(junk).to.deep.include({ id: 'junk', body: '{"half":', attempt: 1 })
    expect(junk?.reason).to.include('unreadable')
    expect(seen).to.deep.equal([])
  })
})
