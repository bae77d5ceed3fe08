import { expect } from 'chai'
import { cancel, issued, lapse, MINUTE, play, right, T0, wrong } from '../support/otp.ts'

describe('canceling a verification', () => {
  it('ends a pending verification without a webhook event', () => {
    const { saved, reply, effects, dueAt } = play(issued(), cancel())
    expect(saved.value).to.equal('canceled')
    expect(reply).to.deep.equal({ kind: 'accepted' })
    expect(effects).to.deep.equal([])
    expect(dueAt).to.equal(null)
  })

  it('is accepted twice and writes nothing the second time', () => {
    const { reply, changed } = play(issued(), cancel(), cancel())
    expect(reply).to.deep.equal({ kind: 'accepted' })
    expect(changed).to.equal(false)
  })

  it('keeps the verification canceled after its expiry', () => {
    const { saved, reply } = play(issued(), cancel(), cancel({ at: T0 + 20 * MINUTE }))
    expect(reply).to.deep.equal({ kind: 'accepted' })
    expect(saved.value).to.equal('canceled')
  })

  it('is refused when the verification is approved or failed', () => {
    const approved = play(issued(), right(), cancel())
    expect(approved.reply).to.deep.equal({ kind: 'refused', error: 'OtpNotPendingError', otp_status: 'approved' })
    const failed = play(issued({ rules: { verify_attempts: 1 } }), wrong(), cancel())
    expect(failed.reply).to.deep.equal({ kind: 'refused', error: 'OtpNotPendingError', otp_status: 'failed' })
    expect([approved.changed, failed.changed]).to.deep.equal([false, false])
  })

  it('is refused as expired once the time is up, before and after the sweep', () => {
    const expired = { kind: 'refused', error: 'OtpExpiredError' }
    const late = play(issued(), cancel({ at: T0 + 10 * MINUTE }))
    expect(late.reply).to.deep.equal(expired)
    expect(late.saved.value).to.equal('pending')
    expect(play(issued(), lapse(), cancel()).reply).to.deep.equal(expired)
    expect(play(issued(), cancel({ at: T0 + 10 * MINUTE - 1 })).saved.value, 'just in time').to.equal('canceled')
  })
})
