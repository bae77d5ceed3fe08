// Entries are written together after a while, wait on where the store failed, and are added once.
import { expect } from 'chai'
import { createMetrics } from '../../infra/metrics.ts'
import { createWriteBehind } from '../../infra/write-behind.ts'
import { createCapturedLog } from '../support/captured-log.ts'
import { testClock } from '../support/clock.ts'
import { createGate } from '../support/gate.ts'

function start({ maxEntries = 10, takes = (_: string): boolean => true } = {}) {
  const clock = testClock(0)
  const { log, lines } = createCapturedLog()
  const metrics = createMetrics()
  const stored = new Map<string, number>()
  const store = { writes: 0, isDown: false, gate: Promise.resolve() }
  const sums = createWriteBehind<{ sum: number }>({
    what: 'sums',
    clock,
    log,
    metrics,
    waitMs: () => 1_000,
    maxEntries,
    merge: (older, newer) => ({ sum: older.sum + newer.sum }),
    async write(entries) {
      store.writes += 1
      await store.gate
      if (store.isDown) throw new Error('down')
      for (const [key, { sum }] of entries) {
        if (!takes(key)) continue
        stored.set(key, (stored.get(key) ?? 0) + sum)
        entries.delete(key)
      }
    },
  })
  const add = (key: string, sum = 1): void => {
    sums.entry(key, () => ({ sum: 0 })).sum += sum
  }
  const waitingOf = (key: string): number => sums.unstored(key).reduce((all, { sum }) => all + sum, 0)
  const counted = async (outcome: string): Promise<number> =>
    (await metrics.writtenBehind.get()).values.find(({ labels }) => labels.outcome === outcome)?.value ?? 0
  return { clock, lines, stored, store, sums, add, waitingOf, counted }
}

describe('entries that are written behind', () => {
  it('are written together after a while, and once', async () => {
    const { clock, stored, store, add, waitingOf, counted } = start()
    for (const key of ['a', 'b', 'a']) add(key)
    await clock.advance(999)
    expect([store.writes, waitingOf('a')]).to.deep.equal([0, 2])
    await clock.advance(1)
    expect([store.writes, waitingOf('a')]).to.deep.equal([1, 0])
    expect(stored).to.deep.equal(
      new Map([
        ['a', 2],
        ['b', 1],
      ]),
    )
    await clock.advance(10_000)
    expect(store.writes).to.equal(1)
    expect(await counted('written')).to.equal(2)
  })

  it('wait on while the store is away, with what comes meanwhile', async () => {
    const { clock, lines, stored, store, sums, add, waitingOf, counted } = start()
    store.isDown = true
    add('a')
    await clock.advance(1_000)
    expect(lines().map(({ msg, what, waiting }) => [msg, what, waiting])).to.deep.equal([
      ['write_behind.failed', 'sums', 1],
    ])
    add('a')
    expect(waitingOf('a')).to.equal(2)
    await sums.settled()
    expect(store.writes, 'a stop tries once').to.equal(2)
    store.isDown = false
    await sums.settled()
    expect(stored.get('a')).to.equal(2)
    expect([await counted('failed'), await counted('written')]).to.deep.equal([2, 1])
  })

  it('are told apart from those that come while they are written', async () => {
    const { stored, store, sums, add, waitingOf } = start()
    const { released, release } = createGate()
    store.gate = released
    add('a')
    const settled = sums.settled()
    await Promise.resolve()
    expect(sums.isBeingWritten('a')).to.equal(true)
    add('a', 5)
    expect(sums.unstored('a')).to.deep.equal([{ sum: 1 }, { sum: 5 }])
    release()
    await settled
    expect([stored.get('a'), waitingOf('a'), sums.isBeingWritten('a')]).to.deep.equal([6, 0, false])
  })

  it('are written again alone where another process was first, and a stop does not wait for ever', async () => {
    const { stored, store, sums, add, waitingOf } = start({ takes: key => key !== 'contested' })
    for (const key of ['a', 'contested']) add(key)
    await sums.settled()
    expect([store.writes, stored.get('a'), waitingOf('contested')]).to.deep.equal([5, 1, 1])
  })

  it('are lost from the oldest on beyond their number', async () => {
    const { stored, sums, add, counted } = start({ maxEntries: 2 })
    for (const key of ['a', 'b', 'c']) add(key)
    await sums.settled()
    expect([...stored.keys()]).to.deep.equal(['b', 'c'])
    expect(await counted('lost')).to.equal(1)
  })
})
