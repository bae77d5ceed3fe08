import { expect } from 'chai'
import { createBatcher, createKeyedBatcher } from '../../infra/batcher.ts'

/** A run whose calls last until the test finishes them. */
function createControlledRun() {
  const calls: { items: number[]; finish(): void; fail(error: Error): void }[] = []
  const run = (items: number[]) =>
    new Promise<string[]>((resolve, reject) => {
      calls.push({ items, finish: () => resolve(items.map(item => `r${item}`)), fail: reject })
    })
  return { calls, run }
}

const tick = () => new Promise<void>(resolve => setImmediate(resolve))

describe('a batcher', () => {
  it('puts the items of one tick into one call, and gives each caller its own results', async () => {
    const { calls, run } = createControlledRun()
    const runBatched = createBatcher(run, { maxSize: 100, parallel: 1 })
    const results = [runBatched([1]), runBatched([2, 3]), runBatched([4])]
    await tick()
    expect(calls.map(call => call.items)).to.deep.equal([[1, 2, 3, 4]])
    expect(await runBatched([]), 'without a call').to.deep.equal([])
    calls[0]?.finish()
    expect(await Promise.all(results)).to.deep.equal([['r1'], ['r2', 'r3'], ['r4']])
  })

  it('joins the items that arrive while as many calls as allowed are running', async () => {
    const { calls, run } = createControlledRun()
    const runBatched = createBatcher(run, { maxSize: 100, parallel: 1 })
    const first = runBatched([1])
    await tick()
    const later = [runBatched([2]), runBatched([3])]
    await tick()
    expect(calls).to.have.length(1)
    calls[0]?.finish()
    await first
    await tick()
    expect(calls[1]?.items).to.deep.equal([2, 3])
    calls[1]?.finish()
    expect(await Promise.all(later)).to.deep.equal([['r2'], ['r3']])
  })

  it('keeps calls within the maximum size without splitting the items of a caller', async () => {
    const { calls, run } = createControlledRun()
    const runBatched = createBatcher(run, { maxSize: 3, parallel: 4 })
    const results = [runBatched([1, 2]), runBatched([3, 4]), runBatched([5]), runBatched([6, 7, 8, 9])]
    await tick()
    await tick()
    await tick()
    expect(calls.map(call => call.items)).to.deep.equal([
      [1, 2],
      [3, 4, 5],
      [6, 7, 8, 9],
    ])
    for (const call of calls) call.finish()
    expect((await Promise.all(results)).flat()).to.have.length(9)
  })

  it('gives every caller the error of a failed call, and goes on', async () => {
    const { calls, run } = createControlledRun()
    const runBatched = createBatcher(run, { maxSize: 100, parallel: 1 })
    const results = [runBatched([1]), runBatched([2])]
    await tick()
    calls[0]?.fail(new Error('engine down'))
    const outcomes = await Promise.allSettled(results)
    expect(outcomes.map(outcome => outcome.status)).to.deep.equal(['rejected', 'rejected'])
    const again = runBatched([3])
    await tick()
    calls[1]?.finish()
    expect(await again).to.deep.equal(['r3'])
  })
})

describe('a keyed batcher', () => {
  it('joins items of one key, and lets no key wait for another', async () => {
    const { calls, run } = createControlledRun()
    const runBatched = createKeyedBatcher((item: number) => String(item % 2), run, { maxSize: 100, parallel: 1 })
    const results = [1, 3, 2].map(runBatched)
    await tick()
    expect(calls.map(call => call.items)).to.deep.equal([[1, 3], [2]])
    results.push(runBatched(5), runBatched(7))
    await tick()
    expect(calls).to.have.length(2)
    calls[0]?.finish()
    calls[1]?.finish()
    await Promise.all(results.slice(0, 3))
    await tick()
    expect(calls[2]?.items).to.deep.equal([5, 7])
    calls[2]?.finish()
    expect(await Promise.all(results)).to.deep.equal(['r1', 'r3', 'r2', 'r5', 'r7'])
  })
})
