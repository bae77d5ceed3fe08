import { expect } from 'chai'
import { createLeases, freeAllLeases } from '../../infra/leases.ts'
import type { CountersignStore } from '../../services/domain/collections.ts'
import { type TestClock, testClock } from '../support/clock.ts'
import { eachStore } from '../support/stores.ts'

eachStore('leases', fresh => {
  let clock: TestClock
  let store: CountersignStore
  beforeEach(async () => {
    clock = testClock()
    store = await fresh()
  })
  const newHolder = () => createLeases({ leases: store.docs('leases'), clock }, { forMs: 15_000, renewBelowMs: 10_000 })

  it('are granted to one holder, however many ask at once', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => newHolder().take('share')))
    expect(answers.filter(Boolean)).to.have.length(1)
  })

  it('stay with a holder that takes them again, and pass on once its time is over', async () => {
    const [one, other] = [newHolder(), newHolder()]
    expect(await one.take('share')).to.equal(true)
    await clock.advance(14_000)
    expect(await one.take('share')).to.equal(true)
    await clock.advance(14_999)
    expect(await other.take('share')).to.equal(false)
    await clock.advance(1)
    expect(await other.take('share')).to.equal(true)
    expect(await one.take('share')).to.equal(false)
  })

  it('are renewed by their holder even past their time, but not after another holder took them', async () => {
    const [one, other] = [newHolder(), newHolder()]
    expect(await one.renew('share')).to.equal(false)
    await one.take('share')
    await clock.advance(16_000)
    expect(await one.renew('share')).to.equal(true)
    expect(await other.take('share')).to.equal(false)
    await clock.advance(15_000)
    expect(await other.take('share')).to.equal(true)
    expect(await one.renew('share')).to.equal(false)
  })

  it('are all free once a store that only one process uses was opened again', async () => {
    const [dead, next] = [newHolder(), newHolder()]
    await Promise.all(['a', 'b'].map(name => dead.take(name)))
    await freeAllLeases(store.docs('leases'))
    expect(await Promise.all(['a', 'b'].map(name => next.take(name)))).to.deep.equal([true, true])
  })

  it('cost no write while more than the time to renew is left', async () => {
    const holder = newHolder()
    const until = async () => (await store.docs('leases').get(['share'])).get('share')?.until
    await holder.take('share')
    const first = await until()
    await clock.advance(4_999)
    await holder.take('share')
    await holder.renew('share')
    expect(await until()).to.equal(first)
    await clock.advance(1)
    await holder.renew('share')
    expect(await until()).to.equal(clock.now() + 15_000)
  })

  it('are free at once when their holder releases them, and those of other holders are not', async () => {
    const [one, other] = [newHolder(), newHolder()]
    await one.take('a')
    await one.take('b')
    await other.take('c')
    await one.release('a')
    await one.release('c')
    expect(await other.take('a')).to.equal(true)
    expect(await other.take('b')).to.equal(false)
    await one.releaseAll()
    expect(await other.take('b')).to.equal(true)
    expect(await one.take('c')).to.equal(false)
  })
})
