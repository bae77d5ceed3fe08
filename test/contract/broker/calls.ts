// request → serve: every call gets its own answer, within its budget or not at all.
import { expect } from 'chai'
import {
  type Broker,
  CallFailed,
  CallTimeout,
  done,
  type Message,
  type ReceivedCall,
} from '../../../infra/broker/broker.ts'
import { type BrokerFixture, expectError, expectValue } from './fixture.ts'

const CALLS = 'otp.calls'
const PLENTY = 30_000
const SHORT = 60
const LONG_ENOUGH_TO_ARRIVE = 500

const ANSWERS: unknown[] = [null, false, 0, '', 'ü 🔐', [], [null, [1]], {}, { deep: { list: [1, null] } }]

export function callCases(fixture: () => BrokerFixture): void {
  const call = (body: unknown, budgetMs = PLENTY): Promise<unknown> =>
    fixture().broker.request(CALLS, { id: `call ${JSON.stringify(body)}`, body }, budgetMs)

  const echo = async (waiting: Message[]): Promise<unknown[]> => waiting.map(({ body }) => ({ echo: body }))

  /** Serves one call at a time; the body 'hang' waits at the gate. Answers the bodies that the server got. */
  async function serveWithGate(broker: Broker, parallel: number) {
    const shut = fixture().gate()
    const handed: unknown[] = []
    const consumer = await broker.serve(
      CALLS,
      async waiting => {
        handed.push(...waiting.map(({ body }) => body))
        if (waiting.some(({ body }) => body === 'hang')) await shut.pass()
        return echo(waiting)
      },
      { prefetch: 10, parallel },
    )
    return { shut, handed, consumer }
  }

  it('answers a call', async () => {
    const { broker, resultOf } = fixture()
    const handed: Message[] = []
    await broker.serve(
      CALLS,
      async waiting => {
        handed.push(...waiting)
        return echo(waiting)
      },
      { prefetch: 10 },
    )
    expectValue(await resultOf(broker.request(CALLS, { id: 'c1', body: { n: [1, null] } }, PLENTY)), {
      echo: { n: [1, null] },
    })
    expect(handed).to.have.length(1)
    expect(handed[0]).to.deep.include({ id: 'c1', body: { n: [1, null] } })
  })

  it('is answered by a server in another process', async () => {
    const { other, resultOf } = fixture()
    await other.serve(CALLS, echo, { prefetch: 10 })
    expectValue(await resultOf(call('far')), { echo: 'far' })
  })

  it('returns an answer of any JSON type', async () => {
    const { broker, resultOf } = fixture()
    await broker.serve(CALLS, async waiting => waiting.map(({ body }) => ANSWERS[body as number]), { prefetch: 10 })
    for (const [index, answer] of ANSWERS.entries()) expectValue(await resultOf(call(index)), answer)
  })

  it('gives each of 1000 calls of one tick its own answer, with two servers that take batches', async () => {
    const { broker, other, resultOf } = fixture()
    const sizes: number[] = []
    const serve = async (waiting: Message[]): Promise<unknown[]> => {
      sizes.push(waiting.length)
      return waiting.map(({ body }) => (body as number) * 2)
    }
    await broker.serve(CALLS, serve, { prefetch: 10, batch: 50, parallel: 4 })
    await other.serve(CALLS, serve, { prefetch: 10, batch: 50, parallel: 4 })
    const calls = Array.from({ length: 1_000 }, (_, index) => call(index))
    expectValue(
      await resultOf(Promise.all(calls)),
      calls.map((_, index) => index * 2),
    )
    expect(sizes.reduce((sum, size) => sum + size, 0)).to.equal(1_000)
    expect(Math.max(...sizes)).to.be.within(2, 50)
  })

  it('lets two calls share an id, each with its own answer', async () => {
    const { broker, resultOf } = fixture()
    await broker.serve(CALLS, echo, { prefetch: 10 })
    const both = ['one', 'two'].map(body => broker.request(CALLS, { id: 'same', body }, PLENTY))
    expectValue(await resultOf(Promise.all(both)), [{ echo: 'one' }, { echo: 'two' }])
  })

  it('does not delay a call behind a slow one', async () => {
    const { broker, resultOf } = fixture()
    const { shut } = await serveWithGate(broker, 10)
    const slow = call('hang')
    expectValue(await resultOf(call('quick')), { echo: 'quick' })
    shut.open()
    expectValue(await resultOf(slow), { echo: 'hang' })
  })

  it('rejects a call with CallTimeout when there is no server, and never gives it to a later server', async () => {
    const { broker, resultOf, inTime } = fixture()
    expectError(await resultOf(call('stale', SHORT)), CallTimeout)
    // RabbitMQ counts the budget from the arrival of the call, which on a busy machine is later.
    await inTime(async () => expect(await broker.depth(CALLS)).to.deep.include({ ready: 0 }))
    const { handed } = await serveWithGate(broker, 10)
    expectValue(await resultOf(call('fresh')), { echo: 'fresh' })
    expect(handed).to.deep.equal(['fresh'])
  })

  it('never gives a server a call whose budget ran out while the server was busy', async () => {
    const { broker, resultOf, inTime } = fixture()
    const { shut, handed } = await serveWithGate(broker, 1)
    const slow = call('hang')
    await inTime(() => expect(handed).to.deep.equal(['hang']))
    expectError(await resultOf(call('stale', SHORT)), CallTimeout)
    // The budget is counted anew from its arrival at the queue, a moment after the caller began to count.
    await inTime(async () => expect(await broker.depth(CALLS)).to.include({ ready: 0 }))
    shut.open()
    expectValue(await resultOf(slow), { echo: 'hang' })
    expectValue(await resultOf(call('fresh')), { echo: 'fresh' })
    expect(handed).to.deep.equal(['hang', 'fresh'])
  })

  it('tells a server that has a call in hand when its budget is over', async () => {
    const { broker, resultOf, inTime } = fixture()
    const shut = fixture().gate()
    const received: ReceivedCall[] = []
    await broker.serve(
      CALLS,
      async waiting => {
        received.push(...waiting)
        await shut.pass()
        return echo(waiting)
      },
      { prefetch: 10 },
    )
    const slow = resultOf(call('slow', LONG_ENOUGH_TO_ARRIVE))
    await inTime(() => expect(received).to.have.length(1))
    const fresh = call('fresh')
    await inTime(() => expect(received).to.have.length(2))
    expectError(await slow, CallTimeout)
    await inTime(() => expect(received.map(one => one.expired())).to.deep.equal([true, false]))
    shut.open()
    expectValue(await resultOf(fresh), { echo: 'fresh' })
  })

  it('rejects a call with CallTimeout when the server hangs, and ignores the late answer', async () => {
    const { broker, resultOf } = fixture()
    const { shut, handed } = await serveWithGate(broker, 10)
    expectError(await resultOf(call('hang', SHORT)), CallTimeout)
    shut.open()
    expectValue(await resultOf(call('next')), { echo: 'next' })
    expect(handed).to.deep.equal(['hang', 'next'])
  })

  it('rejects a call with CallFailed when the server throws on it, and no other call', async () => {
    const { broker, resultOf } = fixture()
    await broker.serve(
      CALLS,
      async waiting => {
        if (waiting.some(({ body }) => body === 'bad')) throw new Error('boom')
        return echo(waiting)
      },
      { prefetch: 10 },
    )
    const calls = ['good', 'bad', 'fine'].map(body => resultOf(call(body)))
    const [good, bad, fine] = await Promise.all(calls)
    expect(good).to.deep.equal({ value: { echo: 'good' } })
    if (!bad) throw new Error('no ending')
    expectError(bad, CallFailed)
    expect(fine).to.deep.equal({ value: { echo: 'fine' } })
    expectValue(await resultOf(call('after')), { echo: 'after' })
  })

  it('rejects the calls of a batch with CallFailed when the server returns the wrong number of answers', async () => {
    const { broker, resultOf } = fixture()
    const extra: Record<string, unknown[]> = { few: [], many: [1, 2] }
    await broker.serve(CALLS, async waiting => extra[waiting[0]?.body as string] ?? echo(waiting), { prefetch: 10 })
    expectError(await resultOf(call('few')), CallFailed)
    expectError(await resultOf(call('many')), CallFailed)
    expectValue(await resultOf(call('right')), { echo: 'right' })
  })

  it('counts the servers of a queue in its depth', async () => {
    const { broker, other, inTime } = fixture()
    await broker.serve(CALLS, echo, { prefetch: 10 })
    const second = await other.serve(CALLS, echo, { prefetch: 10 })
    expect(second.attached()).to.equal(true)
    await inTime(async () => expect(await broker.depth(CALLS)).to.include({ ready: 0, consumers: 2 }))
    await second.stop()
    expect(second.attached()).to.equal(false)
    await inTime(async () => expect(await broker.depth(CALLS)).to.include({ ready: 0, consumers: 1 }))
  })
  it('keeps the calls of each queue apart, and those of a channel from its messages', async () => {
    const { broker, other, resultOf, inTime } = fixture()
    const named = (name: string) => async (waiting: Message[]) => waiting.map(({ body }) => `${name}: ${body}`)
    await broker.serve(CALLS, named('otp'), { prefetch: 10 })
    await other.serve('channel.sms.calls', named('sms'), { prefetch: 10 })
    const messages: unknown[] = []
    await broker.consume(
      'channel.sms',
      async waiting => {
        messages.push(...waiting.map(({ body }) => body))
        return waiting.map(done)
      },
      { prefetch: 10 },
    )
    await broker.publish('channel.sms', { id: 'm', body: 'a message' })
    expectValue(await resultOf(call('one')), 'otp: one')
    expectValue(await resultOf(broker.request('channel.sms.calls', { id: 'c', body: 'two' }, PLENTY)), 'sms: two')
    await inTime(async () => expect(messages).to.deep.equal(['a message']))
    expect((await broker.depth('channel.sms.calls')).consumers).to.equal(1)
    expect((await broker.depth('channel.email.calls')).consumers).to.equal(0)
    expectError(await resultOf(broker.request('channel.email.calls', { id: 'c', body: 'three' }, SHORT)), CallTimeout)
  })
}
