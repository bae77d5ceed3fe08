// A verification is erased from the store while an actor still has it in memory.
import { expect } from 'chai'
import { startOtpActor } from '../../support/otp.actor.ts'
import { onEmbeddedStore } from '../../support/stores.ts'

onEmbeddedStore('an erased verification', fresh => {
  it('is not found by a resend, which gives back what it has counted', async () => {
    const store = await fresh()
    const settings = { resend_cooldown_seconds: [0] }
    const app = { _id: 'app_1', company_id: 'cmp_1', name: 'Shop', settings, created_at: 0, rev: 0 }
    await store.docs('apps').insert([app])
    const actor = await startOtpActor(store)
    const { otp_id } = await actor.send({ company: 'cmp_1', app: 'app_1', recipient: '+14155550123' })
    const counted = async () => {
      const counters = await store.docs('counters').find({}, { sort: { _id: 1 }, limit: 100 })
      const counts = counters.map(
        ({ _id, windows }) => [_id, Object.values(windows).map(({ count }) => count)] as const,
      )
      return counts.filter(([, all]) => all.some(count => count > 0))
    }
    const before = await counted()
    await store.docs('otps').remove({ _id: otp_id }, 1)
    const by = { company_id: 'cmp_1', app_id: 'app_1', mode: 'test', key_id: 'key_server', kind: 'server' } as const
    const answer = await actor.ask({ type: 'otp.resend', by, otp_id, channel: null })
    expect(answer).to.include({ kind: 'refused', error: 'OtpNotFoundError' })
    expect(await counted()).to.deep.equal(before)
    await actor.close()
  })
})
