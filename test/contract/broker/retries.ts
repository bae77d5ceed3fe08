// retry(afterMs): the message comes again, never too early, with its attempt counted, and no other message waits behind it.
import { expect } from 'chai'
import { type DeliveredMessage, done, retry } from '../../../infra/broker/broker.ts'
import { type BrokerFixture, collect, eachMessage, elapsedBetween, type Moment, QUEUE } from './fixture.ts'

export function retryCases(fixture: () => BrokerFixture): void {
  /** Consumes one message that asks for these waits in turn; answers its deliveries and the time between them. */
  async function play(waits: number[]): Promise<{ seen: DeliveredMessage[]; spacing: number[] }> {
    const { broker, publish, published, inTime, moment } = fixture()
    const seen: DeliveredMessage[] = []
    const moments: Moment[] = []
    await broker.consume(
      QUEUE,
      eachMessage(message => {
        const wait = waits[seen.length]
        seen.push(message)
        moments.push(moment())
        return wait === undefined ? done() : retry(wait)
      }),
      { prefetch: 1 },
    )
    publish(QUEUE, { id: 'a', body: { kept: true } })
    await inTime(() => expect(seen).to.have.length(waits.length + 1))
    await published()
    const spacing = moments.slice(1).map((to, index) => elapsedBetween(moments[index] ?? to, to))
    return { seen, spacing }
  }

  it('delivers again, no sooner than the declared delay that covers the wait', async () => {
    const { spacing } = await play([0, 20, 51, 151])
    for (const [index, least] of [50, 50, 150, 400].entries()) expect(spacing[index]).to.be.at.least(least)
  })

  it('takes the longest delay for a wait that is longer than all delays', async () => {
    const { spacing } = await play([3_600_000])
    expect(spacing[0]).to.be.at.least(400)
  })

  it('counts attempts, and keeps id, body and the time of publishing', async () => {
    const { seen } = await play([1, 1, 1])
    expect(seen.map(message => message.attempt)).to.deep.equal([1, 2, 3, 4])
    for (const message of seen) {
      expect(message).to.deep.include({ id: 'a', body: { kept: true }, publishedAt: seen[0]?.publishedAt })
    }
  })

  it('does not delay a short retry behind a long one, nor other messages behind either', async () => {
    const { broker, publish, published, inTime } = fixture()
    const order: string[] = []
    const waits: Record<string, number> = { long: 400, short: 50 }
    await broker.consume(
      QUEUE,
      eachMessage(message => {
        order.push(`${message.id} ${message.attempt}`)
        const wait = waits[message.id]
        return message.attempt > 1 || wait === undefined ? done() : retry(wait)
      }),
      { prefetch: 1 },
    )
    publish(QUEUE, { id: 'long', body: 1 }, { id: 'short', body: 2 }, { id: 'plain', body: 3 })
    await inTime(() => expect(order).to.have.length(5))
    await published()
    expect(order).to.deep.equal(['long 1', 'short 1', 'plain 1', 'short 2', 'long 2'])
  })

  it('keeps a message that waits for its retry while there is no consumer', async () => {
    const { broker, other, publish, published, inTime } = fixture()
    const first: string[] = []
    let stopped = Promise.resolve()
    const consumer = await broker.consume(
      QUEUE,
      eachMessage(message => {
        first.push(message.id)
        // Here, so that this consumer cannot get the message again.
        stopped = consumer.stop()
        return retry(50)
      }),
      { prefetch: 1 },
    )
    publish(QUEUE, { id: 'a', body: 1 })
    await inTime(() => expect(first).to.deep.equal(['a']))
    await stopped
    const { seen } = await collect(other, QUEUE)
    await inTime(() => expect(seen).to.have.length(1))
    await published()
    expect(seen[0]).to.deep.include({ id: 'a', attempt: 2 })
  })
}
