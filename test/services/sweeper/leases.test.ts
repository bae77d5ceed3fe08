import { expect } from 'chai'
import type { CountersignStore } from '../../../services/domain/collections.ts'
import { leasing } from '../../../services/sweeper/leases.ts'
import { type TestClock, testClock } from '../../support/clock.ts'
import { eachStore } from '../../support/stores.ts'

eachStore('leases', fresh => {
  let clock: TestClock
  let store: CountersignStore
  beforeEach(async () => {
    clock = testClock()
    store = await fresh()
  })
  const sweeper = (holder: string) => leasing({ leases: store.docs('leases'), clock, holder })

  it('are one holder’s at a time, however many ask at once', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, (_, at) => sweeper(`s${at}`).hold('share')))
    expect(answers.filter(Boolean)).to.have.length(1)
  })

  it('are renewed by their holder, and pass on when it is gone for long', async () => {
    const [one, other] = [sweeper('one'), sweeper('other')]
    expect(await one.hold('share')).to.equal(true)
    await clock.advance(14_000)
    expect(await one.hold('share')).to.equal(true)
    await clock.advance(14_999)
    expect(await other.hold('share')).to.equal(false)
    await clock.advance(1)
    expect(await other.hold('share')).to.equal(true)
    expect(await one.hold('share')).to.equal(false)
  })

  it('are free at once when their holder lets go, and only its own', async () => {
    const [one, other] = [sweeper('one'), sweeper('other')]
    await one.hold('a')
    await other.hold('b')
    await one.release()
    expect(await other.hold('a')).to.equal(true)
    expect(await one.hold('b')).to.equal(false)
  })
})
