// When the service did not work: found by the process that was there, by one that starts, and by one that takes over.
import { expect } from 'chai'
import type { CountersignStore } from '../../../services/domain/collections.ts'
import { createServiceOutages } from '../../../services/sweeper/service-outages.ts'
import { type TestClock, testClock } from '../../support/clock.ts'
import { onEmbeddedStore } from '../../support/stores.ts'

const T0 = Date.UTC(2030, 0, 10, 12)
const SECOND = 1_000
const HOUR = 3_600 * SECOND

onEmbeddedStore('outages of the service', fresh => {
  let store: CountersignStore
  let clock: TestClock
  const queue = { ready: 0, consumers: 1, dead: 0, oldestMs: null, brokerName: null }
  let depth = async () => queue
  beforeEach(async () => {
    store = await fresh()
    clock = testClock(T0)
    queue.consumers = 1
    depth = async () => queue
  })
  const newOutages = () => createServiceOutages({ store, broker: { depth: () => depth() }, clock })
  const newProcess = (outages = newOutages()) => {
    return async (afterMs: number) => {
      await clock.advance(afterMs)
      const found = await outages.find()
      return found?.map(({ from, until }) => [(from - T0) / SECOND, (until - T0) / SECOND]) ?? null
    }
  }

  it('are the times in which no process took calls, or the broker did not answer', async () => {
    const outages = newOutages()
    const look = newProcess(outages)
    expect(await look(0)).to.deep.equal([])
    queue.consumers = 0
    expect(await look(10 * SECOND)).to.equal(null)
    depth = () => Promise.reject(new Error('away'))
    expect(await look(60 * SECOND)).to.equal(null)
    depth = async () => queue
    queue.consumers = 2
    expect(await look(30 * SECOND)).to.deep.equal([[0, 100]])
    depth = () => new Promise(() => {})
    await clock.advance(58 * SECOND)
    const found = outages.find()
    await clock.advance(2 * SECOND)
    expect(await found, 'connected, without an answer').to.equal(null)
    depth = async () => queue
    expect(await look(0)).to.deep.equal([
      [0, 100],
      [100, 160],
    ])
  })

  it('are the times in which an engine failed elsewhere in the process, if they are long', async () => {
    const outages = newOutages()
    const look = newProcess(outages)
    await look(0)
    outages.engineFailed()
    expect(await look(20 * SECOND)).to.deep.equal([])
    outages.engineFailed()
    expect(await look(60 * SECOND)).to.deep.equal([[20, 80]])
  })

  it('are the times in which no process looked, but not those of one that was busy', async () => {
    const look = newProcess()
    await look(0)
    await look(10 * SECOND)
    expect(await look(600 * SECOND)).to.deep.equal([])
    expect(await newProcess()(25 * SECOND), 'it took over in time').to.deep.equal([])
    expect(await newProcess()(100 * SECOND)).to.deep.equal([[635, 735]])
  })

  it('are those that any process found, and none because two look by turns', async () => {
    const [one, other] = [newProcess(), newProcess()]
    await one(0)
    await other(5 * SECOND)
    for (let turns = 0; turns < 4; turns += 1) {
      await one(10 * SECOND)
      await other(10 * SECOND)
    }
    const last = [await one(10 * SECOND), await one(SECOND), await other(10 * SECOND), await other(SECOND)]
    expect(last.flatMap(found => found ?? [])).to.deep.equal([])
  })

  it('are forgotten when no slot is left that they could touch', async () => {
    await newProcess()(0)
    const look = newProcess()
    expect(await look(60 * SECOND)).to.deep.equal([[0, 60]])
    expect(await look(5 * HOUR)).to.deep.equal([])
  })
})
