import { expect } from 'chai'
import { capKey } from '../../../../machines/spend-caps.ts'
import type { CountersignStore } from '../../../../services/domain/collections.ts'
import { type Accounts, createAccounts } from '../../../../services/domain/money/accounts.ts'
import { openAccount } from '../../../../services/domain/money/batches.ts'
import {
  creditEntry,
  type Entry,
  rechargeEntry,
  refundEntry,
  voidEntry,
} from '../../../../services/domain/money/documents.ts'
import { createCapturedLog } from '../../../support/captured-log.ts'
import { testClock } from '../../../support/clock.ts'
import { hold as testHold } from '../../../support/money.ts'
import { eachStore } from '../../../support/stores.ts'
import { interceptWrites } from '../../../support/tenancy.ts'

const credit = (name: string, micros: number): Entry =>
  creditEntry(`credit:${name}`, { micros, note: 'a transfer', by: 'ada' })
const hold = (nth: number, micros: number): Entry => testHold(`otp_${nth}`, `dlv_${nth}`, micros)

eachStore('an account', fresh => {
  let store: CountersignStore
  beforeEach(async () => {
    store = await fresh()
    await store.docs('companies').insert([
      { _id: 'cmp_1', name: 'One', ...openAccount('cmp_1', 0, 0), created_at: 0, rev: 0 },
      { _id: 'cmp_2', name: 'Two', ...openAccount('cmp_2', 0, 0), created_at: 0, rev: 0 },
    ])
  })
  const openAccounts = (on: CountersignStore = store): Accounts =>
    createAccounts({ store: on, clock: testClock(), log: createCapturedLog().log })
  const ledger = () => store.docs('ledger').find({ company_id: 'cmp_1' }, { sort: { _id: -1 }, limit: 1_000 })

  it('has the sum of its entries as its balance, and the ledger lists them', async () => {
    const accounts = openAccounts()
    expect(await accounts.enter('cmp_1', credit('a', 100))).to.equal('entered')
    expect(await accounts.enter('cmp_1', hold(1, 30))).to.equal('entered')
    expect(await accounts.enter('cmp_1', refundEntry('otp_1', 'dlv_1', 30))).to.equal('entered')
    await accounts.settled()
    expect(await accounts.balance('cmp_1')).to.equal(100)
    expect((await ledger()).map(({ kind, micros, balance_after }) => [kind, micros, balance_after])).to.deep.equal([
      ['refund', 30, 100],
      ['hold', -30, 70],
      ['credit', 100, 100],
    ])
    const account = (await store.docs('companies').get(['cmp_1'])).get('cmp_1')
    expect(account).to.deep.include({ balance: 100, seq: 3, batches: [] })
  })

  it('counts an entry once, also when other processes enter it again', async () => {
    const accounts = openAccounts()
    await accounts.enter('cmp_1', credit('a', 100))
    await accounts.enter('cmp_1', hold(1, 30))
    const again = await Promise.all([
      accounts.enter('cmp_1', credit('a', 100)),
      accounts.enter('cmp_1', refundEntry('otp_1', 'dlv_1', 30)),
      openAccounts().enter('cmp_1', refundEntry('otp_1', 'dlv_1', 30)),
      openAccounts().enter('cmp_1', voidEntry('otp_1', 'dlv_1', 30)),
    ])
    expect(again.filter(answer => answer === 'entered')).to.have.length(1)
    expect(await accounts.balance('cmp_1')).to.equal(100)
  })

  it('is never overdrawn, however many processes spend from it, and spends all it has', async () => {
    const processes = [openAccounts(), openAccounts(), openAccounts()]
    await processes[0]?.enter('cmp_1', credit('a', 1_000))
    const answers = await Promise.all(
      Array.from({ length: 150 }, (_, nth) => processes[nth % 3]?.enter('cmp_1', hold(nth, 10))),
    )
    expect(answers.filter(answer => answer === 'entered')).to.have.length(100)
    expect(answers.filter(answer => answer === 'short')).to.have.length(50)
    await Promise.all(processes.map(one => one.settled()))
    expect(await processes[0]?.balance('cmp_1')).to.equal(0)
    const items = await ledger()
    expect(items.map(({ seq }) => seq)).to.deep.equal(Array.from({ length: 101 }, (_, at) => 101 - at))
    expect(items.reduce((sum, { micros }) => sum + micros, 0)).to.equal(0)
  })

  it('is overdrawn by a recharge, and takes what brings money while it is', async () => {
    const [one, two] = [openAccounts(), openAccounts()]
    const cap = { key: capKey('app_a', 'GB', testClock().now()), limit: 50 }
    await one.enter('cmp_1', credit('a', 50))
    await one.enter('cmp_1', hold(1, 30), cap)
    await one.enter('cmp_1', hold(2, 20), cap)
    await one.enter('cmp_1', refundEntry('otp_1', 'dlv_1', 30))
    await one.enter('cmp_1', credit('b', -30))
    // The recharge and the refund of two holds below one cap are one write.
    const answers = await Promise.all([
      one.enter('cmp_1', rechargeEntry('otp_1', 'dlv_1', 30)),
      one.enter('cmp_1', refundEntry('otp_2', 'dlv_2', 20)),
      two.enter('cmp_1', rechargeEntry('otp_1', 'dlv_1', 30)),
    ])
    expect(answers.filter(answer => answer === 'entered')).to.have.length(2)
    expect(await one.balance('cmp_1')).to.equal(-10)
    expect(await two.enter('cmp_1', hold(3, 1))).to.equal('short')
    expect(await two.enter('cmp_1', credit('c', 4))).to.equal('entered')
    expect(await two.balance('cmp_1')).to.equal(-6)
    expect((await store.docs('companies').get(['cmp_1'])).get('cmp_1')?.spent).to.deep.equal({ [cap.key]: 30 })
  })

  it('of one company pays for no other company', async () => {
    const accounts = openAccounts()
    await accounts.enter('cmp_1', credit('a', 100))
    expect(await accounts.enter('cmp_2', hold(1, 1))).to.equal('short')
    expect([await accounts.balance('cmp_1'), await accounts.balance('cmp_2')]).to.deep.equal([100, 0])
  })

  it('moves the entries of a dead process to the ledger when it is flushed, and says since when they have been waiting', async () => {
    const dying = interceptWrites(store, {
      async before(call) {
        if (call === 'ledger.insert') throw new Error('the process is gone')
      },
    })
    const gone = openAccounts(dying)
    await gone.enter('cmp_1', credit('a', 30))
    await gone.enter('cmp_1', hold(1, 30))
    await gone.settled()
    const behind = async () => (await store.docs('companies').get(['cmp_1'])).get('cmp_1')?.behind_at
    expect(await behind()).to.equal(testClock().now())
    const next = openAccounts()
    expect(await next.enter('cmp_1', hold(2, 30))).to.equal('short')
    await next.flush('cmp_1')
    expect((await ledger()).map(({ entry }) => entry)).to.deep.equal(['hold:dlv_1', 'credit:a'])
    expect(await behind()).to.equal(undefined)
  })

  it('refuses a credit that would exceed what a number counts exactly', async () => {
    const accounts = openAccounts()
    await accounts.enter('cmp_1', credit('a', Number.MAX_SAFE_INTEGER))
    expect(await accounts.enter('cmp_1', credit('b', 1))).to.equal('short')
    expect(await accounts.find('cmp_1', 'credit:a')).to.include({ micros: Number.MAX_SAFE_INTEGER, by: 'ada' })
    expect(await accounts.find('cmp_1', 'credit:b')).to.equal(undefined)
  })
})
