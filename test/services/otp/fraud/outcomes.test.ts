import { expect } from 'chai'
import type { SavedOtp } from '../../../../machines/otp.versions.ts'
import { messageOutcome } from '../../../../services/otp/fraud/watch.ts'
import { issued, type Move, play, reported, resend, right } from '../../../support/otp.ts'
import { documentOf } from '../../../support/queued-otps.ts'

describe('what the fraud guard counts', () => {
  const doc = (saved: SavedOtp) => documentOf(saved, 0)
  const outcomeAfter = (start: SavedOtp, move: Move) => messageOutcome(doc(start), doc(play(start, move).saved))
  const fallback = issued({ order: ['telegram', 'sms'], rules: { auto_fallback: true } })
  const onLink = (whatsapp: 'link_code' | 'template') =>
    issued({ order: ['whatsapp', 'sms'], channel: 'whatsapp', whatsapp })

  it('is each message that was sent: the first begins the verification, a resend and a fallback do not, and one that could not be paid was not sent', () => {
    expect(messageOutcome(null, doc(fallback))).to.deep.include({ isStart: true, approval: null })
    expect(outcomeAfter(fallback, resend()))
      .to.deep.include({ isStart: false })
      .and.have.property('sentAt')
      .of.length(1)
    expect(outcomeAfter(fallback, reported('failed'))?.sentAt, 'a fallback').to.have.length(1)
    expect(outcomeAfter(fallback, reported('failed', { unpaid: { event_id: 'evt_unpaid' } }))).to.equal(null)
  })

  it('is a template of WhatsApp, and no link to a chat: the first message that can cost begins the verification', () => {
    expect(messageOutcome(null, doc(onLink('template')))?.sentAt).to.have.length(1)
    const link = onLink('link_code')
    expect(messageOutcome(null, doc(link))).to.equal(null)
    expect(outcomeAfter(link, resend('sms'))).to.deep.include({ isStart: true })
  })

  it('is an approval, once', () => {
    const { saved } = play(fallback, right())
    expect(messageOutcome(doc(fallback), doc(saved))?.approval).to.not.equal(null)
    expect(messageOutcome(doc(saved), doc(saved))).to.equal(null)
  })
})
