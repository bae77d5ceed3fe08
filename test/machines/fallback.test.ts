import { expect } from 'chai'
import type { Channel } from '../../machines/channels.ts'
import {
  cancel,
  issued,
  MINUTE,
  message,
  PRICES,
  play,
  reported,
  resend,
  type StartOptions,
  T0,
  wait,
} from '../support/otp.ts'

const issuedWithFallback = ({ rules, ...options }: StartOptions = {}) =>
  issued({ ...options, rules: { auto_fallback: true, ...rules } })

const channelsOf = (played: ReturnType<typeof play>) => played.saved.context.deliveries.map(({ channel }) => channel)

describe('auto_fallback', () => {
  it('sends the same code on the next channel when a delivery fails', () => {
    const { saved, reply, effects } = play(issuedWithFallback(), wait(4_000), reported('failed', { event_id: 'evt_x' }))
    expect(reply).to.deep.equal({ kind: 'noted', changed: true })
    expect(saved.context).to.include({ channel: 'whatsapp', generation: 1, sends: 2 })
    expect(saved.context.deliveries.map(({ status }) => status)).to.deep.equal(['failed', 'queued'])
    expect(effects).to.deep.equal([
      { type: 'deliver', id: 'dlv_2', channel: 'whatsapp', generation: 1 },
      {
        type: 'notify',
        id: 'evt_x',
        event: 'delivery.failed',
        payload: { otp_id: 'otp_1', delivery_id: 'dlv_1', status: 'failed' },
      },
      { type: 'refund', id: 'dlv_1:refund', delivery_id: 'dlv_1', micros: PRICES.sms },
    ])
  })

  it('ignores the cooldown and starts a new one', () => {
    const { saved } = play(issuedWithFallback(), wait(1_000), reported('failed'))
    expect(saved.context).to.include({ last_sent_at: T0 + 1_000, expires_at: T0 + 1_000 + 10 * MINUTE })
    const { reply } = play(saved, resend(null, { at: T0 + 31_000 }))
    expect(reply).to.deep.include({ error: 'ResendCooldownError', retry_after_ms: 30_000 })
  })

  it('is off by default', () => {
    const { saved, effects } = play(issued(), reported('failed'))
    expect(saved.context).to.include({ channel: 'sms', sends: 1 })
    expect(effects.map(({ type }) => type)).to.deep.equal(['notify', 'refund'])
  })

  it('does nothing when the report is sent or delivered', () => {
    expect(channelsOf(play(issuedWithFallback(), reported('sent'), reported('delivered')))).to.deep.equal(['sms'])
  })

  it('goes through the order once and does not repeat the last channel', () => {
    const played = play(issuedWithFallback(), reported('failed'), reported('failed'), reported('failed'))
    expect(channelsOf(played)).to.deep.equal(['sms', 'whatsapp', 'telegram'])
    expect(played.events).to.deep.equal(['delivery.failed', 'delivery.failed', 'delivery.failed'])
  })

  it('moves once when the same failure is reported twice', () => {
    const twice = play(
      issuedWithFallback(),
      reported('failed', { delivery_id: 'dlv_1' }),
      reported('failed', { delivery_id: 'dlv_1' }),
    )
    expect(channelsOf(twice)).to.deep.equal(['sms', 'whatsapp'])
    expect(twice.effects).to.deep.equal([])
  })

  it('does nothing when an earlier delivery fails, or one of an earlier generation', () => {
    const earlier = play(issuedWithFallback(), resend(), reported('failed', { delivery_id: 'dlv_1' }))
    expect(channelsOf(earlier)).to.deep.equal(['sms', 'whatsapp'])
    const linked = issuedWithFallback({ whatsapp: 'link_code' })
    const superseded = play(linked, resend('whatsapp'), reported('failed', { delivery_id: 'dlv_1' }))
    expect(superseded.saved.context).to.include({ channel: 'whatsapp', sends: 2 })
    expect(superseded.events).to.deep.equal(['delivery.failed'])
  })

  it('goes on from a named channel outside the order to the first untried channel', () => {
    const outside = issuedWithFallback({ order: ['sms', 'whatsapp'] })
    expect(channelsOf(play(outside, resend('telegram'), reported('failed')))).to.deep.equal([
      'sms',
      'telegram',
      'whatsapp',
    ])
  })

  it('does not repeat a channel from outside the order', () => {
    const outside = issuedWithFallback({ order: ['sms'] })
    expect(channelsOf(play(outside, resend('telegram'), reported('failed')))).to.deep.equal(['sms', 'telegram'])
  })

  it('never moves to WhatsApp in a link mode, even if no other channel is usable', () => {
    for (const whatsapp of ['link_code', 'link_inbound'] as const) {
      expect(channelsOf(play(issuedWithFallback({ whatsapp }), reported('failed')))).to.deep.equal(['sms', 'telegram'])
      const last = issuedWithFallback({ whatsapp, order: ['sms', 'whatsapp'] })
      expect(channelsOf(play(last, reported('failed', { usable: ['whatsapp'] })))).to.deep.equal(['sms'])
    }
  })

  it('does not move away from a link', () => {
    const linked = issuedWithFallback({ whatsapp: 'link_code', order: ['whatsapp', 'sms'] })
    const played = play(linked, message(), reported('failed'))
    expect(played.saved.context).to.include({ channel: 'whatsapp', sends: 1 })
    expect(played.events).to.deep.equal(['delivery.failed'])
  })

  const usable: [Channel[], Channel[]][] = [
    [
      ['sms', 'telegram'],
      ['sms', 'telegram'],
    ],
    [['telegram'], ['sms', 'telegram']],
    [['sms'], ['sms']],
    [[], ['sms']],
  ]
  for (const [now, ends] of usable)
    it(`uses ${ends.join(', then ')} when ${now.join(' and ') || 'no channel'} can be used`, () => {
      expect(channelsOf(play(issuedWithFallback(), reported('failed', { usable: now })))).to.deep.equal(ends)
    })

  it('stops when no send attempt is left', () => {
    const played = play(issuedWithFallback({ rules: { send_attempts: 2 } }), reported('failed'), reported('failed'))
    expect(channelsOf(played)).to.deep.equal(['sms', 'whatsapp'])
  })

  it('does nothing when the verification has expired or ended', () => {
    expect(channelsOf(play(issuedWithFallback(), reported('failed', { at: T0 + 10 * MINUTE })))).to.deep.equal(['sms'])
    expect(channelsOf(play(issuedWithFallback(), cancel(), reported('failed')))).to.deep.equal(['sms'])
  })

  describe('that could not be paid', () => {
    const unpaid = { unpaid: { event_id: 'evt_unpaid' } }

    it('is recorded as a delivery that failed, and nothing is sent', () => {
      const played = play(issuedWithFallback(), reported('failed', { reason: 'provider_failed', ...unpaid }))
      const [first, second] = played.saved.context.deliveries
      expect(first).to.include({ channel: 'sms', reason: 'provider_failed' })
      expect(second).to.include({
        delivery_id: 'dlv_2',
        channel: 'whatsapp',
        status: 'failed',
        reason: 'insufficient_funds',
        micros: 0,
      })
      expect(played.events).to.deep.equal(['delivery.failed', 'delivery.failed'])
      const kinds = played.effects.map(({ type }) => type)
      expect(kinds).to.have.members(['notify', 'notify', 'refund'])
      expect(played.effects.map(({ id }) => id)).to.include('evt_unpaid')
    })

    it('leaves the channel and the send attempts as they were, so that a resend takes the next channel', () => {
      const played = play(issuedWithFallback(), reported('failed', unpaid))
      expect(played.saved.context).to.include({ channel: 'sms', sends: 1 })
      expect(channelsOf(play(played.saved, resend()))).to.deep.equal(['sms', 'whatsapp', 'whatsapp'])
    })

    it('is not recorded where there is no fallback', () => {
      const played = play(issuedWithFallback(), cancel(), reported('failed', unpaid))
      expect(channelsOf(played)).to.deep.equal(['sms'])
      expect(played.events).to.deep.equal(['delivery.failed'])
    })
  })
})
