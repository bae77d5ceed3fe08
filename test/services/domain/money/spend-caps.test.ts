// Spend caps as the account counts them: up with a hold, down with its refund, each in one write with the balance.

import { expect } from 'chai'
import { DAY_MS } from '../../../../infra/time.ts'
import { capKey, endOfDay } from '../../../../machines/spend-caps.ts'
import type { CountersignStore } from '../../../../services/domain/collections.ts'
import { type Accounts, createAccounts } from '../../../../services/domain/money/accounts.ts'
import { openAccount } from '../../../../services/domain/money/batches.ts'
import { refundEntry, voidEntry } from '../../../../services/domain/money/documents.ts'
import { createCapturedLog } from '../../../support/captured-log.ts'
import { type TestClock, testClock } from '../../../support/clock.ts'
import { hold as testHold } from '../../../support/money.ts'
import { eachStore } from '../../../support/stores.ts'

eachStore('a spend cap', fresh => {
  let store: CountersignStore
  let clock: TestClock
  beforeEach(async () => {
    store = await fresh()
    clock = testClock()
    const account = { ...openAccount('cmp_1', 0, 0), balance: 1_000_000 }
    await store.docs('companies').insert([{ _id: 'cmp_1', name: 'One', ...account, created_at: 0, rev: 0 }])
  })
  const openAccounts = (): Accounts => createAccounts({ store, clock, log: createCapturedLog().log })
  const spent = async () => (await store.docs('companies').get(['cmp_1'])).get('cmp_1')?.spent
  const key = (app = 'app_a', country = 'GB', at = clock.now()) => capKey(app, country, at)
  let holds = 0
  const enterHold = (accounts: Accounts, micros: number, limit: number, at = key()) => {
    holds += 1
    return accounts.enter('cmp_1', testHold('otp_1', `dlv_${holds}`, micros), { key: at, limit })
  }

  it('is never exceeded, however many processes enter holds at once', async () => {
    const all = [openAccounts(), openAccounts(), openAccounts()]
    const prices = Array.from({ length: 60 }, (_, nth) => 10 + (nth % 3) * 15)
    const answers = await Promise.all(prices.map((micros, nth) => enterHold(all[nth % 3] as Accounts, micros, 500)))
    const granted = prices.filter((_, nth) => answers[nth] === 'entered').reduce((sum, micros) => sum + micros, 0)
    expect(answers.filter(answer => answer !== 'entered')).to.include('capped')
    expect(await spent()).to.deep.equal({ [key()]: granted })
    expect(granted).to.be.within(500 - 40, 500)
    expect(await openAccounts().balance('cmp_1')).to.equal(1_000_000 - granted)
    await Promise.all(all.map(one => one.settled()))
  })

  it('holds for each entry as that entry gives it, while the setting changes', async () => {
    const accounts = openAccounts()
    await enterHold(accounts, 45, 50)
    const raised = [enterHold(accounts, 5, 50), enterHold(accounts, 5, 100), enterHold(accounts, 5, 50)]
    expect(await Promise.all(raised)).to.deep.equal(['entered', 'entered', 'capped'])
    expect(await spent()).to.deep.equal({ [key()]: 55 })
    await accounts.settled()
  })

  it('counts a refund once, also after the hold has moved to the ledger', async () => {
    const accounts = openAccounts()
    expect(await enterHold(accounts, 100, 100)).to.equal('entered')
    const [first, second] = [`dlv_${holds}`, `dlv_${holds + 1}`]
    expect(await enterHold(accounts, 1, 100)).to.equal('capped')
    await accounts.settled()
    const backs = [refundEntry('otp_1', first, 100), voidEntry('otp_1', first, 100)]
    expect(await Promise.all(backs.map(back => openAccounts().enter('cmp_1', back)))).to.have.members([
      'entered',
      'known',
    ])
    expect(await spent()).to.deep.equal({ [key()]: 0 })
    await accounts.enter('cmp_1', testHold('otp_1', second, 70))
    await accounts.enter('cmp_1', refundEntry('otp_1', second, 70))
    expect(await spent(), 'that hold had no cap').to.deep.equal({ [key()]: 0 })
    await accounts.settled()
  })

  it('is counted for each app, country and UTC day, and for numbers of no country', async () => {
    const accounts = openAccounts()
    const midnight = endOfDay(clock.now())
    for (const at of [key(), key('app_b'), key('app_a', '*'), key('app_a', 'GB', midnight)]) {
      expect(await enterHold(accounts, 100, 100, at)).to.equal('entered')
      expect(await enterHold(accounts, 100, 100, at)).to.equal('capped')
    }
    expect(await enterHold(accounts, 1, 100, key('app_a', 'GB', midnight - 1)), 'still today').to.equal('capped')
    await accounts.settled()
  })

  it('of a past day is deleted, and a refund is not counted there', async () => {
    const accounts = openAccounts()
    await enterHold(accounts, 100, 100)
    const old = `dlv_${holds}`
    await clock.advance(2 * DAY_MS)
    await enterHold(accounts, 10, 100)
    expect(await spent()).to.deep.equal({ [key()]: 10 })
    expect(await accounts.enter('cmp_1', refundEntry('otp_1', old, 100))).to.equal('entered')
    expect(await spent()).to.deep.equal({ [key()]: 10 })
    await accounts.settled()
  })

  it('leaves a note as it is that looks like an expression', async () => {
    const accounts = openAccounts()
    const entry = { ...testHold('otp_1', 'dlv_x', -5), entry: 'credit:x', kind: 'credit' as const, note: '$balance' }
    await accounts.enter('cmp_1', { ...entry, otp_id: null, delivery_id: null })
    await accounts.settled()
    const [item] = await store.docs('ledger').find({ company_id: 'cmp_1' }, { sort: { _id: -1 }, limit: 1 })
    expect(item).to.deep.include({ note: '$balance', micros: 5, balance_after: 1_000_005, otp_id: null })
    expect(item).not.to.have.property('cap_key')
  })
})
