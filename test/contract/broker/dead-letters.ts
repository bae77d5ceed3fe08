// Dead letters: which messages become dead letters, why, and what an operator can do with them.
import { expect } from 'chai'
import {
  type Death,
  type DeliveredMessage,
  dead,
  done,
  type Outcome,
  retry,
  threw,
  unreadable,
} from '../../../infra/broker/broker.ts'
import {
  type BrokerFixture,
  collect,
  DELAYS,
  eachMessage,
  elapsedBetween,
  ids,
  type Moment,
  numberedMessages,
  QUEUE,
} from './fixture.ts'

export function deadLetterCases(fixture: () => BrokerFixture): void {
  /** Publishes messages one after the other and makes each a dead letter. No consumer is attached afterwards. */
  async function bury(...names: string[]): Promise<DeliveredMessage[]> {
    const { broker, publish, published, inTime } = fixture()
    const seen: DeliveredMessage[] = []
    const consumer = await broker.consume(
      QUEUE,
      eachMessage(message => {
        seen.push(message)
        return dead(`${message.id} is no use`)
      }),
      { prefetch: 1 },
    )
    for (const [index, name] of names.entries()) {
      publish(QUEUE, { id: name, body: { name } })
      await inTime(async () => expect((await broker.depth(QUEUE)).dead).to.equal(index + 1))
    }
    await published()
    await consumer.stop()
    return seen
  }

  it('keeps a dead message with its reason and attempt', async () => {
    const { broker, publish, published, inTime } = fixture()
    const seen: DeliveredMessage[] = []
    await broker.consume(
      QUEUE,
      eachMessage(message => {
        seen.push(message)
        return message.attempt === 1 ? retry(1) : dead('no such number')
      }),
      { prefetch: 1 },
    )
    publish(QUEUE, { id: 'a', body: { to: 'nobody' } })
    await inTime(async () => expect((await broker.depth(QUEUE)).dead).to.equal(1))
    await published()
    const [letter] = await broker.dead(QUEUE).list(10)
    expect(letter).to.deep.include({ id: 'a', body: { to: 'nobody' }, reason: 'no such number', attempt: 2 })
    expect(letter?.diedAt).to.be.at.least(seen[0]?.publishedAt ?? Number.NaN)
    expect((await broker.depth('channel.sms')).dead).to.equal(0)
  })

  it('delivers a message again after each delay when its handler throws, and then makes it a dead letter with the error as reason', async () => {
    const { broker, publish, published, inTime, moment } = fixture()
    const seen: string[] = []
    const moments: Moment[] = []
    await broker.consume(
      QUEUE,
      eachMessage(({ id, attempt }) => {
        seen.push(`${id} ${attempt}`)
        if (id !== 'bad') return done()
        moments.push(moment())
        throw new TypeError('boom at line 1')
      }),
      { prefetch: 1 },
    )
    publish(QUEUE, { id: 'bad', body: 1 }, { id: 'good', body: 2 })
    await inTime(async () => expect((await broker.depth(QUEUE)).dead).to.equal(1))
    publish(QUEUE, { id: 'later', body: 3 })
    await inTime(() => expect(seen).to.include('later 1'))
    await published()
    expect(seen).to.deep.equal(['bad 1', 'good 1', 'bad 2', 'bad 3', 'bad 4', 'later 1'])
    const spacing = moments.slice(1).map((to, index) => elapsedBetween(moments[index] ?? to, to))
    for (const [index, least] of DELAYS.entries()) expect(spacing[index]).to.be.at.least(least)
    const [letter] = await broker.dead(QUEUE).list(10)
    expect(letter).to.deep.include({ id: 'bad', attempt: 4 })
    expect(letter?.reason).to.include('boom at line 1')
  })

  it('counts failures apart from retries, for one message of a batch too, and from the beginning after a requeue', async () => {
    const { broker, publish, published, inTime } = fixture()
    const calls: string[] = []
    await broker.consume(
      QUEUE,
      async waiting =>
        waiting.map(({ id, attempt }) => {
          calls.push(`${id} ${attempt}`)
          if (id === 'good') return done()
          return attempt <= 3 ? retry(1) : threw(new Error('boom'))
        }),
      { prefetch: 2, batch: 2 },
    )
    publish(QUEUE, { id: 'bad', body: 1 }, { id: 'good', body: 2 })
    await inTime(async () => expect((await broker.depth(QUEUE)).dead).to.equal(1))
    await published()
    const firstLife = calls.filter(call => call !== 'good 1')
    expect(firstLife).to.deep.equal([1, 2, 3, 4, 5, 6, 7].map(attempt => `bad ${attempt}`))
    calls.length = 0
    await broker.dead(QUEUE).requeue(['bad'])
    await inTime(async () => expect((await broker.depth(QUEUE)).dead).to.equal(1))
    expect(calls).to.deep.equal(firstLife)
  })

  it('delivers every message of a batch again when the handler throws once, and no other message', async () => {
    const { broker, publish, published, inTime } = fixture()
    let thrownOn: string[] = []
    const handled: DeliveredMessage[] = []
    await broker.consume(
      QUEUE,
      async waiting => {
        if (thrownOn.length === 0 && ids(waiting).includes('m7')) {
          thrownOn = ids(waiting)
          throw new Error('boom')
        }
        handled.push(...waiting)
        return waiting.map(done)
      },
      { prefetch: 20, batch: 5, parallel: 1 },
    )
    publish(QUEUE, ...numberedMessages(20))
    await inTime(() => expect(handled).to.have.length(20))
    await published()
    expect(ids(handled.filter(({ attempt }) => attempt === 2))).to.have.members(thrownOn)
    expect((await broker.depth(QUEUE)).dead).to.equal(0)
  })

  const wrong: [string, (waiting: DeliveredMessage[]) => Outcome[]][] = [
    ['too few', () => []],
    ['too many', waiting => [...waiting.map(done), done()]],
  ]
  for (const [count, answer] of wrong) {
    it(`makes the message a dead letter when its handler returns ${count} outcomes`, async () => {
      const { broker, publish, published, inTime } = fixture()
      await broker.consume(QUEUE, async waiting => answer(waiting), { prefetch: 1 })
      publish(QUEUE, { id: 'a', body: 1 })
      await inTime(async () => expect((await broker.depth(QUEUE)).dead).to.equal(1))
      await published()
      const [letter] = await broker.dead(QUEUE).list(10)
      expect(letter?.reason).to.match(/returned \d results for 1 message/)
    })
  }

  it('lists the oldest first, up to the limit, and changes nothing', async () => {
    const { broker, other } = fixture()
    await bury('a', 'b', 'c')
    const letters = broker.dead(QUEUE)
    expect(ids(await letters.list(2))).to.deep.equal(['a', 'b'])
    const all = await letters.list(100)
    expect(ids(all)).to.deep.equal(['a', 'b', 'c'])
    expect(await letters.list(100)).to.deep.equal(all)
    expect(await other.dead(QUEUE).list(100)).to.deep.equal(all)
    expect((await broker.depth(QUEUE)).dead).to.equal(3)
  })

  it('requeues the letters with the given ids, whose attempts begin at 1 again', async () => {
    const { broker, inTime } = fixture()
    const before = await bury('a', 'b', 'c')
    expect(await broker.dead(QUEUE).requeue(['c', 'a', 'unknown'])).to.equal(2)
    const { seen } = await collect(broker, QUEUE)
    await inTime(() => expect(ids(seen)).to.have.members(['a', 'c']))
    const a = seen.find(({ id }) => id === 'a')
    expect(a).to.deep.equal({
      id: 'a',
      body: { name: 'a' },
      attempt: 1,
      redelivered: false,
      publishedAgain: true,
      publishedAt: before[0]?.publishedAt,
    })
    expect(ids(await broker.dead(QUEUE).list(100))).to.deep.equal(['b'])
  })

  it('makes a requeued message a dead letter again when its handler gives up again', async () => {
    const { broker, inTime } = fixture()
    await bury('a')
    await broker.dead(QUEUE).requeue(['a'])
    await broker.consume(QUEUE, async waiting => waiting.map(() => dead('still no use')), { prefetch: 1 })
    await inTime(async () => {
      const letters = await broker.dead(QUEUE).list(100)
      expect(letters.map(({ id, reason }) => [id, reason])).to.deep.equal([['a', 'still no use']])
    })
  })

  it('drops the letters with the given ids', async () => {
    const { broker } = fixture()
    await bury('a', 'b', 'c')
    const letters = broker.dead(QUEUE)
    expect(await letters.drop(['b', 'unknown'])).to.equal(1)
    expect(ids(await letters.list(100))).to.deep.equal(['a', 'c'])
    expect((await broker.depth(QUEUE)).dead).to.equal(2)
    expect(await broker.depth(QUEUE)).to.deep.include({ ready: 0 })
  })

  it('lists in pages: each goes on after the last letter of the page before, also when that letter is gone', async () => {
    const { broker } = fixture()
    await bury('a', 'b', 'c', 'd', 'e')
    const letters = broker.dead(QUEUE)
    const first = await letters.list(2)
    expect(ids(first)).to.deep.equal(['a', 'b'])
    await letters.drop(['b', 'c'])
    const second = await letters.list(1, first[1]?.position)
    expect(ids(second)).to.deep.equal(['d'])
    expect(ids(await letters.list(10, second[0]?.position))).to.deep.equal(['e'])
    expect(await letters.list(10, (await letters.list(10)).at(-1)?.position)).to.deep.equal([])
  })

  it('shows the letter with an id, and null for an unknown id', async () => {
    const { broker } = fixture()
    await bury('a', 'b')
    const letters = broker.dead(QUEUE)
    expect(await letters.get('b')).to.deep.equal((await letters.list(10))[1])
    expect(await letters.get('unknown')).to.equal(null)
    expect((await broker.depth(QUEUE)).dead).to.equal(2)
  })

  it('requeues all letters, each once, and those that die again stay', async () => {
    const { broker, inTime } = fixture()
    const names = numberedMessages(20).map(({ id }) => id)
    await bury(...names)
    const letters = broker.dead(QUEUE)
    const consumed: string[] = []
    await broker.consume(
      QUEUE,
      eachMessage(({ id, attempt }) => {
        expect(attempt).to.equal(1)
        consumed.push(id)
        return id === 'm7' ? dead('still no use') : done()
      }),
      { prefetch: 10 },
    )
    expect(await letters.requeue('all')).to.equal(20)
    await inTime(() => expect(consumed).to.have.members(names))
    await inTime(async () => expect(ids(await letters.list(100))).to.deep.equal(['m7']))
    expect(await broker.dead('channel.sms').requeue('all')).to.equal(0)
  })

  it('drops all letters', async () => {
    const { broker } = fixture()
    await bury('a', 'b', 'c')
    const letters = broker.dead(QUEUE)
    expect(await letters.drop('all')).to.equal(3)
    expect(await letters.drop('all')).to.equal(0)
    expect(await letters.list(100)).to.deep.equal([])
    expect(await broker.depth(QUEUE)).to.include({ ready: 0, dead: 0 })
  })

  it('shows every letter to two processes that list at once, and repairs each letter once', async () => {
    const { broker, other } = fixture()
    const names = numberedMessages(12).map(({ id }) => id)
    await bury(...names)
    const [mine, theirs] = [broker.dead(QUEUE), other.dead(QUEUE)]
    const [listed, listedThere] = await Promise.all([mine.list(100), theirs.list(100)])
    expect(ids(listed)).to.have.members(names)
    expect(listedThere).to.deep.equal(listed)
    const [requeued, dropped, moved] = await Promise.all([
      mine.requeue(['m0', 'm1']),
      theirs.drop(['m1', 'm2']),
      mine.list(100).then(ids),
    ])
    expect(requeued + dropped).to.equal(3)
    expect(moved).to.include.members(names.slice(3))
    expect(ids(await theirs.list(100))).to.have.members(names.slice(3))
    expect((await broker.depth(QUEUE)).ready).to.equal(requeued)
  })

  it('counts dead letters in the depth of their queue, while they are listed too', async () => {
    const { broker, other } = fixture()
    await bury('a', 'b')
    const listing = broker.dead(QUEUE).list(10)
    expect(await other.depth(QUEUE)).to.include({ ready: 0, dead: 2 })
    await listing
    expect(await broker.depth(QUEUE)).to.include({ ready: 0, dead: 2 })
    expect(await broker.depth('otp.calls')).to.include({ dead: 0 })
  })

  it('tells its listeners each death with its cause', async () => {
    const { broker, publish, published } = fixture()
    const deaths: Death[] = []
    broker.onDeath(death => void deaths.push(death))
    await broker.consume(
      QUEUE,
      eachMessage(({ id }) => {
        if (id === 'bug') throw new Error('boom')
        return id === 'odd' ? unreadable('not an event') : dead('no use')
      }),
      { prefetch: 1 },
    )
    publish(QUEUE, { id: 'hopeless', body: 1 }, { id: 'bug', body: 2 }, { id: 'odd', body: 3 })
    await fixture().inTime(() => expect(deaths).to.have.length(3))
    await published()
    expect(deaths.map(({ queue, id, attempt, cause }) => [queue, id, attempt, cause])).to.have.deep.members([
      [QUEUE, 'hopeless', 1, 'gave_up'],
      [QUEUE, 'bug', 1 + DELAYS.length, 'threw'],
      [QUEUE, 'odd', 1, 'unreadable'],
    ])
    expect(deaths.find(({ id }) => id === 'odd')?.reason).to.equal('unreadable: not an event')
  })

  it('answers zero for unknown ids', async () => {
    const { broker } = fixture()
    const letters = broker.dead(QUEUE)
    expect(await letters.requeue(['unknown'])).to.equal(0)
    expect(await letters.drop(['unknown'])).to.equal(0)
    expect(await letters.drop([])).to.equal(0)
    expect(await letters.list(10)).to.deep.equal([])
    expect((await broker.depth(QUEUE)).dead).to.equal(0)
  })
}
