// What a test of a provider costs, and how many a company has. The operation is in test-operation.test.ts.

import { expect } from 'chai'
import { DAY_MS } from '../../../../infra/time.ts'
import { createChargeTest, MAX_TESTS_PER_DAY } from '../../../../services/dashboard/providers/test-charge.ts'
import { createAccounts } from '../../../../services/domain/money/accounts.ts'
import { openAccount } from '../../../../services/domain/money/batches.ts'
import { creditEntry } from '../../../../services/domain/money/documents.ts'
import { savePrices } from '../../../../services/domain/money/prices.ts'
import { createCapturedLog } from '../../../support/captured-log.ts'
import { testClock } from '../../../support/clock.ts'
import { eachStore } from '../../../support/stores.ts'

const PRICE = 40

eachStore('the tests of the providers of a company', fresh => {
  it('are twenty a day and never more than the balance pays, however many processes test at once', async () => {
    const [store, clock] = [await fresh(), testClock()]
    const account = openAccount('cmp_1', 15 * PRICE, clock.now())
    await store.docs('companies').insert([{ _id: 'cmp_1', name: 'One', ...account, created_at: 0, rev: 0 }])
    await savePrices(store.docs('prices'), undefined, [{ channel: 'sms', country: '*', micros: PRICE }])
    const { log } = createCapturedLog()
    const processes = [1, 2, 3].map(() => {
      const accounts = createAccounts({ store, clock, log })
      return { accounts, charge: createChargeTest({ store, accounts, clock }) }
    })
    const app = { _id: 'app_1', company_id: 'cmp_1', name: 'Shop', settings: {}, created_at: 0, rev: 0 }
    const recipient = { kind: 'phone', value: '+14155552671', country: 'US', callingCode: '1' } as const
    const test = (nth: number) =>
      processes[nth % 3]?.charge({ app, channel: 'sms', provider: 'main', recipient, by: 'ada' })
    const testAll = async (times: number) => {
      const outcomes = await Promise.allSettled(Array.from({ length: times }, (_, nth) => test(nth)))
      return outcomes.map(one => (one.status === 'fulfilled' ? 200 : one.reason.status))
    }
    const count = (statuses: number[], status: number) => statuses.filter(one => one === status).length

    const first = await testAll(18)
    expect([count(first, 200), count(first, 402)]).to.deep.equal([15, 3])
    const credit = creditEntry('credit:a', { micros: 100 * PRICE, note: null, by: null })
    await processes[0]?.accounts.enter('cmp_1', credit)
    const second = await testAll(18)
    expect([count(second, 200), count(second, 429)], 'those without money did not count').to.deep.equal([
      MAX_TESTS_PER_DAY - 15,
      13,
    ])
    expect(await processes[1]?.accounts.balance('cmp_1')).to.equal((100 + 15 - MAX_TESTS_PER_DAY) * PRICE)
    await clock.advance(DAY_MS)
    expect(count(await testAll(3), 200), 'the next day').to.equal(3)
    for (const { accounts } of processes) await accounts.settled()
  })
})
