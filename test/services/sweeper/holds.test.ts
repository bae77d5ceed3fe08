import { expect } from 'chai'
import { reconcile } from '../../../services/dashboard/money/reconcile.ts'
import type { CountersignStore } from '../../../services/domain/collections.ts'
import { createAccounts } from '../../../services/domain/money/accounts.ts'
import { holdEntry, type LedgerItem } from '../../../services/domain/money/documents.ts'
import { CHECK_HOLD_AFTER_MS } from '../../../services/domain/money/ledger-writer.ts'
import { capKey } from '../../../services/domain/money/spend-caps.ts'
import { createHoldSweeps } from '../../../services/sweeper/holds.ts'
import { createCapturedLog } from '../../support/captured-log.ts'
import { type TestClock, testClock } from '../../support/clock.ts'
import { eachStore } from '../../support/stores.ts'
import { interceptWrites } from '../../support/tenancy.ts'

const ALL_PARTITIONS = Array.from({ length: 64 }, (_, partition) => partition)

eachStore('sweeping money', fresh => {
  let [store, clock] = [] as unknown as [CountersignStore, TestClock]
  beforeEach(async () => {
    ;[store, clock] = [await fresh(), testClock()]
    const credit: LedgerItem = {
      entry: 'credit:a',
      kind: 'credit',
      micros: 100,
      otp_id: null,
      delivery_id: null,
      note: null,
      seq: 1,
      at: clock.now(),
      balance_after: 100,
    }
    // As they stood there before there were batches.
    await store
      .docs('companies')
      .insert([{ _id: 'cmp_1', name: 'One', balance: 100, seq: 1, waiting: [credit], created_at: 0, rev: 0 }])
  })
  const openAccounts = (on = store) => createAccounts({ store: on, clock, log: createCapturedLog().log })
  const sweep = async (name: 'entries' | 'holds') =>
    createHoldSweeps({ store, clock, accounts: openAccounts() })[name]?.(ALL_PARTITIONS)
  const kinds = async () =>
    (await store.docs('ledger').find({ company_id: 'cmp_1' }, { sort: { _id: -1 }, limit: 100 })).map(
      ({ kind }) => kind,
    )
  const company = async () => (await store.docs('companies').get(['cmp_1'])).get('cmp_1')

  it('brings to the ledger what a dead process left, and gives back what it held, with its room', async () => {
    const dying = interceptWrites(store, {
      async before(call) {
        if (call === 'ledger.insert') throw new Error('the process is gone')
      },
    })
    const gone = openAccounts(dying)
    const key = capKey('app_a', 'GB', clock.now())
    expect(await gone.enter('cmp_1', holdEntry('otp_1', 'dlv_1', 40), { key, limit: 40 })).to.equal('entered')
    await gone.settled()
    expect([await sweep('entries'), await sweep('holds'), await kinds()], 'may be under way').to.deep.equal([0, 0, []])
    await clock.advance(10_000)
    expect(await sweep('entries')).to.equal(1)
    expect(await kinds()).to.deep.equal(['hold', 'credit'])
    expect(await company()).to.deep.include({ balance: 60, waiting: [], batches: [], spent: { [key]: 40 } })
    expect(await sweep('entries'), 'done with').to.equal(0)
    await clock.advance(CHECK_HOLD_AFTER_MS)
    expect([await sweep('holds'), await sweep('holds')]).to.deep.equal([1, 0])
    expect(await company()).to.deep.include({ balance: 100, spent: { [key]: 0 } })
    expect((await reconcile(store, 'cmp_1')).problems).to.deep.equal([])
  })

  it('moves on the entries of a company that is never quiet', async () => {
    const dying = interceptWrites(store, {
      async before(call) {
        if (call === 'ledger.insert') throw new Error('the process is gone')
      },
    })
    const gone = openAccounts(dying)
    await gone.enter('cmp_1', holdEntry('otp_1', 'dlv_1', 1))
    await gone.settled()
    const busy = openAccounts()
    for (let second = 0; second < 11; second += 1) {
      await clock.advance(1_000)
      await busy.enter('cmp_1', holdEntry('otp_2', `dlv_2${second}`, 1))
      await busy.settled()
    }
    expect(await sweep('entries')).to.equal(1)
    expect(await kinds()).to.have.length(13)
    expect(await company()).to.deep.include({ waiting: [], batches: [] })
  })

  it('is done with a company whose entries a process of the release before has moved', async () => {
    await store.docs('companies').modify({ _id: 'cmp_1' }, { $set: { waiting: [], behind_at: clock.now() } })
    await clock.advance(10_000)
    expect([await sweep('entries'), await sweep('entries')]).to.deep.equal([1, 0])
  })
})
