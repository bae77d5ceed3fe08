import { expect } from 'chai'
import { eraseVerifications } from '../../../../services/domain/privacy/erasure.ts'
import { testClock } from '../../../support/clock.ts'
import { newOtpDocument } from '../../../support/queued-otps.ts'
import { onEmbeddedStore } from '../../../support/stores.ts'
import { testKeyring } from '../../../support/tenancy.ts'

onEmbeddedStore('an erased verification', fresh => {
  it('takes its idempotency keys with it, except one that leads to a newer verification by now', async () => {
    const store = await fresh()
    const old = { ...newOtpDocument({ keyring: testKeyring(), clock: testClock() }), claims: ['own', 'reused'] }
    await store.docs('otps').insert([old])
    const rest = { held_until: 0, claimed_at: 0, sealed_key: '', expires_at: 0, purge_at: old.purge_at }
    await store.docs('claims').insert([
      { _id: 'own', otp_id: old._id, ...rest },
      { _id: 'reused', otp_id: 'otp_newer', ...rest },
    ])
    expect(await eraseVerifications(store, [old])).to.include({ verifications: 1, idempotency_keys: 1 })
    expect([...(await store.docs('claims').get(old.claims)).keys()]).to.deep.equal(['reused'])
  })
})
