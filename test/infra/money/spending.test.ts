import { expect } from 'chai'
import { type Expense, endOfDay, spending } from '../../../infra/money/spending.ts'
import type { CountersignStore } from '../../../infra/store/collections.ts'
import { eachStore } from '../../support/stores.ts'

const DAY = 86_400_000
const NOON = 20_000 * DAY + DAY / 2

eachStore('what is spent on a country in a day', fresh => {
  let store: CountersignStore
  beforeEach(async () => {
    store = await fresh()
  })
  const process = () => spending(store.docs('spend'))
  const expense = (micros: number, more: Partial<Expense> = {}): Expense => ({
    ...{ app_id: 'app', country: 'GB', at: NOON, micros },
    ...more,
  })
  const spent = async () =>
    (await store.docs('spend').get([`app:GB:${Math.floor(NOON / DAY)}`])).values().next().value?.spent

  it('never passes the cap, whatever is asked for at once by however many processes', async () => {
    const all = [process(), process(), process()]
    const prices = Array.from({ length: 60 }, (_, nth) => 10 + (nth % 3) * 15)
    const answers = await Promise.all(prices.map((micros, nth) => all[nth % 3]?.take(expense(micros), 500)))
    const granted = prices.filter((_, nth) => answers[nth]).reduce((sum, micros) => sum + micros, 0)
    expect(granted).to.equal(await spent())
    expect(granted).to.be.within(500 - 40, 500)
  })

  it('is used up to the last, by whatever still fits', async () => {
    const { take } = process()
    expect(await take(expense(80), 100)).to.equal(true)
    expect(await take(expense(40), 100)).to.equal(false)
    expect(await take(expense(20), 100)).to.equal(true)
    expect(await take(expense(1), 100)).to.equal(false)
    expect(await take(expense(1), 0)).to.equal(false)
  })

  it('has room again for what came back, once, and never for what it did not count', async () => {
    const { take, giveBack } = process()
    await take(expense(100), 100)
    await giveBack(expense(100, { at: NOON - 1 }))
    expect(await take(expense(10), 100), 'sent before there was a cap').to.equal(false)
    await giveBack(expense(100))
    await giveBack(expense(100))
    expect(await spent()).to.equal(0)
    await giveBack(expense(100, { country: 'FR' }))
  })

  it('is apart for every app, country and UTC day', async () => {
    const { take } = process()
    for (const more of [{}, { app_id: 'other' }, { country: 'FR' }, { at: endOfDay(NOON) }]) {
      expect(await take(expense(100, more), 100)).to.equal(true)
      expect(await take(expense(100, more), 100)).to.equal(false)
    }
    expect(endOfDay(NOON)).to.equal(20_001 * DAY)
    expect(await take(expense(1, { at: endOfDay(NOON) - 1 }), 100), 'still today').to.equal(false)
  })
})
