import { expect } from 'chai'
import type { Problem } from '../../../infra/http/problem.ts'
import { turns } from '../../../services/dashboard/turns.ts'
import type { CountersignStore } from '../../../services/domain/collections.ts'
import { type TestClock, testClock } from '../../support/clock.ts'
import { eventually } from '../../support/eventually.ts'
import { eachStore } from '../../support/stores.ts'

eachStore('a turn', fresh => {
  let [store, clock] = [] as unknown as [CountersignStore, TestClock]
  beforeEach(async () => {
    ;[store, clock] = [await fresh(), testClock()]
  })
  const dashboard = () => turns({ leases: store.docs('leases'), clock })
  const refused = (turn: Promise<unknown>): Promise<Problem> =>
    turn.then(
      () => expect.fail('it was not refused'),
      (error: Problem) => error,
    )
  const held = async () => (await store.docs('leases').get(['change:x'])).size
  const never = () => new Promise<void>(() => {})
  /** Time goes on until it is settled. */
  async function inTime<T>(turn: Promise<T>): Promise<T> {
    let over = false
    const settled = () => {
      over = true
    }
    turn.then(settled, settled)
    while (!over) {
      await clock.advance(500)
      await store.ping()
      await new Promise<void>(resolve => void setImmediate(resolve))
    }
    return turn
  }

  it('is one dashboard’s after the other’s', async () => {
    const [one, other] = [dashboard(), dashboard()]
    const seen: string[] = []
    let finish = (): void => {}
    const first = one('x', async () => {
      seen.push('first begins')
      await new Promise<void>(resolve => {
        finish = resolve
      })
      seen.push('first ends')
    })
    await eventually(() => expect(seen).to.deep.equal(['first begins']))
    const second = other('x', async () => void seen.push('second'))
    expect(await other('y', async () => 'another name')).to.equal('another name')
    finish()
    await first
    await inTime(second)
    expect(seen).to.deep.equal(['first begins', 'first ends', 'second'])
    expect(await one('x', async () => 'free')).to.equal('free')
  })

  it('is waited for, then refused, and free once whoever had it is taken for dead', async () => {
    void dashboard()('x', never)
    await eventually(async () => expect(await held()).to.equal(1))
    const failure = await refused(inTime(dashboard()('x', async () => 'changed')))
    expect(failure).to.include({ type: 'HTTPException', status: 409 })
    await clock.advance(30_000)
    expect(await dashboard()('x', async () => 'mine')).to.equal('mine')
  })

  it('that was lost to another lets nothing more be written', async () => {
    const slow = dashboard()('x', async keep => {
      await keep()
      await clock.advance(31_000)
      await dashboard()('x', async () => {})
      await keep()
    })
    expect(await refused(slow)).to.include({ status: 409 })
  })

  it('lasts as long as its change shows that it lives, and ends when it fails', async () => {
    const failure = await dashboard()('x', async keep => {
      for (let round = 0; round < 5; round += 1) {
        await clock.advance(20_000)
        await keep()
      }
      throw new Error('broken')
    }).catch((error: Error) => error.message)
    expect(failure).to.equal('broken')
    expect(await held()).to.equal(0)
  })
})
