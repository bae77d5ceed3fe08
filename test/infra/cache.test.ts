import { expect } from 'chai'
import { createCache } from '../../infra/cache.ts'
import { testClock } from '../support/clock.ts'

describe('cache', () => {
  function counting(options: { ttlMs?: number; maxSize?: number } = {}) {
    const clock = testClock()
    const loads: string[] = []
    let broken = false
    const cache = createCache(
      async key => {
        loads.push(key)
        if (broken) throw new Error('store down')
        return `${key} ${loads.length}`
      },
      { ttlMs: 5_000, maxSize: 2, clock, ...options },
    )
    return { cache, clock, loads, breaks: (now: boolean) => (broken = now) }
  }

  it('loads once for all who ask together, and again when it has grown old', async () => {
    const { cache, clock, loads } = counting()
    expect(await Promise.all([cache.get('a'), cache.get('a')])).to.deep.equal(['a 1', 'a 1'])
    await clock.advance(4_999)
    expect(await cache.get('a')).to.equal('a 1')
    await clock.advance(1)
    expect(await cache.get('a')).to.equal('a 2')
    expect(loads).to.deep.equal(['a', 'a'])
  })

  it('keeps no more than its share', async () => {
    const { cache, loads } = counting({ maxSize: 2 })
    for (const key of ['a', 'b', 'c', 'a']) await cache.get(key)
    expect(loads).to.deep.equal(['a', 'b', 'c', 'a'])
    await cache.get('c')
    expect(loads).to.have.length(4)
  })

  it('does not remember a failure', async () => {
    const { cache, breaks } = counting()
    breaks(true)
    expect(await cache.get('a').catch(error => error.message)).to.equal('store down')
    breaks(false)
    expect(await cache.get('a')).to.equal('a 2')
  })

  it('forgets what it is told to', async () => {
    const { cache } = counting()
    await cache.get('a')
    cache.invalidate('a')
    expect(await cache.get('a')).to.equal('a 2')
  })
})
