// Several nodes of RabbitMQ, some of which refuse, never answer or die. Each node is a proxy in front of the one RabbitMQ of the tests.
import { expect } from 'chai'
import { createCapturedLog } from '../../support/captured-log.ts'
import { AMQP_URL, onRealEngines } from '../../support/engines.ts'
import { eventually } from '../../support/eventually.ts'
import {
  collectIds,
  createRabbitFixture,
  openRabbitBehindProxy,
  type RabbitFixture,
  WEBHOOK_QUEUE,
  waitUntilUp,
} from '../../support/rabbitmq.ts'
import type { TcpProxy } from '../../support/tcp-proxy.ts'

const CONNECT_MS = 1_000
/** A process that waits for one node, instead of going on to the next, would wait longer than a test may take. */
const SLOW_BACKOFF = { firstMs: 300_000, maxMs: 600_000 }

onRealEngines('the broker on several nodes of RabbitMQ', { AMQP_URL }, () => {
  let fixture: RabbitFixture
  let nodes: { proxy: TcpProxy; url: string }[]
  beforeEach(async () => {
    fixture = createRabbitFixture()
    nodes = await Promise.all([openRabbitBehindProxy(), openRabbitBehindProxy(), openRabbitBehindProxy()])
  })
  afterEach(async () => {
    await fixture.close()
    await Promise.all(nodes.map(({ proxy }) => proxy.close()))
  })

  const open = (more: Parameters<RabbitFixture['open']>[0] = {}) =>
    fixture.open({ urls: nodes.map(({ url }) => url), connectMs: CONNECT_MS, ...more })

  it('passes a node that refuses and one that accepts and never answers, and works on the good one', async () => {
    nodes[0]?.proxy.refuse()
    nodes[1]?.proxy.stall()
    const broker = open({ backoff: SLOW_BACKOFF })
    const { seen } = await collectIds(broker)
    await waitUntilUp(broker)
    await broker.publish(WEBHOOK_QUEUE, { id: 'a', body: 1 })
    await eventually(() => expect(seen).to.deep.equal(['a']))
  })

  it('goes on at another node when its own dies, and loses nothing', async () => {
    const broker = open()
    const { seen } = await collectIds(broker)
    await waitUntilUp(broker)
    const safe: string[] = []
    for (const [index, { proxy }] of nodes.entries()) {
      // All but one are down: the connections are on nodes that die in turn.
      for (const other of nodes) other.proxy.heal()
      proxy.refuse()
      nodes[(index + 1) % nodes.length]?.proxy.refuse()
      // The broker may not have noticed the cut yet.
      await eventually(() => broker.publish(WEBHOOK_QUEUE, { id: `m${index}`, body: 1 }))
      safe.push(`m${index}`)
    }
    await eventually(() => expect(new Set(seen)).to.deep.equal(new Set(safe)))
  })

  it('logs which node it is on, and no password', async () => {
    const captured = createCapturedLog()
    const withPassword = nodes.map(({ url }) => {
      const node = new URL(url)
      if (!node.password) [node.username, node.password] = ['guest', 'guest']
      return node.href
    })
    nodes[0]?.proxy.refuse()
    const broker = open({ urls: withPassword, log: captured.log, backoff: SLOW_BACKOFF })
    await waitUntilUp(broker)
    const connected = captured.lines().filter(({ msg }) => msg === 'broker.connected')
    const hosts = nodes.map(({ url }) => new URL(url).host)
    for (const { node } of connected) expect(hosts.slice(1)).to.include(node)
    expect(JSON.stringify(captured.lines())).not.to.contain('guest')
  })
})
