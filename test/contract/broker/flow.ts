// Flow: prefetch, batch and parallel, and how consumers share a queue.
import { expect } from 'chai'
import { dead, done, type Outcome } from '../../../infra/broker/broker.ts'
import { type BrokerFixture, eachMessage, ids, numberedMessages, QUEUE } from './fixture.ts'

export function flowCases(fixture: () => BrokerFixture): void {
  it('delivers each message to one of several consumers that share a queue', async () => {
    const { broker, other, publish, published, inTime, gate } = fixture()
    const shut = gate()
    const seen: Record<'one' | 'two', string[]> = { one: [], two: [] }
    const handler = (name: 'one' | 'two') =>
      eachMessage(async message => {
        seen[name].push(message.id)
        await shut.pass()
        return done()
      })
    await broker.consume(QUEUE, handler('one'), { prefetch: 10 })
    await other.consume(QUEUE, handler('two'), { prefetch: 10 })
    publish(QUEUE, ...numberedMessages(200))
    await inTime(() => expect([seen.one.length, seen.two.length]).to.deep.equal([10, 10]))
    shut.open()
    await inTime(() => expect([...seen.one, ...seen.two]).to.have.length(200))
    await published()
    expect(new Set([...seen.one, ...seen.two]).size).to.equal(200)
  })

  it('never gives a consumer more unsettled messages than its prefetch', async () => {
    const { broker, publish, published, inTime, gate } = fixture()
    const shut = gate()
    let inHand = 0
    let most = 0
    let handled = 0
    await broker.consume(
      QUEUE,
      eachMessage(async () => {
        inHand += 1
        most = Math.max(most, inHand)
        await shut.pass()
        inHand -= 1
        handled += 1
        return done()
      }),
      { prefetch: 3 },
    )
    publish(QUEUE, ...numberedMessages(30))
    await inTime(() => expect(inHand).to.equal(3))
    await inTime(async () => expect(await broker.depth(QUEUE)).to.deep.include({ ready: 27 }))
    shut.open()
    await inTime(() => expect(handled).to.equal(30))
    await published()
    expect(most).to.equal(3)
  })

  it('gives a handler at most `prefetch` messages at once, even with a larger batch', async () => {
    const { broker, publish, published, inTime } = fixture()
    const sizes: number[] = []
    await broker.consume(
      QUEUE,
      async waiting => {
        sizes.push(waiting.length)
        return waiting.map(done)
      },
      { prefetch: 4, batch: 100 },
    )
    publish(QUEUE, ...numberedMessages(40))
    await inTime(() => expect(sizes.reduce((sum, size) => sum + size, 0)).to.equal(40))
    await published()
    expect(Math.max(...sizes)).to.be.at.most(4)
  })

  it('gives a handler the messages that waited while it was busy together, in order, up to a batch', async () => {
    const { broker, publish, published, inTime, gate } = fixture()
    const shut = gate()
    const batches: string[][] = []
    await broker.consume(
      QUEUE,
      async waiting => {
        batches.push(ids(waiting))
        await shut.pass()
        return waiting.map(done)
      },
      { prefetch: 100, batch: 20, parallel: 1 },
    )
    publish(QUEUE, ...numberedMessages(100))
    await inTime(() => expect(batches).to.have.length(1))
    await inTime(async () => expect(await broker.depth(QUEUE)).to.deep.include({ ready: 0 }))
    expect(batches).to.have.length(1)
    shut.open()
    await inTime(() => expect(batches.flat()).to.have.length(100))
    await published()
    expect(batches.flat()).to.deep.equal(ids(numberedMessages(100)))
    const sizes = batches.map(batch => batch.length)
    expect(Math.max(...sizes)).to.be.within(2, 20)
  })

  it('settles each message of a batch by its own outcome', async () => {
    const { broker, publish, published, inTime } = fixture()
    const outcome = (body: unknown): Outcome => ((body as number) % 2 ? dead('odd') : done())
    await broker.consume(QUEUE, async waiting => waiting.map(({ body }) => outcome(body)), { prefetch: 50, batch: 50 })
    publish(QUEUE, ...numberedMessages(50))
    await published()
    await inTime(async () => expect((await broker.depth(QUEUE)).dead).to.equal(25))
    const letters = await broker.dead(QUEUE).list(100)
    expect(letters.every(({ body }) => (body as number) % 2 === 1)).to.equal(true)
  })

  it('makes no more handler calls at once than `parallel`', async () => {
    const { broker, publish, published, inTime, gate } = fixture()
    const shut = gate()
    let underWay = 0
    let most = 0
    let handled = 0
    await broker.consume(
      QUEUE,
      async waiting => {
        underWay += 1
        most = Math.max(most, underWay)
        await shut.pass()
        underWay -= 1
        handled += waiting.length
        return waiting.map(done)
      },
      { prefetch: 20, parallel: 2 },
    )
    publish(QUEUE, ...numberedMessages(40))
    await inTime(() => expect(underWay).to.equal(2))
    await inTime(async () => expect(await broker.depth(QUEUE)).to.deep.include({ ready: 20 }))
    shut.open()
    await inTime(() => expect(handled).to.equal(40))
    await published()
    expect(most).to.equal(2)
  })

  it('does not delay other messages behind a slow one', async () => {
    const { broker, publish, published, inTime, gate } = fixture()
    const shut = gate()
    const handled: string[] = []
    await broker.consume(
      QUEUE,
      eachMessage(async message => {
        if (message.id === 'm0') await shut.pass()
        handled.push(message.id)
        return done()
      }),
      { prefetch: 5 },
    )
    publish(QUEUE, ...numberedMessages(30))
    await inTime(() => expect(handled).to.have.length(29))
    expect(handled).not.to.include('m0')
    shut.open()
    await inTime(() => expect(handled.at(-1)).to.equal('m0'))
    await published()
  })
}
