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

const falling = ({ rules, ...options }: StartOptions = {}) =>
  issued({ ...options, rules: { auto_fallback: true, ...rules } })

const channelsOf = (played: ReturnType<typeof play>) => played.saved.context.deliveries.map(({ channel }) => channel)

describe('auto_fallback', () => {
  it('goes on to the next channel by itself when the delivery fails, with the same code', () => {
    const { saved, reply, effects } = play(falling(), wait(4_000), reported('failed', { event_id: 'evt_x' }))
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

  it('ignores the cooldown, and starts one', () => {
    const { saved } = play(falling(), wait(1_000), reported('failed'))
    expect(saved.context).to.include({ last_sent_at: T0 + 1_000, expires_at: T0 + 1_000 + 10 * MINUTE })
    const { reply } = play(saved, resend(null, { at: T0 + 31_000 }))
    expect(reply).to.deep.include({ error: 'ResendCooldownError', retry_after_ms: 30_000 })
  })

  it('is off unless the app wants it', () => {
    const { saved, effects } = play(issued(), reported('failed'))
    expect(saved.context).to.include({ channel: 'sms', sends: 1 })
    expect(effects.map(({ type }) => type)).to.deep.equal(['notify', 'refund'])
  })

  it('waits for a failure: neither sent nor delivered moves anything', () => {
    expect(channelsOf(play(falling(), reported('sent'), reported('delivered')))).to.deep.equal(['sms'])
  })

  it('goes through the order and never repeats its end', () => {
    const played = play(falling(), reported('failed'), reported('failed'), reported('failed'))
    expect(channelsOf(played)).to.deep.equal(['sms', 'whatsapp', 'telegram'])
    expect(played.events).to.deep.equal(['delivery.failed', 'delivery.failed', 'delivery.failed'])
  })

  it('moves once for a failure told twice', () => {
    const told = play(
      falling(),
      reported('failed', { reported_id: 'dlv_1' }),
      reported('failed', { reported_id: 'dlv_1' }),
    )
    expect(channelsOf(told)).to.deep.equal(['sms', 'whatsapp'])
    expect(told.effects).to.deep.equal([])
  })

  it('is for the latest delivery only', () => {
    const earlier = play(falling(), resend(), reported('failed', { reported_id: 'dlv_1' }))
    expect(channelsOf(earlier)).to.deep.equal(['sms', 'whatsapp'])
  })

  it('is not for a superseded generation', () => {
    const linked = falling({ whatsapp: 'link_code' })
    const superseded = play(linked, resend('whatsapp'), reported('failed', { reported_id: 'dlv_1' }))
    expect(superseded.saved.context).to.include({ channel: 'whatsapp', sends: 2 })
    expect(superseded.events).to.deep.equal(['delivery.failed'])
  })

  it('goes on after a named channel as a plain resend would', () => {
    const outside = falling({ order: ['sms', 'whatsapp'] })
    expect(channelsOf(play(outside, resend('telegram'), reported('failed')))).to.deep.equal([
      'sms',
      'telegram',
      'whatsapp',
    ])
  })

  it('does not repeat from outside the order either', () => {
    const outside = falling({ order: ['sms'] })
    expect(channelsOf(play(outside, resend('telegram'), reported('failed')))).to.deep.equal(['sms', 'telegram'])
  })

  it('never goes into a link mode, not even where WhatsApp comes first', () => {
    for (const whatsapp of ['link_code', 'link_inbound'] as const) {
      expect(channelsOf(play(falling({ whatsapp }), reported('failed')))).to.deep.equal(['sms', 'telegram'])
      const last = falling({ whatsapp, order: ['sms', 'whatsapp'] })
      expect(channelsOf(play(last, reported('failed', { usable: ['whatsapp'] })))).to.deep.equal(['sms'])
    }
  })

  it('does not leave a link: the user holds it', () => {
    const linked = falling({ whatsapp: 'link_code', order: ['whatsapp', 'sms'] })
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
    it(`goes only where it can: usable ${now.join(', ') || 'nothing'}`, () => {
      expect(channelsOf(play(falling(), reported('failed', { usable: now })))).to.deep.equal(ends)
    })

  it('stays within the send attempts', () => {
    const played = play(falling({ rules: { send_attempts: 2 } }), reported('failed'), reported('failed'))
    expect(channelsOf(played)).to.deep.equal(['sms', 'whatsapp'])
  })

  it('is for what is pending: not lapsed, not ended', () => {
    expect(channelsOf(play(falling(), reported('failed', { at: T0 + 10 * MINUTE })))).to.deep.equal(['sms'])
    expect(channelsOf(play(falling(), cancel(), reported('failed')))).to.deep.equal(['sms'])
  })
})
