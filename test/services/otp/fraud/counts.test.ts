import { expect } from 'chai'
import { Unavailable } from '../../../../infra/unavailable.ts'
import type { BlockNumber } from '../../../../machines/fraud.number-block.ts'
import type { Tally, TallyEntry } from '../../../../machines/fraud.tally.ts'
import type { CountersignStore } from '../../../../services/domain/collections.ts'
import { createFraudCounts } from '../../../../services/otp/fraud/counts.ts'
import { createCapturedLog } from '../../../support/captured-log.ts'
import { testClock } from '../../../support/clock.ts'
import { eventually } from '../../../support/eventually.ts'
import { createGate } from '../../../support/gate.ts'
import { eachStore } from '../../../support/stores.ts'
import { interceptWrites } from '../../../support/tenancy.ts'

eachStore("the fraud guard's counts", fresh => {
  let clock = testClock()
  let store: CountersignStore
  beforeEach(async () => {
    clock = testClock()
    store = await fresh()
  })
  const process = (on: CountersignStore = store) =>
    createFraudCounts({ store: on, clock, log: createCapturedLog().log })
  const sent = (count = 1): TallyEntry => ({ at: clock.now(), sent: count, verified: 0 })
  const verified = (): TallyEntry => ({ at: clock.now(), sent: 0, verified: 1 })
  const number = (tag: string, isVerified = false): BlockNumber => ({
    tag,
    hundred: '00',
    at: clock.now(),
    verified: isVerified,
  })
  const today = ({ days }: Tally) => days.map(day => [day.sent, day.verified])

  it('show entries to their own process at once, and to other processes within seconds', async () => {
    const [one, other] = [process(), process()]
    one.tallies.add('GB', 'app', sent())
    one.tallies.add('GB', 'app', verified())
    expect(today(await one.tallies.state('GB'))).to.deep.equal([[1, 1]])
    expect(today(await other.tallies.state('GB'))).to.deep.equal([])
    await one.settled()
    expect(today(await one.tallies.state('GB'))).to.deep.equal([[1, 1]])
    await clock.advance(5_000)
    expect(today(await other.tallies.state('GB'))).to.deep.equal([[1, 1]])
  })

  it('lose nothing and count nothing twice when several processes add to them at once', async () => {
    const all = Array.from({ length: 4 }, () => process())
    for (let round = 0; round < 5; round += 1) {
      for (const { tallies, blocks } of all) {
        tallies.add('GB', 'app', sent(2))
        blocks.add('block', 'app', number(`${round}`))
        blocks.add('block', 'app', number(`${all.findIndex(one => one.blocks === blocks)}:${round}`))
      }
      await Promise.all(all.map(one => one.settled()))
    }
    for (const one of all) await one.settled()
    await clock.advance(5_000)
    for (const { tallies, blocks } of [...all, process()]) {
      expect(today(await tallies.state('GB'))).to.deep.equal([[40, 0]])
      expect((await blocks.state('block')).numbers).to.have.length(25)
    }
  })

  it('are written together in the background', async () => {
    const writes: string[] = []
    const one = process(interceptWrites(store, { before: call => writes.push(call) }))
    for (let nth = 0; nth < 100; nth += 1) one.tallies.add('GB', 'app', sent())
    expect(writes).to.deep.equal([])
    await clock.advance(5_000)
    await eventually(() => expect(writes.filter(call => call === 'fraud_tallies.insert')).to.have.length(1))
    await one.settled()
    expect(writes.filter(call => call === 'fraud_tallies.insert')).to.have.length(1)
    expect(today(await process().tallies.state('GB'))).to.deep.equal([[100, 0]])
  })

  for (const [when, isKnown] of [
    ['that were known before', true],
    ['that the process has not read yet', false],
  ] as const)
    it(`count nothing twice ${when}, while it is being written`, async () => {
      const { released, release } = createGate()
      let stored = 0
      const slow = interceptWrites(store, {
        after: async call => {
          if (!call.startsWith('fraud_tallies')) return
          stored += 1
          await released
        },
      })
      const one = process(slow)
      if (isKnown) await one.tallies.state('GB')
      one.tallies.add('GB', 'app', sent())
      const settled = one.settled()
      await eventually(() => expect(stored).to.equal(1))
      // What is cached is too old now.
      await clock.advance(60_000)
      const reading = one.tallies.state('GB')
      if (isKnown) expect(today(await reading)).to.deep.equal([[1, 0]])
      // A read that began as this one did has its answer.
      else await process().tallies.state('GB')
      release()
      expect(today(await reading)).to.deep.equal([[1, 0]])
      await settled
      expect(today(await one.tallies.state('GB'))).to.deep.equal([[1, 0]])
    })

  it('wait while the store is away, and do not prevent a process from stopping', async () => {
    let away = true
    const shaky = interceptWrites(store, {
      before() {
        if (away) throw new Unavailable('away')
      },
    })
    const one = process(shaky)
    one.tallies.add('GB', 'app', sent())
    await one.settled()
    expect(today(await one.tallies.state('GB'))).to.deep.equal([[1, 0]])
    away = false
    await one.settled()
    expect(today(await process().tallies.state('GB'))).to.deep.equal([[1, 0]])
  })

  it('are not added twice when the store goes away after some of them are stored', async () => {
    let away = false
    const shaky = interceptWrites(store, {
      before(call) {
        if (away && call === 'fraud_tallies.change') throw new Unavailable('away')
      },
    })
    const one = process(shaky)
    one.tallies.add('GB', 'app', sent())
    await one.settled()
    away = true
    one.tallies.add('GB', 'app', sent())
    one.tallies.add('FR', 'app', sent())
    await one.settled()
    expect(today(await process().tallies.state('FR')), 'the first write').to.deep.equal([[1, 0]])
    away = false
    await one.settled()
    for (const { tallies } of [one, process()]) {
      expect(today(await tallies.state('GB'))).to.deep.equal([[2, 0]])
      expect(today(await tallies.state('FR'))).to.deep.equal([[1, 0]])
    }
  })

  it('know that a number was verified in another process, and store no block for a verified number alone', async () => {
    const [one, other] = [process(), process()]
    one.blocks.add('block', 'app', number('a'))
    one.blocks.add('block', 'app', number('b'))
    await one.settled()
    other.blocks.add('block', 'app', number('a', true))
    other.blocks.add('elsewhere', 'app', number('a', true))
    await other.settled()
    await clock.advance(1_000)
    const { numbers } = await one.blocks.state('block')
    expect(numbers.map(({ tag, verified }) => [tag, verified])).to.have.deep.members([
      ['a', true],
      ['b', false],
    ])
    expect((await store.docs('fraud_blocks').get(['elsewhere'])).size).to.equal(0)
  })
})
