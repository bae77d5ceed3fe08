import { expect } from 'chai'
import { createEmbeddedStore } from '../../../infra/store/embedded.ts'
import { CONTRACT_COLLECTIONS } from '../../contract/store.contract.ts'
import { testClock } from '../../support/clock.ts'
import { eventually } from '../../support/eventually.ts'
import { createTemporaryFolder } from '../../support/temporary-folder.ts'

const MINUTE = 60_000

describe('purging in the embedded store', () => {
  const folder = createTemporaryFolder()
  const clock = testClock()
  const store = createEmbeddedStore({ folder, collections: CONTRACT_COLLECTIONS, clock })
  const counters = store.docs('counters')
  after(() => store.close())
  const inMs = (ms: number) => new Date(clock.now() + ms)

  it('removes documents past their purge_at within a minute, and no others', async () => {
    const never = { _id: 'never', group: 'g' }
    // MongoDB does not purge by a number either: it is no Date.
    const numbered = { _id: 'numbered', group: 'g', purge_at: 5 as unknown as Date }
    await counters.insert([
      { _id: 'past', group: 'g', purge_at: inMs(-5) },
      { _id: 'soon', group: 'g', purge_at: inMs(MINUTE / 2) },
      { _id: 'later', group: 'g', purge_at: inMs(MINUTE + 1) },
      never,
      numbered,
      { _id: 'kept', group: 'g', purge_at: inMs(1) },
      { _id: 'moved', group: 'g', purge_at: inMs(1) },
    ])
    await counters.modify({ _id: 'kept' }, { $unset: { purge_at: true } })
    await counters.modify({ _id: 'moved' }, { $set: { purge_at: inMs(10 * MINUTE) } })
    await store.docs('things').insert([{ _id: 'past', rev: 1, group: 'g', purge_at: inMs(-MINUTE) }])
    await clock.advance(MINUTE - 1)
    expect(await counters.count({ group: 'g' })).to.equal(7)
    await clock.advance(1)
    const left = await counters.find({ group: 'g' }, { sort: {}, limit: 9 })
    expect(left.map(doc => doc._id)).to.deep.equal(['kept', 'later', 'moved', 'never', 'numbered'])
    await clock.advance(MINUTE)
    expect(await counters.count({ group: 'g' })).to.equal(4)
    expect((await store.docs('things').get(['past'])).size, 'of a collection that is not purged').to.equal(1)
  })

  it('removes many documents, batch by batch', async () => {
    const purge_at = inMs(-1)
    await counters.insert(Array.from({ length: 1_001 }, (_, i) => ({ _id: `many${i}`, group: 'many', purge_at })))
    await clock.advance(MINUTE)
    await eventually(async () => expect(await counters.count({ group: 'many' })).to.equal(0))
  })

  it('stops at close', async () => {
    const other = createTemporaryFolder()
    const moving = testClock()
    let timers = 0
    const counted = {
      now: moving.now,
      after(ms: number, task: () => void) {
        timers++
        const cancel = moving.after(ms, task)
        return () => {
          timers--
          cancel()
        }
      },
    }
    const closing = createEmbeddedStore({ folder: other, collections: CONTRACT_COLLECTIONS, clock: counted })
    expect(timers).to.equal(1)
    await closing.close()
    expect(timers).to.equal(0)
  })
})
