// Processes that consume: one is killed while it handles messages, one dies on the same message again and again, one ends when it should.
import { join } from 'node:path'
import { expect } from 'chai'
import type { Death } from '../../../infra/broker/broker.ts'
import { spawnChild } from '../../support/child.ts'
import { AMQP_URL, onRealEngines } from '../../support/engines.ts'
import { eventually } from '../../support/eventually.ts'
import {
  collectIds,
  createRabbitFixture,
  type RabbitFixture,
  WEBHOOK_QUEUE,
  waitUntilUp,
} from '../../support/rabbitmq.ts'

const SCRIPT = join(import.meta.dirname, 'broker.amqp.child.js')

onRealEngines('the broker on RabbitMQ in a process that ends', { AMQP_URL }, () => {
  let fixture: RabbitFixture
  beforeEach(() => {
    fixture = createRabbitFixture()
  })
  afterEach(() => fixture.close())

  const run = (args: string[], env: Record<string, string> = {}) =>
    spawnChild(SCRIPT, { url: AMQP_URL ?? '', prefix: fixture.prefix, ...env }, args)

  it('loses no message when it is killed: another process gets those it was handling', async () => {
    const broker = fixture.open()
    await waitUntilUp(broker)
    const ids = Array.from({ length: 10 }, (_, index) => `m${index}`)
    await Promise.all(ids.map(id => broker.publish(WEBHOOK_QUEUE, { id, body: 1 })))
    const killed = run(['hold'])
    await killed.waitForLine(line => line === 'm9')
    const { seen } = await collectIds(broker)
    expect(seen).to.deep.equal([])
    killed.process.kill('SIGKILL')
    await eventually(() => expect(seen).to.have.members(ids))
  })

  it('makes a message that keeps killing its consumers a dead letter', async () => {
    const deliveryLimit = 2
    const broker = fixture.open({ deliveryLimit })
    await waitUntilUp(broker)
    await broker.publish(WEBHOOK_QUEUE, { id: 'poison', body: { kills: true } })
    const victims = Array.from({ length: deliveryLimit }, () => run(['die'], { deliveryLimit: `${deliveryLimit}` }))
    for (const { exited } of victims) expect(await exited).to.deep.equal({ code: null, signal: 'SIGKILL' })
    // The next consumer makes it a dead letter before a handler gets it.
    const deaths: Death[] = []
    broker.onDeath(death => void deaths.push(death))
    const { seen } = await collectIds(broker)
    await eventually(async () => expect((await broker.depth(WEBHOOK_QUEUE)).dead).to.equal(1))
    expect(seen).to.deep.equal([])
    expect(deaths.map(({ id, cause }) => [id, cause])).to.deep.equal([['poison', 'delivery_limit']])
    const [letter] = await broker.dead(WEBHOOK_QUEUE).list(10)
    expect(letter).to.deep.include({ id: 'poison', body: { kills: true }, attempt: 1 })
    expect(letter?.reason).to.include('delivery_limit')
    expect(letter?.diedAt).to.be.greaterThan(Date.UTC(2020))
    expect(await broker.dead(WEBHOOK_QUEUE).requeue(['poison'])).to.equal(1)
    await eventually(() => expect(seen).to.deep.equal(['poison']))
  })

  for (const [state, url] of [
    ['attached', AMQP_URL],
    ['never connected', 'amqp://127.0.0.1:1'],
  ] as const)
    it(`ends by itself after close (${state})`, async () => {
      await waitUntilUp(fixture.open())
      const closing = run(['close', state], { url: url ?? '' })
      expect(await closing.exited).to.deep.equal({ code: 0, signal: null })
      expect(closing.lines).to.include('closed')
    })
})
