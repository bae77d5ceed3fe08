// The ledger learns which provider took a message, before its verification is gone.
import { expect } from 'chai'
import { createAccounts } from '../../../services/domain/money/accounts.ts'
import { openAccount } from '../../../services/domain/money/batches.ts'
import type { AttemptDoc } from '../../../services/domain/verifications/documents.ts'
import { createSettleSweeps, SETTLE_AFTER_MS } from '../../../services/sweeper/settled-entries.ts'
import { createCapturedLog } from '../../support/captured-log.ts'
import { testClock } from '../../support/clock.ts'
import { hold } from '../../support/money.ts'
import { insertOtp } from '../../support/queued-otps.ts'
import { onEmbeddedStore } from '../../support/stores.ts'
import { testKeyring } from '../../support/tenancy.ts'

onEmbeddedStore('entries of the ledger', fresh => {
  it('are settled once, after three hours, with the provider, and how many calls accepted or had no answer', async () => {
    const [store, clock] = [await fresh(), testClock()]
    const account = openAccount('cmp_1', 1_000, clock.now())
    await store.docs('companies').insert([{ _id: 'cmp_1', name: 'One', ...account, created_at: 0, rev: 0 }])
    const delivery_id = 'dlv_1'
    await insertOtp({ store, clock, keyring: testKeyring() }, { otp_id: 'otp_1', delivery_id })
    const provider = { 'context.deliveries.0.provider': 'main' } as object
    await store.docs('otps').modify({ _id: 'otp_1' }, { $set: provider })
    for (const [nth, result] of ['accepted', 'failed', 'accepted', 'unknown', null].entries()) {
      const attempt = { _id: `${delivery_id}:${nth}`, otp_id: 'otp_1', delivery_id, provider: 'main', result, rev: 1 }
      await store.docs('attempts').insert([attempt as unknown as AttemptDoc])
    }
    const accounts = createAccounts({ store, clock, log: createCapturedLog().log })
    await accounts.enter('cmp_1', hold('otp_1', delivery_id, 40))
    await accounts.enter('cmp_1', hold('otp_erased', 'dlv_erased', 40))
    await accounts.flush('cmp_1')
    const sweep = createSettleSweeps({ store, clock }).settled_entries
    const ledger = async () =>
      (await store.docs('ledger').find({ company_id: 'cmp_1' }, { sort: { _id: 1 }, limit: 10 })).map(
        ({ kind, provider, accepted, unanswered }) => [kind, provider, accepted, unanswered],
      )
    await sweep?.([0])
    expect(await ledger(), 'too early').to.deep.equal(
      ['credit', 'hold', 'hold'].map(kind => [kind, undefined, undefined, undefined]),
    )
    await clock.advance(SETTLE_AFTER_MS + 60_000)
    await sweep?.([0])
    const settled = [
      ['credit', undefined, undefined, undefined],
      ['hold', 'main', 2, 2],
      ['hold', null, 0, undefined],
    ]
    expect(await ledger()).to.deep.equal(settled)
    await store.docs('otps').remove({ _id: 'otp_1' }, 1)
    await clock.advance(60_000)
    await sweep?.([0])
    expect(await ledger(), 'once its verification is gone').to.deep.equal(settled)
  })
})
