import { expect } from 'chai'
import { createExclusiveChange } from '../../infra/exclusive-change.ts'
import type { Problem } from '../../infra/http/problem.ts'
import type { CountersignStore } from '../../services/domain/collections.ts'
import { type TestClock, testClock } from '../support/clock.ts'
import { eventually } from '../support/eventually.ts'
import { onEmbeddedStore } from '../support/stores.ts'

onEmbeddedStore('an exclusive change', fresh => {
  let [store, clock] = [] as unknown as [CountersignStore, TestClock]
  beforeEach(async () => {
    ;[store, clock] = [await fresh(), testClock()]
  })
  const dashboard = () => createExclusiveChange({ leases: store.docs('leases'), clock })
  const refused = (change: Promise<unknown>): Promise<Problem> =>
    change.then(
      () => expect.fail('it was not refused'),
      (error: Problem) => error,
    )
  const held = async () => (await store.docs('leases').get(['change:x'])).size
  const never = () => new Promise<void>(() => {})
  /** Advances the clock until the change is settled. */
  async function whileTimePasses<T>(change: Promise<T>): Promise<T> {
    let over = false
    const settled = () => {
      over = true
    }
    change.then(settled, settled)
    while (!over) {
      await clock.advance(500)
      await store.ping()
      await new Promise<void>(resolve => void setImmediate(resolve))
    }
    return change
  }

  it('is made by one dashboard process after the other', async () => {
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
    await whileTimePasses(second)
    expect(seen).to.deep.equal(['first begins', 'first ends', 'second'])
    expect(await one('x', async () => 'free')).to.equal('free')
  })

  it('waits for another process’s change, is refused after a while, and is possible once the lease of a dead process has passed', async () => {
    void dashboard()('x', never)
    await eventually(async () => expect(await held()).to.equal(1))
    const failure = await refused(whileTimePasses(dashboard()('x', async () => 'changed')))
    expect(failure).to.include({ type: 'HTTPException', status: 409 })
    await clock.advance(30_000)
    expect(await dashboard()('x', async () => 'mine')).to.equal('mine')
  })

  it('may write nothing more once another process has taken its lease', async () => {
    const slow = dashboard()('x', async renewLease => {
      await renewLease()
      await clock.advance(31_000)
      await dashboard()('x', async () => {})
      await renewLease()
    })
    expect(await refused(slow)).to.include({ status: 409 })
  })

  it('keeps its lease for as long as it renews it, and releases it when it fails', async () => {
    const failure = await dashboard()('x', async renewLease => {
      for (let round = 0; round < 5; round += 1) {
        await clock.advance(20_000)
        await renewLease()
      }
      throw new Error('broken')
    }).catch((error: Error) => error.message)
    expect(failure).to.equal('broken')
    expect(await held()).to.equal(0)
  })
})
