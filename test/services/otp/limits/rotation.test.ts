// Counters are named by an index under the current data key. When keys rotate, nobody gets a fresh limit by it.
import { expect } from 'chai'
import type { CountersignStore } from '../../../../services/domain/collections.ts'
import { createLimits } from '../../../../services/otp/limits/limits.ts'
import type { Counted } from '../../../../services/otp/limits/windows.ts'
import { testClock } from '../../../support/clock.ts'
import { eachStore } from '../../../support/stores.ts'

eachStore('limits while data keys rotate', fresh => {
  let store: CountersignStore
  const clock = testClock()
  beforeEach(async () => {
    store = await fresh()
  })
  const process = () => createLimits({ counters: store.docs('counters'), clock })
  const rules = [{ max: 3, seconds: 600 }]
  const before: Counted = { key: 'old', rules }
  const since: Counted = { key: 'new', formerKeys: ['old'], rules }
  const granted = async (many: Promise<{ granted: boolean }>[]): Promise<number> =>
    (await Promise.all(many)).filter(one => one.granted).length

  it('go on where they were, also for calls that come all at once', async () => {
    await process().take(before)
    await process().take(before)
    const [one, other] = [process(), process()]
    expect(await granted(Array.from({ length: 8 }, (_, at) => (at % 2 ? one : other).take(since)))).to.equal(1)
    expect((await process().peek(since)).granted).to.equal(false)
  })

  it('need the old name no more once they were used under the new one', async () => {
    for (let nth = 0; nth < 3; nth += 1) await process().take(before)
    await process().take(since)
    expect((await process().take({ key: 'new', rules })).granted).to.equal(false)
  })

  it('are seen by who only looks, locks included', async () => {
    await process().take(before)
    await process().lock(before, 60_000)
    expect(await process().peek(since)).to.deep.equal({ granted: false, retry_after_ms: 60_000 })
    await process().take(since)
    expect(await process().peek({ key: 'new', rules })).to.deep.equal({ granted: false, retry_after_ms: 60_000 })
  })

  it('of a thing that was never counted begin as ever', async () => {
    expect(await granted(Array.from({ length: 8 }, () => process().take(since)))).to.equal(3)
  })
})
