// The ledger learns which provider took a message, before its verification is gone.
import { expect } from 'chai'
import { createAccounts } from '../../../services/domain/money/accounts.ts'
import { openAccount } from '../../../services/domain/money/batches.ts'
import type { AttemptDoc } from '../../../services/domain/verifications/documents.ts'
import { createSettleSweeps, SETTLE_AFTER_MS } from '../../../services/sweeper/settled-entries.ts'
import { closeAdmins, createTenant, startAdmin } from '../../support/admin-api.ts'
import { createCapturedLog } from '../../support/captured-log.ts'
import { hold } from '../../support/money.ts'
import { startOtpActor } from '../../support/otp.actor.ts'
import { eachStore } from '../../support/stores.ts'

eachStore('entries of the ledger', fresh => {
  it('are settled once, after three hours, with the provider, and how many calls accepted or had no answer', async () => {
    const store = await fresh()
    const actor = await startOtpActor(store)
    try {
      const { clock } = actor
      const { app } = await createTenant(await startAdmin(store, { clock }))
      await store
        .docs('companies')
        .insert([
          { _id: 'cmp_money', name: 'One', ...openAccount('cmp_money', 1_000, clock.now()), created_at: 0, rev: 0 },
        ])
      const accounts = createAccounts({ store, clock, log: createCapturedLog().log })
      const { otp_id } = await actor.send({ company: 'cmp_money', app, recipient: '+447911123456' })
      const otp = (await store.docs('otps').get([otp_id])).get(otp_id)
      const { delivery_id = '' } = otp?.context.deliveries[0] ?? {}
      await store
        .docs('otps')
        .modify(
          { _id: otp_id },
          { $set: { 'context.deliveries.0.provider': 'main', 'context.deliveries.0.micros': 40 } as object },
        )
      for (const [nth, result] of ['accepted', 'failed', 'accepted', 'unknown', null].entries())
        await store.docs('attempts').insert([
          {
            _id: `${delivery_id}:${nth}`,
            otp_id,
            delivery_id,
            provider: 'main',
            result,
            rev: 1,
          } as unknown as AttemptDoc,
        ])
      await accounts.enter('cmp_money', hold(otp_id, delivery_id, 40))
      await accounts.enter('cmp_money', hold('otp_erased', 'dlv_erased', 40))
      await accounts.flush('cmp_money')
      const sweep = createSettleSweeps({ store, clock }).settled_entries
      const ledger = async () =>
        (await store.docs('ledger').find({ company_id: 'cmp_money' }, { sort: { _id: 1 }, limit: 10 })).map(
          ({ kind, provider, accepted, unanswered }) => [kind, provider, accepted, unanswered],
        )
      await sweep?.([0])
      expect(await ledger(), 'too early').to.deep.equal([
        ['credit', undefined, undefined, undefined],
        ['hold', undefined, undefined, undefined],
        ['hold', undefined, undefined, undefined],
      ])
      await clock.advance(SETTLE_AFTER_MS + 60_000)
      await sweep?.([0])
      const settled = [
        ['credit', undefined, undefined, undefined],
        ['hold', 'main', 2, 2],
        ['hold', null, 0, undefined],
      ]
      expect(await ledger()).to.deep.equal(settled)
      await store.docs('otps').remove({ _id: otp_id }, 1)
      await clock.advance(60_000)
      await sweep?.([0])
      expect(await ledger(), 'once its verification is gone').to.deep.equal(settled)
    } finally {
      await closeAdmins()
      await actor.close()
    }
  })
})
