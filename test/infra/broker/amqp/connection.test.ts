// Which node a connection goes to, and when. The nodes are simulated; test/faults/processes/broker.amqp.nodes.test.ts has real ones.
import { EventEmitter } from 'node:events'
import type { ChannelModel } from 'amqplib'
import { expect } from 'chai'
import {
  type BrokerNode,
  type Connection,
  createConnection,
  type Log,
} from '../../../../infra/broker/amqp/connection.ts'
import { type TestClock, testClock } from '../../../support/clock.ts'

const CONNECT_MS = 5_000
const BACKOFF = { firstMs: 100, maxMs: 2_000 }

/** What a node does with a connection: a model accepts it, an error refuses it, a pending promise never answers. */
type Answer = () => Promise<ChannelModel>
const refuse: Answer = () => Promise.reject(new Error('connect ECONNREFUSED'))
const stall: Answer = () => new Promise(() => {})

describe('a connection to one of several nodes', () => {
  let clock: TestClock
  let connection: Connection
  let tried: string[]
  let logged: object[]
  beforeEach(() => {
    clock = testClock()
    tried = []
    logged = []
  })
  afterEach(() => connection.close())

  function newModel(): ChannelModel {
    const model = new EventEmitter()
    return Object.assign(model, { close: async () => model.emit('close'), connection: {} }) as unknown as ChannelModel
  }
  const accept =
    (model = newModel()): Answer =>
    async () =>
      model

  function connect(answers: Record<string, Answer>): void {
    const nodes = Object.entries(answers).map(
      ([name, answer]): BrokerNode => ({
        name,
        open() {
          tried.push(name)
          return answer()
        },
      }),
    )
    const write = (fields: object, event: string) => void logged.push({ ...fields, event })
    const log = { info: write, warn: write, error: write } as Log
    connection = createConnection({ name: 'test', nodes, connectMs: CONNECT_MS, backoff: BACKOFF, clock, log })
  }
  /** Lets everything happen that needs no time. */
  const settle = () => clock.advance(0)

  it('passes a node that refuses at once', async () => {
    for (let start = 0; start < 20; start += 1) {
      const good = newModel()
      connect({ a: refuse, b: refuse, c: accept(good) })
      await settle()
      expect(connection.current()).to.equal(good)
      await connection.close()
    }
    expect(new Set(tried), 'from a random start').to.deep.equal(new Set(['a', 'b', 'c']))
    expect(tried.length).to.be.lessThan(60)
  })

  it('passes a node that accepts the socket and never answers, after a bounded time', async () => {
    const good = newModel()
    connect({ a: stall, b: accept(good) })
    await settle()
    if (tried[0] === 'a') {
      expect(connection.current()).to.equal(undefined)
      await clock.advance(CONNECT_MS)
    }
    expect(connection.current()).to.equal(good)
  })

  it('drops a connection that comes after that time', async () => {
    let finish: (model: ChannelModel) => void = () => {}
    const [late, good] = [newModel(), newModel()]
    const answers: Answer[] = [() => new Promise(resolve => (finish = resolve)), accept(good)]
    connect({ only: () => (answers.shift() ?? stall)() })
    await clock.advance(CONNECT_MS)
    await clock.advance(BACKOFF.firstMs)
    expect(connection.current()).to.equal(good)
    finish(late)
    await settle()
    expect(connection.current()).to.equal(good)
  })

  it('tries every node once before it waits, and waits longer after each round', async () => {
    connect({ a: refuse, b: refuse, c: refuse })
    await settle()
    expect([...tried].sort()).to.deep.equal(['a', 'b', 'c'])
    await clock.advance(BACKOFF.firstMs / 2 - 1)
    expect(tried).to.have.length(3)
    await clock.advance(BACKOFF.firstMs / 2 + 1)
    expect(tried).to.have.length(6)
    for (let second = 0; second < 60; second += 1) await clock.advance(1_000)
    expect(tried.length).to.be.within(3 * 30, 3 * 70)
  })

  it('goes to the next node at once when its own is lost', async () => {
    const models: Record<string, ChannelModel> = { a: newModel(), b: newModel() }
    connect({ a: accept(models.a), b: accept(models.b) })
    await settle()
    const [first = ''] = tried
    models[first]?.emit('close')
    await settle()
    expect(tried).to.deep.equal([first, first === 'a' ? 'b' : 'a'])
    expect(connection.current()).to.equal(models[tried[1] ?? ''])
  })
})
