import { expect } from 'chai'
import { completionOf } from '../../machines/otp.queries.ts'
import type { WhatsAppMode } from '../../machines/settings.ts'
import { issued, linkNo, message, play, resend, right, type StartOptions, T0 } from '../support/otp.ts'

const LINK_MODES: WhatsAppMode[] = ['link_code', 'link_inbound']

for (const whatsapp of LINK_MODES)
  describe(`resend in ${whatsapp}`, () => {
    const whatsappFirst = (options: StartOptions = {}) => issued({ order: ['whatsapp', 'sms'], whatsapp, ...options })
    const smsFirst = (options: StartOptions = {}) => issued({ whatsapp, ...options })

    it('plain, on a link: the same link again, and nothing is sent', () => {
      const { saved, reply, effects } = play(whatsappFirst(), resend())
      expect(reply).to.deep.equal({ kind: 'accepted' })
      expect(effects).to.deep.equal([])
      expect(saved.context).to.deep.include({ channel: 'whatsapp', generation: 1, link: linkNo(1), deliveries: [] })
    })

    it('plain, on a link: costs the cooldown and a send attempt, and the life begins anew', () => {
      const { saved, replies } = play(whatsappFirst(), resend(), resend(null, { at: T0 + 31_000 }))
      expect(saved.context).to.include({ sends: 2, last_sent_at: T0 + 30_000, expires_at: T0 + 630_000 })
      expect(replies[1]).to.deep.include({ error: 'ResendCooldownError', retry_after_ms: 59_000 })
      const spent = play(whatsappFirst({ rules: { send_attempts: 2 } }), resend(), resend())
      expect(spent.reply).to.deep.equal({ kind: 'refused', error: 'ResendNotAllowedError' })
    })

    it('plain, on a link: does not move on, even when WhatsApp was disabled in between', () => {
      const { saved, reply } = play(whatsappFirst(), resend(null, { usable: ['sms'] }))
      expect(reply).to.deep.equal({ kind: 'accepted' })
      expect(saved.context.link).to.deep.equal(linkNo(1))
    })

    it('plain, from another channel: skips WhatsApp', () => {
      expect(play(smsFirst(), resend()).saved.context).to.include({ channel: 'telegram', link: null })
    })

    it('plain, with nothing but WhatsApp further on: repeats the current channel', () => {
      const { saved } = play(smsFirst({ order: ['sms', 'whatsapp'] }), resend())
      expect(saved.context).to.include({ channel: 'sms', link: null, generation: 1 })
    })

    it('plain: WhatsApp is not skipped where it is the first that is usable', () => {
      const { saved, effects } = play(smsFirst(), resend(null, { usable: ['whatsapp', 'telegram'] }))
      expect(saved.context).to.deep.include({ channel: 'whatsapp', generation: 1, link: linkNo(2) })
      expect(effects).to.deep.equal([])
    })

    it('naming whatsapp moves onto a link from anywhere, with a fresh generation and nothing sent', () => {
      const { saved, reply, effects } = play(smsFirst(), resend('whatsapp'))
      expect(reply).to.deep.equal({ kind: 'accepted' })
      expect(effects).to.deep.equal([])
      expect(saved.context).to.deep.include({ channel: 'whatsapp', generation: 2, link: linkNo(2), sends: 2 })
      expect(saved.context.deliveries).to.have.length(1)
      expect(completionOf(saved.context)).to.equal(whatsapp === 'link_inbound' ? 'inbound' : 'code')
    })

    it('naming whatsapp on a link makes a new link, and the old one is dead', () => {
      const { saved } = play(whatsappFirst(), resend('whatsapp'))
      expect(saved.context).to.deep.include({ generation: 2, link: linkNo(2) })
      expect(play(saved, message('link_1')).reply).to.deep.equal({ kind: 'noted', changed: false })
      expect(play(saved, message('link_2')).reply).to.deep.equal({ kind: 'noted', changed: true })
    })

    it('naming whatsapp, then plain: that link again', () => {
      const { saved } = play(smsFirst(), resend('whatsapp'), resend())
      expect(saved.context).to.deep.include({ link: linkNo(2), generation: 2, sends: 3 })
    })

    it('naming sms on a link: a fresh code is delivered, the link is gone, and verify goes on', () => {
      const { saved, effects } = play(whatsappFirst(), resend('sms'))
      expect(saved.context).to.include({ channel: 'sms', generation: 2, link: null })
      expect(effects).to.deep.equal([{ type: 'deliver', id: 'dlv_1', channel: 'sms', generation: 2 }])
      expect(completionOf(saved.context)).to.equal('code')
      expect(play(saved, message('link_1')).changed).to.equal(false)
      expect(play(saved, right()).saved.value).to.equal('approved')
    })

    it('named whatsapp is refused when it is not usable', () => {
      const { reply } = play(smsFirst(), resend('whatsapp', { usable: ['sms'] }))
      expect(reply).to.deep.equal({ kind: 'refused', error: 'ResendNotAllowedError' })
    })

    it('keeps the link when the verification ends', () => {
      const saved = play(whatsappFirst(), resend('whatsapp')).saved
      const ended = whatsapp === 'link_inbound' ? play(saved, message()).saved : play(saved, right()).saved
      expect(ended.value).to.equal('approved')
      expect(ended.context.link).to.deep.equal(linkNo(2))
    })
  })

describe('resend on WhatsApp under the template mode', () => {
  it('is a channel like any other', () => {
    const { steps } = play(issued({ order: ['sms', 'whatsapp'] }), resend(), resend(), resend('whatsapp'))
    expect(steps.map(({ effects }) => effects.length)).to.deep.equal([1, 1, 1])
    expect(steps.map(({ saved }) => saved.context.generation)).to.deep.equal([1, 1, 2])
    expect(steps.map(({ saved }) => saved.context.link)).to.deep.equal([null, null, null])
  })
})

describe('a link mode without a link', () => {
  it('is a mistake of the caller, told at once', () => {
    expect(() => issued({ whatsapp: 'link_code', channel: 'whatsapp', link: null })).to.throw('needs a link')
  })
})
