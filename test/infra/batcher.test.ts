import { expect } from 'chai'
import { createBatcher, createKeyedBatcher } from '../../infra/batcher.ts'

/** A run that is under way until the test lets it go. */
function controlled() {
  const calls: { items: number[]; finish(): void; fail(error: Error): void }[] = []
  const run = (items: number[]) =>
    new Promise<string[]>((resolve, reject) => {
      calls.push({ items, finish: () => resolve(items.map(item => `r${item}`)), fail: reject })
    })
  return { calls, run }
}

const tick = () => new Promise<void>(resolve => setImmediate(resolve))

describe('gather', () => {
  it('puts what is asked for in one tick into one call, and gives each caller its own results', async () => {
    const { calls, run } = controlled()
    const ask = createBatcher(run, { maxSize: 100, parallel: 1 })
    const answers = [ask([1]), ask([2, 3]), ask([4])]
    await tick()
    expect(calls.map(call => call.items)).to.deep.equal([[1, 2, 3, 4]])
    calls[0]?.finish()
    expect(await Promise.all(answers)).to.deep.equal([['r1'], ['r2', 'r3'], ['r4']])
  })

  it('gathers what arrives while as many calls as allowed are under way', async () => {
    const { calls, run } = controlled()
    const ask = createBatcher(run, { maxSize: 100, parallel: 1 })
    const first = ask([1])
    await tick()
    const later = [ask([2]), ask([3])]
    await tick()
    expect(calls).to.have.length(1)
    calls[0]?.finish()
    await first
    await tick()
    expect(calls[1]?.items).to.deep.equal([2, 3])
    calls[1]?.finish()
    expect(await Promise.all(later)).to.deep.equal([['r2'], ['r3']])
  })

  it('keeps calls below their size, splitting no caller', async () => {
    const { calls, run } = controlled()
    const ask = createBatcher(run, { maxSize: 3, parallel: 4 })
    const answers = [ask([1, 2]), ask([3, 4]), ask([5]), ask([6, 7, 8, 9])]
    await tick()
    await tick()
    await tick()
    expect(calls.map(call => call.items)).to.deep.equal([
      [1, 2],
      [3, 4, 5],
      [6, 7, 8, 9],
    ])
    for (const call of calls) call.finish()
    expect((await Promise.all(answers)).flat()).to.have.length(9)
  })

  it('tells everyone of a call that failed, and goes on', async () => {
    const { calls, run } = controlled()
    const ask = createBatcher(run, { maxSize: 100, parallel: 1 })
    const answers = [ask([1]), ask([2])]
    await tick()
    calls[0]?.fail(new Error('engine down'))
    const outcomes = await Promise.allSettled(answers)
    expect(outcomes.map(outcome => outcome.status)).to.deep.equal(['rejected', 'rejected'])
    const again = ask([3])
    await tick()
    calls[1]?.finish()
    expect(await again).to.deep.equal(['r3'])
  })

  it('answers nothing asked with nothing, without a call', async () => {
    const { calls, run } = controlled()
    expect(await createBatcher(run, { maxSize: 1, parallel: 1 })([])).to.deep.equal([])
    expect(calls).to.deep.equal([])
  })
})

describe('gather by key', () => {
  it('lets no key wait for another, and gathers within one', async () => {
    const { calls, run } = controlled()
    const ask = createKeyedBatcher((item: number) => String(item % 2), run, { maxSize: 100, parallel: 1 })
    const answers = [1, 3, 2].map(ask)
    await tick()
    expect(calls.map(call => call.items)).to.deep.equal([[1, 3], [2]])
    answers.push(ask(5), ask(7))
    await tick()
    expect(calls).to.have.length(2)
    calls[0]?.finish()
    calls[1]?.finish()
    await Promise.all(answers.slice(0, 3))
    await tick()
    expect(calls[2]?.items).to.deep.equal([5, 7])
    calls[2]?.finish()
    expect(await Promise.all(answers)).to.deep.equal(['r1', 'r3', 'r2', 'r5', 'r7'])
  })
})
