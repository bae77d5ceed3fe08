import { expect } from 'chai'
import { statusAt } from '../../machines/otp.code-life.ts'
import { verificationView } from '../../machines/otp.view.ts'
import { issued, lapse, MINUTE, play, resend, right, T0, wrong } from '../support/otp.ts'

const END = T0 + 10 * MINUTE

describe('the lifetime of a code', () => {
  it('ends exactly at expires_at', () => {
    expect(play(issued(), right({ at: END - 1 })).saved.value).to.equal('approved')
    expect(play(issued(), right({ at: END })).reply).to.deep.equal({ kind: 'refused', error: 'OtpExpiredError' })
  })

  it('is decided by the time of the command, even before the sweep', () => {
    const { saved, changed } = play(issued(), wrong({ at: END }))
    expect(saved.context.wrong_codes).to.equal(0)
    expect(changed).to.equal(false)
    expect(statusAt(saved.value, saved.context, END - 1)).to.equal('pending')
    expect(statusAt(saved.value, saved.context, END)).to.equal('expired')
    expect(verificationView(saved, END).status).to.equal('expired')
  })

  it('does not change a verification that has ended', () => {
    const { saved } = play(issued(), right())
    expect(statusAt(saved.value, saved.context, END)).to.equal('approved')
  })

  it('ends at the latest three lifetimes after the first send', () => {
    const cap = T0 + 30 * MINUTE
    const late = resend(null, { at: T0 + 19 * MINUTE })
    const { saved, steps } = play(issued(), resend(null, { at: END - 1 }), late, resend(null, { at: T0 + 28 * MINUTE }))
    expect(steps.map(step => step.saved.context.expires_at)).to.deep.equal([
      END - 1 + 10 * MINUTE,
      T0 + 29 * MINUTE,
      cap,
    ])
    expect(play(saved, resend('sms', { at: cap - 1 })).saved.context.expires_at).to.equal(cap)
    expect(play(saved, right({ at: cap })).reply).to.include({ error: 'OtpExpiredError' })
  })
})

describe("the sweeper's reminder that time is up", () => {
  it('expires the verification without a webhook event', () => {
    const { saved, reply, effects, dueAt } = play(issued(), lapse({ at: END }))
    expect(saved.value).to.equal('expired')
    expect(reply).to.deep.equal({ kind: 'noted', changed: true })
    expect(effects).to.deep.equal([])
    expect(dueAt).to.equal(null)
  })

  it('changes nothing when a resend has prolonged the verification', () => {
    const { saved, reply, changed, dueAt } = play(issued(), resend(), lapse({ at: END }))
    expect(saved.value).to.equal('pending')
    expect(reply).to.deep.equal({ kind: 'noted', changed: false })
    expect(changed).to.equal(false)
    expect(dueAt).to.equal(saved.context.expires_at)
  })
})
