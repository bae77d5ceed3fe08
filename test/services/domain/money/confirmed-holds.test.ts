// Which holds the sweeper has to check: those whose process did not say that the delivery is saved.

import { expect } from 'chai'
import fc from 'fast-check'
import type { CountersignStore } from '../../../../services/domain/collections.ts'
import { type Accounts, createAccounts } from '../../../../services/domain/money/accounts.ts'
import { openAccount } from '../../../../services/domain/money/batches.ts'
import { voidEntry } from '../../../../services/domain/money/documents.ts'
import {
  CHECK_HOLD_AFTER_MS,
  CONFIRM_HOLD_WITHIN_MS,
  REMOVE_MOVED_WITHIN_MS,
} from '../../../../services/domain/money/ledger-writer.ts'
import { createCapturedLog } from '../../../support/captured-log.ts'
import { type TestClock, testClock } from '../../../support/clock.ts'
import { eventually, eventuallyAdvancing } from '../../../support/eventually.ts'
import { hold as testHold } from '../../../support/money.ts'
import { propertyRuns } from '../../../support/property-runs.ts'
import { eachStore } from '../../../support/stores.ts'
import { interceptWrites } from '../../../support/tenancy.ts'

const COMPANY = 'cmp_1'
const PRICE = 2

eachStore('a hold', fresh => {
  let [store, clock] = [] as unknown as [CountersignStore, TestClock]
  const openCompany = async (_id: string): Promise<void> => {
    const account = { ...openAccount(_id, 0, 0), balance: 1_000 }
    await store.docs('companies').insert([{ _id, name: _id, ...account, created_at: 0, rev: 0 }])
  }
  beforeEach(async () => {
    ;[store, clock] = [await fresh(), testClock()]
    await openCompany(COMPANY)
  })
  const openAccounts = (on = store): Accounts => createAccounts({ store: on, clock, log: createCapturedLog().log })
  const hold = (accounts: Accounts, delivery_id: string, company_id = COMPANY) =>
    accounts.enter(company_id, testHold(`otp_${delivery_id}`, delivery_id, PRICE))
  /** What the ledger says of each hold, in the order of their numbers. */
  const holds = async (company_id = COMPANY): Promise<[delivery: string | null, check_at: number | undefined][]> => {
    const items = await store.docs('ledger').find({ company_id }, { sort: { _id: -1 }, limit: 1_000 })
    for (const { check_at, partition } of items) expect(check_at === undefined).to.equal(partition === undefined)
    return items
      .reverse()
      .filter(({ kind }) => kind === 'hold')
      .map(({ delivery_id, check_at }) => [delivery_id, check_at])
  }
  const waitingBatches = async (company_id = COMPANY) =>
    (await store.docs('companies').get([company_id])).get(company_id)?.batches.length
  const due = () => clock.now() + CHECK_HOLD_AFTER_MS

  it('that is confirmed comes to the ledger at once, and is not to be checked', async () => {
    const accounts = openAccounts()
    await hold(accounts, 'dlv_1')
    expect([await holds(), await waitingBatches()], 'it waits for its confirmation').to.deep.equal([[], 1])
    accounts.confirmHold('dlv_1')
    await eventually(async () => expect(await holds()).to.deep.equal([['dlv_1', undefined]]))
  })

  it('that is in the ledger leaves the company with its next hold, in the same write', async () => {
    const writes: string[] = []
    const watched = interceptWrites(store, {
      async before(call) {
        if (call.startsWith('companies.')) writes.push(call)
      },
    })
    const accounts = openAccounts(watched)
    for (const nth of [1, 2, 3, 4, 5]) {
      await hold(accounts, `dlv_${nth}`)
      // The process may learn that the batch before is in the ledger only after this test does.
      expect(await waitingBatches()).to.be.within(1, 2)
      accounts.confirmHold(`dlv_${nth}`)
      await eventually(async () => expect(await holds()).to.have.length(nth))
    }
    expect(writes).to.deep.equal(Array(5).fill('companies.modify'))
  })

  it('that is in the ledger leaves the company by itself where no other hold comes for a while', async () => {
    const accounts = openAccounts()
    await hold(accounts, 'dlv_1')
    accounts.confirmHold('dlv_1')
    await eventually(async () => expect(await holds()).to.have.length(1))
    await clock.advance(REMOVE_MOVED_WITHIN_MS - 1)
    expect(await waitingBatches()).to.equal(1)
    // The process may learn that the batch is in the ledger only after this test does, and then counts from there.
    await eventuallyAdvancing(async () => expect(await waitingBatches()).to.equal(0), clock, REMOVE_MOVED_WITHIN_MS)
  })

  it('that is in the ledger leaves the company in time also where all further writes are refused', async () => {
    const accounts = openAccounts()
    await hold(accounts, 'dlv_1')
    accounts.confirmHold('dlv_1')
    await eventually(async () => expect(await holds()).to.have.length(1))
    const refused = () => accounts.enter(COMPANY, testHold('otp_2', 'dlv_2', 1_000_000))
    for (let nth = 0; nth < 8; nth += 1) {
      expect(await refused()).to.equal('short')
      await clock.advance(REMOVE_MOVED_WITHIN_MS / 4)
    }
    await eventually(async () => expect(await waitingBatches()).to.equal(0))
  })

  it('that was entered together with others comes to the ledger with the last confirmation', async () => {
    const accounts = openAccounts()
    await Promise.all([hold(accounts, 'dlv_1'), hold(accounts, 'dlv_2'), hold(accounts, 'dlv_3')])
    for (const delivery_id of ['dlv_3', 'dlv_1']) accounts.confirmHold(delivery_id)
    expect([await holds(), await waitingBatches()]).to.deep.equal([[], 1])
    accounts.confirmHold('dlv_2')
    await eventually(async () =>
      expect(await holds()).to.deep.equal([
        ['dlv_1', undefined],
        ['dlv_2', undefined],
        ['dlv_3', undefined],
      ]),
    )
  })

  it('that is not confirmed in time leaves with the next hold of its process, of any company, and is to be checked', async () => {
    await openCompany('cmp_2')
    const accounts = openAccounts()
    await Promise.all([hold(accounts, 'dlv_1'), hold(accounts, 'dlv_2')])
    accounts.confirmHold('dlv_2')
    const checkAt = due()
    await clock.advance(CONFIRM_HOLD_WITHIN_MS - 1)
    await hold(accounts, 'dlv_3', 'cmp_2')
    expect(await holds(), 'it is still in time').to.deep.equal([])
    await clock.advance(1)
    await hold(accounts, 'dlv_4', 'cmp_2')
    await eventually(async () => {
      expect(await holds()).to.deep.equal([
        ['dlv_1', checkAt],
        ['dlv_2', undefined],
      ])
    })
    expect(await holds('cmp_2'), 'the newer ones still wait').to.deep.equal([])
  })

  it('that is not confirmed leaves at once when its process stops, and is to be checked', async () => {
    const accounts = openAccounts()
    await Promise.all([hold(accounts, 'dlv_1'), hold(accounts, 'dlv_2')])
    accounts.confirmHold('dlv_1')
    await accounts.settled()
    expect(await holds()).to.deep.equal([
      ['dlv_1', undefined],
      ['dlv_2', due()],
    ])
    expect(await waitingBatches()).to.equal(0)
  })

  it('that another process moved is checked, also if it is confirmed afterwards', async () => {
    const accounts = openAccounts()
    await hold(accounts, 'dlv_1')
    await openAccounts().flush(COMPANY)
    accounts.confirmHold('dlv_1')
    await accounts.settled()
    expect(await holds()).to.deep.equal([['dlv_1', due()]])
    expect(await waitingBatches()).to.equal(0)
  })

  it('that is confirmed and cannot be written to the ledger is left to the sweeper, which checks it', async () => {
    let failed = 0
    const failing = interceptWrites(store, {
      async before(call) {
        if (call !== 'ledger.insert') return
        failed += 1
        throw new Error('the store went away')
      },
    })
    const accounts = openAccounts(failing)
    await hold(accounts, 'dlv_1')
    accounts.confirmHold('dlv_1')
    await accounts.settled()
    expect([failed, await holds(), await waitingBatches()]).to.deep.equal([1, [], 1])
    await openAccounts().flush(COMPANY)
    expect(await holds()).to.deep.equal([['dlv_1', due()]])
  })

  /** What two processes do with holds, one after the other or at once; `nth` is the process. */
  const action = fc.oneof(
    fc.record({ type: fc.constantFrom('hold', 'confirm', 'undo'), nth: fc.nat(1), delivery: fc.nat(7) }),
    fc.record({ type: fc.constantFrom('wait', 'stop', 'flush'), nth: fc.nat(1), delivery: fc.constant(0) }),
  )

  it('is in the ledger once, in its place, only a confirmed one is not to be checked, and its company is behind since the oldest one that waits, in any order of events', async () => {
    let runs = 0
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(action, { maxLength: 4 }), { maxLength: 12 }), async steps => {
        runs += 1
        const company = `cmp_run${runs}`
        await openCompany(company)
        const processes = [openAccounts(), openAccounts()] as const
        const owners = new Map<string, number>()
        const confirmed = new Set<string>()
        const perform = async ({ type, nth, delivery }: { type: string; nth: number; delivery: number }) => {
          const accounts = processes[nth] as Accounts
          const delivery_id = `dlv_${runs}_${delivery}`
          if (type === 'wait') await clock.advance(CONFIRM_HOLD_WITHIN_MS / 2)
          if (type === 'stop') await accounts.settled()
          if (type === 'flush') await accounts.flush(company)
          if (type === 'hold' && !owners.has(delivery_id)) {
            owners.set(delivery_id, nth)
            await hold(accounts, delivery_id, company)
          }
          if (type === 'confirm') {
            if (owners.get(delivery_id) === nth) confirmed.add(delivery_id)
            accounts.confirmHold(delivery_id)
          }
          if (type === 'undo' && owners.has(delivery_id))
            await accounts.enter(company, voidEntry('otp', delivery_id, PRICE))
        }
        for (const step of steps) {
          await Promise.all(step.map(perform))
          const { batches = [], behind_at } = (await store.docs('companies').get([company])).get(company) ?? {}
          const oldest = batches.length > 0 ? Math.min(...batches.map(({ at }) => at)) : undefined
          expect(behind_at, 'since its oldest batch').to.equal(oldest)
        }
        await Promise.all(processes.map(one => one.settled()))

        const items = await store.docs('ledger').find({ company_id: company }, { sort: { _id: -1 }, limit: 1_000 })
        expect(items.map(({ seq }) => seq).reverse()).to.deep.equal(items.map((_, at) => at + 1))
        const inLedger = await holds(company)
        expect(inLedger.map(([delivery]) => delivery)).to.have.members([...owners.keys()])
        for (const [delivery, check_at] of inLedger)
          if (check_at === undefined) expect(confirmed, 'not to be checked').to.include(delivery)
        expect(await waitingBatches(company)).to.equal(0)
      }),
      { numRuns: propertyRuns(15) },
    )
  })
})
