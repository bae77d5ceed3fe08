import { expect } from 'chai'
import { dead, type Flow, type Outcome, threw } from '../../../infra/broker/broker.ts'
import {
  createDispatcher,
  type HandlerResult,
  type Settlement,
  settlementOf,
} from '../../../infra/broker/dispatcher.ts'
import { testClock } from '../../support/clock.ts'

const turn = () => new Promise<void>(resolve => setImmediate(resolve))

/** A dispatcher of letters whose handler calls end when the test says so. */
function setup(flow: Flow, more: { expired?: (item: string) => boolean; settle?: () => Promise<void> } = {}) {
  const clock = testClock()
  const calls: { items: string; end(results: unknown): void; fail(error: unknown): void }[] = []
  const settled: [string, HandlerResult<unknown>][] = []
  const back: string[] = []
  const subject = createDispatcher<string, unknown>({
    flow,
    clock,
    handle: items =>
      new Promise((resolve, reject) => {
        calls.push({ items: items.join(''), end: results => resolve(results as unknown[]), fail: reject })
      }),
    settle(item, ended) {
      settled.push([item, ended])
      return more.settle?.()
    },
    requeue: items => void back.push(...items),
    ...(more.expired && { expired: more.expired }),
  })
  const accept = (letters: string): void => [...letters].forEach(subject.accept)
  const handed = (): string[] => calls.map(call => call.items)
  const call = (index: number) => calls[index] ?? expect.fail(`there was no call ${index}`)
  return { ...subject, clock, settled, back, accept, handed, call }
}

const returned = (result: unknown): HandlerResult<unknown> => ({ kind: 'returned', result })

describe('dispatcher', () => {
  it('fails the item of a call that threw anything, with a short reason', async () => {
    for (const [thrown, reason] of [
      [new TypeError('boom'), 'TypeError: boom'],
      ['boom', 'boom'],
      [undefined, 'undefined'],
      [Object.create(null), '[Object: null prototype] {}'],
      [new Error('x'.repeat(5_000)), `Error: ${'x'.repeat(993)}`],
    ]) {
      const { accept, call, settled } = setup({ prefetch: 10 })
      accept('a')
      await turn()
      call(0).fail(thrown)
      await turn()
      expect(settled).to.deep.equal([['a', { kind: 'failed', reason, error: thrown }]])
    }
  })

  it('fails the items of a handler that throws before its first await', async () => {
    const ends: string[] = []
    const { accept } = createDispatcher<string, unknown>({
      flow: { prefetch: 1 },
      clock: testClock(),
      handle: () => {
        throw new Error('at once')
      },
      settle: (_item, ended) => void ends.push(ended.kind),
      requeue: () => {},
    })
    accept('a')
    await turn()
    expect(ends).to.deep.equal(['failed'])
  })

  it('does not give the handler an item that has expired when its turn comes', async () => {
    const gone = new Set<string>()
    const { accept, handed, call, settled } = setup(
      { prefetch: 10, batch: 2, parallel: 1 },
      { expired: item => gone.has(item) },
    )
    accept('abcd')
    await turn()
    gone.add('b').add('c')
    call(0).end([1, 2])
    await turn()
    expect(handed()).to.deep.equal(['ab', 'd'])
    expect(settled).to.deep.include(['c', { kind: 'expired' }])
  })

  it('handles the next item while a settlement is under way, but stops only after it', async () => {
    const confirms: (() => void)[] = []
    const settle = () => new Promise<void>(resolve => confirms.push(resolve))
    const { accept, stop, call, handed } = setup({ prefetch: 10, parallel: 1 }, { settle })
    accept('ab')
    await turn()
    call(0).end([1])
    await turn()
    expect(handed()).to.deep.equal(['a', 'b'])
    call(1).end([1])
    let stopped = false
    const stopping = stop().then(() => {
      stopped = true
    })
    await turn()
    expect([stopped, confirms.length]).to.deep.equal([false, 2])
    for (const confirm of confirms) confirm()
    await stopping
  })

  it('discards its items when the connection is lost, and goes on with those delivered next', async () => {
    const { accept, discard, handed, call, settled, back } = setup({ prefetch: 10, parallel: 1 })
    accept('ab')
    await turn()
    discard()
    accept('a')
    await turn()
    expect(handed()).to.deep.equal(['a']) // the handler has not returned yet
    call(0).end([1])
    await turn()
    expect(handed()).to.deep.equal(['a', 'a'])
    call(1).end([2])
    await turn()
    expect(settled).to.deep.equal([['a', returned(2)]])
    expect(back).to.deep.equal([])
  })
})

describe('what becomes of a work message', () => {
  const DELAYS = [50, 150]
  const of = (result: unknown, failures = 0): Settlement =>
    settlementOf({ kind: 'returned', result: result as Outcome }, DELAYS, failures)

  it('names no recipient in the reason of a dead letter, which operators read', async () => {
    const said = [
      of(dead('+447911123456 is no mobile')),
      of({ kind: 'sent', note: 'anna@example.com' }, 2),
      of(threw(new Error('cannot reach +447911123456')), 2),
      await thrown(new Error('cannot reach +447911123456')),
    ]
    expect(said.map(({ kind }) => kind)).to.deep.equal(['dead', 'dead', 'dead', 'dead'])
    expect(JSON.stringify(said)).to.not.match(/447911123456|anna@/)
  })

  async function thrown(error: Error): Promise<Settlement> {
    const { accept, call, settled } = setup({ prefetch: 1 })
    accept('a')
    await turn()
    call(0).fail(error)
    await turn()
    return settlementOf(settled[0]?.[1] as HandlerResult<Outcome>, [], 0)
  }
})
