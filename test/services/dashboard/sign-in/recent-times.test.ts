import { expect } from 'chai'
import { createRecentTimes } from '../../../../services/dashboard/sign-in/recent-times.ts'
import { testClock } from '../../../support/clock.ts'
import { onEmbeddedStore } from '../../../support/stores.ts'

onEmbeddedStore('what was done lately', fresh => {
  it('gives back the time that was taken, so that a later one goes out no earlier', async () => {
    const clock = testClock()
    const times = createRecentTimes({ docs: (await fresh()).docs('invitation_times'), clock, windowMs: 60_000 })
    const first = await times.take('one', 2)
    await clock.advance(20_000)
    await times.take('one', 2)
    if (first.kind === 'taken') await first.giveBack()
    expect(await times.take('one', 1)).to.deep.equal({ kind: 'refused', waitMs: 60_000 })
  })
})
