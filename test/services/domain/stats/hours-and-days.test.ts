import { expect } from 'chai'
import { DIMENSIONS, newTally } from '../../../../services/domain/stats/contribution.ts'
import { addCount, cellOf } from '../../../../services/domain/stats/counts.ts'
import { newDay, newHour, withAdded } from '../../../../services/domain/stats/hours-and-days.ts'

describe('the documents of statistics', () => {
  const owner = { app_id: 'app_1', mode: 'live', start: Date.UTC(2026, 0, 1) } as const
  const tally = newTally()
  for (const name of DIMENSIONS) addCount(cellOf(tally[name], 'one'), 'started', 2)
  const hour = newHour(owner, tally, {})
  const { provider: _, ...withoutProvider } = hour.by

  it('can be added to where an earlier release stored fewer dimensions', () => {
    const { by } = withAdded({ ...hour, by: withoutProvider }, tally, {})
    expect(by).to.deep.equal({
      channel: 'one=4 0 0 0 0 0 0 0 0',
      country: 'one=4 0 0 0 0 0 0 0 0',
      provider: 'one=2 0 0 0 0 0 0 0 0',
    })
  })

  it('are summed up to a day where some of its hours have fewer dimensions', () => {
    const { by } = newDay(owner, [{ ...hour, by: withoutProvider }, hour])
    expect([by.channel, by.provider]).to.deep.equal(['one=4 0 0 0 0 0 0 0 0', 'one=2 0 0 0 0 0 0 0 0'])
  })
})
