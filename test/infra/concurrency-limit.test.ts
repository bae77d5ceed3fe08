import { expect } from 'chai'
import { createConcurrencyLimit } from '../../infra/concurrency-limit.ts'

describe('a concurrency limit', () => {
  const startTasks = (max: number, count: number) => {
    const limit = createConcurrencyLimit(max)
    const begun: number[] = []
    const ends: ((failure?: Error) => void)[] = []
    const results = Array.from({ length: count }, (_, n) =>
      limit(
        () =>
          new Promise<number>((resolve, reject) => {
            begun.push(n)
            ends[n] = failure => (failure ? reject(failure) : resolve(n))
          }),
      ),
    )
    return { begun, ends, results }
  }
  const settled = () => new Promise<void>(resolve => setImmediate(resolve))

  it('begins so many tasks and the others in order, each when one ends', async () => {
    const { begun, ends, results } = startTasks(2, 4)
    await settled()
    expect(begun).to.deep.equal([0, 1])
    ends[1]?.()
    expect(await results[1]).to.equal(1)
    await settled()
    expect(begun).to.deep.equal([0, 1, 2])
    ends[0]?.()
    ends[2]?.()
    await settled()
    ends[3]?.()
    expect(await Promise.all(results)).to.deep.equal([0, 1, 2, 3])
  })

  it('goes on after a task that fails', async () => {
    const { begun, ends, results } = startTasks(1, 2)
    await settled()
    ends[0]?.(new Error('lost'))
    expect(await results[0]?.catch(error => error.message)).to.equal('lost')
    await settled()
    expect(begun).to.deep.equal([0, 1])
    ends[1]?.()
    expect(await results[1]).to.equal(1)
  })
})
