import { expect } from 'chai'
import { capKey } from '../../../machines/spend-caps.ts'
import { reconcile } from '../../../services/dashboard/money/reconcile.ts'
import type { CountersignStore } from '../../../services/domain/collections.ts'
import { createAccounts } from '../../../services/domain/money/accounts.ts'
import { openAccount } from '../../../services/domain/money/batches.ts'
import { CHECK_HOLD_AFTER_MS } from '../../../services/domain/money/ledger-writer.ts'
import { createHoldSweeps } from '../../../services/sweeper/holds.ts'
import { createCapturedLog } from '../../support/captured-log.ts'
import { type TestClock, testClock } from '../../support/clock.ts'
import { eventually } from '../../support/eventually.ts'
import { hold as testHold } from '../../support/money.ts'
import { insertOtp } from '../../support/queued-otps.ts'
import { eachStore } from '../../support/stores.ts'
import { interceptWrites, testKeyring, withStaleReads } from '../../support/tenancy.ts'

const ALL_PARTITIONS = Array.from({ length: 64 }, (_, partition) => partition)

eachStore('sweeping money', fresh => {
  let [store, clock] = [] as unknown as [CountersignStore, TestClock]
  beforeEach(async () => {
    ;[store, clock] = [await fresh(), testClock()]
    const account = openAccount('cmp_1', 100, clock.now())
    await store.docs('companies').insert([{ _id: 'cmp_1', name: 'One', ...account, created_at: 0, rev: 0 }])
  })
  const openAccounts = (on = store) => createAccounts({ store: on, clock, log: createCapturedLog().log })
  const sweep = async (name: 'entries' | 'holds') =>
    createHoldSweeps({ store, clock, accounts: openAccounts() })[name]?.(ALL_PARTITIONS)
  const kinds = async () =>
    (await store.docs('ledger').find({ company_id: 'cmp_1' }, { sort: { _id: -1 }, limit: 100 })).map(
      ({ kind }) => kind,
    )
  const company = async () => (await store.docs('companies').get(['cmp_1'])).get('cmp_1')

  it('moves the entries of a dead process to the ledger, then voids its hold and deducts it from the spend cap', async () => {
    const dying = interceptWrites(store, {
      async before(call) {
        if (call === 'ledger.insert') throw new Error('the process is gone')
      },
    })
    const gone = openAccounts(dying)
    const key = capKey('app_a', 'GB', clock.now())
    expect(await gone.enter('cmp_1', testHold('otp_1', 'dlv_1', 40), { key, limit: 40 })).to.equal('entered')
    await gone.settled()
    expect(
      [await sweep('entries'), await sweep('holds'), await kinds()],
      'their process may still move them',
    ).to.deep.equal([0, 0, []])
    await clock.advance(10_000)
    expect(await sweep('entries')).to.equal(1)
    expect(await kinds()).to.deep.equal(['hold', 'credit'])
    expect(await company()).to.deep.include({ balance: 60, batches: [], spent: { [key]: 40 } })
    expect(await sweep('entries'), 'nothing is left to move').to.equal(0)
    await clock.advance(CHECK_HOLD_AFTER_MS)
    expect([await sweep('holds'), await sweep('holds')]).to.deep.equal([1, 0])
    expect(await company()).to.deep.include({ balance: 100, spent: { [key]: 0 } })
    expect((await reconcile(store, 'cmp_1')).problems).to.deep.equal([])
  })

  it('voids the hold of a resend that was cut off, and not that of the delivery before it', async () => {
    await insertOtp({ store, clock, keyring: testKeyring() }, { otp_id: 'otp_1', delivery_id: 'dlv_1' })
    const accounts = openAccounts()
    for (const delivery of ['dlv_1', 'dlv_2']) await accounts.enter('cmp_1', testHold('otp_1', delivery, 40))
    await accounts.settled()
    await clock.advance(CHECK_HOLD_AFTER_MS)
    expect(await sweep('holds')).to.equal(2)
    expect((await company())?.balance).to.equal(60)
  })

  it('voids no hold because a store answers from the past', async () => {
    await insertOtp({ store, clock, keyring: testKeyring() }, { otp_id: 'otp_1', delivery_id: 'dlv_1' })
    const accounts = openAccounts()
    await accounts.enter('cmp_1', testHold('otp_1', 'dlv_1', 40))
    await accounts.settled()
    await clock.advance(CHECK_HOLD_AFTER_MS)
    const stale = createHoldSweeps({ store: withStaleReads(store), clock, accounts })
    expect(await stale.holds?.(ALL_PARTITIONS)).to.equal(1)
    expect((await company())?.balance).to.equal(60)
  })

  it('leaves a company alone that always has a batch, but no old one: its live processes move them', async () => {
    await openAccounts().flush('cmp_1')
    const processes = [openAccounts(), openAccounts()]
    const accountsOf = (second: number) => processes[second % 2] as (typeof processes)[number]
    for (let second = 0; second <= 25; second += 1) {
      await clock.advance(1_000)
      await accountsOf(second).enter('cmp_1', testHold('otp_1', `dlv_${second}`, 1))
      if (second > 0) accountsOf(second - 1).confirmHold(`dlv_${second - 1}`)
      // A batch that was moved waits for the next write of its process, and for one more if the ledger's answer came after that write: two
      // batches of each process at most.
      await eventually(async () => {
        expect(await kinds()).to.have.length(1 + second)
        expect((await company())?.batches).to.have.lengthOf.within(1, 4)
      })
      expect(await sweep('entries')).to.equal(0)
    }
    accountsOf(25).confirmHold('dlv_25')
    await Promise.all(processes.map(one => one.settled()))
    expect(await kinds()).to.have.length(27)
    await clock.advance(CHECK_HOLD_AFTER_MS)
    expect(await sweep('holds'), 'every hold was confirmed').to.equal(0)
  })
})
