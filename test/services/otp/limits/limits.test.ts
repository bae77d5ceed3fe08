import { expect } from 'chai'
import type { Limit, Quota } from '../../../../machines/quotas.ts'
import type { CountersignStore } from '../../../../services/domain/collections.ts'
import { createLimits } from '../../../../services/otp/limits/limits.ts'
import { reserve } from '../../../../services/otp/reservation.ts'
import { testClock } from '../../../support/clock.ts'
import { eachStore } from '../../../support/stores.ts'

eachStore('limits', fresh => {
  let clock = testClock()
  let store: CountersignStore
  beforeEach(async () => {
    clock = testClock()
    store = await fresh()
  })
  const shared = () => createLimits({ counters: store.docs('counters'), clock })
  let keys = 0
  const counted = (max: number, seconds = 600): Limit => {
    keys += 1
    return { key: `k${keys}`, rules: [{ max, seconds }] }
  }
  const granted = async (many: Promise<{ granted: boolean }>[]) =>
    (await Promise.all(many)).filter(one => one.granted).length

  it('are exact for forty processes that ask several times at once', async () => {
    const many = Array.from({ length: 40 }, shared)
    const fifty = counted(50)
    const asked = many.flatMap(({ take }) => [take(fifty), take(fifty), take(fifty)])
    expect(await granted(asked)).to.equal(50)
  })

  it('apply to each call of one counter the rules of that call', async () => {
    const { take } = shared()
    const { key } = counted(1)
    const under = (max: number) => ({ key, rules: [{ max, seconds: 60 }] })
    for (const _ of [1, 2]) expect((await take(under(9))).granted).to.equal(true)
    const asked = [under(1), under(9), under(2), under(9)].map(take)
    expect((await Promise.all(asked)).map(one => one.granted)).to.deep.equal([false, true, false, true])
  })

  it('start again when the counter was removed', async () => {
    const { take } = shared()
    const one = counted(1)
    await take(one)
    expect((await take(one)).granted).to.equal(false)
    await store.docs('counters').remove({ _id: one.key }, 1)
    expect(await granted([take(one), take(one)])).to.equal(1)
  })

  it('can be locked for longer than their rules reach', async () => {
    const { take, peek, lock } = shared()
    const two = counted(2, 10)
    await take(two)
    await lock(two, 3_600_000)
    await clock.advance(3_599_999)
    expect(await peek(two)).to.include({ granted: false, retry_after_ms: 1 })
    await clock.advance(1)
    expect((await peek(two)).granted).to.equal(true)
  })

  it('keep their counts for as long as their longest rule, also when they are locked for less', async () => {
    const { take, lock } = shared()
    const rules = [
      { max: 5, seconds: 60 },
      { max: 9, seconds: 86_400 },
    ]
    await take({ key: 'both', rules })
    await lock({ key: 'both', rules }, 60_000)
    const counter = (await store.docs('counters').get(['both'])).get('both')
    expect(counter?.purge_at).to.deep.equal(new Date(clock.now() + 2 * 86_400_000))
    await lock({ key: 'both', rules }, 3 * 86_400_000)
    await lock({ key: 'both', rules }, 1_000)
    const again = (await store.docs('counters').get(['both'])).get('both')
    expect(again?.locked_until, 'a shorter lock does not end a longer one').to.equal(clock.now() + 3 * 86_400_000)
    expect(again?.purge_at).to.deep.equal(new Date(clock.now() + 6 * 86_400_000))
  })

  it('count each key on its own, and grant everything without a rule', async () => {
    const { take } = shared()
    expect(await granted([counted(1), counted(1)].map(take))).to.equal(2)
    expect(await granted(Array.from({ length: 20 }, () => take({ key: 'free', rules: [] })))).to.equal(20)
  })

  const recipient = (key: string): Quota => ({ scope: 'recipient', key, rules: [{ max: 1, seconds: 600 }] })
  const app: Quota = { scope: 'app', key: 'app', rules: [{ max: 3, seconds: 600 }] }
  const scopeOf = async (reservation: ReturnType<typeof reserve>) => (await reservation).refusal?.scope ?? 'granted'

  it('refuse a reservation by the first that is full, even if this process only knew of a later one', async () => {
    const [here, there] = [shared(), shared()]
    for (const key of ['ada', 'bob', 'eve']) await reserve(there, [recipient(key), app])
    expect(await scopeOf(reserve(here, [recipient('joe'), app]))).to.equal('app')
    expect(await scopeOf(reserve(here, [recipient('ada'), app]))).to.equal('recipient')
  })

  it('count a reservation once for two quotas of one counter and one length, and both must allow it', async () => {
    const counted = shared()
    const strict: Quota = { ...app, rules: [{ max: 2, seconds: 600 }] }
    const scopes = ['granted', 'granted', 'app']
    for (const scope of scopes) expect(await scopeOf(reserve(counted, [app, strict]))).to.equal(scope)
    expect(await scopeOf(reserve(counted, [app]))).to.equal('granted')
    expect(await scopeOf(reserve(counted, [app]))).to.equal('app')
  })
})
