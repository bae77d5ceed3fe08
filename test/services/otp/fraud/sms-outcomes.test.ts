import { expect } from 'chai'
import type { SavedOtp } from '../../../../machines/otp.versions.ts'
import { smsOutcomeOf } from '../../../../services/otp/fraud/watch.ts'
import { issued, type Move, play, reported } from '../../../support/otp.ts'
import { documentOf } from '../../../support/queued-otps.ts'

describe('what the fraud guard counts of a fallback', () => {
  const start = issued({ order: ['telegram', 'sms'], rules: { auto_fallback: true } })
  const doc = (saved: SavedOtp) => documentOf(saved, 0)
  const outcomeAfter = (move: Move) => smsOutcomeOf(doc(start), doc(play(start, move).saved))

  it('is its text message', () => {
    expect(outcomeAfter(reported('failed'))).to.include({ sent: true })
  })

  it('is nothing when it could not be paid: no text message was sent', () => {
    expect(outcomeAfter(reported('failed', { unpaid: { event_id: 'evt_unpaid' } }))).to.equal(null)
  })
})
