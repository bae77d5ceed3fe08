// A counter's key contains an index under the current data key. Rotating the data keys must not reset any limit.
import { expect } from 'chai'
import type { CountersignStore } from '../../../../services/domain/collections.ts'
import { createLimits } from '../../../../services/otp/limits/limits.ts'
import type { Limit } from '../../../../services/otp/limits/windows.ts'
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
  const before: Limit = { key: 'old', rules }
  const since: Limit = { key: 'new', formerKeys: ['old'], rules }
  const granted = async (many: Promise<{ granted: boolean }>[]): Promise<number> =>
    (await Promise.all(many)).filter(one => one.granted).length

  it('continue with their counts, also for parallel calls', async () => {
    await process().take(before)
    await process().take(before)
    const [one, other] = [process(), process()]
    expect(await granted(Array.from({ length: 8 }, (_, at) => (at % 2 ? one : other).take(since)))).to.equal(1)
    expect((await process().peek(since)).granted).to.equal(false)
  })

  it('no longer need the old key once they were used under the new one', async () => {
    for (let nth = 0; nth < 3; nth += 1) await process().take(before)
    await process().take(since)
    expect((await process().take({ key: 'new', rules })).granted).to.equal(false)
  })

  it('are also read under the old key, including locks', async () => {
    await process().take(before)
    await process().lock(before, 60_000)
    expect(await process().peek(since)).to.deep.equal({ granted: false, retry_after_ms: 60_000 })
    await process().take(since)
    expect(await process().peek({ key: 'new', rules })).to.deep.equal({ granted: false, retry_after_ms: 60_000 })
  })

  it('start at zero when there is no count under any key', async () => {
    expect(await granted(Array.from({ length: 8 }, () => process().take(since)))).to.equal(3)
  })
})
