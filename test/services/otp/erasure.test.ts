// A verification is erased from the store while an actor still has it in memory.
import { expect } from 'chai'
import { startOtpActor } from '../../support/otp.actor.ts'
import { addApp, SERVER, sendOtp } from '../../support/sent-otp.ts'
import { onEmbeddedStore } from '../../support/stores.ts'

onEmbeddedStore('an erased verification', fresh => {
  it('is not found by a resend, which gives back what it has counted', async () => {
    const store = await fresh()
    await addApp(store, { resend_cooldown_seconds: [0] })
    const actor = await startOtpActor(store)
    const { otp_id } = await sendOtp(actor, store)
    const counted = async () => {
      const counters = await store.docs('counters').find({}, { sort: { _id: 1 }, limit: 100 })
      const counts = counters.map(
        ({ _id, windows }) => [_id, Object.values(windows).map(({ count }) => count)] as const,
      )
      return counts.filter(([, all]) => all.some(count => count > 0))
    }
    const before = await counted()
    await store.docs('otps').remove({ _id: otp_id }, 1)
    const answer = await actor.ask({ type: 'otp.resend', by: SERVER, otp_id, channel: null })
    expect(answer).to.include({ kind: 'refused', error: 'OtpNotFoundError' })
    expect(await counted()).to.deep.equal(before)
    await actor.close()
  })
})
