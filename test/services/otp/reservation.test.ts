import { expect } from 'chai'
import type { Quota } from '../../../machines/quotas.ts'
import type { CountersignStore } from '../../../services/domain/collections.ts'
import { createLimits } from '../../../services/otp/limits/limits.ts'
import { reserve } from '../../../services/otp/reservation.ts'
import { testClock } from '../../support/clock.ts'
import { eachStore } from '../../support/stores.ts'

eachStore('a reservation', fresh => {
  const clock = testClock()
  let store: CountersignStore
  beforeEach(async () => {
    store = await fresh()
  })
  const shared = () => createLimits({ counters: store.docs('counters'), clock })
  const recipient = (key: string): Quota => ({ scope: 'recipient', key, rules: [{ max: 1, seconds: 600 }] })
  const app: Quota = { scope: 'app', key: 'app', rules: [{ max: 3, seconds: 600 }] }
  const scopeOf = async (reservation: ReturnType<typeof reserve>) => (await reservation).refusal?.scope ?? 'granted'

  it('takes from all limits or from none', async () => {
    const counted = shared()
    expect(await scopeOf(reserve(counted, [recipient('ada'), app]))).to.equal('granted')
    expect(await scopeOf(reserve(counted, [recipient('ada'), app]))).to.equal('recipient')
    for (const key of ['bob', 'eve']) expect(await scopeOf(reserve(counted, [recipient(key), app]))).to.equal('granted')
    expect(await scopeOf(reserve(counted, [recipient('joe'), app]))).to.equal('app')
  })

  it('takes nothing from other limits, not even for a moment, while one is known to be full', async () => {
    const counted = shared()
    for (const scope of ['granted', 'recipient'])
      expect(await scopeOf(reserve(counted, [recipient('ada'), app]))).to.equal(scope)
    const flood = Array.from({ length: 20 }, () => scopeOf(reserve(counted, [recipient('ada'), app])))
    const others = ['bob', 'eve'].map(key => scopeOf(reserve(counted, [recipient(key), app])))
    expect(await Promise.all(others)).to.deep.equal(['granted', 'granted'])
    expect(new Set(await Promise.all(flood))).to.deep.equal(new Set(['recipient']))
  })

  it('is refused by the first of several full limits, even if this process only knew of a later one', async () => {
    const [here, there] = [shared(), shared()]
    for (const key of ['ada', 'bob', 'eve']) await reserve(there, [recipient(key), app])
    expect(await scopeOf(reserve(here, [recipient('joe'), app]))).to.equal('app')
    expect(await scopeOf(reserve(here, [recipient('ada'), app]))).to.equal('recipient')
  })

  it('counts once for two quotas that are of one counter and one length, and both must allow it', async () => {
    const counted = shared()
    const strict: Quota = { ...app, rules: [{ max: 2, seconds: 600 }] }
    const scopes = ['granted', 'granted', 'app']
    for (const scope of scopes) expect(await scopeOf(reserve(counted, [app, strict]))).to.equal(scope)
    expect(await scopeOf(reserve(counted, [app]))).to.equal('granted')
    expect(await scopeOf(reserve(counted, [app]))).to.equal('app')
  })
})
