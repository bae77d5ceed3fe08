import { expect } from 'chai'
import { completionOf } from '../../machines/otp.queries.ts'
import type { WhatsAppMode } from '../../machines/settings.ts'
import { issued, linkNo, message, play, resend, right, type StartOptions, T0 } from '../support/otp.ts'

const LINK_MODES: WhatsAppMode[] = ['link_code', 'link_inbound']

for (const whatsapp of LINK_MODES)
  describe(`resend in ${whatsapp}`, () => {
    const whatsappFirst = (options: StartOptions = {}) => issued({ order: ['whatsapp', 'sms'], whatsapp, ...options })
    const smsFirst = (options: StartOptions = {}) => issued({ whatsapp, ...options })

    it('without a named channel gives the same link again and sends nothing', () => {
      const { saved, reply, effects } = play(whatsappFirst(), resend())
      expect(reply).to.deep.equal({ kind: 'accepted' })
      expect(effects).to.deep.equal([])
      expect(saved.context).to.deep.include({ channel: 'whatsapp', generation: 1, link: linkNo(1), deliveries: [] })
    })

    it('of the same link costs a send attempt, and restarts the cooldown and the lifetime', () => {
      const { saved, replies } = play(whatsappFirst(), resend(), resend(null, { at: T0 + 31_000 }))
      expect(saved.context).to.include({ sends: 2, last_sent_at: T0 + 30_000, expires_at: T0 + 630_000 })
      expect(replies[1]).to.deep.include({ error: 'ResendCooldownError', retry_after_ms: 59_000 })
      const spent = play(whatsappFirst({ rules: { send_attempts: 2 } }), resend(), resend())
      expect(spent.reply).to.deep.include({ error: 'ResendNotAllowedError', cause: 'send_attempts_spent' })
    })

    it('without a named channel keeps the link even when WhatsApp was disabled since', () => {
      const { saved, reply } = play(whatsappFirst(), resend(null, { usable: ['sms'] }))
      expect(reply).to.deep.equal({ kind: 'accepted' })
      expect(saved.context.link).to.deep.equal(linkNo(1))
    })

    it('without a named channel skips WhatsApp', () => {
      expect(play(smsFirst(), resend()).saved.context).to.include({ channel: 'telegram', link: null })
    })

    it('without a named channel repeats the current channel when only WhatsApp is left', () => {
      const { saved } = play(smsFirst({ order: ['sms', 'whatsapp'] }), resend())
      expect(saved.context).to.include({ channel: 'sms', link: null, generation: 1 })
    })

    it('without a named channel does not skip WhatsApp when it is the first usable channel', () => {
      const { saved, effects } = play(smsFirst(), resend(null, { usable: ['whatsapp', 'telegram'] }))
      expect(saved.context).to.deep.include({ channel: 'whatsapp', generation: 1, link: linkNo(2) })
      expect(effects).to.deep.equal([])
    })

    it('that names whatsapp moves to a link with a new generation, and sends nothing', () => {
      const { saved, reply, effects } = play(smsFirst(), resend('whatsapp'))
      expect(reply).to.deep.equal({ kind: 'accepted' })
      expect(effects).to.deep.equal([])
      expect(saved.context).to.deep.include({ channel: 'whatsapp', generation: 2, link: linkNo(2), sends: 2 })
      expect(saved.context.deliveries).to.have.length(1)
      expect(completionOf(saved.context)).to.equal(whatsapp === 'link_inbound' ? 'inbound' : 'code')
    })

    it('that names whatsapp on a link makes a new link, and the old link no longer works', () => {
      const { saved } = play(whatsappFirst(), resend('whatsapp'))
      expect(saved.context).to.deep.include({ generation: 2, link: linkNo(2) })
      expect(play(saved, message('link_1')).reply).to.deep.equal({ kind: 'noted', changed: false })
      expect(play(saved, message('link_2')).reply).to.deep.equal({ kind: 'noted', changed: true })
    })

    it('without a named channel gives the link again that a named whatsapp has made', () => {
      const { saved } = play(smsFirst(), resend('whatsapp'), resend())
      expect(saved.context).to.deep.include({ link: linkNo(2), generation: 2, sends: 3 })
    })

    it('that names sms on a link delivers a new code, removes the link and can be verified', () => {
      const { saved, effects } = play(whatsappFirst(), resend('sms'))
      expect(saved.context).to.include({ channel: 'sms', generation: 2, link: null })
      expect(effects).to.deep.equal([{ type: 'deliver', id: 'dlv_1', channel: 'sms', generation: 2 }])
      expect(completionOf(saved.context)).to.equal('code')
      expect(play(saved, message('link_1')).changed).to.equal(false)
      expect(play(saved, right()).saved.value).to.equal('approved')
    })

    it('makes a link that stays in the verification after its end', () => {
      const saved = play(whatsappFirst(), resend('whatsapp')).saved
      const ended = whatsapp === 'link_inbound' ? play(saved, message()).saved : play(saved, right()).saved
      expect(ended.value).to.equal('approved')
      expect(ended.context.link).to.deep.equal(linkNo(2))
    })
  })

describe('starting on WhatsApp in a link mode without a link', () => {
  it('throws, because it is a bug of the caller', () => {
    expect(() => issued({ whatsapp: 'link_code', channel: 'whatsapp', link: null })).to.throw('needs a link')
  })
})
