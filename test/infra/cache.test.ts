import { expect } from 'chai'
import { createCache } from '../../infra/cache.ts'
import { testClock } from '../support/clock.ts'

describe('a cache', () => {
  function createCountingCache(options: { ttlMs?: number; maxSize?: number } = {}) {
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
    return { cache, clock, loads, setBroken: (now: boolean) => (broken = now) }
  }

  it('loads once for callers that ask together, and again after its time to live', async () => {
    const { cache, clock, loads } = createCountingCache()
    expect(await Promise.all([cache.get('a'), cache.get('a')])).to.deep.equal(['a 1', 'a 1'])
    await clock.advance(4_999)
    expect(await cache.get('a')).to.equal('a 1')
    await clock.advance(1)
    expect(await cache.get('a')).to.equal('a 2')
    expect(loads).to.deep.equal(['a', 'a'])
  })

  it('loads again after the clock was set back', async () => {
    const { cache, clock } = createCountingCache()
    await cache.get('a')
    await clock.advance(-3_600_000)
    expect([await cache.get('a'), await cache.get('a')]).to.deep.equal(['a 2', 'a 2'])
  })

  it('keeps no failed load, and nothing that was invalidated', async () => {
    const { cache, setBroken } = createCountingCache()
    setBroken(true)
    expect(await cache.get('a').catch(error => error.message)).to.equal('store down')
    setBroken(false)
    expect(await cache.get('a')).to.equal('a 2')
    cache.invalidate('a')
    expect(await cache.get('a')).to.equal('a 3')
  })

  it('keeps no more values than its maximum size', async () => {
    const { cache, loads } = createCountingCache({ maxSize: 2 })
    for (const key of ['a', 'b', 'c', 'a']) await cache.get(key)
    expect(loads).to.deep.equal(['a', 'b', 'c', 'a'])
    await cache.get('c')
    expect(loads).to.have.length(4)
  })
})
